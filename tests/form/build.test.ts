/** The contact form as it is built for every stage. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { buildFormWhenStale } from '../../local/form-server.ts';
import { WEB } from '../../lib/paths.ts';
import { LANGUAGES } from '../../src/languages.ts';

const DIST = join(WEB, 'dist');
const read = (file: string): Buffer => readFileSync(join(DIST, file));

beforeAll(async () => void (await buildFormWhenStale()));

/** Bytes of files on the way to a browser. */
const size = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, 0);

/** Bytes that a server sends before the first acknowledgement: ten segments (RFC 6928). */
const FIRST_FLIGHT = 14_600;

it('is painted by what arrives in one round trip', () => {
  expect(size(['index.html'])).toBeLessThan(FIRST_FLIGHT);
});

it.each(LANGUAGES)('in %s, the page has at most 34 KB, all its files included', (language) => {
  const others = LANGUAGES.filter((other) => other !== language).map((other) => `assets/${other}-`);
  const files = globSync('**/*.*', { cwd: DIST, exclude: ['inquiry-form.js', '404.html'] }).filter(
    (file) => !others.some((other) => file.startsWith(other)),
  );
  for (const one of [`assets/${language}-`, 'assets/index-', 'index.html']) {
    expect(files.some((file) => file.startsWith(one))).toBe(true);
  }
  expect(size(files)).toBeLessThan(34_000);
});

it('the custom element has at most 22 KB without its language', () => {
  expect(size(['inquiry-form.js'])).toBeLessThan(22_000);
});

it('has a policy of its own that allows no inline code but the one whose hashes it has, before anything else', () => {
  const html = read('index.html').toString();
  const [, policy = ''] =
    /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/.exec(html) ?? [];
  for (const name of ['script', 'style']) {
    const [, inline = ''] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(html) ?? [];
    const hash = createHash('sha256').update(inline).digest('base64');
    expect(policy).toContain(`${name}-src 'self' 'sha256-${hash}';`);
    expect(html.indexOf(policy)).toBeLessThan(html.indexOf(`<${name}`));
  }
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|(^| )\*(;| |$)/);
});

it('names no stage: every address in it is relative, and config.json is not part of it', () => {
  const addresses = [
    ...read('index.html')
      .toString()
      .matchAll(/(?:src|href)="([^"]+)"/g),
  ];
  expect(addresses.length).toBeGreaterThan(3);
  for (const [, address] of addresses) expect(address).toMatch(/^\.\//);
  expect(globSync('**/config.json', { cwd: DIST })).toEqual([]);
});
