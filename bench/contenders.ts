/** The contenders, and how each is built into the package that Lambda would get. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
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
  readonly variants: readonly Variant[];
}

/** What POST supports: the header Idempotency-Key, and the variable INQUIRIES_PER_HOUR. */
export type Variant = 'POST' | 'keyed POST' | 'keyed POST with the limit';

/** CommonJS is what AWS CDK's NodejsFunction builds; the options for ES modules are from Powertools' documentation. */
const ES_MODULE: BuildOptions = {
  mainFields: ['module', 'main'],
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
};

export const contenders: readonly Contender[] = [
  { name: 'ours', title: 'this service', build: buildOurs },
  bundled('middy-powertools', 'Middy + Powertools + zod', 'handler.mjs', ES_MODULE, [
    'POST',
    'keyed POST',
  ]),
  bundled('hono', 'Hono', 'handler.mjs', ES_MODULE),
  bundled('plain', 'same packages, plain bundle', 'handler.cjs'),
  bundled('hand-written', 'hand-written SigV4', 'handler.mjs'),
  { ...bundled('bare', 'bare Node, a constant', 'handler.cjs'), constant: true },
];

/** An earlier build of this service, which may support neither keys nor the limit. @param zip - Its inquiries.zip. */
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
  for (const [name, content] of Object.entries(unzipSync(bytes))) {
    writeFileSync(join(folder, name), content);
  }
  const module = join(folder, 'handler.mjs');
  const code = readFileSync(module, 'utf8');
  const variants: Variant[] = ['POST'];
  if (code.includes('idempotency-key')) variants.push('keyed POST');
  if (code.includes('INQUIRIES_PER_HOUR')) variants.push('keyed POST with the limit');
  return { module, size: bytes.length, variants };
}

function bundled(
  name: string,
  title: string,
  file: string,
  options: BuildOptions = {},
  variants: readonly Variant[] = ['POST'],
): Contender {
  return {
    name,
    title,
    async build(folder) {
      const module = join(folder, file);
      await build({
        entryPoints: [join(import.meta.dirname, `contenders/${name}.ts`)],
        outfile: module,
        bundle: true,
        minify: true,
        platform: 'node',
        target: 'node24',
        format: file.endsWith('.mjs') ? 'esm' : 'cjs',
        logLevel: 'warning',
        ...options,
      });
      return {
        module,
        size: zipSync({ [file]: readFileSync(module) }, { level: 9 }).length,
        variants,
      };
    },
  };
}
