/** The browser of the browser tests, which is not one of the packages. */
import type { Browser } from 'playwright-core';
import { findChromium, launchChromium } from '../../lib/chromium.ts';

const { REQUIRE_BROWSER, npm_lifecycle_event: command } = process.env;
const path = findChromium(process.env);

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

export const launchBrowser = (): Promise<Browser> => launchChromium(path ?? '');
