import { afterAll, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    hard: boolean;
  }
}

/** Full counts (npm run test:hard), not a selection (npm test). */
export const isHard: boolean = inject('hard');

/** All cases with full counts, otherwise every n-th. */
export function select<Case>(cases: Case[], every: number): Case[] {
  return cases.filter((_, index) => isHard || index % every === 0);
}

/**
 * Counts cases, and prints their number at the end.
 *
 * @returns Counts a passed case, and the milliseconds of its slowest answer.
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
