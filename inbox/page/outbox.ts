/**
 * Answers on their way. Each waits for some seconds, in which it can be undone, and is then sent: at once when the page is
 * left. Until the command has confirmed an answer, its text remains a draft.
 */
import { open } from './address.ts';
import { fit, outcomeOf, type Given } from './answers.ts';
import type { Api, Closed } from './client.ts';
import type { Drafts } from './drafts.ts';
import type { Toasts } from './toasts.ts';

/** Milliseconds in which an answer can be undone. */
const UNDO_TIME = 8_000;

export type Outbox = ReturnType<typeof createOutbox>;

/** @param onChange - An answer was undone, has failed, or is stored: then with who gave it. */
export function createOutbox(
  api: Api,
  drafts: Drafts,
  toasts: Toasts,
  onChange: (id: string, answer?: Closed) => void,
) {
  /** By the inquiry's id. */
  const unconfirmed = new Map<string, Given>();
  /** Those that can be undone, in the order in which they were given, and the lines that say so. */
  const waiting = new Map<Given, HTMLElement>();

  function stopWaiting(given: Given): void {
    waiting.get(given)?.remove();
    waiting.delete(given);
  }

  async function send(given: Given): Promise<void> {
    stopWaiting(given);
    const { inquiry, text } = given;
    const { id } = inquiry;
    const { answer, problem } = outcomeOf(text, await api.answer(id, text, fit(given)));
    unconfirmed.delete(id);
    if (problem === undefined) drafts.set(id, '');
    else toasts.fail(inquiry, ...problem);
    onChange(id, answer);
  }

  /** Takes an answer back. Default: the latest one. */
  function undo(given = [...waiting.keys()].at(-1)): void {
    if (given === undefined || !waiting.has(given)) return;
    stopWaiting(given);
    const { id } = given.inquiry;
    unconfirmed.delete(id);
    onChange(id);
    open(id);
  }

  /** Sends it after the time to undo; whoever is about to press the button keeps it. */
  function wait(given: Given, time: number): void {
    setTimeout(() => {
      if (waiting.get(given)?.matches(':hover, :focus-within')) wait(given, 1_000);
      else if (waiting.has(given)) void send(given);
    }, time);
  }

  const sendAll = (): void => [...waiting.keys()].forEach((given) => void send(given));
  addEventListener('pagehide', sendAll);
  /** Whether a draft is sent when the page is left. */
  const isSent = (id: string): boolean => {
    const given = unconfirmed.get(id);
    return given !== undefined && fit(given);
  };
  addEventListener('beforeunload', (event) => {
    if (!drafts.ids().every(isSent)) event.preventDefault();
  });

  return {
    undo,
    canUndo: (given: Given) => waiting.has(given),
    /** Of the inquiries with an answer that is not confirmed yet. */
    ids: (): ReadonlySet<string> => new Set(unconfirmed.keys()),
    /** The answer to an inquiry that is not confirmed yet. */
    get: (id: string) => unconfirmed.get(id),
    give(given: Given): void {
      // All that wait must fit into what may be on its way while the page is left.
      if (!fit(given, ...waiting.keys())) sendAll();
      const { inquiry, text } = given;
      unconfirmed.set(inquiry.id, given);
      if (!fit(given)) return void send(given);
      const title = text === undefined ? 'Dismissed:' : 'Answered:';
      waiting.set(
        given,
        toasts.show(inquiry, title, () => undo(given)),
      );
      return wait(given, UNDO_TIME);
    },
  };
}
