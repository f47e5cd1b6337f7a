/**
 * Answers on their way. Each waits for some seconds, in which it can be undone, and is then sent: at once when the page is
 * left. Until the command has confirmed an answer, its text remains a draft.
 */
import { isFailure, type Api, type Closed, type Failure, type Inquiry } from './client.ts';
import type { Drafts } from './drafts.ts';
import { formatTime } from './times.ts';
import type { Toast, Toasts } from './toasts.ts';

/** Milliseconds in which an answer can be undone. */
const UNDO_TIME = 8_000;
/** Bytes that may be on their way while a page is left, with some room; browsers allow 64 KiB. */
const KEEPALIVE_LIMIT = 60_000;

interface Given {
  readonly inquiry: Inquiry;
  /** Undefined: a dismissal. */
  readonly text: string | undefined;
  /** Size of the request. */
  readonly bytes: number;
  /** While it can be undone. */
  toast: Toast | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export type Outbox = ReturnType<typeof createOutbox>;

interface OutboxParts {
  readonly api: Pick<Api, 'answer' | 'get'>;
  readonly drafts: Drafts;
  readonly toasts: Toasts;
  /** An answer was undone, has failed, or is stored: then with who gave it. */
  readonly onChange: (id: string, answer?: Closed) => void;
  readonly open: (id: string) => void;
}

export function createOutbox({ api, drafts, toasts, onChange, open }: OutboxParts) {
  /** By the inquiry's id, in the order in which they were given. */
  const unconfirmed = new Map<string, Given>();
  const waiting = (): Given[] => [...unconfirmed.values()].filter(({ toast }) => toast);
  const bytesOf = (all: readonly Given[]): number => all.reduce((sum, { bytes }) => sum + bytes, 0);

  /** Ends the time to undo. */
  function stopWaiting(given: Given): void {
    clearTimeout(given.timer);
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
      toasts.fail(
        inquiry,
        'Not answered:',
        result.message + (result.failure === 'stopped' ? again : ''),
      );
      return onChange(id);
    }
    const { respondent, reply_at } = result;
    // An answer of this page may have been stored when its response was lost.
    const stored = result.status === 'answered' ? undefined : await api.get(id);
    if (stored === undefined || (text !== undefined && isSame(stored, text))) {
      drafts.set(id, '');
      return onChange(id, { respondent, reply_at, ...(text !== undefined && { reply: text }) });
    }
    const kept = text === undefined ? '' : ' Your answer was not stored; your text is kept there.';
    const when = formatTime(reply_at).short;
    toasts.fail(inquiry, 'Already answered:', `by ${respondent} at ${when}.${kept}`);
    const reply = 'reply' in stored ? { reply: stored.reply } : {};
    return onChange(id, { respondent, reply_at, ...reply });
  }

  /** Takes an answer back; without an id the latest one. */
  function undo(id = waiting().at(-1)?.inquiry.id): void {
    const given = unconfirmed.get(id ?? '');
    if (given?.toast === undefined) return;
    stopWaiting(given);
    unconfirmed.delete(given.inquiry.id);
    onChange(given.inquiry.id);
    open(given.inquiry.id);
  }

  addEventListener('pagehide', () => {
    for (const given of waiting()) void send(given);
  });

  return {
    undo,
    /** The answer to an inquiry that is not confirmed yet. */
    get: (id: string) => unconfirmed.get(id),
    /** Whether the draft of an inquiry is sent when the page is left. */
    takes: (id: string): boolean => (unconfirmed.get(id)?.bytes ?? Infinity) < KEEPALIVE_LIMIT,
    give(inquiry: Inquiry, text?: string): void {
      const bytes = new Blob([JSON.stringify(text ?? '')]).size;
      const given: Given = { inquiry, text, bytes, toast: undefined, timer: undefined };
      unconfirmed.set(inquiry.id, given);
      // All that wait must fit into what may be on its way while the page is left.
      for (const earlier of waiting()) {
        if (bytesOf(waiting()) + bytes < KEEPALIVE_LIMIT) break;
        void send(earlier);
      }
      if (bytes >= KEEPALIVE_LIMIT) return void send(given);
      const title = text === undefined ? 'Dismissed:' : 'Answered:';
      const toast = toasts.show(inquiry, title, () => undo(inquiry.id));
      // Whoever is about to press the button keeps it.
      const wait = (time: number): void => {
        given.timer = setTimeout(() => {
          if (toast.matches(':hover, :focus-within')) wait(1_000);
          else void send(given);
        }, time);
      };
      given.toast = toast;
      wait(UNDO_TIME);
    },
  };
}

/** Whether a stored reply is a text that was sent: the command trims it, and lines end in LF. */
export const isSame = (stored: Inquiry | Failure, sent: string): boolean =>
  'reply' in stored && stored.reply?.trimEnd() === sent.trimEnd();
