import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export const findProgram = (names: readonly string[], env: NodeJS.ProcessEnv): string | undefined =>
  names
    .flatMap((name) => (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name)))
    .find((file) => existsSync(file));

const PACKAGES = {
  java: {
    'apt-get': 'default-jdk-headless',
    dnf: 'java-latest-openjdk-devel',
    brew: '--cask temurin',
  },
  chromium: { 'apt-get': 'chromium', dnf: 'chromium', brew: '--cask google-chrome' },
  firefox: { 'apt-get': 'firefox-esr', dnf: 'firefox', brew: '--cask firefox' },
};

const TITLES: Record<keyof typeof PACKAGES, string> = {
  java: 'a JDK 17',
  chromium: 'Chromium',
  firefox: 'Firefox',
};

/** @returns The command line, or a sentence if the package manager is unknown. */
export function installLineOf(program: keyof typeof PACKAGES, env: NodeJS.ProcessEnv): string {
  const { [program]: packages } = PACKAGES;
  const found = Object.entries(packages).find(([manager]) => findProgram([manager], env));
  if (found === undefined) return `install ${TITLES[program]}`;
  const sudo = found[0] === 'brew' || process.getuid?.() === 0 ? '' : 'sudo ';
  return `${sudo}${found.join(' install ')}`;
}
