/** Runs checks one after the other and prints a line for each. */
import type { Io } from '../lib/command-line.ts';

/** @returns What was found. @throws {@link Undecided}, or any other error if it fails. */
export type Check = readonly [title: string, run: () => Promise<string | void>];

/** Why a check neither passes nor fails: what is awaited or to be done elsewhere, or what it lacks. */
export class Undecided extends Error {
  readonly result;
  constructor(result: 'pending' | 'skipped', message: string) {
    super(message);
    this.result = result;
  }
}

/** One line for an error; some messages of the SDK have further lines. */
const describeError = ({ message, cause }: Error): string =>
  [message.split('\n')[0], cause instanceof Error && cause.message].filter(Boolean).join(': ');

/** @param interruption - Ends them; the promise is then rejected with its reason. @returns How many there were of each. */
export async function runChecks(
  checks: Iterable<Check>,
  { stdout }: Io,
  interruption: AbortSignal,
) {
  const counts = { passed: 0, failed: 0, pending: 0, skipped: 0 };
  for (const [title, run] of checks) {
    interruption.throwIfAborted();
    const started = performance.now();
    let result: keyof typeof counts = 'passed';
    let detail: string;
    try {
      detail = (await run()) ?? `${Math.round(performance.now() - started)} ms`;
    } catch (error) {
      result = error instanceof Undecided ? error.result : 'failed';
      detail = describeError(error as Error);
    }
    counts[result] += 1;
    stdout.write(`${result.padEnd(8)} ${title.padEnd(48)} ${detail}\n`);
  }
  interruption.throwIfAborted();
  return counts;
}
