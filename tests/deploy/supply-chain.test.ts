import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Metafile } from 'esbuild';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';

type LockedPackage = { readonly version: string } & Readonly<
  Partial<
    Record<'resolved' | 'integrity' | 'license', string> &
      Record<'dev' | 'link' | 'hasInstallScript', boolean>
  >
>;
interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
}
const manifest = JSON.parse(readText('package.json')) as Manifest;
/** The repository's package, and those that are installed when their command is run first. */
const FOLDERS = ['', 'bench/', 'tests/mutation/'];
const direct = FOLDERS.flatMap((folder) => {
  const { dependencies, devDependencies } = JSON.parse(
    readText(`${folder}package.json`),
  ) as Manifest;
  return Object.entries({ ...dependencies, ...devDependencies });
});
const installedIn = (folder: string) => {
  const lock = JSON.parse(readText(`${folder}package-lock.json`)) as {
    packages: Record<string, LockedPackage>;
  };
  return Object.entries(lock.packages).filter(([path]) => path !== '');
};
const installed = FOLDERS.flatMap(installedIn);
const shipped = installed.filter(([, { dev }]) => !dev);
const nameOf = (path: string): string => path.split('node_modules/').at(-1) ?? '';
const idOf = ([path, { version }]: [string, LockedPackage]): string => `${nameOf(path)}@${version}`;

/** Permissive licences, which require attribution at most. */
const LICENCES = new Set(['0BSD', 'Apache-2.0', 'ISC', 'MIT']);
/** Packages whose install scripts may run: native code for this machine, and the Node.js runtime of the deployment. */
const INSTALL_SCRIPTS = ['classic-level', 'esbuild', 'node'];

describe('package.json', () => {
  it('names an exact version of every dependency', () => {
    expect(direct.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('names dependencies that docs/dependencies.md gives a reason for', () => {
    const rows = readText('docs/dependencies.md').match(/^\| `.+$/gm) ?? [];
    const named = rows.flatMap((row) => row.split(' | ')[0]?.match(/[^`|, ]+/g) ?? []);
    const names = direct.map(([name]) => name.replace(/^@types\/.+/, '@types/*'));
    expect(named.toSorted()).toEqual([...new Set(names)].toSorted());
  });

  it('has no package with an install script but those on the list: older versions of npm run each, allowed or not', () => {
    const withScripts = installed.filter(([, locked]) => locked.hasInstallScript);
    expect(withScripts.map(([path]) => nameOf(path)).toSorted()).toEqual(INSTALL_SCRIPTS);
    expect(manifest.allowScripts).toEqual(
      Object.fromEntries(INSTALL_SCRIPTS.map((name) => [name, true])),
    );
  });
});

describe('the lockfile', () => {
  it('has a SHA-512 of every package', () => {
    expect(installed.length).toBeGreaterThan(50);
    const unchecked = installed.filter(
      ([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''),
    );
    expect(unchecked).toEqual([]);
  });

  it('names no origin but the npm registry, and no link', () => {
    const foreign = installed.filter(
      ([, { resolved, link }]) =>
        link || (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/')),
    );
    expect(foreign).toEqual([]);
  });

  it('has permissive licences only, of what ships', () => {
    expect(shipped.length).toBeGreaterThan(5);
    expect(shipped.filter(([, { license = '' }]) => !LICENCES.has(license))).toEqual([]);
  });
});

it('.npmrc saves exact versions and names no registry and no credential', () => {
  const settings = readText('.npmrc');
  expect(settings).toContain('save-exact=true');
  expect(settings).not.toMatch(/registry|auth|token|password|proxy/i);
});

describe('npm run sbom', () => {
  interface BillOfMaterials {
    readonly components: { 'bom-ref': string; name: string; version: string }[];
    readonly dependencies: { ref: string; dependsOn: string[] }[];
  }
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/sbom.ts', ...args], { cwd: ROOT, encoding: 'utf8' });
  const bill = JSON.parse(run().stdout) as BillOfMaterials;
  const ids = bill.components.map(({ name, version }) => `${name}@${version}`);

  it('lists every package that is not for development only, with licence and checksum', () => {
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', version: 1 });
    expect(ids.toSorted()).toEqual(shipped.map(idOf).toSorted());
    for (const component of bill.components) {
      expect(component).toMatchObject({
        purl: expect.stringMatching(/^pkg:npm\/\S+@[\d.]+$/) as string,
        licenses: [{ license: { id: expect.any(String) as string } }],
        hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) as string }],
      });
    }
  });

  it('lists the dependencies of each, all of them listed themselves', () => {
    const targets = bill.dependencies.flatMap(({ dependsOn }) => dependsOn);
    const refs = new Set(bill.components.map((component) => component['bom-ref']));
    expect(targets.length).toBeGreaterThan(20);
    expect(targets.filter((ref) => !refs.has(ref))).toEqual([]);
    expect(bill.dependencies).toHaveLength(refs.size + 1);
  });

  it('lists whatever is in the bundle (dist/, from npm run build)', () => {
    const { inputs } = JSON.parse(readText('dist/handler.meta.json')) as Metafile;
    const paths = Object.keys(inputs).flatMap(
      (file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
    );
    const bundled = installedIn('')
      .filter(([path]) => paths.includes(path))
      .map(idOf);
    expect(bundled).toHaveLength(new Set(paths).size);
    expect(bundled.length).toBeGreaterThan(5);
    expect(bundled.filter((id) => !ids.includes(id))).toEqual([]);
  });
});
