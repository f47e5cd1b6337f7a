/** Firefox, driven by WebDriver BiDi. */
import { launch, type HTTPRequest, type KeyInput } from 'puppeteer-core';
import { findProgram, installLineOf } from '../../lib/terminal/programs.ts';
import { unless } from '../helpers/needs.ts';
import { endWithTest } from './end-of-test.ts';

const path = findProgram(['firefox-esr', 'firefox'], process.env);

export const whyNoFirefox =
  path === undefined
    ? `journeys in Firefox need it (${installLineOf('firefox', process.env)})`
    : undefined;
export const needsFirefox = unless(whyNoFirefox);

/** Opens a page in a profile of its own. @param preferences - Of about:config. */
export async function openFirefox(preferences: Record<string, number | boolean> = {}) {
  const browser = await launch({
    browser: 'firefox',
    executablePath: path ?? '',
    defaultViewport: { width: 1180, height: 800 },
    extraPrefsFirefox: preferences,
    timeout: 300_000,
    protocolTimeout: 300_000,
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(300_000);
  const errors: unknown[] = [];
  page.on('pageerror', (error) => {
    // Firefox itself logs a request that had no answer.
    if (!String(error).includes('CORS request did not succeed')) errors.push(error);
  });
  endWithTest(page, () => browser.close(), errors);
  /** Looks into shadow roots, too. */
  const part = (selector: string, text = '') =>
    page.locator(`>>> ${selector}${text && `::-p-text(${text})`}`);
  return {
    page,
    part,
    async control(key: KeyInput): Promise<void> {
      await page.keyboard.down('Control');
      await page.keyboard.press(key);
      await page.keyboard.up('Control');
    },
    see: async (...texts: string[]) => {
      for (const text of texts) await part(':not(script)', text).wait();
    },
    click: async (text: string) => part(':is(button, a, summary)', text).click(),
    textsOf: async (selector: string) =>
      page.$$eval(`>>> ${selector}`, (all) => all.map(({ textContent }) => textContent)),
    async intercept(address: string, answer: (request: HTTPRequest) => Promise<unknown>) {
      await page.setRequestInterception(true);
      page.on('request', (request) => {
        void (request.url().startsWith(address) ? answer(request) : request.continue());
      });
    },
  };
}
