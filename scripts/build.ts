/**
 * Builds what Lambda runs: dist/handler.mjs with its source map, and dist/inquiries.zip with handler.mjs in it; in the
 * same way the mailer, dist/mailer.mjs and dist/mailer.zip. All are byte-identical on every build of the same sources
 * and lockfile, so that `terraform plan` shows only real changes. dist/handler.meta.json and dist/mailer.meta.json are
 * esbuild's lists of the modules in the bundles.
 *
 * Usage: npm run build [-- --out FOLDER]. Exit codes: 0 built, 1 failed, 2 bad use.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { zipSync } from 'fflate';
import { parseOptions, runCommand, type Io, type Main } from '../lib/command-line.ts';
import { ROOT } from '../lib/paths.ts';

/** Modules of which the functions need next to nothing, and what the bundles hold in their place. docs/adr/0060 */
const SHIMS: Record<string, string> = {
  '@aws-sdk/credential-provider-node': './src/shims/credential-provider-node.ts',
  '@smithy/core/event-streams': './src/shims/event-streams.ts',
};

/**
 * Loads Node's modules as `require` does. An `import` reads all of their properties, some of which load further
 * modules (Web Crypto, Web Streams, performance hooks): 10 ms of every cold start.
 */
const builtinsWithoutFacade: Plugin = {
  name: 'builtins-without-facade',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[\w/:]+$/ }, ({ path, kind }) =>
      kind !== 'entry-point' && isBuiltin(path) ? { path, namespace: 'builtin' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }));
  },
};

/** Writes NAME.mjs, its source map, NAME.meta.json and the zip, and prints the sizes. */
async function bundle(
  out: string,
  { source, name, zip: zipName }: { source: string; name: string; zip: string },
  stdout: Io['stdout'],
): Promise<void> {
  const module = `${name}.mjs`;
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [source],
    outfile: join(out, module),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // The packages' ES modules: smaller than their CommonJS, and they need no `require` in the bundle.
    mainFields: ['module', 'main'],
    alias: SHIMS,
    // Bodies are strings and Node's streams. Asking for the class of web streams would load them: 1 ms of every cold start.
    define: { ReadableStream: 'undefined' },
    plugins: [builtinsWithoutFacade],
    minify: true,
    // For reading stack traces; Lambda gets neither the map nor a comment that names it.
    sourcemap: 'external',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  writeFileSync(join(out, `${name}.meta.json`), JSON.stringify(metafile));

  const code = readFileSync(join(out, module));
  // fflate writes local time: this date and no clock, so the same bytes come out in every time zone.
  const zip = zipSync(
    { [module]: code },
    { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 },
  );
  writeFileSync(join(out, zipName), zip);

  for (const [file, { length }] of Object.entries({ [module]: code, [zipName]: zip })) {
    const size = `${(length / 1024).toFixed(1).padStart(7)} KB`;
    stdout.write(`${join(relative('', out), file).padEnd(20)} ${size}\n`);
  }
}

export const main: Main = async (args, { stdout }) => {
  const { out } = parseOptions(
    'Usage: npm run build [-- --out FOLDER]   (default: dist)',
    { out: { type: 'string', default: join(ROOT, 'dist') } },
    args,
  );
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const handler = { source: 'src/handler.ts', name: 'handler', zip: 'inquiries.zip' };
  await bundle(out, handler, stdout);
  const mailer = { source: 'src/mailer/handler.ts', name: 'mailer', zip: 'mailer.zip' };
  await bundle(out, mailer, stdout);
};

if (import.meta.main) await runCommand(main);
