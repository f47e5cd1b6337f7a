import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');
const folder = mkdtempSync(join(tmpdir(), 'inquiries-build-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('is byte-identical on every build, in any time zone, and prints the sizes', () => {
  for (const timeZone of ['America/New_York', 'Asia/Tokyo']) {
    const out = join(folder, timeZone.replace('/', '-'));
    const printed = execFileSync(process.execPath, ['scripts/build.ts', '--out', out], {
      cwd: ROOT,
      env: { ...process.env, TZ: timeZone },
      encoding: 'utf8',
    });
    expect(printed).toMatch(/^\S+handler\.mjs +[\d.]+ KB\n\S+inquiries\.zip +[\d.]+ KB\n$/);
    for (const file of ['handler.mjs', 'inquiries.zip']) {
      expect(readFileSync(join(out, file)).equals(readFileSync(join(DIST, file)))).toBe(true);
    }
  }
});

it('zips the handler alone, at the root, as it is in dist', () => {
  const files = unzipSync(readFileSync(join(DIST, 'inquiries.zip')));
  expect(Object.keys(files)).toEqual(['handler.mjs']);
  expect(Buffer.from(files['handler.mjs'] ?? []).equals(readFileSync(join(DIST, 'handler.mjs')))).toBe(true);
});

it('names no path of the machine it was built on', () => {
  for (const file of ['handler.mjs', 'handler.mjs.map', 'inquiries.zip']) {
    expect(readFileSync(join(DIST, file)).includes(ROOT)).toBe(false);
  }
});
