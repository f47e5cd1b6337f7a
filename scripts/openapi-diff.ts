/**
 * Compares the published document with that of an earlier git revision and lists the changes, breaking ones included.
 * redocly rates the changes by the rules in redocly.yaml. docs/adr/0040
 *
 * Exit codes: 0 no breaking change; 1 breaking changes; 2 bad use.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseOptions, runCommand, UsageError, type Main } from '../lib/command-line.ts';
import { ROOT } from '../lib/paths.ts';

const USAGE = `
Usage: npm run openapi:diff -- --base REVISION [--document FILE]

Lists the changes of the OpenAPI document since a git revision; exits 1 when one of them breaks clients.

  --base REVISION   any git revision: main, HEAD~3, a tag
  --document FILE   the current document (default: docs/openapi.yaml)
`;

export const main: Main = async (args, { stdout, stderr, env }) => {
  const options = parseOptions(
    USAGE,
    {
      base: { type: 'string' },
      document: { type: 'string', default: join(ROOT, 'docs/openapi.yaml') },
    },
    args,
  );
  if (options.base === undefined) throw new UsageError('--base is missing (see --help)');
  const document = resolve(options.document);
  if (!existsSync(document)) throw new UsageError(`There is no file ${relative('', document)}.`);
  const earlier = readRevision(options.base, document);
  if (earlier === undefined) {
    stdout.write(`${options.base} has no ${basename(document)}: nothing to compare with.\n`);
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'openapi-diff-'));
  try {
    const base = join(folder, 'base.yaml');
    writeFileSync(base, earlier);
    const cli = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
    const diff = spawnSync(
      process.execPath,
      [cli, 'diff', base, document, '--config', join(ROOT, 'redocly.yaml'), '--fail-on', 'major'],
      { encoding: 'utf8', env: { ...env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    );
    if (diff.error) throw diff.error;
    stdout.write(diff.stdout);
    stderr.write(diff.stderr);
    return diff.status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** The file at a revision; undefined when it does not exist there. */
function readRevision(revision: string, file: string): string | undefined {
  const git = (...args: string[]) =>
    spawnSync('git', args, { cwd: dirname(file), encoding: 'utf8' });
  const commit = git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`);
  if (commit.status !== 0) {
    throw new UsageError(`${revision} is not a revision of this repository.`);
  }
  const { status, stdout } = git('show', `${commit.stdout.trim()}:./${basename(file)}`);
  return status === 0 ? stdout : undefined;
}

if (import.meta.main) await runCommand(main);
