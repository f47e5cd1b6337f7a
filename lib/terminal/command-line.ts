import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { escapeUnsafe, wrapUsage, writeLines } from './terminal-text.ts';

/** The user's mistake, in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

class HelpRequest extends Error {
  override readonly name = 'HelpRequest';
}

/** The parts of the process that a command uses, for tests to replace. */
export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: NodeJS.ProcessEnv;
}

/** @returns The exit code, by default 0. @throws UsageError for exit code 2, any other error for 1. */
export type Main = (args: string[], io: Io) => Promise<number | void>;

/** The AWS SDK's errors have `$metadata`, and may go on about its parser. */
const describe = (error: Error): string =>
  '$metadata' in error ? `${error.name}: ${error.message.split('\n')[0]}` : error.message;

/** Prints an error's message to stderr. Never rejects. @returns The exit code. */
export async function runMain(main: Main, args: string[], io: Io): Promise<number> {
  try {
    return (await main(args, io)) ?? 0;
  } catch (error) {
    if (error instanceof HelpRequest) {
      io.stdout.write(`${error.message}\n`);
      return 0;
    }
    const message = error instanceof Error ? describe(error) : String(error);
    // Arguments and paths may hold escape sequences of a terminal.
    writeLines(io.stderr, message.split('\n').map(escapeUnsafe).join('\n'));
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Runs a command as this process, which a failure ends at once. */
export async function runCommand(main: Main): Promise<void> {
  const code = await runMain(main, process.argv.slice(2), process);
  if (code !== 0) process.exit(code);
}

/**
 * Calls `end` when npm has ended, which does not forward every signal. npm is the parent, since `exec` in package.json
 * replaces the shell.
 */
export function onEndOfNpm(env: NodeJS.ProcessEnv, end: () => void): void {
  if (env['npm_lifecycle_event'] === undefined) return;
  const { ppid: npm } = process;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    end();
  }, 500);
  timer.unref();
}

/**
 * Parses a command line without arguments.
 *
 * @throws UsageError
 */
export function parseOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options,
  args?: string[],
) {
  return parseCommandLine(usage, options, { args, allowPositionals: false }).values;
}

/**
 * `--help` prints `usage`.
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
  const config = {
    args,
    options: { ...options, help: { type: 'boolean', short: 'h' } },
    allowPositionals,
  } as const;
  try {
    const parsed = parseArgs(config);
    if ('help' in parsed.values && parsed.values.help === true) {
      throw new HelpRequest(wrapUsage(usage));
    }
    return parsed;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Only the first sentence says what is wrong.
    const [line = ''] = error.message.split(/\. |\.?\n/);
    throw new UsageError(`${line} (see --help)`, { cause: error });
  }
}

/**
 * Ctrl-C, Ctrl-D and an abort mean no.
 *
 * @param expected - The only answer that means yes.
 */
export async function isConfirmed(
  question: string,
  expected: string,
  interruption: AbortSignal | undefined,
  io: Pick<Io, 'stdin' | 'stdout'>,
): Promise<boolean> {
  const terminal = createInterface({ input: io.stdin, output: io.stdout });
  const refused = new Promise<undefined>((resolve) => {
    terminal.once('SIGINT', () => resolve(undefined)).once('close', () => resolve(undefined));
    interruption?.addEventListener('abort', () => resolve(undefined));
  });
  const answer = await Promise.race([terminal.question(question).catch(() => undefined), refused]);
  terminal.close();
  if (answer === undefined) io.stdout.write('\n');
  return answer?.trim() === expected;
}

/** @returns undefined if there is no file. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @returns undefined unless the text is a JSON object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates a folder if needed, and tests it by writing 1 MiB.
 *
 * @param purpose - For the error.
 * @throws UsageError
 */
export function openFolder(folder: string, purpose = 'data'): void {
  try {
    if (!existsSync(folder)) {
      mkdirSync(dirname(folder), { recursive: true });
      // With `recursive`, Node reports ENOENT on a read-only file system.
      mkdirSync(folder);
    }
    // A known name could be a link, so the folder is new.
    const test = mkdtempSync(join(folder, '.write-test-'));
    try {
      writeFileSync(join(test, 'zeros'), Buffer.alloc(1024 * 1024));
    } finally {
      rmSync(test, { recursive: true, force: true });
    }
  } catch (error) {
    const [reason] = (error as Error).message.split(',');
    throw new UsageError(`The ${purpose} folder ${folder} cannot be used (${reason}).`, {
      cause: error,
    });
  }
}
