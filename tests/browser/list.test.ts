/** The list of the contact form in a real browser. */
import { describe, expect, it } from 'vitest';
import { anyone, on, whyNoBrowser } from './chromium.ts';
import { setUpForm } from './contact-form.ts';

const HOSTILE = [
  ['<script>document.title = "hacked"</script>', '<img src=x onerror="document.title = \'hacked\'">'],
  ['\u202Egnp.exe \u2066\u2067', '\u202E right to left \u202E\n\u0000\u0007 control'],
  ['👩‍👩‍👧‍👦🏳️‍🌈', `${'Z̷̧̢̛̗̰̺̈́͛̾͝'.repeat(40)} ${'👍🏽'.repeat(500)}`],
  ['', 'w'.repeat(300 * 1024)],
] as const;

describe.skipIf(whyNoBrowser !== undefined)('the list', () => {
  const { here, begin, post, intercept } = setUpForm();

  it('shows twenty and then the older ones that the service’s Link leads to', async () => {
    const email = anyone();
    for (let number = 1; number <= 45; number++) await post(email, `number ${number}`);
    const { subjects, button, page } = await begin(email);
    await expect.poll(() => subjects.count()).toBe(20);
    expect(await subjects.first().textContent()).toBe('number 45');
    await button('Show more').click();
    await expect.poll(() => subjects.count()).toBe(40);
    expect(await page.locator(':focus').textContent()).toBe('number 25');
    await post(email, 'a new one');
    await button('Refresh').click();
    await expect.poll(() => subjects.count()).toBe(41);
    await button('Show more').click();
    await expect.poll(() => subjects.count()).toBe(46);
    expect(await button('Show more').count()).toBe(0);
    expect(new Set(await subjects.allTextContents()).size).toBe(46);
  });

  it('keeps an inquiry that was sent while a refresh was running', async () => {
    const { page, send, write, subjects, button } = await begin();
    await page.getByText('Nothing here yet').waitFor();
    const sent = Promise.withResolvers<void>();
    let held = 0;
    await intercept(page, 'GET', async (route) => {
      const response = await route.fetch();
      if (held++ === 0) await sent.promise;
      await route.fulfill({ response });
    });
    await button('Refresh').click();
    await expect.poll(() => held).toBe(1);
    await write('meanwhile', '');
    await send.click();
    await expect.poll(() => subjects.allTextContents()).toEqual(['meanwhile']);
    sent.resolve();
    await expect.poll(() => held).toBe(2);
    expect(await subjects.allTextContents()).toEqual(['meanwhile']);
  });

  it('writes times in the reader’s own zone, the exact one as a title', async () => {
    const email = anyone();
    await post(email, 'when');
    const { page } = await here.open({ timezoneId: 'Asia/Kathmandu', locale: 'en-GB' });
    await page.goto(here.formUrl);
    await on(page).signIn(email);
    const time = page.getByRole('listitem').locator('time');
    const machine = (await time.getAttribute('datetime')) ?? '';
    const local = new Date(machine).toLocaleTimeString('en-GB', {
      timeZone: 'Asia/Kathmandu',
      timeStyle: 'short',
    });
    expect(await time.textContent()).toContain(local);
    expect(await time.getAttribute('title')).toMatch(/\d\d:\d\d:\d\d GMT\+5:45/);
  });

  it('shows hostile text as text, and nothing of it breaks the layout at 320 px', async () => {
    const email = anyone();
    for (const [subject, body] of HOSTILE) await post(email, subject, body);
    const { page, complaints, requests } = await here.open({ viewport: { width: 320, height: 640 } });
    await page.goto(here.formUrl);
    const { signIn, subjects, items, button } = on(page);
    await signIn(email);
    await expect.poll(() => subjects.count()).toBe(HOSTILE.length);
    const shown = HOSTILE.toReversed().map(([subject]) => subject || 'No subject');
    expect(await subjects.allTextContents()).toEqual(shown);
    await items.first().scrollIntoViewIfNeeded();
    await button(/Show all \(300 kB\)/).click();
    expect((await items.first().locator('.text').textContent())?.length).toBe(300 * 1024);
    const wide = await page.evaluate(
      `[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > 320).length`,
    );
    expect(wide).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    expect(await page.title()).toBe('Contact us');
    expect(complaints).toEqual([]);
    expect(requests.filter((url) => url.endsWith('/x'))).toEqual([]);
  });

  it('says when it cannot be loaded, and loads when asked again', async () => {
    const email = anyone();
    await post(email, 'there');
    const { page } = await here.open();
    await page.route(`${here.stack.url}/**`, async (route) => route.abort('connectionrefused'));
    await page.goto(here.formUrl);
    const { signIn, button, subjects } = on(page);
    await signIn(email);
    await page.getByText('couldn’t load your inquiries').waitFor();
    await page.unroute(`${here.stack.url}/**`);
    await button('Try again').click();
    await expect.poll(() => subjects.allTextContents()).toEqual(['there']);
  });
});
