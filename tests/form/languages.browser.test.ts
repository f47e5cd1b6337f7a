/** The page in each language, with a company's texts: no violation of axe in light and in dark, nothing wider than the page. */
import { describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/languages.ts';
import BRANDING from '../../web/config.example.json' with { type: 'json' };
import { loadLocale } from '../../web/src/locale.ts';
import * as browser from '../helpers/chromium.ts';

describe.skipIf(browser.whyNoBrowser !== undefined)('the page', () => {
  const here = browser.setUp();

  it.each(LANGUAGES)('in %s: from the sign-in to the sent inquiry', async (language) => {
    const { strings, direction } = await loadLocale(language, []);
    const { page, context, complaints } = await here.open({
      viewport: { width: 1120, height: 800 },
      locale: language,
    });
    const check = async () => browser.checkPage(page);
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const text = (name: string) => page.getByRole('textbox', { name, exact: true });

    await browser.configure(page, BRANDING);
    await page.goto(here.formUrl);
    await button(strings.session.signIn).waitFor();
    expect(
      await page.evaluate('[document.documentElement.lang, document.documentElement.dir]'),
    ).toEqual([language, direction]);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(strings.form.title);
    expect(await page.title()).toBe(`${strings.page.title} – Example Shop`);
    expect(await page.locator('#brand').innerText()).toMatch(/^E\s*Example Shop$/);
    const links = page.locator('#links').getByRole('link');
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
      'https://example.com',
      'https://example.com/privacy',
      'https://example.com/legal',
    ]);
    await page.getByText(BRANDING.introduction[language]).waitFor();
    await check();

    await browser.keepSession(context, here.stack, browser.anyone());
    await page.reload();
    await text(strings.form.fields.subject).waitFor();
    const body = 'شكرا. Danke! ありがとう。 <b>'.repeat(30);
    await text(strings.form.fields.subject).fill(strings.form.title);
    await text(strings.form.fields.body).fill(body);

    await context.setOffline(true);
    await button(strings.form.send).click();
    await page.getByText(strings.form.offline).waitFor();
    await check();
    await context.setOffline(false);

    await button(strings.session.signOut).click();
    await page.getByRole('dialog').getByText(strings.ask.unsent.title).waitFor();
    await check();
    await button(strings.ask.staySignedIn).click();

    await page.locator('[type=submit]').click();
    await page.getByText(strings.sent.title).waitFor();
    await page.getByRole('listitem').first().waitFor();
    await check();
    await button(strings.sent.another).click();
    await check();
    expect(complaints).toEqual([]);
  });

  it('changes its language from the menu, keeps the typed text, and remembers the choice', async () => {
    const { page, context } = await here.open({ locale: 'de-AT' });
    const [de, fr] = await Promise.all([loadLocale('de', []), loadLocale('fr', [])]);
    await browser.configure(page, { ...BRANDING, languages: ['en', 'de', 'fr'] });
    await browser.keepSession(context, here.stack, browser.anyone());
    await page.goto(here.formUrl);
    await page.getByRole('textbox', { name: de.strings.form.fields.subject }).fill('Grüße');
    const menu = page.getByRole('combobox', { name: de.strings.page.language });
    expect(await menu.getByRole('option').allTextContents()).toEqual([
      'English',
      'Deutsch',
      'français',
    ]);
    await menu.focus();
    await page.keyboard.press('ArrowDown');
    const subject = page.getByRole('textbox', { name: fr.strings.form.fields.subject });
    await subject.waitFor();
    expect(await subject.inputValue()).toBe('Grüße');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe(fr.strings.page.language);
    expect(await page.title()).toBe(`${fr.strings.page.title} – Example Shop`);
    await page.reload();
    await subject.waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('fr');
  });

  it('shows the static content in the language of the browser before its files have arrived', async () => {
    const { page } = await here.open({ locale: 'ar' });
    await page.route('**/assets/*', async () => undefined);
    await page.goto(here.formUrl, { waitUntil: 'commit' });
    const { strings } = await loadLocale('ar', []);
    await page.getByRole('heading', { name: strings.form.title }).waitFor();
    expect(await page.evaluate('document.documentElement.dir')).toBe('rtl');
  });

  it('makes the colour of the company as much darker or lighter as needed, and offers one language without a menu', async () => {
    const { page } = await here.open();
    await browser.configure(page, { languages: ['en'] });
    await page.goto(here.formUrl);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.getByRole('combobox').count()).toBe(0);
    await page.evaluate(`document.querySelector('main').append(
      ...[['--accent', '--page'], ['--accent', '--card'], ['--accent', '--tint'], ['--on-fill', '--fill']].map(
        ([color, background]) => {
          const text = Object.assign(document.createElement('p'), { textContent: color + ' on ' + background });
          text.style.cssText = 'color: var(' + color + '); background: var(' + background + ')';
          return text;
        }),
    )`);
    for (const brand of [
      '#ffffff',
      '#ffff00',
      '#00ff00',
      '#ff0000',
      '#0000ff',
      '#000000',
      '#777777',
    ]) {
      await page.evaluate(`document.documentElement.style.setProperty('--brand', '${brand}')`);
      await browser.expectAccessible(page);
    }
    // It fills as it is: a dark one in element.browser.test.ts, a light one here.
    const painted = await page.evaluate(`{
      document.documentElement.style.setProperty('--brand', '#ffee00');
      const canvas = new OffscreenCanvas(1, 1).getContext('2d');
      canvas.fillStyle = getComputedStyle(document.querySelector('.primary')).backgroundColor;
      canvas.fillRect(0, 0, 1, 1);
      [...canvas.getImageData(0, 0, 1, 1).data];
    }`);
    expect(painted).toEqual([0xff, 0xee, 0, 0xff]);
  });
});
