/** Programs of this machine: where they are, and the line that installs one. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of the first of some programs that is on the PATH. */
export const findProgram = (names: readonly string[], env: NodeJS.ProcessEnv): string | undefined =>
  names
    .flatMap((name) => (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name)))
    .find((file) => existsSync(file));

/** Names of packages, by the package manager that has them. */
const PACKAGES = {
  java: {
    'apt-get': 'default-jdk-headless',
    dnf: 'java-latest-openjdk-devel',
    brew: '--cask temurin',
  },
  chromium: { 'apt-get': 'chromium', dnf: 'chromium', brew: '--cask google-chrome' },
};

/** @returns The line that installs a program here; without a known package manager, that it must be installed. */
export function installLineOf(program: keyof typeof PACKAGES, env: NodeJS.ProcessEnv): string {
  const { [program]: packages } = PACKAGES;
  const found = Object.entries(packages).find(([manager]) => findProgram([manager], env));
  if (found === undefined) return program === 'java' ? 'install a JDK 17' : 'install Chromium';
  const sudo = found[0] === 'brew' || process.getuid?.() === 0 ? '' : 'sudo ';
  return `${sudo}${found.join(' install ')}`;
}
