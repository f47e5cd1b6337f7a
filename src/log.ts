import { ApiError } from './errors.ts';

/** What error classes are called. Anything else could be text from outside. */
const CLASS_NAME = /^[A-Za-z]\w{0,63}$/;

/**
 * Logs a request that is answered with a 500: the error's name and the request id, and nothing of its message,
 * stack or properties, which may hold tokens, emails and bodies. A body that is not JSON is the client's mistake
 * and a warning; everything else is a fault of ours and an error, which is what the alarms count.
 *
 * Lambda's JSON log format wraps the object in one line with timestamp and level.
 */
export function logFailure(requestId: string | undefined, error: unknown): void {
  // ElectroDB and our own errors wrap what went wrong; the wrapper's name says nothing.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const name = cause instanceof Error ? cause.name : typeof cause;
  const entry = { requestId, errorName: CLASS_NAME.test(name) ? name : 'Error' };
  if (error instanceof ApiError) console.warn(entry);
  else console.error(entry);
}
