import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { unzipSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';
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

/** Packages with code in the bundle. A package that slips in, or a shim that no longer replaces one, changes the list. */
// oxfmt-ignore
const PACKAGES = [
  '@aws-sdk/client-dynamodb', '@aws-sdk/core', '@aws-sdk/dynamodb-codec', '@aws-sdk/endpoint-cache',
  '@aws-sdk/middleware-endpoint-discovery', '@aws/lambda-invoke-store', '@smithy/core', '@smithy/node-http-handler',
  '@smithy/signature-v4', '@smithy/types', 'mnemonist', 'obliterator', 'uuidv7',
];

// oxfmt-ignore
const MAILER_PACKAGES = [
  ...PACKAGES.filter((name) => name !== 'uuidv7'),
  '@aws-sdk/client-sesv2', '@aws-sdk/lib-dynamodb', '@aws-sdk/signature-v4-multi-region',
  '@aws-sdk/util-dynamodb', 'electrodb', 'jsonschema',
];

/** Paths of the modules with code in a bundle. */
function inputsOf(name: string): string[] {
  const { outputs } = JSON.parse(
    readFileSync(join(first, `${name}.meta.json`), 'utf8'),
  ) as Metafile;
  return Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    ),
  );
}

describe.each([
  ['handler', 'inquiries.zip', PACKAGES, 85],
  ['mailer', 'mailer.zip', MAILER_PACKAGES, 200],
])('the bundle of the %s', (module, zip, packages, kilobytes) => {
  it('holds these packages and no others', () => {
    const names = inputsOf(module).flatMap(
      (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect([...new Set(names)].toSorted()).toEqual(packages.toSorted());
  });

  it(`is at most ${kilobytes} KB as a zip`, () => {
    expect(readFileSync(join(first, zip)).length / 1024).toBeLessThan(kilobytes);
  });
});

it('the bundle of the handler holds every shim, and nothing of the mailer', () => {
  const inputs = inputsOf('handler');
  expect(inputs).toEqual(expect.arrayContaining(globSync('src/shims/*.ts', { cwd: ROOT })));
  expect(inputs.filter((path) => /src\/mailer\/|delivery/.test(path))).toEqual([]);
});

it('names no path of the machine in what is shipped', () => {
  for (const file of ['handler.mjs', 'inquiries.zip', 'mailer.mjs', 'mailer.zip']) {
    expect(readFileSync(join(first, file)).includes(ROOT)).toBe(false);
  }
});
