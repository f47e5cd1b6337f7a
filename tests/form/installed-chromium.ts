import type { Browser } from 'playwright-core';
import { findChromium, launchChromium } from '../../lib/pages/chromium.ts';
import { installLineOf } from '../../lib/terminal/programs.ts';

const { REQUIRE_BROWSER, npm_lifecycle_event: command } = process.env;
const path = findChromium(process.env);

/**
 * Why there are no browser tests; undefined if there are. `npm test` goes on without them; where they were asked for
 * (npm run test:browser, REQUIRE_BROWSER=1) it fails.
 */
export const whyNoBrowser =
  path === undefined
    ? `browser tests need Chromium (${installLineOf('chromium', process.env)}, or set CHROMIUM_PATH)`
    : undefined;
if (whyNoBrowser !== undefined && (command === 'test:browser' || REQUIRE_BROWSER === '1')) {
  throw new Error(whyNoBrowser);
}

export const launchBrowser = (): Promise<Browser> => launchChromium(path ?? '');
