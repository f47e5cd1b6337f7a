/** The page in each language, with a company's texts: no violation of axe in light and in dark, nothing wider than the page. */
import { describe, expect, it } from 'vitest';
import { languages, loadLocale } from '../../web/src/locale.ts';
import { readText } from '../helpers/repository.ts';
import {
  anyone,
  checkPage,
  configure,
  expectAccessible,
  keepSession,
  setUp,
  whyNoBrowser,
} from '../helpers/chromium.ts';

const BRANDING = JSON.parse(readText('web/config.example.json')) as object;
type Rgb = readonly [red: number, green: number, blue: number];

/** The contrast of two colours, 1 to 21: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(...colors: readonly [Rgb, Rgb]): number {
  const [dark = 0, light = 0] = colors
    .map((color) => {
      const [red = 0, green = 0, blue = 0] = color.map((value) =>
        value <= 0.04045 * 255 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .toSorted((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

describe.skipIf(whyNoBrowser !== undefined)('the page', () => {
  const here = setUp();

  it.each(languages)('in %s: from the sign-in to the sent inquiry', async (language) => {
    const { strings, direction } = await loadLocale(language, []);
    const { page, context, complaints } = await here.open({
      viewport: { width: 1120, height: 800 },
      locale: language,
    });
    const check = async () => checkPage(page);
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const text = (name: string) => page.getByRole('textbox', { name, exact: true });

    await configure(page, BRANDING);
    await page.goto(here.formUrl);
    await button(strings.session.signIn).waitFor();
    expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual([
      language,
      direction,
    ]);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(strings.form.title);
    await check();

    await keepSession(context, here.stack, anyone());
    await page.reload();
    await page.getByText(strings.list.emptyTitle).waitFor();
    const body = 'شكرا. Danke! ありがとう。 <b>'.repeat(30);
    await text(strings.form.subject).fill(strings.form.title);
    await text(strings.form.message).fill(body);

    await context.setOffline(true);
    await button(strings.form.send).click();
    await page.getByText(strings.failures.notSentOffline).waitFor();
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
    await configure(page, { ...BRANDING, languages: ['en', 'de', 'fr'] });
    await keepSession(context, here.stack, anyone());
    await page.goto(here.formUrl);
    await page.getByRole('textbox', { name: de.strings.form.subject }).fill('Grüße');
    const menu = page.getByRole('combobox', { name: de.strings.page.language });
    expect(await menu.getByRole('option').allTextContents()).toEqual(['English', 'Deutsch', 'français']);
    await menu.selectOption('fr');
    const subject = page.getByRole('textbox', { name: fr.strings.form.subject });
    await subject.waitFor();
    expect(await subject.inputValue()).toBe('Grüße');
    expect(await page.title()).toBe(fr.strings.page.title('Example Shop'));
    await page.reload();
    await subject.waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('fr');
  });

  it('shows the static content in the language of the browser before its files have arrived', async () => {
    const { page } = await here.open({ locale: 'ar' });
    await page.route('**/assets/*.js', async () => undefined);
    await page.goto(here.formUrl, { waitUntil: 'commit' });
    const { strings } = await loadLocale('ar', []);
    await page.getByRole('heading', { name: strings.form.title }).waitFor();
    expect(await page.evaluate('document.documentElement.dir')).toBe('rtl');
  });

  it('shows the colour of the company as it is, or as much darker or lighter as 4.5:1 needs', async () => {
    const { page } = await here.open();
    await page.goto(here.formUrl);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    const levels = ['00', '33', '66', '99', 'cc', 'ff'];
    const colors = levels.flatMap((r) => levels.flatMap((g) => levels.map((b) => `#${r}${g}${b}`)));
    for (const [colorScheme, readable] of [
      ['light', '#3f4fd0'],
      ['dark', '#a3b0ff'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const painted = (await page.evaluate(`{
        const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
        const probe = document.querySelector('main');
        const paint = (name) => {
          probe.style.color = 'var(' + name + ')';
          canvas.fillStyle = getComputedStyle(probe).color;
          canvas.fillRect(0, 0, 1, 1);
          return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
        };
        ${JSON.stringify([readable, ...colors])}.map((color) => {
          document.documentElement.style.setProperty('--brand', color);
          return ['--accent', '--page', '--card', '--tint', '--on-accent'].map(paint);
        });
      }`)) as [Rgb, ...Rgb[]][];
      expect(painted[0]?.[0]).toEqual(
        [1, 3, 5].map((start) => Number.parseInt(readable.slice(start, start + 2), 16)),
      );
      const lowest = painted.map(([accent, ...others]) =>
        Math.min(...others.map((other) => contrast(accent, other))),
      );
      expect(Math.min(...lowest)).toBeGreaterThanOrEqual(4.5);
    }
  });

  it('has the name, the colour and the links of the company, and offers one language without a menu', async () => {
    const { page } = await here.open({ locale: 'en' });
    await configure(page, { ...BRANDING, accent: '#ffee00', languages: ['en'] });
    await page.goto(here.formUrl);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.title()).toBe('Contact Example Shop');
    expect(await page.locator('#brand').textContent()).toContain('Example Shop');
    expect(await page.locator('#brand img').getAttribute('src')).toBe('favicon.svg');
    const links = page.locator('#links').getByRole('link');
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
      'https://example.com',
      'https://example.com/privacy',
      'https://example.com/legal',
    ]);
    expect(await page.getByRole('combobox').count()).toBe(0);
    await page.getByText('Ask us anything about your order').waitFor();
    // Yellow cannot be read on white, nor white on yellow: axe checks the contrast in both themes.
    await expectAccessible(page);
  });
});
