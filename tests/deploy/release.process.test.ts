import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { run } from '../local/io.ts';
import { paths, removeProject, resetProject } from './project.ts';

vi.mock(import('../../lib/paths.ts'), () => paths);
const { main } = await import('../../scripts/release.ts');

const PACKAGE = JSON.stringify({ name: 'x', version: '0.2.0' });
const FILES = {
  'package.json': PACKAGE,
  'package-lock.json': JSON.stringify({ name: 'x', lockfileVersion: 3, packages: {} }),
  'CHANGELOG.md':
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-28\n\nThe first.\n\n## [0.1.0]\n',
  'docs/openapi.yaml': 'openapi: 3.1.0\n',
  'dist/inquiries.zip': 'function',
  'dist/handler.mjs': 'not published',
  'web/dist/index.html': 'page',
  'web/dist/inquiry-form.js': 'element',
  'web/dist/assets/a-1.js': 'chunk',
  'dist/inquiry-form/package.json': PACKAGE,
};
const read = (file: string): Buffer => readFileSync(join(paths.ROOT, file));

beforeEach(() => {
  resetProject();
  // npm pack writes to it, and the user's may be read-only.
  vi.stubEnv('npm_config_cache', join(paths.ROOT, 'cache'));
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(join(paths.ROOT, dirname(file)), { recursive: true });
    writeFileSync(join(paths.ROOT, file), text);
  }
});
afterAll(removeProject);

it('collects the same build for the same files, checksums and the notes of the version', async () => {
  const { code, stdout } = await run(main, 'v0.2.0');
  expect(code).toBe(0);
  const files = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('  ')[1]);
  expect(files).toEqual(['build.zip', 'openapi.yaml', 'sbom.json', 'x-0.2.0.tgz']);
  expect(read('dist/release/SHA256SUMS').toString()).toBe(stdout);
  expect(read('dist/notes.md').toString()).toMatch(
    /^The first\.\n\n`inquiry-form\.js`: `integrity="sha384-[\w/+]{64}"`\n$/,
  );
  const first = read('dist/release/build.zip');
  expect(Object.keys(unzipSync(first))).toEqual([
    'dist/inquiries.zip',
    'web/dist/assets/a-1.js',
    'web/dist/index.html',
    'web/dist/inquiry-form.js',
  ]);
  await run(main, 'v0.2.0');
  expect(read('dist/release/build.zip')).toEqual(first);
});

it.each([
  ['v0.3.0', 'package.json', PACKAGE],
  ['v0.2.0', 'CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n'],
])('refuses the tag %s of another %s', async (tag, file, text) => {
  writeFileSync(join(paths.ROOT, file), text);
  const { code, stderr } = await run(main, tag);
  expect([code, stderr]).toEqual([2, expect.stringContaining(file)]);
});
