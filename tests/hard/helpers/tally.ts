import { appendFileSync } from 'node:fs';
import { afterAll, inject } from 'vitest';

/** One line of the table that is printed at the end. */
export interface Counted {
  /** Number of the section and what was counted. */
  readonly what: string;
  readonly cases: number;
  /** Cases that did not hold. */
  readonly exceptions: number;
}

/** Whether the counts run in full (npm run test:hard) or as a fast selection (npm test). */
export const isHard: boolean = inject('hard');

/**
 * Counts cases of one kind and reports them when the file has ended.
 *
 * @returns Runs one case: it counts, and it rethrows what the case throws.
 */
export function createTally(what: string): <Result>(run: () => Result | Promise<Result>) => Promise<Result> {
  let cases = 0;
  let exceptions = 0;
  afterAll(() => {
    const counted: Counted = { what, cases, exceptions };
    appendFileSync(inject('tallies'), `${JSON.stringify(counted)}\n`);
  });
  return async (run) => {
    cases++;
    try {
      return await run();
    } catch (error) {
      exceptions++;
      throw error;
    }
  };
}
