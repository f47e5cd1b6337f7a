/** Every state and language of the page: accessible in light and dark, and no wider than 320 px. */
import { expect, it } from 'vitest';
import { INQUIRY } from '../helpers/events.ts';
import { internalError, refusals, unauthorized, type ApiError } from '../../src/errors.ts';
import { LANGUAGES } from '../../text/languages.ts';
import BRANDING from '../../web/config.example.json' with { type: 'json' };
import { loadLocale } from '../../web/src/languages/locale.ts';
import {
  expectAccessible,
  expectFits,
  PHONE,
  SAMPLES,
  setOnline,
  takePicture,
} from './chromium.ts';
import {
  stack,
  paste,
  intercept,
  block,
  hold,
  openPage,
  arrive,
  begin,
  beginWith,
} from './contact-form.ts';

const TEXTS = ['Where is my parcel?', 'It was to arrive on Monday.'] as const;

const beginWithInquiries = async (arrival?: Parameters<typeof begin>[0]) => {
  const rows = SAMPLES.map(([subject, body]) => [subject, body] as const);
  const visit = await beginWith(rows, { locale: 'en-GB', ...arrival });
  await visit.button('Show all').first().waitFor();
  return visit;
};

it('without a session, a configuration, and inquiries', async () => {
  const failed = await arrive({ path: '/?error=access_denied&state=none' });
  await failed.check('We couldn’t sign you in');
  const linked = await arrive({ path: `/#${INQUIRY.id}` });
  await linked.check(/^Sign in to see inquiry .01a1f794-6f77.\.$/);
  const { see, check } = await arrive({ config: { issuer: undefined } });
  await see('The contact form cannot start');
  await check('“issuer” is missing');
  const loading = await begin();
  const load = await hold(loading.page, 'GET');
  await loading.page.reload();
  await loading.check('One moment…');
  load();
  await loading.page.locator('.list').waitFor({ state: 'hidden' });
  await loading.check('How can we help?');
});

it('with inquiries, a draft, sending, and sent', async () => {
  const { page, check, click, write, send } = await beginWithInquiries();
  await check('Your inquiries');
  await takePicture(page, 'list');
  await click('Show all');
  await check('Show less');
  const release = await hold(page, 'POST');
  await page.clock.install();
  await write(...TEXTS);
  await check('Draft saved');
  await send.click();
  await check('Sending');
  await page.clock.fastForward(6_000);
  await check('taking longer than usual');
  release();
  await check('received your inquiry');
});

it('after each failure, with the text kept', async () => {
  const visit = await beginWithInquiries();
  const { page, write, send, check, click, holds, posts } = visit;
  const fails = async (error: ApiError, text: string) => {
    await intercept(page, 'POST', async (route) => {
      const response = await route.fetch({ method: 'GET' });
      const { status, code, message: why } = error;
      const json = { error: code, message: why };
      await route.fulfill({ status, headers: { ...response.headers(), ...error.headers }, json });
    });
    await send.click();
    await visit.seeIn('[role=alert], dialog', text);
    await check(text);
  };
  const setTime = async (time: string) => page.clock.setFixedTime(new Date(time));
  await page.clock.install();
  await setTime('2026-11-21T13:53:00');
  await write(...TEXTS);
  await fails(refusals.limit(1, 700), 'from 14:05');
  expect(await send.getAttribute('aria-disabled')).toBe('true');
  await setTime('2026-11-21T14:05:00');
  await page.clock.fastForward(700_000);
  await check('Ready to send');
  await fails(refusals.reused(), 'An earlier version');
  await click('Keep editing');
  await fails(internalError(), 'Something went wrong');
  const [sent, key] = [posts.length, posts.at(-1)];
  // The service has forgotten the key, so nothing is sent.
  await setTime('2026-11-22T14:00:00');
  await send.click();
  await check('We may already have your inquiry');
  expect(posts).toHaveLength(sent);
  await fails(unauthorized(), 'Your session has ended');
  expect(posts.lastIndexOf(key)).toBe(sent - 1);
  await holds(...TEXTS);
});

it('of a company, beyond the limit, and in forced colours', async () => {
  const { page, click, message, deliver, check } = await beginWithInquiries({ config: BRANDING });
  const checkColors = async (text: string) => {
    for (const forcedColors of ['active', 'none'] as const) {
      await page.emulateMedia({ forcedColors });
      await check(text);
    }
  };
  await click('Invoice');
  await paste(message, 'a long story '.repeat(32_000));
  await checkColors('Too long by');
  await deliver('Invoice: my last one', 'It has the address of our old shop.');
  await checkColors('received your inquiry');
});

it('on a phone, without an answer', async () => {
  const { submit, page, see, check, click } = await beginWithInquiries({
    ...PHONE,
    config: BRANDING,
  });
  const lines = `{
    const name = new Range();
    name.selectNode(document.querySelector('#brand a').lastChild);
    name.getClientRects().length;
  }`;
  expect(await page.evaluate(lines)).toBe(1);
  await click('Show all');
  await page.locator('#list-title').evaluate((element) => element.scrollIntoView());
  await check('Write to us');
  await block(page, stack.url);
  await submit(...TEXTS);
  await see('The service isn’t responding');
  await click('Refresh');
  await check('couldn’t load');
  expect(await page.getByText('Sign out').isVisible()).toBe(false);
  await click('Menu');
  await check('Sign out');
  await click('Sign out');
  await check('You have unsent text');
});

it.each(LANGUAGES)('in %s, also in large type: from the form to the sign-out', async (language) => {
  const { strings, direction } = await loadLocale(language, []);
  const { page, click, see, check, write, send, items } = await begin({
    locale: language,
    config: BRANDING,
  });
  await page.locator(`html[lang=${language}][dir=${direction}]`).waitFor();
  expect(await page.title()).toBe(`${strings.page.title} – Example Shop`);
  await see(BRANDING.introduction[language], strings.page.yourData);
  await takePicture(page, `send-${language}`);
  await write(strings.form.title, 'شكرا. Danke! ありがとう。 <b>'.repeat(30));
  await setOnline(page, false);
  await send.click();
  await check(strings.failures.offline);
  await setOnline(page, true);
  await click(strings.session.signOut);
  await check(strings.ask.unsent.title);
  await click(strings.ask.staySignedIn);
  await send.click();
  await items.first().waitFor();
  await check(strings.sent.title);
  await click(strings.sent.another);
  await check(strings.form.title);
  for (const [width, size] of [
    [320, '150%'],
    [1180, ''],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
    await expectFits(page);
  }
  await click(strings.session.signOut);
  await see(strings.page.yourData);
  await check(strings.session.signedOut);
});

it('changes its language from the menu, and remembers the choice', async () => {
  const config = { ...BRANDING, languages: ['en', 'de', 'fr'] };
  const { page, write, holds } = await begin({ locale: 'de-AT', config });
  await write('Grüße');
  const menu = page.getByRole('combobox', { name: 'Sprache' });
  expect(await menu.innerText()).toBe('English\nDeutsch\nFrançais');
  await menu.focus();
  await page.keyboard.press('ArrowDown');
  const chosen = page.getByRole('combobox', { name: 'Langue' });
  await chosen.and(page.locator(':focus')).waitFor();
  await holds('Grüße', 'Grüße');
  await page.reload();
  await chosen.waitFor();
  expect(await page.locator('#brand').innerText()).toMatch(/^E\s*Example Shop$/);
  for (const address of [BRANDING.home, BRANDING.privacy, BRANDING.imprint]) {
    await page.locator(`#links [href="${address}"]`).waitFor();
  }
});

it('begins in the language of the browser', async () => {
  const { page } = await openPage({ locale: 'ar' });
  await page.route('**/assets/*', async () => undefined);
  await page.goto(stack.formUrl, { waitUntil: 'commit' });
  const { strings } = await loadLocale('ar', []);
  await page.getByRole('heading', { name: strings.form.title }).waitFor();
  expect(await page.evaluate('document.dir')).toBe('rtl');
});

it('makes the colour of the company darker or lighter as needed', async () => {
  const { page, button } = await arrive({ config: { languages: ['en'] } });
  await button('Sign in').waitFor();
  expect(await page.getByRole('combobox').count()).toBe(0);
  await page.evaluate(`for (const colours of ['accent page', 'accent card', 'accent tint', 'on-fill fill']) {
    const text = Object.assign(document.createElement('p'), { textContent: colours });
    const [color, background] = colours.split(' ');
    text.style.cssText = 'color: var(--' + color + '); background: var(--' + background + ')';
    document.querySelector('main').append(text);
  }`);
  for (const brand of ['white', 'yellow', 'lime', 'red', 'blue', 'black', 'gray']) {
    await page.evaluate(`document.documentElement.style.setProperty('--brand', '${brand}')`);
    await expectAccessible(page);
  }
});
