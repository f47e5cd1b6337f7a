/**
 * Writes the software bill of materials of what is deployed, CycloneDX 1.6 in JSON: every package that the function
 * may carry, with licence, checksum and what it depends on, as the lockfile has them. The same lockfile gives the
 * same bytes: no time stamp, no random serial number.
 *
 * Usage: see below. Exit codes: 0 written, 1 failed, 2 bad use.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseOptions, runCommand } from './cli.ts';

const ROOT = join(import.meta.dirname, '..');
const USAGE = `
Usage: npm run sbom -- [options]

  --out FILE   where to write (default: dist/sbom.cdx.json)
`;

/** What is read of package-lock.json, version 3: packages by their place, '' for the project itself. */
interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}
interface LockedPackage {
  readonly name?: string;
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

await runCommand(async () => {
  const { out } = parseOptions(USAGE, {
    out: { type: 'string', default: join(ROOT, 'dist/sbom.cdx.json') },
  });
  const lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile;
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(toBillOfMaterials(lockfile), null, 2)}\n`);
  process.stdout.write(`${relative('', out)}\n`);
});

function toBillOfMaterials({ packages }: Lockfile): object {
  const { '': project, ...installed } = packages;
  if (project === undefined) throw new Error('package-lock.json does not describe the project.');
  const shipped = Object.entries(installed).filter(([, { dev, devOptional }]) => !dev && !devOptional);
  const root = { 'bom-ref': 'project', type: 'application', name: project.name, version: project.version };
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...root, licenses: toLicenses(project) } },
    components: shipped.map(([place, locked]) => toComponent(place, locked)),
    dependencies: [
      { ref: 'project', dependsOn: findDependencies('', project, packages) },
      ...shipped.map(([place, locked]) => ({
        ref: toUrl(place, locked),
        dependsOn: findDependencies(place, locked, packages),
      })),
    ],
  };
}

function toComponent(place: string, locked: LockedPackage): object {
  const [algorithm, digest] = locked.integrity?.split('-') ?? [];
  if (algorithm !== 'sha512' || digest === undefined)
    throw new Error(`${place} has no SHA-512 in the lockfile.`);
  const url = toUrl(place, locked);
  return {
    'bom-ref': url,
    type: 'library',
    name: nameOf(place),
    version: locked.version,
    purl: url,
    licenses: toLicenses(locked),
    hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
  };
}

function toLicenses({ license = 'NOASSERTION' }: LockedPackage): object[] {
  return [{ license: { id: license } }];
}

function nameOf(place: string): string {
  return place.split('node_modules/').at(-1) ?? '';
}

/** Package URL, purl-spec: the scope's at sign is escaped. */
function toUrl(place: string, { version }: LockedPackage): string {
  return `pkg:npm/${nameOf(place).replace('@', '%40')}@${version}`;
}

/** The packages that Node finds for the dependencies of the package at `place`: the nearest ones upwards. */
function findDependencies(
  place: string,
  { dependencies = {} }: LockedPackage,
  all: Lockfile['packages'],
): string[] {
  return Object.keys(dependencies).flatMap((name) => {
    for (let from = place; ; from = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')))) {
      const candidate = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
      const locked = all[candidate];
      if (locked !== undefined) return [toUrl(candidate, locked)];
      if (from === '') return [];
    }
  });
}
