/** The browser of the browser tests, which is not one of the packages. */
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const PATHS = [
  // The same engine without a window needs half of the CPU time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
// oxfmt-ignore
const FLAGS = [
  '--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-gpu',
  '--disable-quic', '--no-first-run', '--disable-sync',
];

const { CHROMIUM_PATH, REQUIRE_BROWSER, npm_lifecycle_event: command } = process.env;
const path = [CHROMIUM_PATH, ...PATHS].find((file) => file !== undefined && existsSync(file));

/**
 * Why there are no browser tests here; undefined when there are. `npm test` goes on without them and says so; where
 * they were asked for (npm run test:browser, REQUIRE_BROWSER=1) that is a failure.
 */
export const whyNoBrowser =
  path === undefined
    ? 'no Chromium was found (apt-get install chromium, or set CHROMIUM_PATH)'
    : undefined;
if (whyNoBrowser !== undefined) {
  if (command === 'test:browser' || REQUIRE_BROWSER === '1') {
    throw new Error(`The browser tests cannot run: ${whyNoBrowser}.`);
  }
  process.stdout.write(`\nSKIPPED: the browser tests, because ${whyNoBrowser}.\n`);
}

export const launchBrowser = async (): Promise<Browser> =>
  // Scroll bars are part of the page that people see.
  chromium.launch({
    executablePath: path ?? '',
    args: FLAGS,
    ignoreDefaultArgs: ['--hide-scrollbars'],
  });
