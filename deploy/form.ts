/** The built form of a stage: its files, whether they run, and whether they are what is served. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { UsageError } from '../lib/command-line.ts';
import { findChromium, launchChromium } from '../lib/chromium.ts';
import { WEB } from '../lib/paths.ts';
import { parseConfig } from '../web/src/config.ts';

const FOLDER = join(WEB, 'dist');
/** Content types of what Vite writes and of logos, by extension. */
export const TYPES: Readonly<Partial<Record<string, string>>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
};
/** How long the page may take until it shows something to click. */
const SHOWN_MS = 20_000;

/** Contents by their names. */
export type Form = ReadonlyMap<string, Buffer>;

/**
 * Reads web/dist, and adds config.json.
 *
 * @param connectOrigins - The addresses that the page may connect to; none: its policy stays as it was built.
 * @throws UsageError when the form would refuse its settings, or cannot be served.
 */
export function readForm(config: object, connectOrigins: readonly string[]): Form {
  try {
    const { logo } = parseConfig(config);
    if (logo !== undefined && !(extname(logo) in TYPES && existsSync(join(FOLDER, logo)))) {
      throw new Error(
        `“logo” must be an SVG, PNG, JPEG or WebP file in web/public, not “${logo}”.`,
      );
    }
  } catch (error) {
    throw new UsageError(`The form would refuse its settings: ${(error as Error).message}`);
  }
  const names = globSync('**/*.*', { cwd: FOLDER });
  const unknown = names.find((name) => !(extname(name) in TYPES));
  if (unknown !== undefined) {
    throw new UsageError(`web/dist/${unknown} has no content type that is known.`);
  }
  const files = new Map(names.map((name) => [name, readFileSync(join(FOLDER, name))]));
  const page = narrowPolicy(String(files.get('index.html')), connectOrigins);
  return files
    .set('index.html', Buffer.from(page))
    .set('config.json', Buffer.from(`${JSON.stringify(config, null, 2)}\n`));
}

/** The page with the addresses it may connect to in its policy. */
const narrowPolicy = (page: string, origins: readonly string[]): string =>
  origins.length === 0
    ? page
    : page.replace(/connect-src [^;"]*/, `connect-src 'self' ${origins.join(' ')}`);

/**
 * Opens the form in the installed Chromium, until it shows a button to sign in.
 *
 * @param form - Answers the requests to `url`; undefined: they go there.
 * @returns What was done, for the terminal.
 * @throws Error with what the browser says.
 */
export async function runForm(
  url: string,
  form: Form | undefined,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const path = findChromium(env);
  if (path === undefined) return 'not run: no Chromium is installed (CHROMIUM_PATH names one)';
  const browser = await launchChromium(path);
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const failure = page.waitForEvent('pageerror', { timeout: SHOWN_MS }).then((error) => {
      throw error;
    });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    if (form !== undefined) {
      await page.route(`${url}**`, (route, request) => {
        const name = new URL(request.url()).pathname.slice(1) || 'index.html';
        const body = form.get(name) ?? '';
        return route.fulfill({
          status: body ? 200 : 403,
          body,
          contentType: TYPES[extname(name)] ?? '',
        });
      });
    }
    const button = page.locator('main button').first();
    const shown = page.goto(url).then(() => button.waitFor({ timeout: SHOWN_MS }));
    await Promise.race([shown, failure]).catch((error: Error) => {
      const [line = ''] = error.message.split('\n');
      throw new Error(`the form does not run: ${[line, ...complaints].join('; ')}`);
    });
    return 'run in Chromium';
  } finally {
    await browser.close();
  }
}

/** What a stage serves otherwise than it was built: one text for each file. */
export async function listDifferences(url: string, form: Form): Promise<string[]> {
  const differences = await Promise.all(
    [...form].map(async ([name, content]) => {
      try {
        const response = await fetch(new URL(name === 'index.html' ? '' : name, url), {
          signal: AbortSignal.timeout(20_000),
        });
        if (!response.ok) return `${name} is answered with ${response.status}`;
        const served = Buffer.from(await response.arrayBuffer());
        return content.equals(served) ? undefined : `${name} is not the one that was built`;
      } catch (error) {
        return `${name} cannot be loaded: ${(error as Error).message}`;
      }
    }),
  );
  return differences.filter((each) => each !== undefined);
}
