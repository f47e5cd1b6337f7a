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
export function select<Case>(cases: Case[], every: number): Case[] {
  return cases.filter((_, index) => isHard || index % every === 0);
}

/**
 * Counts cases of one kind and prints their number when the file has ended.
 *
 * @returns Counts a case that has passed, and how many milliseconds its slowest answer took.
 */
export function createTally(what: string): (milliseconds?: number) => void {
  let cases = 0;
  let slowest = 0;
  afterAll(() => {
    const time = slowest > 0 ? `, slowest ${slowest.toFixed()} ms` : '';
    if (cases > 0) process.stdout.write(`${what}: ${cases} cases${time}\n`);
  });
  return (milliseconds = 0) => {
    cases++;
    slowest = Math.max(slowest, milliseconds);
  };
}
