import type { Browser } from 'playwright-core';
import { findChromium, launchChromium } from '../../lib/pages/chromium.ts';
import { installLineOf } from '../../lib/terminal/programs.ts';

const { REQUIRE_BROWSER, npm_lifecycle_event: command } = process.env;
const path = findChromium(process.env);

/** `npm test` goes on without a browser; where it was asked for (REQUIRE_BROWSER=1) the run fails. */
export const whyNoBrowser =
  path === undefined
    ? `browser tests need Chromium (${installLineOf('chromium', process.env)}, or set CHROMIUM_PATH)`
    : undefined;
if (whyNoBrowser !== undefined && (command === 'test:browser' || REQUIRE_BROWSER === '1')) {
  throw new Error(whyNoBrowser);
}

export const launchBrowser = (): Promise<Browser> => launchChromium(path ?? '');
