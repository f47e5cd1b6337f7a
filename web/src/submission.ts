/** A draft on its way: its key, and whether an attempt with it may have arrived. docs/adr/0051 */
import { isFailure, type Api, type Failure } from './api.ts';
import type { CreateInquiryRequest, Inquiry } from '../../src/contract.ts';
import type { Drafts } from './drafts.ts';
import { EMPTY, hasText, toRequest, type Texts } from './fields.ts';
import { send } from './outbox.ts';

/** Milliseconds after which a key is not sent again: the service knows it for 24 hours. */
const KEY_LIFETIME = 23 * 3_600_000;

export function createSubmission(
  drafts: Drafts,
  create: (request: CreateInquiryRequest, key: string) => ReturnType<Api['create']>,
  isOnline: () => boolean,
) {
  const { key, pending, ...texts } = drafts.load() ?? { ...EMPTY, key: crypto.randomUUID() };
  const state = { key, pending };

  /** Whether the browser stores the texts. Those that are typed into an empty form are a new draft. */
  const keep = (current: Texts): boolean => {
    if (!hasText(current) && state.pending === undefined) state.key = crypto.randomUUID();
    return drafts.save({ ...current, ...state });
  };
  const isUnsure = (): boolean => typeof state.pending === 'number';

  return {
    texts,
    keep,
    key: (): string => state.key,
    /** Whether an earlier attempt may have arrived. */
    isUnsure,
    /** Whether it only waits for the user after a sign-in. */
    isReady: (): boolean => state.pending === 'signed-out',
    /** An edited text is a new attempt. */
    edit(): void {
      state.pending = undefined;
    },
    /** Makes another inquiry of the draft, whatever became of the earlier attempts. */
    renew(): void {
      state.key = crypto.randomUUID();
      state.pending = undefined;
    },
    /** The time of an attempt whose key the service no longer knows. */
    expiredAttempt: (): number | undefined =>
      typeof state.pending === 'number' && Date.now() - state.pending > KEY_LIFETIME
        ? state.pending
        : undefined,
    /** Sends the texts, or repeats an attempt whose outcome is unknown. */
    async send(current: Texts): Promise<Inquiry | Failure> {
      const isRetry = isUnsure();
      if (!isOnline()) return { kind: 'offline', mayBeDone: isRetry };
      if (!isRetry) state.pending = Date.now();
      keep(current);
      const result = await send(create, toRequest(current), state.key, isRetry);
      if (!isFailure(result) || !result.mayBeDone) state.pending = undefined;
      if (!isFailure(result)) return result;
      if (result.kind === 'signed-out') state.pending ??= 'signed-out';
      keep(current);
      return result;
    },
  };
}
