/**
 * Answers on their way. Each waits for some seconds, in which it can be undone, and is then sent: at once when the page is
 * left. Until the command has confirmed an answer, its text remains a draft.
 */
import { openInquiry } from './address.ts';
import { areKeptAlive, outcomeOf, type Given } from './answers.ts';
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
  const waiting = new Map<Given, ReturnType<Toasts['add']>>();

  function stopWaiting(given: Given): void {
    waiting.get(given)?.remove();
    waiting.delete(given);
  }

  async function send(given: Given): Promise<void> {
    stopWaiting(given);
    const { inquiry, text } = given;
    const { id } = inquiry;
    const { answer, problem } = outcomeOf(text, await api.answer(id, text, areKeptAlive(given)));
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
    openInquiry(id);
  }

  /** Sends it after the time to undo; whoever is about to press the button keeps it. */
  function wait(given: Given, time: number): void {
    setTimeout(() => {
      const line = waiting.get(given);
      if (line?.isInUse()) wait(given, 1_000);
      else if (line !== undefined) void send(given);
    }, time);
  }

  const sendAll = (): void => [...waiting.keys()].forEach((given) => void send(given));

  function give(given: Given): void {
    // All that wait must fit into what may be on its way while the page is left.
    if (!areKeptAlive(given, ...waiting.keys())) sendAll();
    const { inquiry, text } = given;
    unconfirmed.set(inquiry.id, given);
    if (!areKeptAlive(given)) return void send(given);
    const title = text === undefined ? 'Dismissed:' : 'Answered:';
    waiting.set(
      given,
      toasts.add(inquiry, title, () => undo(given)),
    );
    return wait(given, UNDO_TIME);
  }

  /** Whether a draft is sent when the page is left. */
  function isSent(id: string): boolean {
    const given = unconfirmed.get(id);
    return given !== undefined && areKeptAlive(given);
  }

  addEventListener('pagehide', sendAll);
  addEventListener('beforeunload', (event) => {
    if (!drafts.ids().every(isSent)) event.preventDefault();
  });

  return {
    give,
    undo,
    canUndo: (given: Given) => waiting.has(given),
    /** Of the inquiries with an answer that is not confirmed yet. */
    ids: (): ReadonlySet<string> => new Set(unconfirmed.keys()),
    /** The answer to an inquiry that is not confirmed yet. */
    get: (id: string) => unconfirmed.get(id),
  };
}
