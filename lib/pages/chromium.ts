/** Finds and starts Chromium. The package's Chromium (Linux, x64) needs no system libraries. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { findProgram } from '../terminal/programs.ts';

const NAMES = [
  // Without a window, it takes half of the CPU time.
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
const OF_MACOS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
/** `npm ci` empties it if there is an installed browser (scripts/after-install.mjs). */
const PACKAGE = join(import.meta.dirname, '../../node_modules/@sparticuz/chromium');
/** An update of the package removes this folder. */
const UNPACKED = join(PACKAGE, 'unpacked');
const PACKAGED = join(UNPACKED, 'chromium');
// oxfmt-ignore
const FLAGS = [
  '--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-gpu',
  '--disable-quic', '--no-first-run', '--disable-sync',
];

/** The browser's path; undefined if there is none. CHROMIUM_PATH overrides the search. */
export function findChromium(env: NodeJS.ProcessEnv): string | undefined {
  const { CHROMIUM_PATH } = env;
  if (CHROMIUM_PATH) return existsSync(CHROMIUM_PATH) ? CHROMIUM_PATH : undefined;
  const isPackaged =
    process.platform === 'linux' && process.arch === 'x64' && existsSync(join(PACKAGE, 'bin'));
  return findInstalledChromium(env) ?? (isPackaged ? PACKAGED : undefined);
}

export const findInstalledChromium = (env: NodeJS.ProcessEnv): string | undefined =>
  findProgram(NAMES, env) ?? OF_MACOS.find((file) => existsSync(file));

export const launchChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: FLAGS,
    ...(executablePath === PACKAGED && { env: unpack() }),
    // People see scroll bars.
    ignoreDefaultArgs: ['--hide-scrollbars'],
  });

/** Unpacks the package's Chromium once. @returns Its environment. */
function unpack(): NodeJS.ProcessEnv {
  if (!existsSync(UNPACKED)) {
    const folder = mkdtempSync(`${UNPACKED}-`);
    const script = `(await import('@sparticuz/chromium')).default.executablePath()`;
    // The package unpacks to the temporary folder, and libraries only in Lambda's environment.
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: import.meta.dirname,
      env: { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'nodejs24.x' },
    });
    const fonts = join(folder, 'fonts/fonts.conf');
    writeFileSync(fonts, readFileSync(fonts, 'utf8').replaceAll('/tmp', UNPACKED));
    try {
      renameSync(folder, UNPACKED);
    } catch (error) {
      rmSync(folder, { recursive: true });
      if (!existsSync(UNPACKED)) throw error;
    }
  }
  return {
    ...process.env,
    LD_LIBRARY_PATH: join(UNPACKED, 'al2023/lib'),
    ...(!existsSync('/etc/fonts/fonts.conf') && { FONTCONFIG_PATH: join(UNPACKED, 'fonts') }),
  };
}
