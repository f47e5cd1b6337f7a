/** The contenders, and how each is built into the package that Lambda would get. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { zipSync } from 'fflate';

/** What POST supports: the header Idempotency-Key, and the variable INQUIRIES_PER_HOUR. */
export type Variant = 'POST' | 'keyed POST' | 'keyed POST with the limit';

export interface Contender {
  name: string;
  title: string;
  variants: Variant[];
  /** How it is bundled; absent for this service, which has a build of its own. */
  options?: BuildOptions;
}

/** The options for ES modules are from Powertools' documentation. */
const ES_MODULE: BuildOptions = {
  format: 'esm',
  mainFields: ['module', 'main'],
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};
/** What AWS CDK's NodejsFunction builds. */
const COMMON_JS: BuildOptions = { format: 'cjs' };

export const OURS = 'ours';
/** Returns a constant: its responses are not checked, and it has no lists. */
export const BARE = 'bare';

export const contenders: Contender[] = [
  {
    name: OURS,
    title: 'this service',
    variants: ['POST', 'keyed POST', 'keyed POST with the limit'],
  },
  {
    name: 'middy-powertools',
    title: 'Middy + Powertools + zod',
    variants: ['POST', 'keyed POST'],
    options: ES_MODULE,
  },
  { name: 'hono', title: 'Hono', variants: ['POST'], options: ES_MODULE },
  {
    name: 'plain',
    title: 'same packages, plain bundle',
    variants: ['POST'],
    options: COMMON_JS,
  },
  {
    name: 'hand-written',
    title: 'hand-written SigV4',
    variants: ['POST'],
    options: { format: 'esm' },
  },
  { name: BARE, title: 'bare Node, a constant', variants: ['POST'], options: COMMON_JS },
];

export interface Package {
  /** The module that exports `handler`. */
  module: string;
  /** Bytes of the zip. */
  size: number;
}

/** Builds a contender into a folder of its own. */
export async function buildPackage({ name, options }: Contender, parent: string): Promise<Package> {
  const folder = join(parent, name);
  mkdirSync(folder);
  if (options === undefined) {
    const script = join(import.meta.dirname, '../scripts/build.ts');
    execFileSync(process.execPath, [script, '--out', folder], { stdio: 'pipe' });
    const { length } = readFileSync(join(folder, 'inquiries.zip'));
    return { module: join(folder, 'handler.mjs'), size: length };
  }
  const file = options.format === 'cjs' ? 'handler.cjs' : 'handler.mjs';
  const module = join(folder, file);
  await build({
    entryPoints: [join(import.meta.dirname, `contenders/${name}.ts`)],
    outfile: module,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    logLevel: 'warning',
    ...options,
  });
  return { module, size: zipSync({ [file]: readFileSync(module) }, { level: 9 }).length };
}
