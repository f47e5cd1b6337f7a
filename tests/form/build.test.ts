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

/** Bytes that a server sends before the first acknowledgement: ten segments (RFC 6928). */
const FIRST_FLIGHT = 14_600;
/** Bytes a second at 400 kbit/s, the “Slow 3G” of Chromium's tools. */
const SLOW = 50_000;

it('is painted by what arrives in one round trip', () => {
  expect(size(['index.html'])).toBeLessThan(FIRST_FLIGHT);
});

it.each(LANGUAGES)(
  'in %s, the signed-in form has all its files after two thirds of a second of a slow connection',
  (language) => {
    const all = globSync('**/*.*', { cwd: DIST }).filter(
      (file) => !['inquiry-form.js', '404.html'].includes(file),
    );
    const files = all.filter((file) => isOf(file, language));
    expect(files.some((file) => file.endsWith('.css'))).toBe(true);
    expect(files.filter((file) => file.startsWith(`assets/${language}-`))).toHaveLength(1);
    expect(size(files)).toBeLessThan((2 / 3) * SLOW);
  },
);

it('as a custom element, it adds less than four tenths of a second', () => {
  expect(size(['inquiry-form.js'])).toBeLessThan(0.4 * SLOW);
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
  const html = read('index.html').toString();
  const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, address = '']) => address,
  );
  expect(addresses.length).toBeGreaterThan(3);
  for (const address of addresses) expect(address).toMatch(/^\.\//);
  expect(globSync('**/config.json', { cwd: DIST })).toEqual([]);
});
