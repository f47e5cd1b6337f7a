import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';

const isText = (file: string) =>
  !/\.png$|package-lock\.json$/.test(file) && existsSync(join(ROOT, file));
const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .slice(0, -1)
  .filter(isText);
const pages = files.filter((file) => file.endsWith('.md'));

it('names only pages, records and, in pages, files of code that exist', () => {
  const inCode = /\b(?<path>docs\/(?:[\w-]+\/)*\w[\w-]*(?:\.(?:md|yaml|png|svg))?)/g;
  const inPages =
    /(?<![\w/.-])(?<path>(?:src|web|inbox|local|deploy|lib|scripts|infra|tests|bench)\/[\w/.-]+\.[a-z]+\b)/g;
  const namesIn = (file: string) =>
    [inCode, ...(pages.includes(file) ? [inPages] : [])].flatMap(
      (pattern) => readText(file).match(pattern) ?? [],
    );
  // A record is named by its number; a file to be copied has the suffix `.example`.
  const exists = (file: string, name: string) =>
    [join(dirname(file), name), name].some(
      (path) => globSync([path, `${path}-*.md`, `${path}.example`], { cwd: ROOT }).length > 0,
    );
  const missing = files.flatMap((file) =>
    namesIn(file).flatMap((name) => (exists(file, name) ? [] : `${file}: ${name}`)),
  );
  expect(missing).toEqual([]);
});

it.each(pages)('%s links to files and headings that exist', (page) => {
  const anchorsOf = (file: string) =>
    [...readText(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
  const broken = [...readText(page).matchAll(/\]\((?!https?:)([^)\s#]*)#?([^)\s]*)\)/g)].filter(
    ([, path = '', anchor = '']) => {
      const target = path === '' ? page : join(dirname(page), path);
      return (
        !existsSync(join(ROOT, target)) || (anchor !== '' && !anchorsOf(target).includes(anchor))
      );
    },
  );
  expect(broken.map(([link]) => link)).toEqual([]);
});
