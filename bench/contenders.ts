import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { zipSync } from 'fflate';

export type Variant = 'POST' | 'keyed POST' | 'keyed POST with the limit';

/** Powertools' documentation has this banner for ES modules. */
const WITH_REQUIRE: BuildOptions = {
  mainFields: ['module', 'main'],
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

export const OURS = 'this service';
/** Its responses are not checked, and it has no lists. */
export const BARE = 'bare Node, a constant';

/** A contender without a source is this service, with its own build. */
export const contenders: {
  title: string;
  variants: Variant[];
  source?: string;
  options?: BuildOptions;
}[] = [
  { title: OURS, variants: ['POST', 'keyed POST', 'keyed POST with the limit'] },
  {
    title: 'Middy + Powertools + zod',
    variants: ['POST', 'keyed POST'],
    source: 'middy-powertools',
    options: WITH_REQUIRE,
  },
  { title: 'hand-written SigV4', variants: ['POST'], source: 'hand-written' },
  { title: BARE, variants: ['POST'], source: 'bare' },
];

export type Contender = (typeof contenders)[number];

/** @returns The module that exports `handler`, and the zip's bytes. */
export async function buildPackage({ title, source, options }: Contender, parent: string) {
  const folder = join(parent, source ?? 'ours');
  const module = join(folder, 'handler.mjs');
  mkdirSync(folder);
  if (source === undefined) {
    const script = join(import.meta.dirname, '../scripts/build.ts');
    execFileSync(process.execPath, [script, '--out', folder], { stdio: 'pipe' });
    return { title, module, size: readFileSync(join(folder, 'inquiries.zip')).length };
  }
  await build({
    entryPoints: [join(import.meta.dirname, `contenders/${source}.ts`)],
    outfile: module,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    logLevel: 'warning',
    ...options,
  });
  const zip = zipSync({ 'handler.mjs': readFileSync(module) }, { level: 9 });
  return { title, module, size: zip.length };
}
