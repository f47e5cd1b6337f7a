/**
 * Answers on their way. One waits for some seconds, in which it can be undone, and is then sent: at once when another one
 * is given or the page is left. Until the command has confirmed an answer, its text remains a draft.
 */
import { showAddress } from '../../src/invisible.ts';
import { button, div, h } from '../../web/ui/dom.ts';
import { isFailure, type Api, type Closed, type Failure, type Inquiry } from './client.ts';
import type { Drafts } from './drafts.ts';
import { formatTime } from './times.ts';

/** Milliseconds in which an answer can be undone, and for which the page says that one was stored. */
const UNDO_TIME = 8_000;
const DONE_TIME = 4_000;
/** Bytes that may be on their way while a page is left, with some room; browsers allow 64 KiB. */
const KEEPALIVE_LIMIT = 60_000;

/** `text` undefined: a dismissal. */
interface Given {
  readonly inquiry: Inquiry;
  readonly text: string | undefined;
}

export type Outbox = ReturnType<typeof createOutbox>;

interface OutboxParts {
  readonly api: Api;
  readonly drafts: Drafts;
  /** An answer was undone, has failed, or is stored: then with who gave it. */
  readonly onChange: (id: string, answer?: Closed) => void;
  readonly open: (id: string) => void;
}

export function createOutbox({ api, drafts, onChange, open }: OutboxParts) {
  const unconfirmed = new Map<string, Given>();
  let waiting: { readonly given: Given; timer?: ReturnType<typeof setTimeout> } | undefined;

  const status = h('div', { role: 'status' });
  const failures = h('div', { role: 'alert' });
  const element = div('ib-toasts', status, failures);

  /** Shows one line in place of the one before. */
  function say(text: string, { inquiry: { email } }: Given, ...more: Node[]): HTMLElement {
    const toast = div(
      'ib-line ib-toast',
      h('p', {}, text, ' ', h('bdi', {}, showAddress(email))),
      ...more,
    );
    status.replaceChildren(toast);
    return toast;
  }

  /** Says what has failed, until it is closed. */
  function fail({ inquiry: { id, email } }: Given, title: string, text: string): void {
    const end = (): void => failure.remove();
    const read = button('Open it', {}, () => {
      end();
      open(id);
    });
    const heading = h('strong', {}, title, ' ', h('bdi', {}, showAddress(email)));
    const failure = div(
      'ib-line ib-toast ib-failed',
      h('p', {}, heading, h('br'), text),
      read,
      button('Close', {}, end),
    );
    failures.append(failure);
  }

  /** Sends the answer that waits. */
  async function flush(): Promise<void> {
    if (waiting === undefined) return;
    const { given, timer } = waiting;
    clearTimeout(timer);
    waiting = undefined;
    await send(given);
  }

  async function send(given: Given): Promise<void> {
    const { inquiry, text } = given;
    const { id } = inquiry;
    const toast = say(
      text === undefined ? 'Dismissing the inquiry of' : 'Sending the answer to',
      given,
    );
    const result = await api.answer(id, text, isSmall(text));
    unconfirmed.delete(id);
    toast.remove();
    if (isFailure(result)) {
      const again = 'It may have been stored all the same; sending it again does no harm.';
      fail(
        given,
        'Not answered:',
        `${result.message}${result.failure === 'stopped' ? ` ${again}` : ''}`,
      );
      return onChange(id);
    }
    const { respondent, reply_at } = result;
    // An answer of this page may have been stored when its response was lost.
    const stored = result.status === 'answered' ? undefined : await api.get(id);
    if (stored === undefined || (text !== undefined && isSame(stored, text))) {
      drafts.set(id, '');
      // The button of the next one stays.
      if (waiting === undefined) {
        const done = say(text === undefined ? 'Dismissed:' : 'The answer is stored:', given);
        setTimeout(() => done.remove(), DONE_TIME);
      }
      return onChange(id, { respondent, reply_at, ...(text !== undefined && { reply: text }) });
    }
    const kept = text === undefined ? '' : ' Your answer was not stored; your text is kept there.';
    fail(given, 'Already answered:', `by ${respondent} at ${formatTime(reply_at).short}.${kept}`);
    return onChange(id, {
      respondent,
      reply_at,
      ...('reply' in stored && { reply: stored.reply }),
    });
  }

  function undo(): void {
    if (waiting === undefined) return;
    const { id } = waiting.given.inquiry;
    clearTimeout(waiting.timer);
    waiting = undefined;
    unconfirmed.delete(id);
    status.replaceChildren();
    onChange(id);
    open(id);
  }

  addEventListener('pagehide', () => void flush());

  return {
    element,
    undo,
    /** The answer to an inquiry that is not confirmed yet. */
    get: (id: string) => unconfirmed.get(id),
    /** Whether the draft of an inquiry is sent when the page is left. */
    takes: (id: string): boolean => unconfirmed.has(id) && isSmall(unconfirmed.get(id)?.text),
    give(given: Given): void {
      const { inquiry, text } = given;
      void flush();
      unconfirmed.set(inquiry.id, given);
      if (!isSmall(text)) return void send(given);
      const action = button('Undo', { 'aria-keyshortcuts': 'u' }, undo);
      const toast = say(text === undefined ? 'Dismissed:' : 'Answered:', given, action);
      const current: NonNullable<typeof waiting> = { given };
      // Whoever is about to press the button keeps it.
      const wait = (time: number): void => {
        current.timer = setTimeout(() => {
          if (toast.matches(':hover, :focus-within')) wait(1_000);
          else void flush();
        }, time);
      };
      wait(UNDO_TIME);
      waiting = current;
    },
  };
}

const isSmall = (text = ''): boolean => new Blob([JSON.stringify(text)]).size < KEEPALIVE_LIMIT;

/** Whether a stored reply is a text that was sent: the command trims it, and lines end in LF. */
export const isSame = (stored: Inquiry | Failure, sent: string): boolean =>
  'reply' in stored && stored.reply?.trimEnd() === sent.trimEnd();
