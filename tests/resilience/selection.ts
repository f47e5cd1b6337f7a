import { inject } from 'vitest';

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
