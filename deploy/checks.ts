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
function describeError(error: unknown): string {
  const { message, cause } = error as Error;
  const [line = ''] = message.split('\n');
  return cause instanceof Error && !line.includes(cause.message)
    ? `${line}: ${cause.message}`
    : line;
}

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
    const print = (result: keyof typeof counts, detail: string): void => {
      counts[result] += 1;
      stdout.write(`${result.padEnd(8)} ${title.padEnd(48)} ${detail}\n`);
    };
    if (lacks) {
      print('skipped', lacks);
    } else {
      await run().then(
        (found) => print('passed', found ?? `${Math.round(performance.now() - started)} ms`),
        (error: unknown) =>
          print(error instanceof Pending ? 'pending' : 'failed', describeError(error)),
      );
    }
  }
  interruption.throwIfAborted();
  return counts;
}
