import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const readJson = (file: string): unknown => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));

interface Locked {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}
const manifest = readJson('package.json') as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
};
const { packages } = readJson('package-lock.json') as { packages: Record<string, Locked> };
const installed = Object.entries(packages).filter(([place]) => place !== '');
const shipped = installed.filter(([, { dev }]) => !dev);
const nameOf = (place: string): string => place.split('node_modules/').at(-1) ?? '';

/** Licences that ask for no more than to be named. */
const LICENCES = new Set(['0BSD', 'Apache-2.0', 'ISC', 'MIT']);
/** Whose install scripts may run, and what they do: native code for this machine, the runtime of the deployment. */
const RUN_AT_INSTALLATION = ['classic-level', 'esbuild', 'node'];

describe('package.json', () => {
  it('names one version of every dependency, no range, no tag, no address', () => {
    const all = { ...manifest.dependencies, ...manifest.devDependencies };
    const loose = Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    expect(loose).toEqual([]);
  });

  it('decides on every package with an install script, and lets run those on the list alone', () => {
    const withScripts = installed
      .filter(([, locked]) => locked.hasInstallScript)
      .map(([place]) => nameOf(place));
    expect(withScripts.filter((name) => !(name in manifest.allowScripts))).toEqual([]);
    const allowed = Object.keys(manifest.allowScripts).filter((name) => manifest.allowScripts[name]);
    expect(allowed.toSorted()).toEqual(RUN_AT_INSTALLATION);
  });
});

describe('the lockfile', () => {
  it('has a SHA-512 of every package', () => {
    expect(installed.length).toBeGreaterThan(50);
    const unchecked = installed.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    expect(unchecked).toEqual([]);
  });

  it('names no origin but the npm registry, if any, and no link', () => {
    const foreign = installed.filter(
      ([, { resolved, link }]) =>
        link || (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/')),
    );
    expect(foreign).toEqual([]);
  });

  it('holds, of what ships, licences on the list alone', () => {
    expect(shipped.length).toBeGreaterThan(5);
    expect(shipped.filter(([, { license = '' }]) => !LICENCES.has(license))).toEqual([]);
  });

  it('holds the versions that package.json names', () => {
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      expect([name, packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
    }
  });
});

it('.npmrc names no registry and no credential', () => {
  const lines = readFileSync(join(ROOT, '.npmrc'), 'utf8');
  expect(lines).toContain('save-exact=true');
  expect(lines).not.toMatch(/registry|auth|token|password|proxy/i);
});

describe('npm run sbom', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-sbom-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/sbom.ts', ...args], { cwd: ROOT, encoding: 'utf8' });
  interface Bill {
    readonly components: { name: string; version: string; purl: string; hashes: object[] }[];
    readonly dependencies: { ref: string; dependsOn: string[] }[];
  }
  const write = (name: string): string => {
    const out = join(folder, name);
    expect(run('--out', out)).toMatchObject({ status: 0, stderr: '' });
    return readFileSync(out, 'utf8');
  };

  it('lists every package that ships, with licence and checksum, and what each depends on', () => {
    const bill = JSON.parse(write('a.json')) as Bill;
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    const names = bill.components.map(({ name, version }) => `${name}@${version}`);
    expect(names).toEqual(shipped.map(([place, { version }]) => `${nameOf(place)}@${version}`));
    expect(bill.components.find(({ name }) => name === '@aws-sdk/lib-dynamodb')).toEqual({
      'bom-ref': `pkg:npm/%40aws-sdk/lib-dynamodb@${manifest.dependencies['@aws-sdk/lib-dynamodb']}`,
      type: 'library',
      name: '@aws-sdk/lib-dynamodb',
      version: manifest.dependencies['@aws-sdk/lib-dynamodb'],
      purl: `pkg:npm/%40aws-sdk/lib-dynamodb@${manifest.dependencies['@aws-sdk/lib-dynamodb']}`,
      licenses: [{ license: { id: 'Apache-2.0' } }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) as string }],
    });
    const known = new Set(['project', ...bill.components.map(({ purl }) => purl)]);
    expect(bill.dependencies.map(({ ref }) => ref)).toEqual([...known]);
    const targets = bill.dependencies.flatMap(({ dependsOn }) => dependsOn);
    expect(targets.length).toBeGreaterThan(20);
    expect(targets.filter((ref) => !known.has(ref))).toEqual([]);
  });

  it('writes the same bytes for the same lockfile', () => {
    expect(write('b.json')).toBe(write('c.json'));
  });

  it('lists whatever is in the bundle', async () => {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: ['src/handler.ts'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      mainFields: ['module', 'main'],
      metafile: true,
      write: false,
      logLevel: 'silent',
    });
    const places = Object.keys(metafile.inputs)
      .map((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
      .filter((place) => place !== undefined);
    const known = new Set(shipped.map(([place]) => place));
    expect(new Set(places).size).toBeGreaterThan(5);
    expect([...new Set(places)].filter((place) => !known.has(place))).toEqual([]);
  });

  it('is bad use with an unknown option: one line and exit code 2', () => {
    expect(run('--format', 'xml')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^[^\n]+\n$/) as string,
    });
  });
});
