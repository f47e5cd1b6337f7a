import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { unzipSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';

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
const printed = build(first, 'America/New_York');

it('prints the sizes', () => {
  expect(printed).toMatch(/^\S+handler\.mjs +[\d.]+ KB\n\S+inquiries\.zip +[\d.]+ KB\n$/);
});

it('is byte-identical on every build, in any time zone', () => {
  build(second, 'Asia/Tokyo');
  for (const file of ['handler.mjs', 'handler.mjs.map', 'inquiries.zip']) {
    expect(readFileSync(join(second, file)).equals(readFileSync(join(first, file)))).toBe(true);
  }
});

it('zips only the handler, at the root, identical to the file beside the zip', () => {
  const files = unzipSync(readFileSync(join(first, 'inquiries.zip')));
  expect(Object.keys(files)).toEqual(['handler.mjs']);
  expect(Buffer.from(files['handler.mjs'] ?? []).equals(readFileSync(join(first, 'handler.mjs')))).toBe(true);
});

/** Packages with code in the bundle. A package that slips in, or a shim that no longer replaces one, changes the list. */
const PACKAGES = [
  '@aws-sdk/client-dynamodb',
  '@aws-sdk/core',
  '@aws-sdk/dynamodb-codec',
  '@aws-sdk/middleware-endpoint-discovery',
  '@aws-sdk/endpoint-cache',
  '@aws/lambda-invoke-store',
  '@smithy/core',
  '@smithy/node-http-handler',
  '@smithy/signature-v4',
  '@smithy/types',
  'electrodb',
  'jsonschema',
  'mnemonist',
  'obliterator',
  'uuidv7',
];

describe('the bundle', () => {
  const { outputs } = JSON.parse(readFileSync(join(first, 'handler.meta.json'), 'utf8')) as Metafile;
  const inputs = Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );

  it('holds these packages and no others', () => {
    const names = inputs.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect([...new Set(names)].toSorted()).toEqual(PACKAGES.toSorted());
  });

  it('holds every shim', () => {
    expect(inputs).toEqual(expect.arrayContaining(globSync('src/shims/*.ts', { cwd: ROOT })));
  });

  it('is 131 KB as a zip, give or take 3 %', () => {
    const { length } = readFileSync(join(first, 'inquiries.zip'));
    expect(length / 1024).toBeGreaterThan(131 * 0.97);
    expect(length / 1024).toBeLessThan(131 * 1.03);
  });
});

it('names no path of the machine in what is shipped', () => {
  for (const file of ['handler.mjs', 'inquiries.zip']) {
    expect(readFileSync(join(first, file)).includes(ROOT)).toBe(false);
  }
});
