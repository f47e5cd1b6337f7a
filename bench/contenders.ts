/** The contenders, and how each is built into the package that Lambda would get. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';
import { unzipSync, zipSync } from 'fflate';

export interface Contender {
  readonly name: string;
  readonly title: string;
  /** Returns a constant: its responses are not checked, and it has no lists. */
  readonly constant?: boolean;
  /** Builds into an empty folder. */
  build(folder: string): Promise<Package>;
}

export interface Package {
  /** The module that exports `handler`. */
  readonly module: string;
  /** Bytes of the zip. */
  readonly size: number;
}

/** What AWS CDK's NodejsFunction passes to esbuild, with minification. */
const COMMON_JS: BuildOptions = { format: 'cjs', outExtension: { '.js': '.cjs' } };
/** What Powertools' documentation recommends. */
const ES_MODULE: BuildOptions = {
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  mainFields: ['module', 'main'],
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

export const contenders: readonly Contender[] = [
  { name: 'ours', title: 'this service', build: buildOurs },
  bundled('middy-powertools', 'Middy + Powertools + zod', ES_MODULE),
  bundled('hono', 'Hono', ES_MODULE),
  bundled('plain', 'same packages, plain bundle', COMMON_JS),
  bundled('hand-written', 'hand-written SigV4', { format: 'esm', outExtension: { '.js': '.mjs' } }),
  { ...bundled('bare', 'bare Node, a constant', COMMON_JS), constant: true },
];

/** A package built earlier: the path of its inquiries.zip. */
export function prebuilt(zip: string): Contender {
  const title = `${basename(dirname(resolve(zip)))}/${basename(zip)}`;
  return { name: title, title, build: async (folder) => unpack(zip, folder) };
}

async function buildOurs(folder: string): Promise<Package> {
  const script = join(import.meta.dirname, '../scripts/build.ts');
  execFileSync(process.execPath, [script, '--out', join(folder, 'dist')], { stdio: 'pipe' });
  return unpack(join(folder, 'dist/inquiries.zip'), folder);
}

function unpack(zip: string, folder: string): Package {
  const bytes = readFileSync(zip);
  for (const [name, content] of Object.entries(unzipSync(bytes))) writeFileSync(join(folder, name), content);
  return { module: join(folder, 'handler.mjs'), size: bytes.length };
}

function bundled(name: string, title: string, options: BuildOptions): Contender {
  return {
    name,
    title,
    async build(folder) {
      await build({
        entryPoints: { handler: join(import.meta.dirname, `contenders/${name}.ts`) },
        outdir: folder,
        bundle: true,
        minify: true,
        platform: 'node',
        target: 'node24',
        logLevel: 'warning',
        ...options,
      });
      const file = `handler${options.outExtension?.['.js']}`;
      const module = join(folder, file);
      return { module, size: zipSync({ [file]: readFileSync(module) }, { level: 9 }).length };
    },
  };
}
