/**
 * Answers on their way. Each waits for some seconds, in which it can be undone, and is then sent: at once when the page is
 * left. Until the command has confirmed an answer, its text remains a draft.
 */
import { open } from './address.ts';
import { isFailure, type Api, type Closed, type Failure, type Inquiry } from './client.ts';
import type { Drafts } from './drafts.ts';
import { formatTime } from './times.ts';
import type { Toasts } from './toasts.ts';

/** Milliseconds in which an answer can be undone. */
const UNDO_TIME = 8_000;
/** Bytes that may be on their way while a page is left, with some room; browsers allow 64 KiB. */
const KEEPALIVE_LIMIT = 60_000;

interface Given {
  inquiry: Inquiry;
  /** Undefined: a dismissal. */
  text: string | undefined;
  /** Size of the request. */
  bytes: number;
  /** While it can be undone. */
  toast?: HTMLElement | undefined;
}

export type Outbox = ReturnType<typeof createOutbox>;

/** @param onChange - An answer was undone, has failed, or is stored: then with who gave it. */
export function createOutbox(
  api: Api,
  drafts: Drafts,
  toasts: Toasts,
  onChange: (id: string, answer?: Closed) => void,
) {
  /** By the inquiry's id, in the order in which they were given. */
  const unconfirmed = new Map<string, Given>();
  const waiting = (): Given[] => [...unconfirmed.values()].filter(({ toast }) => toast);

  /** Ends the time to undo. */
  function stopWaiting(given: Given): void {
    given.toast?.remove();
    given.toast = undefined;
  }

  async function send(given: Given): Promise<void> {
    stopWaiting(given);
    const { inquiry, text, bytes } = given;
    const { id } = inquiry;
    const result = await api.answer(id, text, bytes < KEEPALIVE_LIMIT);
    unconfirmed.delete(id);
    if (isFailure(result)) {
      const again = ' It may have been stored; sending it again does no harm.';
      toasts.fail(inquiry, 'Not answered:', result.message + (result.failure === 0 ? again : ''));
      return onChange(id);
    }
    const { respondent, reply_at } = result;
    if (result.status === 'answered') {
      drafts.set(id, '');
      return onChange(id, { respondent, reply_at, reply: text });
    }
    const kept = text === undefined ? '' : ' Your text is kept there.';
    const when = formatTime(reply_at).short;
    toasts.fail(inquiry, 'Already answered:', `by ${respondent} at ${when}.${kept}`);
    return onChange(id);
  }

  /** Takes an answer back; without an id the latest one. */
  function undo(id = waiting().at(-1)?.inquiry.id ?? ''): void {
    const given = unconfirmed.get(id);
    if (given?.toast === undefined) return;
    stopWaiting(given);
    unconfirmed.delete(id);
    onChange(id);
    open(id);
  }

  /** Sends it after the time to undo; whoever is about to press the button keeps it. */
  function wait(given: Given, time: number): void {
    setTimeout(() => {
      if (given.toast?.matches(':hover, :focus-within')) wait(given, 1_000);
      else if (given.toast) void send(given);
    }, time);
  }

  const sendAll = (): void => waiting().forEach((given) => void send(given));
  addEventListener('pagehide', sendAll);

  return {
    undo,
    /** Of the inquiries with an answer that is not confirmed yet. */
    ids: (): ReadonlySet<string> => new Set(unconfirmed.keys()),
    /** The answer to an inquiry that is not confirmed yet. */
    get: (id: string) => unconfirmed.get(id),
    /** Whether the draft of an inquiry is sent when the page is left. */
    takes: (id: string): boolean => (unconfirmed.get(id)?.bytes ?? Infinity) < KEEPALIVE_LIMIT,
    give(inquiry: Inquiry, text?: string): void {
      const bytes = new Blob([JSON.stringify(text)]).size;
      const given: Given = { inquiry, text, bytes };
      // All that wait must fit into what may be on its way while the page is left.
      const size = waiting().reduce((sum, earlier) => sum + earlier.bytes, bytes);
      if (size >= KEEPALIVE_LIMIT) sendAll();
      unconfirmed.set(inquiry.id, given);
      if (bytes >= KEEPALIVE_LIMIT) return void send(given);
      const title = text === undefined ? 'Dismissed:' : 'Answered:';
      given.toast = toasts.show(inquiry, title, () => undo(inquiry.id));
      return wait(given, UNDO_TIME);
    },
  };
}

/** Whether a stored reply is a text that was sent: the command trims it, and lines end in LF. */
export const isSame = (stored: Inquiry | Failure, sent: string): boolean =>
  'reply' in stored && stored.reply?.trimEnd() === sent.trimEnd();
