import { expect, it } from 'vitest';
import { checkPage, expectAccessible } from './chromium.ts';
import { anyone, beginWith, block, hold, numbered, stack } from './contact-form.ts';
import { HOSTILE_TEXTS } from '../text/hostile-texts.ts';
import { isBlank, toVisible } from '../../text/visible.ts';

it('loads older inquiries as the end comes near, and keeps the focus', async () => {
  const rows = numbered(360);
  const { page, counts, click, button, focusIs, see, lists, requested } = await beginWith(rows);
  const older = () => requested('before=').length;
  const end = button('Show more');
  await block(page, stack.url);
  await end.scrollIntoViewIfNeeded();
  const trouble = page.locator('.place ~ .live').getByText('couldn’t load');
  await trouble.waitFor();
  // The end leaves the window and comes back.
  for (const place of [page.locator('form'), end]) {
    await place.scrollIntoViewIfNeeded();
    // Observers run once a frame.
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
    );
  }
  expect(older()).toBe(1);
  await page.unrouteAll();
  await click('Try again');
  await counts(150);
  await trouble.waitFor({ state: 'detached' });
  // The end is then near, so that more is loaded without a key.
  for (const [key, loaded, first] of [
    ['Enter', 350, 'number 210'],
    ['Shift', 360, 'number 10'],
  ] as const) {
    const before = older();
    const release = await hold(page, 'GET');
    await end.focus();
    await page.keyboard.press(key);
    release();
    await counts(loaded);
    await focusIs(first);
    expect(older()).toBe(before + 1);
  }
  expect(await end.count()).toBe(0);
  await see('360 inquiries');
  await lists(...rows.map(([subject]) => subject).toReversed());
  const laidOut = `[...document.querySelectorAll('.text')].filter((e) => e.checkVisibility({ contentVisibilityAuto: true })).length`;
  expect(await page.evaluate(laidOut)).toBeLessThan(100);
});

it('searches all inquiries, and marks what it finds', async () => {
  const { submit, context, page, counts, lists, says, see, seeIn, click, lacks } = await beginWith([
    ['the oldest', `${'line\n'.repeat(400)}ça et là の が`, Date.now() - 40 * 86_400_000],
    ...numbered(158),
    ['Café réservation', 'Une table près de la FENÊTRE'],
  ]);
  const search = page.getByRole('searchbox', { name: 'Search your inquiries' });
  const marks = async (...texts: string[]) => {
    const marked = `[...CSS.highlights.get('inquiries-found')].filter(({ startContainer }) => startContainer.isConnected)
      .map(({ startContainer, startOffset, endContainer, endOffset }) => {
        const range = new Range();
        range.setStart(startContainer, startOffset);
        range.setEnd(endContainer, endOffset);
        return String(range);
      })`;
    expect(await page.evaluate(marked)).toEqual(texts);
  };
  await search.fill('cafe fenetre');
  await says('1 match');
  await marks('Café', 'FENÊTRE');
  await lists('Café réservation');
  await seeIn('.count', '1 match');
  await checkPage(page);
  await search.fill('が');
  await says('1 match');
  await marks('が');
  await see('ça et là');
  await page.getByRole('combobox', { name: 'Period' }).selectOption('Last 30 days');
  await says('No matching inquiries');
  await checkPage(page);
  await click('Clear search');
  await counts(160);
  await marks();
  await lacks('Show less');
  await search.and(page.locator(':focus')).pressSequentially('number 150');
  await lists('number 150');
  const text = 'にほん';
  const inputMethod = await context.newCDPSession(page);
  await inputMethod.send('Input.imeSetComposition', { text, selectionStart: 3, selectionEnd: 3 });
  await search.press('Escape');
  expect(await search.inputValue()).toContain('number 150');
  await submit('sent now', 'a line\n'.repeat(20));
  await search.press('Escape');
  await counts(161);
});

it('groups by the reader’s days, also after midnight', async () => {
  const { page, click } = await beginWith(
    [
      ['before midnight', '', Date.parse('2026-01-31T19:10+01:00')],
      ['after midnight', '', Date.parse('2026-02-01T00:10+01:00')],
    ],
    { timezoneId: 'Europe/Vienna', locale: 'en-GB' },
  );
  for (const [now, ...titles] of [
    ['2026-02-01T00:15+01:00', 'Today', 'Yesterday'],
    ['2026-02-02T00:00+01:00', 'Yesterday', 'Saturday, 31 January 2026'],
  ] as const) {
    await page.clock.setFixedTime(new Date(now));
    await click('Refresh');
    await expect
      .poll(() => page.locator('.list :is(h3, h4, time)').allTextContents())
      .toEqual([titles[0], 'after midnight', '00:10', titles[1], 'before midnight', '19:10']);
  }
  const exact = await page.locator('time').first().getAttribute('title');
  expect(exact).toMatch(/00:10:00 (CET|GMT\+1)$/);
});

it('leads to the inquiry that the address names, and copies its text and link', async () => {
  const { page, counts, click, lacks, see, says, focusIs, subjects, requested, ids } =
    await beginWith([['the oldest', 'a\nb'], ...numbered(60)]);
  const [oldest = '', older = ''] = ids;
  const go = async (fragment: string) => page.goto(`${stack.formUrl}/#${fragment}`);
  // The foot is made when an inquiry is unfolded.
  await lacks('Copy text');
  await go(oldest);
  await focusIs('the oldest');
  // It is found by one request, and stands out of order.
  await counts(51);
  expect(await subjects.first().textContent()).toBe('the oldest');
  expect(requested('before=')).toHaveLength(1);
  const copies = async (text: string) =>
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(text);
  await click('Copy text');
  await says('Copied');
  await copies('the oldest\n\na\nb');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await copies(page.url());
  await page.reload();
  await focusIs('the oldest');
  await page.locator('.more').scrollIntoViewIfNeeded();
  await counts(61);
  expect(await subjects.last().textContent()).toBe('the oldest');
  await go(older.toUpperCase());
  await focusIs('number 1');
  await go(oldest.replace(/.{12}$/, '0'.repeat(12)));
  await see('This inquiry isn’t in your list.', /^You’re signed in as .*ana-.*sign out first/);
  await go('main');
  await counts(61);
});

it('folds long texts, and prints them whole', async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, line) => line).join('\n');
  const long = `${'word '.repeat(1_000)}the end`;
  const { page, items, write, message, email, focusIs, seeIn } = await beginWith([
    ...numbered(2),
    [lines(3), lines(7)],
    [lines(4)],
    ['eight lines', lines(8)],
    ['long', long],
  ]);
  const seen = async () =>
    page.evaluate(`[...document.querySelectorAll('.item :is(h4, .text)')].map((e) =>
      Math.round(e.clientHeight / parseFloat(getComputedStyle(e).lineHeight)))`);
  const expected = [1, 6, 1, 6, 2, 1, 3, 7, 1, 1, 1, 1];
  await expect.poll(seen).toEqual(expected);
  expect(await items.locator('.small:visible').count()).toBe(3);
  await items.first().getByText('Show all').click();
  await focusIs('Show less');
  await page.keyboard.press('Enter');
  await focusIs('Show all');
  expect(await seen()).toEqual(expected);
  // The browser's search reaches folded text.
  await items.first().locator('.rest').dispatchEvent('beforematch', { bubbles: true });
  await focusIs('Show less');
  await page.keyboard.press('Enter');

  await page.emulateMedia({ media: 'print' });
  const clickable = ':is(form, .language, .search, .list > .hint, button, .links)';
  expect(await page.locator(`${clickable}:visible`).count()).toBe(0);
  await seeIn('header', email);
  const date = `getComputedStyle(document.querySelector('h3'), '::after').content`;
  expect(await page.evaluate(date)).toMatch(/\d{4}"$/);
  const reference = `getComputedStyle(document.querySelector('.item.folded'), '::after').content`;
  expect(await page.evaluate(reference)).toMatch(/^"Reference [\da-f]{8}-[\da-f]{4}"$/);
  const text = items.first().locator('.text');
  expect((await text.innerText()).trim()).toBe(long);
  await page.emulateMedia({ media: 'screen' });
  await write('a draft', 'its text\n'.repeat(60));
  await page.emulateMedia({ media: 'print' });
  await expectAccessible(page);
  for (const whole of [text, message]) {
    const hidden = whole.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
    expect(await hidden).toBeLessThan(2);
  }
});

it('shows hostile text as text, within its column', async () => {
  const texts = [...HOSTILE_TEXTS.slice(0, 49), 'w'.repeat(100 * 1024)];
  const { page, lists, items, click } = await beginWith(
    texts.map((body) => [body.slice(0, 1_000), body]),
    {},
    `${'long-'.repeat(12)}${anyone()}`,
  );
  const subjects = texts.toReversed().map((text) => toVisible(text.slice(0, 1_000)));
  await lists(...subjects.map((text) => (isBlank(text) ? 'No subject' : text)));
  await click('Show all');
  expect(await items.first().locator('.text').textContent()).toHaveLength(100 * 1024);
  await page.locator('.opener').nth(2).click();
  for (const width of [1280, 1024, 360, 320]) {
    await page.setViewportSize({ width, height: 640 });
    const wider = await page.evaluate(`{
      const within = (e) => e.closest('.list, form, .top') ?? document.documentElement;
      [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && !e.matches('.sr')).filter((e) => {
        const [inner, outer] = [e, within(e)].map((one) => one.getBoundingClientRect());
        return inner.right > outer.right + 16.5 || inner.left < outer.left - 0.5 || outer.right > innerWidth;
      }).map((e) => e.outerHTML.slice(0, 100));
    }`);
    expect([width, wider]).toEqual([width, []]);
  }
  expect(await page.title()).toBe('Contact us');
});
