import { isFailure, type Api, type Closed, type Inquiry } from './client.ts';
import { formatTime } from './format-time.ts';

/** Bytes; browsers allow 64 KiB with headers. */
const KEEPALIVE_LIMIT = 60_000;

export interface Given {
  readonly inquiry: Inquiry;
  /** Undefined: a dismissal. */
  readonly text: string | undefined;
}

/** Whether browsers send them together when the page is left. */
export function areKeptAlive(...answers: readonly Given[]): boolean {
  const sizes = answers.map(({ text }) => new Blob([JSON.stringify(text)]).size);
  return sizes.reduce((sum, size) => sum + size, 0) < KEEPALIVE_LIMIT;
}

/** Whether leaving loses a draft: one that is not on its way, or any if they are too large together. */
export const losesDraft = (ids: string[], unconfirmed: ReadonlyMap<string, Given>): boolean =>
  !ids.every((id) => unconfirmed.has(id)) || !areKeptAlive(...unconfirmed.values());

export function outcomeOf(
  text: Given['text'],
  result: Awaited<ReturnType<Api['answer']>>,
): { answer?: Closed; problem?: readonly [title: string, text: string] } {
  if (isFailure(result)) {
    const again = ' It may have been stored; sending it again does no harm.';
    return { problem: ['Not answered:', result.message + (result.failure === 0 ? again : '')] };
  }
  const { status, respondent, reply_at } = result;
  if (status === 'answered') return { answer: { respondent, reply_at, reply: text } };
  const kept = text === undefined ? '' : ' Your text is kept there.';
  const when = formatTime(reply_at).short;
  return { problem: ['Already answered:', `by ${respondent} at ${when}.${kept}`] };
}
