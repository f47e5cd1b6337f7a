/** Shared by the commands: strict options, one line for each error, exit codes, files. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';

/** A mistake of the user, in one line. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Parses a command line that has options only; see {@link parseCommandLine}.
 *
 * @throws UsageError for any other argument, too.
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
    // The messages of parseArgs have several sentences; the first says what is wrong.
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split(/\. |\.?\n/);
    throw new UsageError(`${line} (see --help)`, { cause: error });
  }
}

/** Runs a command. An error is printed to stderr as its message; exit code 2 for a UsageError, otherwise 1. */
export async function runCommand(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

/**
 * Asks at the terminal. Ctrl-C, Ctrl-D and an abort are a no.
 *
 * @param expected - The only answer that means yes.
 */
export async function isConfirmed(
  question: string,
  expected: string,
  interruption?: AbortSignal,
): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const refused = new Promise<undefined>((resolve) => {
    terminal.once('SIGINT', () => resolve(undefined)).once('close', () => resolve(undefined));
    interruption?.addEventListener('abort', () => resolve(undefined));
  });
  const answer = await Promise.race([terminal.question(question).catch(() => undefined), refused]);
  terminal.close();
  if (answer === undefined) process.stdout.write('\n');
  return answer?.trim() === expected;
}

/** Reads a file as text. @returns undefined when there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @returns undefined when the text is not JSON of an object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates a folder if there is none, and tests it by writing 1 MiB.
 *
 * @param purpose - For the error.
 * @throws UsageError when it cannot be written.
 */
export function openFolder(folder: string, purpose = 'data'): void {
  const file = join(folder, '.write-test');
  try {
    if (!existsSync(folder)) {
      mkdirSync(dirname(folder), { recursive: true });
      // Not recursive: Node would report ENOENT on a read-only file system.
      mkdirSync(folder);
    }
    try {
      writeFileSync(file, Buffer.alloc(1024 * 1024));
    } finally {
      rmSync(file, { force: true });
    }
  } catch (error) {
    const [reason] = (error as Error).message.split(',');
    throw new UsageError(`The ${purpose} folder ${folder} cannot be used (${reason}).`, { cause: error });
  }
}
