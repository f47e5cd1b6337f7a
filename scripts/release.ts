/** Collects the files of a release (.github/workflows/release.yml), after `npm run build` and `build:package`. */
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import {
  parseCommandLine,
  runCommand,
  UsageError,
  type Main,
} from '../lib/terminal/command-line.ts';
import { ROOT } from '../lib/paths.ts';
import { SAME_BYTES } from './build.ts';

const USAGE = `
Usage: npm run release -- TAG   (such as v0.2.0)

Writes the files of a release to dist/release: build.zip (what npm run build makes), the package
inquiry-form, openapi.yaml, sbom.json and SHA256SUMS; and its notes to dist/notes.md.
`;

/** The changelog's section of a version. @throws UsageError without one. */
function readNotes(version: string): string {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const section = changelog
    .split(/^(?=## )/m)
    .find((each) => each.startsWith(`## [${version}] - `));
  if (section !== undefined) return section.split('\n').slice(1).join('\n').trim();
  throw new UsageError(`CHANGELOG.md has no section "## [${version}] - DATE".`);
}

const runNpm = (...words: string[]) =>
  execFileSync('npm', words, { cwd: ROOT, maxBuffer: 1 << 27 });

const hashOf = (file: string, algorithm: string, encoding: 'base64' | 'hex'): string =>
  createHash(algorithm).update(readFileSync(file)).digest(encoding);

export const main: Main = async (args, { stdout }) => {
  const { positionals } = parseCommandLine(USAGE, {}, { args });
  const [tag = ''] = positionals;
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  if (tag !== `v${version}`) {
    throw new UsageError(`The tag is "${tag}", but package.json has version ${version}.`);
  }
  const notes = readNotes(version);
  const out = join(ROOT, 'dist/release');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });

  const built = globSync(['dist/*.zip', 'web/dist/**/*.*'], { cwd: ROOT }).toSorted();
  const files = Object.fromEntries(built.map((file) => [file, readFileSync(join(ROOT, file))]));
  writeFileSync(join(out, 'build.zip'), zipSync(files, SAME_BYTES));
  runNpm('pack', '--silent', './dist/inquiry-form', '--pack-destination', out);
  cpSync(join(ROOT, 'docs/openapi.yaml'), join(out, 'openapi.yaml'));
  const sbom = runNpm('sbom', '--sbom-format', 'cyclonedx', '--package-lock-only');
  writeFileSync(join(out, 'sbom.json'), sbom);

  const sums = globSync('*', { cwd: out })
    .toSorted()
    .map((file) => `${hashOf(join(out, file), 'sha256', 'hex')}  ${file}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
  const element = hashOf(join(ROOT, 'web/dist/inquiry-form.js'), 'sha384', 'base64');
  writeFileSync(
    join(ROOT, 'dist/notes.md'),
    `${notes}\n\n\`inquiry-form.js\`: \`integrity="sha384-${element}"\`\n`,
  );
  stdout.write(sums.join(''));
};

if (import.meta.main) await runCommand(main);
