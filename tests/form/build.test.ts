/** The contact form as it is built for every stage. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { buildFormWhenStale } from '../../local/pages/form-server.ts';
import { LANGUAGES } from '../../src/languages.ts';

const DIST = join(import.meta.dirname, '../../web/dist');
const read = (file: string): Buffer => readFileSync(join(DIST, file));

beforeAll(async () => void (await buildFormWhenStale()));

const size = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, 0);
/** What every visitor loads, and what visitors in one language load. */
const isOf = (file: string, language: string): boolean =>
  LANGUAGES.every((other) => other === language || !file.startsWith(`assets/${other}-`));

it.each(LANGUAGES)(
  'is under 32 KB gzipped in %s, two thirds of a second at 400 kbit/s, with the sign-in client, its texts under 3 KB',
  (language) => {
    const all = globSync('**/*.*', { cwd: DIST }).filter((file) => file !== 'inquiry-form.js');
    const files = all.filter((file) => isOf(file, language));
    expect(files.some((file) => file.endsWith('.css'))).toBe(true);
    expect(size(files)).toBeLessThan(32 * 1024);
    const texts = files.filter((file) => file.startsWith(`assets/${language}-`));
    expect(texts).toHaveLength(1);
    expect(size(texts)).toBeLessThan(3 * 1024);
  },
);

it('the custom element is under 18 KB gzipped', () => {
  expect(size(['inquiry-form.js'])).toBeLessThan(18 * 1024);
});

it('carries its own policy, which allows one inline style sheet and one inline script, by their hashes', () => {
  const html = read('index.html').toString();
  const [, policy = ''] =
    /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/.exec(html) ?? [];
  const inline = (name: string) => [...html.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))];
  const hashes = ['script', 'style'].map((name) => {
    const [[, text = ''] = [], ...others] = inline(name);
    expect(others).toEqual([]);
    return createHash('sha256').update(text).digest('base64');
  });
  expect(policy).toContain(
    `default-src 'none'; script-src 'self' 'sha256-${hashes[0]}'; style-src 'self' 'sha256-${hashes[1]}';`,
  );
  expect(policy).toContain("connect-src 'self' https: http://127.0.0.1:* http://localhost:*;");
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  expect(policy).not.toMatch(/unsafe|(^| )\*(;| |$)/);
  for (const element of ['<script', '<style']) {
    expect(html.indexOf(policy)).toBeLessThan(html.indexOf(element));
  }
  expect(html).not.toMatch(/<script(?! type="module" crossorigin src=|>)|\sstyle=|\son\w+=/);
});

it('paints its static content before the style sheet in a file has arrived', () => {
  const html = read('index.html').toString();
  expect(html.match(/<link rel="stylesheet"/g)).toHaveLength(1);
  expect(html.indexOf('<link rel="stylesheet"')).toBeGreaterThan(html.indexOf('</main>'));
  expect(html.indexOf('<script>')).toBeLessThan(html.indexOf('<link rel="stylesheet"'));
  expect(html).toContain('<h1>How can we help?</h1>');
});

it('names no stage: every address in it is relative, and config.json is not part of it', () => {
  const html = read('index.html').toString();
  const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, address = '']) => address,
  );
  expect(addresses.length).toBeGreaterThan(3);
  for (const address of addresses) expect(address).toMatch(/^\.\//);
  expect(globSync('**/config.json', { cwd: DIST })).toEqual([]);
});
