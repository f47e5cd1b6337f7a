/**
 * How often the database was asked on behalf of one invocation, for the log alone. The invocation's abort signal is
 * the one object that every call below `app.ts` already carries, so it is what the count is kept under: the store
 * adds, the app reads, and no signature in between knows. docs/adr/0031
 */
const attempts = new WeakMap<AbortSignal, number>();

/** Adds to the attempts of an invocation. */
export function addAttempts(signal: AbortSignal, count: number): void {
  attempts.set(signal, countAttempts(signal) + count);
}

/** The attempts of an invocation so far. */
export function countAttempts(signal: AbortSignal): number {
  return attempts.get(signal) ?? 0;
}
