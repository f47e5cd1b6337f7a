/** The list of the contact form in a real browser. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../local/database/table.ts';
import { subOf } from '../../lib/issuer-tokens.ts';
import type { Inquiry } from '../../src/contract.ts';
import { toFirstId } from '../../src/entities/keys.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { anyone, expectAccessible, whyNoBrowser } from '../helpers/chromium.ts';
import { setUpForm } from '../helpers/contact-form.ts';
import { HOSTILE_TEXTS } from '../helpers/hostile-texts.ts';

describe.skipIf(whyNoBrowser !== undefined)('the list', () => {
  const { here, begin, post, intercept, hold } = setUpForm();

  /** Inquiries with the subjects `number 1`, `number 2` …, a minute apart, the last one of now. */
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      time: Date.now() - (count - 1 - index) * 60_000,
      subject: `number ${index + 1}`,
      body: 'A few words.',
    }));

  /**
   * Opens the form of a user for whom these inquiries are stored past the service, at times of the test's choice.
   *
   * @returns Their `ids`, too.
   */
  const beginWith = async (
    rows: readonly (Partial<Pick<Inquiry, 'subject' | 'body'>> & { time: number })[],
    options: BrowserContextOptions = {},
    email = anyone(),
  ) => {
    const inquiries = rows.map(({ time, subject = '', body = '' }, index) => ({
      email,
      cognito_sub: subOf(email),
      id: `${toFirstId(time)}-7000-8000-${index.toString(16).padStart(12, '0')}`,
      subject,
      body,
      created_at: new Date(time).toISOString(),
    }));
    const { engine, tableName } = here.stack;
    const client = createClient(engine.url);
    onTestFinished(() => client.destroy());
    await createInquiryEntity(tableName, client).put(inquiries).go();
    const form = await begin(email, options);
    await expect.poll(() => form.subjects.count()).toBe(Math.min(50, rows.length));
    return { ...form, ids: inquiries.map(({ id }) => id) };
  };

  const saying = (page: Page) => page.locator('.list [role=status]');

  it('loads older inquiries in growing pages as the end comes near, and lays out what is seen', async () => {
    const rows = numbered(500);
    const { page, requests, complaints } = await beginWith(rows);
    await expect
      .poll(
        async () => {
          await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
          return page.locator('.item').count();
        },
        { interval: 20 },
      )
      .toBe(500);
    expect(await page.locator('.item h4').allTextContents()).toEqual(
      rows.map(({ subject }) => subject).toReversed(),
    );
    expect(await page.locator('.count').textContent()).toBe('500 inquiries');
    const seen = await page.evaluate(
      `[...document.querySelectorAll('.text')].filter((e) => e.checkVisibility({ contentVisibilityAuto: true })).length`,
    );
    expect(seen).toBeLessThan(100);
    const limits = requests.flatMap((url) => new URL(url).searchParams.get('limit') ?? []);
    expect(limits).toEqual(['50', '100', '200', '400']);
    expect(complaints).toEqual([]);
  });

  it.each(['', 'Enter'])(
    'loads more once, and moves the focus to the first of them; key %j',
    async (key) => {
      const { email, page, subjects, button } = await beginWith(numbered(52));
      const release = await hold(page, 'GET');
      // The end is now near, so that more is loaded without a key, too.
      await button('Show more').focus();
      if (key !== '') await page.keyboard.press(key);
      release();
      await expect.poll(() => page.locator(':focus').textContent()).toBe('number 2');
      expect(await subjects.count()).toBe(52);
      expect(await button('Show more').count()).toBe(0);
      await post(email, 'a new one');
      await button('Refresh').click();
      await expect.poll(() => subjects.count()).toBe(53);
      expect(new Set(await subjects.allTextContents()).size).toBe(53);
    },
  );

  it('says at the end of the list when older ones cannot be loaded, and loads them when asked again', async () => {
    const { page, subjects, button } = await beginWith(numbered(52));
    let attempts = 0;
    await intercept(page, 'GET', async (route) => {
      attempts++;
      await route.abort('connectionrefused');
    });
    await button('Show more').scrollIntoViewIfNeeded();
    await page.getByText('couldn’t load').waitFor();
    // Not by scrolling: away from the end, and back.
    for (const place of ['form', '.more']) {
      await page.evaluate(`new Promise((resolve) => {
        const target = document.querySelector('${place}');
        target.scrollIntoView();
        new IntersectionObserver(([entry]) => entry.isIntersecting && setTimeout(resolve, 100)).observe(target);
      })`);
    }
    expect(attempts).toBe(1);
    // Below the last inquiry.
    await page.locator('.place ~ .live').getByText('couldn’t load').waitFor();
    await page.unrouteAll();
    await button('Try again').click();
    await expect.poll(() => subjects.count()).toBe(52);
    expect(await page.getByText('couldn’t load').count()).toBe(0);
  });

  it('searches all inquiries, marks what it finds, opens where that is hidden, says how many match, and ends with Escape', async () => {
    const rows = numbered(160);
    const { submit, page, subjects, button } = await beginWith([
      {
        time: Date.now() - 40 * 86_400_000,
        subject: 'the oldest',
        body: `${'line\n'.repeat(400)}ça et là の が`,
      },
      ...rows.slice(0, 158),
      { time: Date.now(), subject: 'Café réservation', body: 'Une table près de la FENÊTRE' },
    ]);
    const search = page.getByRole('searchbox', { name: 'Search your inquiries' });
    const marks = async () =>
      page.evaluate(`[...CSS.highlights.get('inquiries-found')].filter(({ startContainer }) =>
        startContainer.isConnected).map(String)`);
    await search.fill('cafe fenetre');
    await expect.poll(() => saying(page).textContent()).toBe('1 match');
    expect(await subjects.allTextContents()).toEqual(['Café réservation']);
    expect(await page.locator('.count').textContent()).toBe('1 match');
    expect(await marks()).toEqual(['Café', 'FENÊTRE']);
    await expectAccessible(page);
    await search.fill('が');
    await expect.poll(() => saying(page).textContent()).toBe('1 match');
    expect(await marks()).toEqual(['が']);
    await page.getByText('ça et là').waitFor();
    await page.getByRole('combobox', { name: 'Period' }).selectOption('Last 30 days');
    await page.locator('.empty').getByText('No inquiry matches').waitFor();
    expect(await saying(page).textContent()).toBe('No inquiry matches');
    await expectAccessible(page);
    await button('Clear search').click();
    await expect.poll(() => subjects.count()).toBe(160);
    expect([await marks(), await button('Show less').count()]).toEqual([[], 0]);
    expect(await search.evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.type('number 150');
    await expect.poll(() => subjects.allTextContents()).toEqual(['number 150']);
    await submit('sent now', 'a line\n'.repeat(20));
    await search.press('Escape');
    await expect.poll(() => subjects.count()).toBe(161);
  });

  it('groups by the reader’s days, also when midnight has passed since', async () => {
    const { page, button } = await beginWith(
      [
        { time: Date.parse('2026-01-31T18:20:59Z'), subject: 'before midnight' },
        { time: Date.parse('2026-01-31T23:10:00Z'), subject: 'after midnight' },
      ],
      { timezoneId: 'Europe/Vienna', locale: 'en-GB' },
    );
    const outline = page.locator('.list').locator('h2, h3, h4, time');
    const show = async (now: string) => {
      await page.clock.setFixedTime(new Date(now));
      await button('Refresh').click();
    };
    await show('2026-02-01T00:15:00+01:00');
    await expect
      .poll(() => outline.allTextContents())
      .toEqual([
        'Your inquiries',
        'Today',
        'after midnight',
        '00:10',
        'Yesterday',
        'before midnight',
        '19:20',
      ]);
    expect(await outline.nth(3).getAttribute('title')).toMatch(/00:10:00 (CET|GMT\+1)$/);
    await show('2026-02-02T00:00:00+01:00');
    await expect
      .poll(() => page.locator('.list h3').allTextContents())
      .toEqual(['Yesterday', 'Saturday, 31 January 2026']);
    await expectAccessible(page);
  });

  it('copies the text of an inquiry and the link to it, and says so, also when that is not allowed', async () => {
    const { page, button, context, ids } = await beginWith([
      { time: Date.now(), subject: 'Opening hours', body: 'Are you\nopen?' },
    ]);
    const [id = ''] = ids;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    // On demand only.
    expect(await button('Copy text').count()).toBe(0);
    await button('Opening hours').click();
    await page.getByText(`Reference ${id.slice(0, 13)}`).waitFor();
    const read = async () => page.evaluate('navigator.clipboard.readText()');
    await button('Copy text').click();
    await expect.poll(() => saying(page).textContent()).toBe('Copied');
    expect(await read()).toBe('Opening hours\n\nAre you\nopen?');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(read).toBe(`${here.formUrl}/#${id}`);
    await page.evaluate(
      `navigator.clipboard.writeText = async () => { throw new Error('refused') }`,
    );
    await button('Copy link').click();
    await expect.poll(() => saying(page).textContent()).toBe('Copying didn’t work');
  });

  it('leads to the one inquiry that the address names, also when it is not loaded, and says when there is none', async () => {
    const { page, subjects, button, requests, ids } = await beginWith([
      { time: Date.now() - 86_400_000_000, subject: 'the oldest', body: 'a line\n'.repeat(20) },
      ...numbered(60),
    ]);
    const [oldest = '', older = ''] = ids;
    const focused = page.locator('h4:focus');
    await page.goto(`${here.formUrl}/#${oldest}`);
    await expect.poll(() => focused.allTextContents()).toEqual(['the oldest']);
    // One request, not all the newer ones; what is above it says that it is not in order.
    expect(await subjects.count()).toBe(51);
    expect(await subjects.first().textContent()).toBe('the oldest');
    expect(requests.filter((url) => url.includes('before='))).toHaveLength(1);
    expect(await button('Show less').count()).toBe(1);
    await page.reload();
    await expect.poll(() => focused.allTextContents()).toEqual(['the oldest']);
    // The list may load the rest as soon as its end is in view.
    await button('Show more').scrollIntoViewIfNeeded();
    await expect.poll(() => subjects.count()).toBe(61);
    expect(await subjects.last().textContent()).toBe('the oldest');
    await page.goto(`${here.formUrl}/#${older.toUpperCase()}`);
    await expect.poll(() => focused.allTextContents()).toEqual(['number 1']);
    const unknown = oldest.replace(/.$/, '9');
    await page.goto(`${here.formUrl}/#${unknown}`);
    await page.getByText('This inquiry isn’t in your list.').waitFor();
    await page.goto(`${here.formUrl}/#main`);
    expect(await subjects.count()).toBe(61);
  });

  it('folds only where that hides two lines or more, and marks only what is cut off', async () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_, line) => `line ${line}`).join('\n');
    const texts = [
      { subject: 'seven lines', body: lines(7) },
      { subject: 'eight lines', body: lines(8) },
      { subject: lines(3), body: 'three lines of subject' },
      { subject: lines(4), body: 'four lines of subject' },
      { subject: 'long', body: 'word '.repeat(1_000) + 'the end' },
    ];
    const { page, items } = await beginWith(
      texts.map(({ subject, body }, index) => ({ subject, body, time: Date.now() + index })),
    );
    // The search comes with the sixth inquiry.
    expect(await page.getByRole('searchbox').count()).toBe(0);
    const looks = async () =>
      page.evaluate(`[...document.querySelectorAll('.item')].map((item) => {
        const [title, text] = item.querySelectorAll('h4, .text');
        const lines = (e) => Math.round(e.clientHeight / parseFloat(getComputedStyle(e).lineHeight));
        return [lines(title), lines(text), getComputedStyle(text).maskImage !== 'none', item.querySelector('.small').hidden];
      })`);
    await expect.poll(looks).toEqual([
      [1, 6, true, false],
      [2, 1, false, false],
      [3, 1, false, true],
      [1, 6, true, false],
      [1, 7, false, true],
    ]);
    const toggle = items.first().getByRole('button', { name: /^Show/ });
    const top = async () => items.first().evaluate((item) => item.getBoundingClientRect().top);
    const before = await top();
    await toggle.click();
    expect(await toggle.textContent()).toBe('Show less');
    expect(await top()).toBe(before);
    await page.setViewportSize({ width: 700, height: 800 });
    await page.keyboard.press('Enter');
    expect(await toggle.textContent()).toBe('Show all');
    expect(await toggle.evaluate((element) => element.matches(':focus'))).toBe(true);
    // The browser's search in the page reaches what is folded.
    await items.first().locator('.rest').dispatchEvent('beforematch', { bubbles: true });
    expect(await toggle.textContent()).toBe('Show less');
  });

  it('is printed whole, without a form that is empty and without what can only be clicked', async () => {
    const body = `${'word '.repeat(2_000)}the end`;
    const { page, items, write, email } = await beginWith([
      ...numbered(6),
      { time: Date.now() + 1, subject: 'long', body },
    ]);
    await page.emulateMedia({ media: 'print' });
    for (const hidden of ['form', '.language', '.search', '.list > .hint', 'button', '.links']) {
      expect([hidden, await page.locator(hidden).filter({ visible: true }).count()]).toEqual([
        hidden,
        0,
      ]);
    }
    await page.getByRole('banner').getByText(email).waitFor();
    const date = `getComputedStyle(document.querySelector('h3'), '::after').content`;
    expect(await page.evaluate(date)).toMatch(/\w+ \d+, \d{4}"$|\d+ \w+ \d{4}"$/);
    const text = items.first().locator('.text');
    expect(await text.evaluate((element) => element.innerText.trim())).toBe(body);
    expect(
      await text.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight),
    ).toBeLessThan(2);
    await page.emulateMedia({ media: 'screen' });
    await write('a draft', 'its text\n'.repeat(60));
    await page.emulateMedia({ media: 'print' });
    await expectAccessible(page);
    const draft = page.getByRole('textbox', { name: 'Message' });
    expect(
      await draft.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight),
    ).toBeLessThan(2);
    expect(await items.first().locator('.folded').count()).toBe(0);
  });

  it('loads by itself when the browser is online again, and keeps what was sent while a refresh was running', async () => {
    const { email, submit, page, context, subjects, button } = await beginWith(numbered(1));
    await context.setOffline(true);
    await post(email, 'there');
    await button('Refresh').click();
    await page.getByText('They load when you’re connected again').waitFor();
    await context.setOffline(false);
    await expect.poll(() => subjects.allTextContents()).toEqual(['there', 'number 1']);
    expect(await page.getByText('couldn’t load').count()).toBe(0);
    const sent = Promise.withResolvers<void>();
    let held = 0;
    await intercept(page, 'GET', async (route) => {
      const response = await route.fetch();
      if (held++ === 0) await sent.promise;
      await route.fulfill({ response });
    });
    await button('Refresh').click();
    await expect.poll(() => held).toBe(1);
    await submit('meanwhile');
    await expect.poll(() => subjects.allTextContents()).toEqual(['meanwhile', 'there', 'number 1']);
    sent.resolve();
    await expect.poll(() => held).toBe(2);
    expect(await subjects.allTextContents()).toEqual(['meanwhile', 'there', 'number 1']);
  });

  it('shows hostile text as text, and nothing of it is wider than its column', async () => {
    const texts = [...HOSTILE_TEXTS.slice(0, 49), 'w'.repeat(100 * 1024)];
    const { page, complaints, requests, subjects, items, button } = await beginWith(
      texts.map((body, index) => ({
        time: Date.now() + index,
        subject: body.slice(0, 1_000),
        body,
      })),
      { viewport: { width: 320, height: 640 } },
      `${'long-'.repeat(12)}${anyone()}`,
    );
    const shown = texts
      .toReversed()
      .map((text) => (text.trim() === '' ? 'No subject' : text.slice(0, 1_000)));
    expect(await subjects.allTextContents()).toEqual(shown);
    await items.first().scrollIntoViewIfNeeded();
    await button('Show all').first().click();
    expect((await items.first().locator('.text').textContent())?.length).toBe(100 * 1024);
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
    expect(complaints).toEqual([]);
    expect(requests.filter((url) => url.endsWith('/x'))).toEqual([]);
  });
});
