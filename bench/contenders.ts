/** Who is measured, and how each is built into what Lambda would get. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';
import { unzipSync, zipSync } from 'fflate';

const ROOT = join(import.meta.dirname, '..');

export interface Contender {
  readonly name: string;
  readonly title: string;
  /** Answers a constant: no contract is checked, no list is asked for. */
  readonly constant?: boolean;
  /** Builds into the folder. */
  build(folder: string): Promise<Package>;
}

export interface Package {
  /** The module with the handler. */
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
  bundled('plain', 'same packages, plain bundle', COMMON_JS),
  bundled('middy-powertools', 'Middy + Powertools + zod', ES_MODULE),
  bundled('hono', 'Hono', ES_MODULE),
  bundled('express', 'Express + serverless-http', COMMON_JS),
  bundled('hand-written', 'hand-written SigV4', { format: 'esm', outExtension: { '.js': '.mjs' } }),
  { ...bundled('bare', 'bare Node, a constant', COMMON_JS), constant: true },
];

async function buildOurs(folder: string): Promise<Package> {
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.ts'), '--out', folder], { stdio: 'pipe' });
  const zip = readFileSync(join(folder, 'inquiries.zip'));
  const task = join(folder, 'task');
  mkdirSync(task);
  for (const [name, content] of Object.entries(unzipSync(zip))) writeFileSync(join(task, name), content);
  return { module: join(task, 'handler.mjs'), size: zip.length };
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
