/** The installed Chromium or Chrome, which is not one of the packages. */
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

/** The path of the browser; undefined if there is none. CHROMIUM_PATH names another one. */
export const findChromium = (env: NodeJS.ProcessEnv): string | undefined =>
  [env['CHROMIUM_PATH'], ...PATHS].find((file) => file && existsSync(file));

/** @param executablePath - From {@link findChromium}. */
export const launchChromium = (executablePath: string): Promise<Browser> =>
  // Scroll bars are part of the page that people see.
  chromium.launch({ executablePath, args: FLAGS, ignoreDefaultArgs: ['--hide-scrollbars'] });
