import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { unzipSync } from 'fflate';
import { afterAll, expect, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';

const folder = mkdtempSync(join(tmpdir(), 'inquiries-build-'));
const [first, second] = [join(folder, 'first'), join(folder, 'second')];
afterAll(() => rmSync(folder, { recursive: true }));

const build = (out: string, TZ: string) =>
  execFileSync(process.execPath, ['scripts/build.ts', '--out', out], {
    cwd: ROOT,
    env: { ...process.env, TZ },
  });
build(first, 'America/New_York');

it('is byte-identical on every build, in any time zone', () => {
  build(second, 'Asia/Tokyo');
  for (const file of readdirSync(first).filter((name) => !name.endsWith('.meta.json'))) {
    expect(readFileSync(join(second, file)).equals(readFileSync(join(first, file)))).toBe(true);
  }
});

it.each([
  ['inquiries.zip', 'handler.mjs'],
  ['mailer.zip', 'mailer.mjs'],
])('%s holds only %s, at the root, identical to the file beside the zip', (zip, module) => {
  const files = unzipSync(readFileSync(join(first, zip)));
  expect(Object.keys(files)).toEqual([module]);
  expect(Buffer.from(files[module] ?? []).equals(readFileSync(join(first, module)))).toBe(true);
});

it.each([
  ['inquiries.zip', 85],
  ['mailer.zip', 200],
])('%s has at most %i KB', (zip, kilobytes) => {
  expect(readFileSync(join(first, zip)).length / 1024).toBeLessThan(kilobytes);
});

it('the handler holds every shim, and neither ElectroDB, SES nor the mailer', () => {
  const { outputs } = JSON.parse(
    readFileSync(join(first, 'handler.meta.json'), 'utf8'),
  ) as Metafile;
  const inputs = Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    ),
  );
  expect(inputs).toEqual(expect.arrayContaining(globSync('src/shims/*.ts', { cwd: ROOT })));
  const others = /electrodb|sesv2|lib-dynamodb|credential-provider|src\/mailer\/|delivery/;
  expect(inputs.filter((path) => !path.startsWith('src/shims/') && others.test(path))).toEqual([]);
});

it('names no path of the machine in what is shipped', () => {
  for (const file of ['handler.mjs', 'inquiries.zip', 'mailer.mjs', 'mailer.zip']) {
    expect(readFileSync(join(first, file)).includes(ROOT)).toBe(false);
  }
});
