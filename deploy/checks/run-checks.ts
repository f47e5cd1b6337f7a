import { setTimeout as sleep } from 'node:timers/promises';
import type { Io } from '../../lib/terminal/command-line.ts';
import { writeLines } from '../../lib/terminal/terminal-text.ts';

export interface Context {
  io: Io;
  /** Its reason is the exit code. */
  interruption: AbortSignal;
}

/**
 * `run` returns what was found. It throws {@link Pending}, or any other error if it fails; it is then repeated for
 * `wait` seconds.
 */
export type Check = readonly [title: string, run: () => Promise<string | void>, wait?: number];

/** A check that neither passes nor fails waits for what the message says. */
export class Pending extends Error {}

/** A check that is pending if AWS refuses to answer. */
export const ask =
  (check: Check[1]): Check[1] =>
  async () => {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof Error && '$metadata' in error)) throw error;
      throw new Pending(`could not be asked: ${error.name}`, { cause: error });
    }
  };

/** Describes an error in one line, since some messages of the SDK have more. */
const describeError = ({ message, cause }: Error): string =>
  [message, cause instanceof Error ? cause.message : '']
    .map((each) => each.split('\n')[0])
    .filter(Boolean)
    .join(': ');

/** Runs checks and prints their results. Rejects with an interruption's reason. @returns The titles of those that failed. */
export async function runChecks(
  checks: Check[],
  { io: { stdout }, interruption }: Context,
): Promise<string[]> {
  const titles: Record<'passed' | 'failed' | 'pending', string[]> = {
    passed: [],
    failed: [],
    pending: [],
  };
  for (const [title, run, wait = 0] of checks) {
    interruption.throwIfAborted();
    const started = performance.now();
    let result: keyof typeof titles = 'passed';
    let detail: string;
    try {
      detail =
        (await repeat(run, wait, interruption)) ?? `${Math.round(performance.now() - started)} ms`;
    } catch (error) {
      result = error instanceof Pending ? 'pending' : 'failed';
      detail = describeError(error as Error);
    }
    titles[result].push(title);
    writeLines(stdout, `${result.padEnd(8)} ${title.padEnd(48)} ${detail}`, 9);
  }
  interruption.throwIfAborted();
  const counts = Object.entries(titles).map(([result, { length }]) => `${length} ${result}`);
  stdout.write(`${counts.join(', ')}\n`);
  return titles.failed;
}

/** Repeats a check for some seconds until it passes. @param isTransient - Whether it is repeated after an error. */
export async function repeat(
  run: Check[1],
  seconds: number,
  interruption: AbortSignal,
  isTransient: (error: unknown) => boolean = () => true,
): Promise<string | void> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (performance.now() > deadline || !isTransient(error)) throw error;
      interruption.throwIfAborted();
      await sleep(1_000);
    }
  }
}
