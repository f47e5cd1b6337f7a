import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'inquiries-build-'));
const [first, second] = [join(folder, 'first'), join(folder, 'second')];
afterAll(() => rmSync(folder, { recursive: true }));

const build = (out: string, TZ: string): string =>
  execFileSync(process.execPath, ['scripts/build.ts', '--out', out], {
    cwd: ROOT,
    env: { ...process.env, TZ },
    encoding: 'utf8',
  });
let printed = '';
beforeAll(() => {
  printed = build(first, 'America/New_York');
});

it('prints the sizes', () => {
  expect(printed).toMatch(/^\S+handler\.mjs +[\d.]+ KB\n\S+inquiries\.zip +[\d.]+ KB\n$/);
});

it('is byte-identical on every build, in any time zone', () => {
  build(second, 'Asia/Tokyo');
  for (const file of ['handler.mjs', 'handler.mjs.map', 'inquiries.zip']) {
    expect(readFileSync(join(second, file)).equals(readFileSync(join(first, file)))).toBe(true);
  }
});

it('zips the handler alone, at the root, as it is beside the zip', () => {
  const files = unzipSync(readFileSync(join(first, 'inquiries.zip')));
  expect(Object.keys(files)).toEqual(['handler.mjs']);
  expect(Buffer.from(files['handler.mjs'] ?? []).equals(readFileSync(join(first, 'handler.mjs')))).toBe(true);
});

it('names no path of the machine in what is shipped', () => {
  for (const file of ['handler.mjs', 'inquiries.zip']) {
    expect(readFileSync(join(first, file)).includes(ROOT)).toBe(false);
  }
});
