import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { endWithTest } from './end-of-test.ts';
import { launchBrowser, whyNoBrowser } from './installed-chromium.ts';
import { unless } from '../helpers/needs.ts';

export { whyNoBrowser };
export const needsBrowser = unless(whyNoBrowser);

const HTML_CODESNIFFER = readFileSync(
  new URL(import.meta.resolve('html_codesniffer/build/HTMLCS.js')),
  'utf8',
);

export const PHONE: BrowserContextOptions = {
  viewport: { width: 320, height: 640 },
  isMobile: true,
  hasTouch: true,
  locale: 'en-GB',
};

export const SAMPLES = [
  ['', 'Without a subject it works as well.', 'eli@example.com'],
  [
    '<b>Is this bold?</b>',
    '<script>alert(1)</script> is shown as it was typed.',
    'dora@example.com',
  ],
  [
    'سؤال عن الفاتورة',
    'مرحبا، لم تصلني فاتورة شهر أكتوبر. هل يمكنكم إرسالها مرة أخرى؟',
    'amal@example.com',
  ],
  ['Opening hours on 6 December', 'Are you open on the afternoon of the 6th?', 'ben@example.com'],
  [
    'Café réservation 🎂',
    'Bonjour,\n\nnous serons huit personnes samedi à 19 h.\nAvez-vous une table près de la fenêtre ?\n\nMerci d’avance\n\nAna',
    'ana@example.com',
  ],
] as const;

let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

/** In a fresh profile. The test expects no complaints. */
export async function openPage(options?: BrowserContextOptions) {
  browser ??= launchBrowser();
  const context = await (
    await browser
  ).newContext({
    viewport: { width: 1180, height: 800 },
    // Pages of some tests seem to have public addresses.
    permissions: ['clipboard-read', 'clipboard-write', 'local-network-access'],
    ...options,
  });
  context.setDefaultTimeout(300_000);
  // Without a network interface Chromium says that it is offline.
  await context.addInitScript(
    `Object.defineProperty(navigator, 'onLine', { value: true, configurable: true })`,
  );
  /** A test removes those that it expects. */
  const complaints: string[] = [];
  const requests: string[] = [];
  /** The Idempotency-Key of each POST. */
  const posts: (string | undefined)[] = [];
  context.on('request', (request) => {
    requests.push(request.url());
    const isInquiry = request.method() === 'POST' && request.url().endsWith('/inquiries');
    if (isInquiry) posts.push(request.headers()['idempotency-key']);
  });
  context.on('weberror', (error) => void complaints.push(error.error().message));
  context.on('console', (message) => {
    // Some tests want requests to fail, which the browser logs.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  const page = await context.newPage();
  endWithTest(page, () => context.close(), complaints);
  const requested = (part: string) => requests.filter((url) => url.includes(part));
  return { ...on(page), context, complaints, requests, requested, posts };
}

export async function setOnline(page: Page, isOnline: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(navigator, 'onLine', { value: ${isOnline} })`);
  await page.context().setOffline(!isOnline);
  // Without a network interface the browser dispatches none.
  await page.evaluate(`dispatchEvent(new Event('${isOnline ? 'online' : 'offline'}'))`);
}

export function on(page: Page) {
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const click = async (...names: string[]) => {
    for (const name of names) await button(name).first().click();
  };
  const subject = page.locator('#subject');
  const message = page.locator('#body');
  const send = page.locator('[type=submit]');
  const emailField = page.getByRole('textbox', { name: 'E-mail address' });
  const items = page.locator('.item');
  const subjects = items.locator('h4');
  const see = async (...texts: (string | RegExp)[]) => {
    for (const text of texts) {
      await page.getByText(text).filter({ visible: true }).first().waitFor();
    }
  };
  const enterEmail = async (email: string) => {
    await emailField.fill(email);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const write = async (ofSubject: string, ofMessage = ofSubject) => {
    const another = button('Write another');
    await page.locator('#subject:read-write').or(another).filter({ visible: true }).waitFor();
    if (await another.isVisible()) await another.click();
    await subject.fill(ofSubject);
    await message.fill(ofMessage);
  };
  const submit = async (...texts: Parameters<typeof write>) => {
    await write(...texts);
    await send.click();
  };
  return {
    page,
    button,
    click,
    subject,
    message,
    send,
    subjects,
    emailField,
    enterEmail,
    see,
    seeIn: async (part: string, text: string | RegExp) =>
      page.locator(part).getByText(text).waitFor(),
    /** Waits for the text. */
    async check(text: string | RegExp) {
      await see(text);
      await checkPage(page);
    },
    lacks: async (text: string) => page.getByText(text).waitFor({ state: 'detached' }),
    write,
    submit,
    async deliver(...texts: Parameters<typeof write> | []) {
      await (texts.length === 0 ? send.click() : submit(...texts));
      await see('received your inquiry');
    },
    items,
    lists: async (...expected: string[]) =>
      await expect.poll(() => subjects.allTextContents()).toEqual(expected),
    async holds(ofSubject: string, ofMessage = '') {
      const texts = async () => [await subject.inputValue(), await message.inputValue()];
      await expect.poll(texts).toEqual([ofSubject, ofMessage]);
    },
    /** By text or, without any, by id. */
    async focusIs(expected: string) {
      const focused = `document.activeElement.textContent || document.activeElement.id`;
      await expect.poll(() => page.evaluate(focused)).toBe(expected);
    },
    async signIn(email: string) {
      await click('Sign in');
      await enterEmail(email);
      await subject.waitFor();
    },
  };
}

/** A page's; a mail is shown inside of one, so it has no landmarks. */
const RULES = `{ rules: { 'target-size': { enabled: true } } }`;
export const MAIL_RULES = `{ runOnly: ['wcag2a', 'wcag2aa'] }`;

/** No findings of HTML_CodeSniffer and axe; of axe in dark only about colours. */
export async function expectAccessible(page: Page, ofLight = RULES): Promise<void> {
  // The debugger is not bound by the page's policy.
  if ((await page.evaluate('typeof HTMLCS')) === 'undefined') {
    await page.evaluate(`${axe.source}; ${HTML_CODESNIFFER}; 0`);
  }
  for (const [colorScheme, rules] of [
    ['dark', `{ runOnly: ['color-contrast'] }`],
    ['light', ofLight],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate<AxeResults>(`axe.run(${rules})`);
    const found = violations.map(({ id, help, nodes }) =>
      [colorScheme, id, help].concat(nodes.map(({ html }) => html)),
    );
    const errors = await page.evaluate(`new Promise((resolve) => {
      HTMLCS.process('WCAG2AA', document, () => {
        const messages = HTMLCS.getMessages().filter(({ type }) => type === HTMLCS.ERROR);
        resolve(messages.map(({ code, element }) => code + ': ' + element.outerHTML.slice(0, 200)));
      });
    })`);
    expect([found, errors]).toEqual([[], []]);
  }
}

export async function expectFits(page: Page): Promise<void> {
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(overflow).toBeLessThanOrEqual(0);
}

export async function expectInView(place: Locator): Promise<void> {
  const isInView = await place.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= element.ownerDocument.documentElement.clientHeight;
  });
  expect(isInView).toBe(true);
}

export async function checkPage(page: Page, narrowest = 320): Promise<void> {
  await expectAccessible(page);
  await expectFits(page);
  const before = page.viewportSize();
  await page.setViewportSize({ width: narrowest, height: 640 });
  await expectFits(page);
  if (before !== null) await page.setViewportSize(before);
}

/** With SCREENSHOTS=FOLDER (npm run screenshots). */
export async function takePicture(page: Page, name: string): Promise<void> {
  const { SCREENSHOTS } = process.env;
  if (SCREENSHOTS === undefined) return;
  // A hover would be in the picture.
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), animations: 'disabled' });
}
