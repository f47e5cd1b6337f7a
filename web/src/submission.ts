/**
 * A draft on its way, which is stored once, however often it is sent: the service knows it by its key. docs/adr/0051
 */
import { isFailure, type Api, type Failure } from './api.ts';
import type { CreateInquiryRequest, Inquiry } from '../../src/contract.ts';
import type { Drafts } from './drafts.ts';
import { EMPTY, hasText, toRequest, type Texts } from './fields.ts';

/** Milliseconds after which a key is not sent again: the service knows it for 24 hours. */
const KEY_LIFETIME = 23 * 3_600_000;
/** How often a draft is sent again while another request with its key is being processed. */
const CONFLICTS = 5;
/** Failures after which a draft is sent again at once. */
const UNANSWERED: ReadonlySet<Failure['kind']> = new Set(['offline', 'unreachable', 'server']);
/** Failures that say what became of the key, also of an earlier attempt with it. */
const VERDICTS: ReadonlySet<Failure['kind']> = new Set(['too-large', 'refused', 'limit', 'reused']);

const sleep = async (seconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

export function createSubmission(
  drafts: Drafts,
  create: (request: CreateInquiryRequest, key: string) => ReturnType<Api['create']>,
  wait = sleep,
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
    /** Sends the texts, or repeats an attempt whose outcome is unknown. `mayBeDone` is about all attempts. */
    async send(current: Texts): Promise<Inquiry | Failure> {
      const mayBeDone = isUnsure();
      if (!mayBeDone) state.pending = Date.now();
      keep(current);
      const request = async () => create(toRequest(current), state.key);
      const result = await repeat(request, mayBeDone, wait);
      if (!isFailure(result) || !result.mayBeDone) state.pending = undefined;
      if (!isFailure(result)) return result;
      if (result.kind === 'signed-out') state.pending ??= 'signed-out';
      keep(current);
      return result;
    },
  };
}

/** Sends a request, and at once a second time when the outcome of the first is unknown. */
async function repeat(
  request: () => ReturnType<Api['create']>,
  wasSent: boolean,
  wait: typeof sleep,
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
    } else if (UNANSWERED.has(kind) && result.mayBeDone && !isRepeated) {
      isRepeated = true;
    } else {
      return { ...result, mayBeDone };
    }
  }
}
