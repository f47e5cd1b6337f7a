/** A real browser on the local stack: what every browser test starts from. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { EngineName } from '../../local/database/engines.ts';
import { buildFormWhenStale } from '../../local/pages/form-server.ts';
import { startStack } from '../../local/stack.ts';
import type { Stack } from '../../local/stack.ts';
import type { DraftStore } from '../../web/src/drafts.ts';
import { parseToken } from '../../web/src/token.ts';
import { ROOT } from '../../lib/paths.ts';

const NAMES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const FLAGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
];

const { CHROMIUM_PATH, REQUIRE_BROWSER, SCREENSHOTS, npm_lifecycle_event: command } = process.env;
const path = [CHROMIUM_PATH, ...NAMES].find((file) => file !== undefined && existsSync(file));

/**
 * Why there are no browser tests here; undefined when there are. `npm test` goes on without them and says so; where
 * they were asked for (npm run test:browser, REQUIRE_BROWSER=1) that is a failure.
 */
export const whyNoBrowser =
  path === undefined ? 'no Chromium was found (apt-get install chromium, or set CHROMIUM_PATH)' : undefined;
if (whyNoBrowser !== undefined) {
  if (command === 'test:browser' || REQUIRE_BROWSER === '1')
    throw new Error(`The browser tests cannot run: ${whyNoBrowser}.`);
  process.stdout.write(`\nSKIPPED: the browser tests, because ${whyNoBrowser}.\n`);
}

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** What the tests of one file work with. */
export interface Surroundings {
  readonly stack: Stack;
  readonly formUrl: string;
  /** A fresh profile, without a session or stored data. */
  open(options?: BrowserContextOptions): Promise<Visit>;
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Everything that a page of this profile complained about, blocked content included. */
  readonly complaints: string[];
  /** The address of every request. */
  readonly requests: string[];
}

export const launchBrowser = async (): Promise<Browser> =>
  // Scroll bars are part of the page that people see.
  chromium.launch({ executablePath: path ?? '', args: FLAGS, ignoreDefaultArgs: ['--hide-scrollbars'] });

let users = 0;
/** An address that no other test of this stack uses. */
export const anyone = (): string => `ana-${++users}@example.com`;

/** Starts stack and browser for the tests of a file, and keeps a picture of each page where a test fails. */
export function setUp(engine: EngineName = 'dynalite'): Surroundings {
  let stack: Stack;
  let browser: Browser;
  const visits: Visit[] = [];

  beforeAll(async () => {
    if (whyNoBrowser !== undefined) return;
    await buildFormWhenStale();
    [stack, browser] = await Promise.all([startStack({ engine, log: () => undefined }), launchBrowser()]);
  });
  afterEach(async ({ task }) => {
    const failed = task.result?.state === 'fail';
    for (const [index, { page, context }] of visits.splice(0).entries()) {
      if (failed) {
        const file = join('test-results', `${task.name.replaceAll(/\W+/g, '-').slice(0, 80)}-${index}.png`);
        mkdirSync(join(ROOT, 'test-results'), { recursive: true });
        await page.screenshot({ path: join(ROOT, file), fullPage: true }).catch(() => undefined);
        process.stdout.write(`picture of the failure: ${file}\n`);
      }
      await context.close();
    }
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.close();
  });

  return {
    get stack() {
      return stack;
    },
    get formUrl() {
      return stack.formUrl;
    },
    async open(options) {
      const context = await browser.newContext({ viewport: { width: 1180, height: 800 }, ...options });
      context.setDefaultTimeout(15_000);
      const complaints: string[] = [];
      const requests: string[] = [];
      context.on('request', (request) => void requests.push(request.url()));
      context.on('weberror', (error) => void complaints.push(error.error().message));
      context.on('console', (message) => {
        // A failed request is logged by the browser itself, and some tests want them.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
          complaints.push(message.text());
        }
      });
      const visit = { context, page: await context.newPage(), complaints, requests };
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
  { issuer, formUrl }: Stack,
  email: string,
): Promise<void> {
  const idToken = await issuer.token({ email });
  const user = parseToken(idToken);
  const session = { idToken, user, expires: Date.now() + 3_600_000, lastSignOut: null };
  await context.addInitScript(
    ({ text, origin }) => {
      const page = globalThis as unknown as {
        readonly origin: string;
        readonly name: string;
        readonly sessionStorage: DraftStore;
        readonly localStorage: DraftStore;
      };
      if (page.origin !== origin || page.localStorage.getItem('test.begun') !== null) return;
      page.localStorage.setItem('test.begun', 'yes');
      page.sessionStorage.setItem('inquiries.session', text);
    },
    { text: JSON.stringify(session), origin: new URL(formUrl).origin },
  );
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
  return {
    button,
    subject: page.getByRole('textbox', { name: 'Subject' }),
    message: page.getByRole('textbox', { name: 'Message' }),
    send: button(/^(Send inquiry|Sending…|Try again|Sign in again)$/).and(page.locator('[type=submit]')),
    alert: page.locator('form').getByRole('alert'),
    /** What the form says: the status, or in the place of the fields that an inquiry was sent. */
    status: page.locator('form :is(div[role=status], .sent)'),
    items: page.getByRole('list').getByRole('listitem'),
    subjects: page.getByRole('listitem').getByRole('heading'),
    async write(subject: string, message: string) {
      // After sending the fields are hidden.
      if (await button('Write another').isVisible()) await button('Write another').click();
      await page.getByRole('textbox', { name: 'Subject' }).fill(subject);
      await page.getByRole('textbox', { name: 'Message' }).fill(message);
    },
    /** From the button on this page, through the issuer's page, back to the list. */
    async signIn(email: string) {
      await button('Sign in').click();
      await page.getByRole('textbox', { name: 'E-mail address' }).fill(email);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { name: 'Your inquiries' }).waitFor();
    },
  };
}

interface AxeResults {
  readonly violations: readonly { id: string; help: string; nodes: readonly { html: string }[] }[];
  readonly passes: readonly unknown[];
}

/**
 * Expects no violation of any rule of axe in light, and of the one rule about colours in dark; resolves to the number of
 * rules that applied.
 */
export async function expectAccessible(page: Page): Promise<number> {
  let rules = 0;
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    // Through the debugger, which the page's policy does not bind.
    await page.evaluate(AXE);
    const rulesToRun = colorScheme === 'dark' ? `{ runOnly: ['color-contrast'] }` : '';
    const { violations, passes } = (await page.evaluate(`axe.run(${rulesToRun})`)) as AxeResults;
    const found = violations.map(
      ({ id, help, nodes }) => `${colorScheme}: ${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`,
    );
    expect(found).toEqual([]);
    rules = Math.max(rules, passes.length);
  }
  return rules;
}

/** Expects that nothing is wider than the page. */
export async function expectFits(page: Page): Promise<void> {
  const width = page.viewportSize()?.width ?? 0;
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
}

/** With SCREENSHOTS=FOLDER (npm run screenshots) takes pictures of a page; small ones where pngquant is installed. */
export async function takePicture(page: Page, name: string, alsoDark: boolean): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  // The mouse shows nothing of its own in a picture.
  await page.mouse.move(0, 0);
  for (const colorScheme of alsoDark ? (['dark', 'light'] as const) : (['light'] as const)) {
    await page.emulateMedia({ colorScheme });
    const file = join(SCREENSHOTS, `${name}${colorScheme === 'dark' ? '-dark' : ''}.png`);
    await page.screenshot({ path: file, animations: 'disabled' });
    spawnSync('pngquant', ['--force', '--strip', '--speed=1', '--output', file, '128', file]);
  }
}
