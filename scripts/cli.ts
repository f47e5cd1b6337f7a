/** What the commands under scripts/ have in common: strict options, one line per mistake, exit codes. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';

/** Bad use of a command, said in one line. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Parses the options of a command that takes nothing else; see {@link parseCommandLine}.
 *
 * @throws UsageError for an argument that is no option, too.
 */
export function parseOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options,
  args?: string[],
) {
  return parseCommandLine(usage, options, { args, allowPositionals: false }).values;
}

/**
 * Parses the command line strictly; `--help` prints `usage` and ends the process with 0.
 *
 * @throws UsageError for an unknown option or a missing value.
 */
export function parseCommandLine<const Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options,
  {
    args = process.argv.slice(2),
    allowPositionals = true,
  }: { args?: string[] | undefined; allowPositionals?: boolean } = {},
) {
  try {
    const parsed = parseArgs({
      args,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      strict: true,
      allowPositionals,
    });
    if ('help' in parsed.values && parsed.values.help === true) {
      process.stdout.write(`${usage.trim()}\n`);
      process.exit(0);
    }
    return parsed;
  } catch (error) {
    // parseArgs explains itself in several sentences and lines; the first says what is wrong.
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split(/\. |\.?\n/);
    throw new UsageError(`${line} (see --help)`, { cause: error });
  }
}

/** Runs a command: a UsageError is one line on stderr and exit code 2, any other error its message and 1. */
export async function runCommand(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

/** The text of a file, or undefined when there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
