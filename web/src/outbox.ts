/**
 * Sends a draft so that it is stored once, however often it is sent: the service knows the draft by its key. docs/adr/0051
 */
import { isFailure, type Api, type Failure } from './api.ts';
import type { CreateInquiryRequest, Inquiry } from '../../src/contract.ts';

/** How often a draft is sent again while another request with its key is being processed. */
const CONFLICTS = 5;

/** Failures after which a draft is sent again at once; offline it would fail again. */
const UNANSWERED: ReadonlySet<Failure['kind']> = new Set(['unreachable', 'server']);

/** Failures that say what became of the key, also of an earlier attempt with it. */
const VERDICTS: ReadonlySet<Failure['kind']> = new Set(['too-large', 'refused', 'limit', 'reused']);

const sleep = async (seconds: number) =>
  new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

/**
 * Sends a draft, and at once a second time when the outcome of the first is unknown.
 *
 * @param isRetry - Whether an earlier attempt may have arrived.
 * @returns The inquiry, or the last failure; its `mayBeDone` is about all attempts.
 */
export async function send(
  create: (request: CreateInquiryRequest, key: string) => ReturnType<Api['create']>,
  texts: CreateInquiryRequest,
  key: string,
  isRetry: boolean,
  wait: (seconds: number) => Promise<unknown> = sleep,
): Promise<Inquiry | Failure> {
  let mayBeDone = isRetry;
  let isRepeated = false;
  let conflicts = 0;
  for (;;) {
    const result = await create(texts, key);
    if (!isFailure(result)) return result;
    mayBeDone = !VERDICTS.has(result.kind) && (mayBeDone || result.mayBeDone);
    if (result.kind === 'conflict' && conflicts < CONFLICTS) {
      conflicts++;
      await wait(result.retryAfter ?? 1);
    } else if (UNANSWERED.has(result.kind) && result.mayBeDone && !isRepeated) {
      isRepeated = true;
    } else {
      return { ...result, mayBeDone };
    }
  }
}
