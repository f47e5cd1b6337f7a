/** Runs checks one after the other and prints a line for each. */
import type { Io } from '../lib/command-line.ts';

export interface Check {
  readonly title: string;
  /** Why it cannot run; empty or undefined: it can. */
  readonly lacks?: string | undefined;
  /** @returns What was found. @throws {@link Pending}, or any other error if it fails. */
  run(): Promise<string | void>;
}

/** What has to be done or awaited outside of the deployment; not a failure of it. */
export class Pending extends Error {
  override readonly name = 'Pending';
}

/** One line for an error; some messages of the SDK have further lines. */
const describeError = ({ message, cause }: Error): string =>
  [message.split('\n')[0], cause instanceof Error && cause.message].filter(Boolean).join(': ');

/** @param interruption - Ends them; the promise is then rejected with its reason. @returns How many there were of each. */
export async function runChecks(
  checks: readonly Check[],
  { stdout }: Io,
  interruption: AbortSignal,
): Promise<Readonly<Record<'passed' | 'failed' | 'pending' | 'skipped', number>>> {
  const counts = { passed: 0, failed: 0, pending: 0, skipped: 0 };
  for (const { title, lacks, run } of checks) {
    interruption.throwIfAborted();
    const started = performance.now();
    let result: keyof typeof counts = 'passed';
    let detail = lacks;
    if (lacks) {
      result = 'skipped';
    } else {
      try {
        detail = (await run()) ?? `${Math.round(performance.now() - started)} ms`;
      } catch (error) {
        result = error instanceof Pending ? 'pending' : 'failed';
        detail = describeError(error as Error);
      }
    }
    counts[result] += 1;
    stdout.write(`${result.padEnd(8)} ${title.padEnd(48)} ${detail}\n`);
  }
  interruption.throwIfAborted();
  return counts;
}
