import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { Metafile } from 'esbuild';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';

interface LockedPackage {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}
const readJson = (path: string): unknown => JSON.parse(readText(path));
/** The repository's package, and those that are installed when their command is run first. */
const FOLDERS = ['', 'bench/', 'tests/mutation/'];
const direct = FOLDERS.flatMap((folder) => {
  const { dependencies, devDependencies } = readJson(`${folder}package.json`) as {
    dependencies?: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  return Object.entries({ ...dependencies, ...devDependencies });
});
const installedIn = (folder: string) =>
  Object.entries(
    (readJson(`${folder}package-lock.json`) as { packages: Record<string, LockedPackage> })
      .packages,
  )
    .filter(([path]) => path !== '')
    .map(([path, locked]) => {
      const name = path.split('node_modules/').at(-1) ?? '';
      return Object.assign(locked, { path, name, id: `${name}@${locked.version}` });
    });
const installed = FOLDERS.flatMap(installedIn);

const REGISTRY = 'https://registry.npmjs.org/';
/** Permissive licences, which require attribution at most. */
const LICENCES = /^(0BSD|Apache-2\.0|ISC|MIT)$/;
/** Packages whose install scripts may run: native code for this machine, and the Node.js runtime of the deployment. */
const INSTALL_SCRIPTS = ['classic-level', 'esbuild', 'node'];

it('every dependency has an exact version, and a reason in docs/dependencies.md', () => {
  expect(direct.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  const rows = readText('docs/dependencies.md').match(/^\| `.+$/gm) ?? [];
  const named = rows.flatMap((row) => row.split(' | ')[0]?.match(/[^`|, ]+/g) ?? []);
  const names = direct.map(([name]) => name.replace(/^@types\/.+/, '@types/*'));
  expect(named.toSorted()).toEqual([...new Set(names)].toSorted());
});

it('every installed package has a SHA-512 and comes from the npm registry', () => {
  expect(installed.length).toBeGreaterThan(50);
  const foreign = installed.filter(
    ({ integrity = '', resolved = REGISTRY }) =>
      !integrity.startsWith('sha512-') || !resolved.startsWith(REGISTRY),
  );
  expect(foreign).toEqual([]);
});

it('only packages on the list have install scripts: older versions of npm run each, allowed or not', () => {
  const withScripts = installed.filter(({ hasInstallScript }) => hasInstallScript);
  expect(withScripts.map(({ name }) => name).toSorted()).toEqual(INSTALL_SCRIPTS);
  const { allowScripts } = readJson('package.json') as { allowScripts: object };
  expect(Object.keys(allowScripts).toSorted()).toEqual(INSTALL_SCRIPTS);
});

it('npm run sbom lists what ships, and so whatever is in the bundle, with a permissive licence and a checksum', () => {
  const { stdout } = spawnSync(process.execPath, ['scripts/sbom.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const bill = JSON.parse(stdout) as { components: { name: string; version: string }[] };
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', version: 1 });
  const shipped = installed.filter(({ dev }) => !dev);
  const ids = bill.components.map(({ name, version }) => `${name}@${version}`);
  expect(ids.toSorted()).toEqual(shipped.map(({ id }) => id).toSorted());
  for (const component of bill.components) {
    expect(component).toMatchObject({
      purl: expect.stringMatching(/^pkg:npm\/\S+@[\d.]+$/) as string,
      licenses: [{ license: { id: expect.stringMatching(LICENCES) as string } }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) as string }],
    });
  }
  // dist/, from npm run build
  const inputs = Object.keys((readJson('dist/handler.meta.json') as Metafile).inputs);
  const bundled = installedIn('').filter(({ path }) =>
    inputs.some((input) => input.startsWith(`${path}/`)),
  );
  expect(bundled.length).toBeGreaterThan(5);
  expect(bundled.filter(({ dev }) => dev)).toEqual([]);
});
