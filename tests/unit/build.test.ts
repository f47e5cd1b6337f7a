import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FILES = ['dist/handler.mjs', 'dist/handler.mjs.map', 'dist/inquiries.zip'];

const build = (timeZone: string): string =>
  execFileSync(process.execPath, ['scripts/build.ts'], {
    cwd: ROOT,
    env: { ...process.env, TZ: timeZone },
    encoding: 'utf8',
  });
const hashes = (): string[] =>
  FILES.map((file) =>
    createHash('sha256')
      .update(readFileSync(join(ROOT, file)))
      .digest('hex'),
  );

it('is byte-identical on every build, in any time zone, and prints the sizes', () => {
  expect(build('America/New_York')).toMatch(
    /^dist\/handler\.mjs +[\d.]+ KB\ndist\/inquiries\.zip +[\d.]+ KB\n$/,
  );
  const first = hashes();
  build('Asia/Tokyo');
  expect(hashes()).toEqual(first);
});

it('zips the handler alone, at the root, as it is in dist', () => {
  const files = unzipSync(readFileSync(join(ROOT, 'dist/inquiries.zip')));
  expect(Object.keys(files)).toEqual(['handler.mjs']);
  expect(Buffer.from(files['handler.mjs'] ?? []).equals(readFileSync(join(ROOT, 'dist/handler.mjs')))).toBe(
    true,
  );
});

it('names no path of the machine it was built on', () => {
  for (const file of FILES) expect(readFileSync(join(ROOT, file)).includes(ROOT)).toBe(false);
});
