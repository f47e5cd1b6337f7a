import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    hard: boolean;
  }
}

/** Full counts (npm run test:hard), not a selection (npm test). */
export const isHard: boolean = inject('hard');

/** Of random tests: the same in each `npm test`, another in each `npm run test:hard` unless `VITEST_SEED` is set. */
export const SEED = Number(process.env['VITEST_SEED'] ?? (isHard ? Date.now() % 2 ** 31 : 1));

/** All cases with full counts, otherwise every n-th. */
export function select<Case>(cases: Case[], every: number): Case[] {
  return cases.filter((_, index) => isHard || index % every === 0);
}
