/** A real browser on the local stack: what every browser test starts from. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import { readKey } from '../../lib/issuer-keys.ts';
import { signToken, type TokenRequest } from '../../lib/issuer-tokens.ts';
import { ROOT } from '../../lib/paths.ts';
import { parseToken } from '../../web/src/token.ts';
import { launchBrowser, whyNoBrowser } from './installed-chromium.ts';

export { launchBrowser, whyNoBrowser } from './installed-chromium.ts';

const read = (url: string) => readFileSync(fileURLToPath(url), 'utf8');
const AXE = read(import.meta.resolve('axe-core/axe.min.js'));
const HTML_CODESNIFFER = read(import.meta.resolve('html_codesniffer/build/HTMLCS.js'));

export const PHONE: BrowserContextOptions = {
  viewport: { width: 320, height: 640 },
  isMobile: true,
  hasTouch: true,
  locale: 'en-GB',
};

/** What people write, from the oldest on: subject, text, email. */
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
    'Bonjour,\n\nnous serons huit personnes samedi à 19 h, dont deux enfants.\nAvez-vous une table près de la fenêtre ?\n\nL’une de nous ne mange ni noix ni sésame. Pouvez-vous nous dire quels plats conviennent ?\n\nMerci d’avance\nAna',
    'ana@example.com',
  ],
] as const;

let users = 0;
/** The address of a user whom no other test has. */
export const anyone = (): string => `ana-${process.pid}-${++users}@example.com`;

/** The stack that all browser tests share. */
function useStack() {
  const stack = inject('stack');
  if (stack === undefined) throw new Error('The tests of this project need stack-setup.ts.');
  const { keysFile, ...issuer } = stack.issuer;
  const token = async (request?: TokenRequest) =>
    signToken(await readKey(keysFile), issuer.url, request);
  return { ...stack, issuer: { ...issuer, token } };
}

/** Starts a browser for the tests of a file, and takes a screenshot of each page where a test fails. */
export function setUp() {
  let browser: Browser;
  const visits: { readonly page: Page; readonly context: BrowserContext }[] = [];

  beforeAll(async () => {
    if (whyNoBrowser === undefined) browser = await launchBrowser();
  });
  afterEach(async ({ task }) => {
    const failed = task.result?.state === 'fail';
    for (const [index, { page, context }] of visits.splice(0).entries()) {
      if (failed) {
        const file = join(
          'test-results',
          `${task.name.replaceAll(/\W+/g, '-').slice(0, 80)}-${index}.png`,
        );
        mkdirSync(join(ROOT, 'test-results'), { recursive: true });
        await page.screenshot({ path: join(ROOT, file), fullPage: true }).catch(() => undefined);
        process.stdout.write(`screenshot of the failure: ${file}\n`);
      }
      await context.close();
    }
  });
  afterAll(async () => browser?.close());

  return {
    get stack() {
      return useStack();
    },
    get formUrl() {
      return useStack().formUrl;
    },
    /** Opens a page in a fresh profile, without a session or stored data. */
    async open(options?: BrowserContextOptions) {
      const context = await browser.newContext({
        viewport: { width: 1180, height: 800 },
        ...options,
      });
      context.setDefaultTimeout(15_000);
      /** Everything that a page of this profile complained about, blocked content included. */
      const complaints: string[] = [];
      /** The address of every request. */
      const requests: string[] = [];
      /** The idempotency key of each request that sends an inquiry. */
      const posts: (string | undefined)[] = [];
      context.on('request', (request) => {
        requests.push(request.url());
        const isInquiry = request.method() === 'POST' && request.url().endsWith('/inquiries');
        if (isInquiry) posts.push(request.headers()['idempotency-key']);
      });
      context.on('weberror', (error) => void complaints.push(error.error().message));
      context.on('console', (message) => {
        // A failed request is logged by the browser itself, and some tests want them.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
          complaints.push(message.text());
        }
      });
      const visit = { context, page: await context.newPage(), complaints, requests, posts };
      visits.push(visit);
      return visit;
    },
  };
}

/**
 * Puts a session into the storage of the first page of the form that a profile opens, as after a reload. It has no refresh
 * token, and the issuer does not know the user.
 */
export async function keepSession(
  context: BrowserContext,
  { issuer, formUrl }: ReturnType<typeof useStack>,
  email: string,
): Promise<void> {
  const idToken = await issuer.token({ email });
  const user = parseToken(idToken);
  const session = { idToken, user, expires: Date.now() + 3_600_000, lastSignOut: null };
  await context.addInitScript(`
    if (origin === '${new URL(formUrl).origin}' && localStorage.getItem('test.begun') === null) {
      localStorage.setItem('test.begun', 'yes');
      sessionStorage.setItem('inquiries.session', ${JSON.stringify(JSON.stringify(session))});
    }`);
}

/** Adds to the config.json that a page gets. */
export async function configure(page: Page, keys: object): Promise<void> {
  await page.route('**/config.json', async (route) => {
    const config: unknown = await (await route.fetch()).json();
    await route.fulfill({ json: { ...(config as object), ...keys } });
  });
}

/** The parts of the page, as a user names them. */
export function on(page: Page) {
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const subject = page.getByRole('textbox', { name: 'Subject (optional)' });
  const message = page.getByRole('textbox', { name: 'Message' });
  const send = button(/^(Send inquiry|Sending…|Try again|Sign in again)$/).and(
    page.locator('[type=submit]'),
  );
  /** What the form says: the status, or, where the fields were, that an inquiry was sent. */
  const status = page.locator('form :is(div[role=status], .sent)');
  const write = async (...[ofSubject, ofMessage = '']: [subject: string, message?: string]) => {
    // After sending the fields are hidden.
    if (await button('Write another').isVisible()) await button('Write another').click();
    await subject.fill(ofSubject);
    await message.fill(ofMessage);
  };
  const submit = async (...texts: Parameters<typeof write>) => {
    await write(...texts);
    await send.click();
  };
  return {
    button,
    subject,
    message,
    send,
    status,
    write,
    /** Writes and sends. */
    submit,
    /** Sends, after writing if there is something to write, and waits until it has arrived. */
    async deliver(...texts: Parameters<typeof write> | []) {
      await (texts.length === 0 ? send.click() : submit(...texts));
      await status.getByText('received your inquiry').waitFor();
    },
    alert: page.locator('form').getByRole('alert'),
    items: page.getByRole('list').getByRole('listitem'),
    subjects: page.getByRole('listitem').getByRole('heading'),
    /** From the button on this page, through the issuer's page, back to the list. */
    async signIn(email: string) {
      await button('Sign in').click();
      await enterEmail(page, email);
      await subject.waitFor();
    },
  };
}

/** Signs in on the issuer's page. */
export async function enterEmail(page: Page, email: string): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail address' }).fill(email);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

interface AxeResults {
  readonly violations: readonly { id: string; help: string; nodes: readonly { html: string }[] }[];
}

/** Expects no finding of axe and of HTML_CodeSniffer in light, and none of axe about colours in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  // Through the debugger, which the page's policy does not bind.
  if ((await page.evaluate('typeof HTMLCS')) === 'undefined') {
    await page.evaluate(`${AXE}; ${HTML_CODESNIFFER}; 0`);
  }
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    const rulesToRun =
      colorScheme === 'dark'
        ? `{ runOnly: ['color-contrast'] }`
        : `{ rules: { 'target-size': { enabled: true } } }`;
    const { violations } = (await page.evaluate(`axe.run(${rulesToRun})`)) as AxeResults;
    const found = violations.map(
      ({ id, help, nodes }) =>
        `${colorScheme}: ${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`,
    );
    expect(found).toEqual([]);
  }
  // It sees no shadow roots.
  const errors = await page.evaluate(`new Promise((resolve) => {
    HTMLCS.process('WCAG2AA', document, () => {
      const messages = HTMLCS.getMessages().filter(({ type }) => type === HTMLCS.ERROR);
      resolve(messages.map(({ code, element }) => code + ': ' + element.outerHTML.slice(0, 200)));
    });
  })`);
  expect(errors).toEqual([]);
}

/** Expects that nothing is wider than the page, as wide as it is or, for a moment, as wide as it is told to be. */
export async function expectFits(page: Page, width?: number): Promise<void> {
  const before = page.viewportSize();
  if (width !== undefined) await page.setViewportSize({ width, height: 640 });
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(overflow).toBeLessThanOrEqual(0);
  if (width !== undefined && before !== null) await page.setViewportSize(before);
}

/** Expects that a page is accessible, and fits as wide as it is and as narrow as it may be. */
export async function checkPage(page: Page, narrowest = 320): Promise<void> {
  await expectAccessible(page);
  await expectFits(page);
  await expectFits(page, narrowest);
}

/** With SCREENSHOTS=FOLDER (npm run screenshots) takes a screenshot; a small one where pngquant is installed. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const { SCREENSHOTS } = process.env;
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  // The mouse shows nothing of its own in a screenshot.
  await page.mouse.move(0, 0);
  const file = join(SCREENSHOTS, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled' });
  spawnSync('pngquant', ['--force', '--strip', '--speed=1', '--output', file, '128', file]);
}
