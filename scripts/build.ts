/**
 * Builds what Lambda runs: dist/handler.mjs with its source map, and dist/inquiries.zip with handler.mjs in it.
 * Both are byte-identical on every build of the same sources and lockfile, so `terraform plan` shows a change
 * only where there is one.
 *
 * Usage: npm run build [-- --out FOLDER]. Exit codes: 0 built, 1 failed, 2 bad use.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { zipSync } from 'fflate';
import { parseOptions, runCommand } from './cli.ts';

const ROOT = join(import.meta.dirname, '..');

/** Modules of ours in the place of packages of which the function needs next to nothing. docs/adr/0061 */
const STAND_INS = {
  '@aws-sdk/credential-provider-node': './scripts/stand-ins/credential-provider-node.ts',
  '@aws-sdk/lib-dynamodb': './scripts/stand-ins/lib-dynamodb.ts',
  // ElectroDB unmarshalls items of transactions with it, and there are none.
  '@aws-sdk/util-dynamodb': './scripts/stand-ins/lib-dynamodb.ts',
};

/**
 * Takes Node's own modules as `require` does. An `import` reads every property of theirs, those included that load
 * further modules when they are read (Web Crypto, Web Streams, performance hooks): 10 ms of every cold start.
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

await runCommand(async () => {
  const { out } = parseOptions('Usage: npm run build [-- --out FOLDER]   (default: dist)', {
    out: { type: 'string', default: join(ROOT, 'dist') },
  });
  rmSync(out, { recursive: true, force: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/handler.ts'],
    outfile: join(out, 'handler.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // The packages' ES modules: smaller than their CommonJS, and they need no `require` in the bundle.
    mainFields: ['module', 'main'],
    alias: STAND_INS,
    plugins: [builtinsWithoutFacade],
    minify: true,
    // Beside the bundle for whoever reads a stack trace; Lambda gets neither the map nor a comment that names it.
    sourcemap: 'external',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
  });

  const handler = readFileSync(join(out, 'handler.mjs'));
  // fflate writes local time: this date and no clock, so the same bytes come out in every time zone.
  const zip = zipSync(
    { 'handler.mjs': handler },
    { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 },
  );
  writeFileSync(join(out, 'inquiries.zip'), zip);

  for (const [file, { length }] of [
    ['handler.mjs', handler],
    ['inquiries.zip', zip],
  ] as const) {
    process.stdout.write(
      `${join(relative('', out), file).padEnd(20)} ${(length / 1024).toFixed(1).padStart(7)} KB\n`,
    );
  }
});
