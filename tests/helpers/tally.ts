import { afterAll, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether the counts run in full. */
    hard: boolean;
  }
}

/** Whether the counts run in full (npm run test:hard) or as a fast selection (npm test). */
export const isHard: boolean = inject('hard');

/** All cases when the counts run in full, otherwise every n-th of them. */
export function select<Case>(cases: readonly Case[], every: number): Case[] {
  return cases.filter((_, index) => isHard || index % every === 0);
}

/**
 * Counts cases of one kind and prints the counts when the file has ended.
 *
 * @returns Runs one case: it counts, and it rethrows what the case throws. A case that returns a number says how
 * many milliseconds its slowest answer took.
 */
export function createTally(what: string): (run: () => Promise<number | void>) => Promise<void> {
  let cases = 0;
  let exceptions = 0;
  let slowest = 0;
  afterAll(() => {
    if (cases === 0) return;
    const time = slowest > 0 ? `, slowest ${slowest.toFixed()} ms` : '';
    process.stdout.write(`${what}: ${cases} cases, ${exceptions} exceptions${time}\n`);
  });
  return async (run) => {
    cases++;
    try {
      const result = await run();
      if (typeof result === 'number') slowest = Math.max(slowest, result);
    } catch (error) {
      exceptions++;
      throw error;
    }
  };
}
