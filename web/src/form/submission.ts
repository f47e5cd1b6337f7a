/** docs/adr/0051 */
import { isFailure, sleep, type Api, type Failure } from '../api.ts';
import type { Inquiry } from '../../../src/contract.ts';
import type { Draft } from './drafts.ts';

/** Milliseconds. The service keeps a key for 24 hours. */
const KEY_LIFETIME = 23 * 3_600_000;
/** Most retries after a conflict. */
const CONFLICTS = 5;
/** Failures that are retried at once. */
const UNANSWERED: ReadonlySet<Failure['kind']> = new Set(['offline', 'unreachable', 'server']);
/** Failures that also decide earlier attempts. */
const VERDICTS: ReadonlySet<Failure['kind']> = new Set(['too-large', 'refused', 'limit', 'reused']);

export const isUnsure = ({ pending }: Draft): boolean => typeof pending === 'number';

/** Whether the service may have forgotten the key. */
export const hasExpired = ({ pending }: Draft, now: number): boolean =>
  typeof pending === 'number' && now - pending > KEY_LIFETIME;

/** @param wasSent - Whether an earlier attempt may have arrived, which `mayBeDone` then includes. */
export async function send(
  request: () => ReturnType<Api['create']>,
  wasSent: boolean,
  wait = sleep,
): Promise<Inquiry | Failure> {
  let mayBeDone = wasSent;
  let isRepeated = false;
  let conflicts = 0;
  for (;;) {
    const result = await request();
    if (!isFailure(result)) return result;
    const { kind, retryAfter = 1 } = result;
    mayBeDone = !VERDICTS.has(kind) && (mayBeDone || result.mayBeDone);
    if (kind === 'conflict' && conflicts < CONFLICTS) {
      conflicts++;
      await wait(retryAfter);
    } else if (kind === 'busy' && result.retryAfter !== undefined && !isRepeated) {
      isRepeated = true;
      await wait(retryAfter);
    } else if (UNANSWERED.has(kind) && result.mayBeDone && !isRepeated) {
      isRepeated = true;
    } else {
      return { ...result, mayBeDone };
    }
  }
}
