/**
 * Checks that documents name existing paths, tests and identifiers, the rooms' arrows that lint and sources have, one
 * version, and the packages in use.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseOptions, runCommand, type Main } from '../lib/terminal/command-line.ts';
import { ROOT } from '../lib/paths.ts';
import { ARROWS } from '../oxlint.config.ts';

const PATH =
  /(?<![\w/.{,-])(?:src|web|ui|inbox|local|deploy|infra|lib|scripts|tests|bench|docs)\/[\w./-]*\.\w+\b(?!` “)/g;
/** `name` (`path`), or several names. */
const NAMED = /((?:`\w+`(?:, | and )?)+) \(`([\w./-]+\.ts)`/g;

/** `folder/file` “title” of a test below `tests`; “…” ends the beginning of a title. */
const TEST = /`(\w+\/[\w.-]+)` “([^”]+)”/g;

/** A document's reader creates these. */
const CREATED = /(?:settings|stages)\.auto\.tfvars(?:\.json)?$|\/imports\.tf$/;

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

function hasTest(source: string, title: string): boolean {
  const [beginning = '', rest] = title.split('…');
  return [`'`, '"', '`'].some((quote) =>
    source.includes(quote + beginning + (rest === undefined ? quote : '')),
  );
}

/** Finds rooms whose arrows differ between drawing, lint and imports. */
function checkArrows(): string[] {
  const drawing = read('docs/architecture.md').replaceAll(/\[".*?"\]/g, '');
  return Object.entries(ARROWS).flatMap(([room, allowed]) => {
    const [, drawn = ''] = new RegExp(`^  ${room} --> (.*)$`, 'm').exec(drawing) ?? [];
    const sources = globSync(`${room}/**/*.ts`, { cwd: ROOT, exclude: ['**/node_modules/**'] });
    const text = sources.map(read).join('\n');
    const used = allowed.filter((other) => new RegExp(`from '(\\.\\./)+${other}/`).test(text));
    const all = [drawn.split(' & ').filter(Boolean), allowed, used];
    const isRight = new Set(all.map((rooms) => rooms.toSorted().join())).size === 1;
    return isRight ? [] : [`docs/architecture.md, oxlint.config.ts: ${room} uses ${used.join()}`];
  });
}

function checkVersions(): string[] {
  const [changelog, ...others] = [
    /^## \[(\d.*?)\]/m.exec(read('CHANGELOG.md')),
    /^\[(.*)\]\(CHANGELOG\.md\)$/m.exec(read('README.md')),
    /(?<=Version )([\d.]+)/.exec(read('README.md')),
    ...['package.json', 'web/package/package.json'].map((file) =>
      /"version": "(.*)"/.exec(read(file)),
    ),
  ].map((found) => found?.[1]);
  return others.every((other) => other === changelog)
    ? []
    : [`CHANGELOG.md has version ${changelog}, README.md and packages ${others.join()}`];
}

/** Finds packages that docs/dependencies.md lacks, or that nothing needs. */
function checkDependencies(): string[] {
  const columns = read('docs/dependencies.md').matchAll(/^\| (`.*?) +\|/gm);
  const named = new Set([...columns].flatMap(([row]) => row.match(/(?<=`)[^`, ]+(?=`)/g) ?? []));
  const declared = ['', 'bench/', 'tests/form/apps/'].flatMap((folder) => {
    const text = read(`${folder}package.json`);
    const { dependencies = {}, devDependencies = {} } = JSON.parse(text) as Record<string, object>;
    return Object.keys({ ...dependencies, ...devDependencies });
  });
  const needed = new Set(declared.map((name) => name.replace(/^@types\/.*/, '@types/*')));
  const wrong = [...named, ...needed].filter((name) => !named.has(name) || !needed.has(name));
  return wrong.map((name) => `docs/dependencies.md and package.json differ in ${name}`);
}

export const main: Main = async (args) => {
  parseOptions('Usage: npm run check:docs', {}, args);
  const documents = globSync(['*.md', 'docs/**/*.md', 'web/**/README.md'], { cwd: ROOT });
  const mistakes = documents.flatMap((document) => {
    const text = read(document).replaceAll(/\s+/g, ' ');
    const paths = (text.match(PATH) ?? []).map((path) => path.replace(/\.$/, ''));
    const missing = paths.filter((path) => !CREATED.test(path) && !existsSync(join(ROOT, path)));
    const unknown = [...text.matchAll(NAMED)].flatMap(([, names = '', path = '']) => {
      if (!existsSync(join(ROOT, path))) return [];
      const source = read(path);
      const wrong = (names.match(/\w+/g) ?? []).filter((name) => !source.includes(name));
      return wrong.map((name) => `${path} has no ${name}`);
    });
    const untested = [...text.matchAll(TEST)].flatMap(([, file = '', title = '']) => {
      const path = `tests/${file}.test.ts`;
      if (!existsSync(join(ROOT, path))) return [`there is no ${path}`];
      return hasTest(read(path), title) ? [] : [`${path} has no test “${title}”`];
    });
    return [...missing.map((path) => `there is no ${path}`), ...unknown, ...untested].map(
      (mistake) => `${document}: ${mistake}`,
    );
  });
  mistakes.push(...checkArrows(), ...checkVersions(), ...checkDependencies());
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
};

if (import.meta.main) await runCommand(main);
