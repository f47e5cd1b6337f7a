/**
 * The functions' packages are byte-identical for the same sources and lockfile, so `terraform plan` shows only real
 * changes.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { zipSync, type ZipOptions } from 'fflate';
import { parseOptions, runCommand, type Io, type Main } from '../lib/terminal/command-line.ts';
import { ROOT } from '../lib/paths.ts';

/** Replacements for modules that are hardly used. docs/adr/0060 */
const SHIMS = {
  '@aws-sdk/credential-provider-node': './src/shims/credential-provider-node.ts',
  'node:fs/promises': './src/shims/fs-promises.ts',
};
/** Only S3's client needs event streams. */
const WITHOUT_EVENT_STREAMS: Record<string, string> = {
  ...SHIMS,
  '@smithy/core/event-streams': './src/shims/event-streams.ts',
};

/**
 * Loads Node's modules as `require` does. An `import` reads all properties, which loads further modules: 10 ms of a
 * cold start.
 */
const builtinsWithoutFacade: Plugin = {
  name: 'builtins-without-facade',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[\w/:]+$/ }, ({ path, kind }) =>
      kind !== 'entry-point' && isBuiltin(path) && !(path in SHIMS)
        ? { path, namespace: 'builtin' }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }));
  },
};

/** The inbox reads these (inbox/page/assets.ts), and saved replies if there are any (docs/inbox.md). */
const INBOX_FILES = globSync(
  [
    'ui/{first-paint,style}.css',
    'inbox/page/{style.css,script.js}',
    'web/public/favicon.svg',
    'saved-replies.json',
  ],
  { cwd: ROOT },
).toSorted();

/** Writes NAME.mjs, source map and NAME.meta.json, which lists the bundled modules. */
async function bundle(
  out: string,
  name: string,
  source: string,
  alias = WITHOUT_EVENT_STREAMS,
  // Asking for the unused class of web streams would load them: 1 ms of a cold start.
  define: Record<string, string> = { ReadableStream: 'undefined' },
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
    // ES modules are smaller and need no `require`.
    mainFields: ['module', 'main'],
    alias,
    define,
    inject: ['./src/shims/crypto.ts'],
    plugins: [builtinsWithoutFacade],
    minify: true,
    // The source map is for stack traces; Lambda does not get it.
    sourcemap: 'external',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  writeFileSync(join(out, `${name}.meta.json`), JSON.stringify(metafile));
}

/** fflate writes local time, so this local date gives the same bytes in every time zone. */
export const SAME_BYTES: ZipOptions = {
  level: 9,
  get mtime() {
    return new Date(1980, 0, 1);
  },
  os: 3,
  attrs: 0o644 << 16,
};

const read = (folder: string, name: string) => [name, readFileSync(join(folder, name))] as const;

function pack(
  out: string,
  zipName: string,
  names: string[],
  stdout: Io['stdout'],
  files: readonly string[] = [],
): void {
  const modules = Object.fromEntries([
    ...names.map((name) => read(out, `${name}.mjs`)),
    ...files.map((name) => read(ROOT, name)),
  ]);
  const zip = zipSync(modules, SAME_BYTES);
  writeFileSync(join(out, zipName), zip);

  for (const [file, { length }] of Object.entries({ ...modules, [zipName]: zip })) {
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
  await bundle(out, 'handler', 'src/handler.ts');
  pack(out, 'inquiries.zip', ['handler'], stdout);
  await bundle(out, 'mailer', 'mail/handler.ts');
  await bundle(out, 'receiver', 'mail/received/handler.ts', SHIMS);
  pack(out, 'mailer.zip', ['mailer', 'receiver'], stdout);
  // The inbox needs the class of web streams.
  await bundle(out, 'inbox/handler', 'inbox/handler.ts', SHIMS, {});
  pack(out, 'inbox.zip', ['inbox/handler'], stdout, INBOX_FILES);
};

if (import.meta.main) await runCommand(main);
