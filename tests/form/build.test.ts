import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { WEB } from '../../lib/paths.ts';
import { LANGUAGES } from '../../text/languages.ts';

const DIST = join(WEB, 'dist');
const read = (file: string): Buffer => readFileSync(join(DIST, file));

/** Of the compressed files. */
const size = (files: string[]): number =>
  files.reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, 0);

it.each([
  // Ten segments arrive in one round trip (RFC 6928).
  ['index.html', 14_600],
  // The language is another file.
  ['inquiry-form.js', 22_000],
])('%s has less than %i bytes', (file, most) => {
  expect(size([file])).toBeLessThan(most);
});

it.each(LANGUAGES)('in %s, the page has at most 34 KB, all its files included', (language) => {
  const exclude = ['inquiry-form.js', '404.html', 'assets/??-*'];
  const shared = globSync('**/*.*', { cwd: DIST, exclude });
  const own = globSync(`assets/${language}-*`, { cwd: DIST });
  expect(own).toHaveLength(1);
  expect(size([...shared, ...own])).toBeLessThan(34_000);
});

it('has a policy, before anything else, that allows inline code by its hash alone', () => {
  const html = read('index.html').toString();
  const [before = '', policy = ''] =
    /^.*?http-equiv="Content-Security-Policy"\s+content="([^"]*)"/s.exec(html) ?? [];
  expect(before).not.toMatch(/<(style|script|link)/);
  for (const name of ['script', 'style']) {
    expect(policy).toMatch(new RegExp(`${name}-src 'self' 'sha256-[^']{44}';`));
  }
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|(^| )\*(;| |$)/);
});

it('names no stage: every address in it is relative, and config.json is not part of it', () => {
  const addresses =
    read('index.html')
      .toString()
      .match(/(?<=(src|href)=")[^"]+/g) ?? [];
  expect(addresses.length).toBeGreaterThan(3);
  expect(addresses.filter((address) => !address.startsWith('./'))).toEqual([]);
  expect(globSync('**/config.json', { cwd: DIST })).toEqual([]);
});
