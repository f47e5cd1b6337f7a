import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    hard: boolean;
  }
}

/** True for full counts (npm run test:hard), false for a selection (npm test). */
export const isHard: boolean = inject('hard');

/**
 * The seed of random tests, which print it: the same in each `npm test`, another in each `npm run test:hard` unless
 * `VITEST_SEED` is set.
 */
export const SEED = Number(process.env['VITEST_SEED'] ?? (isHard ? Date.now() % 2 ** 31 : 1));

/** All cases with full counts, otherwise one in `every`. */
export function select<Case>(cases: Case[], every: number): Case[] {
  return cases.filter((_, index) => isHard || index % every === 0);
}
