/**
 * Removes what `npm ci` installs without need: Node's headers, a second Node if the machine's own has Lambda's version,
 * and a second Chromium.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const PACKAGE = join(import.meta.dirname, '../node_modules/node');
const PROGRAM = join(PACKAGE, 'bin/node');
const PLATFORMS = join(PACKAGE, 'node_modules');
const CHROMIUM = join(import.meta.dirname, '../node_modules/@sparticuz/chromium/bin');

if (existsSync(PLATFORMS)) {
  for (const platform of readdirSync(PLATFORMS)) {
    rmSync(join(PLATFORMS, platform, 'include'), { recursive: true, force: true });
  }
  const own = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find((file) => existsSync(file));
  // The range of `engines` in package.json.
  if (own && /^v24\.(?:[89]|\d\d)\./.test(execFileSync(own, ['--version'], { encoding: 'utf8' }))) {
    rmSync(PLATFORMS, { recursive: true });
    rmSync(PROGRAM);
    symlinkSync(own, PROGRAM);
  }
}
if (existsSync(CHROMIUM)) {
  const { findInstalledChromium } = await import('../lib/pages/chromium.ts');
  if (findInstalledChromium(process.env)) rmSync(CHROMIUM, { recursive: true });
}
