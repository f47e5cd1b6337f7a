/** Answers can be undone for some seconds; leaving the page sends them. Until confirmed, the text stays a draft. */
import { openInquiry } from './address.ts';
import { areKeptAlive, losesDraft, outcomeOf, type Given } from './answers.ts';
import type { Api, Closed } from './client.ts';
import type { Drafts } from './drafts.ts';
import type { Toasts } from './toasts.ts';

/** Milliseconds. */
const UNDO_TIME = 8_000;

export type Outbox = ReturnType<typeof createOutbox>;

/** @param onChange - Undone, failed or stored, then with who answered. */
export function createOutbox(
  api: Api,
  drafts: Drafts,
  toasts: Toasts,
  onChange: (id: string, answer?: Closed) => void,
) {
  const unconfirmed = new Map<string, Given>();
  /** Those that can be undone, with their lines. */
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

  function undo(given = [...waiting.keys()].at(-1)): void {
    if (given === undefined || !waiting.has(given)) return;
    stopWaiting(given);
    const { id } = given.inquiry;
    unconfirmed.delete(id);
    onChange(id);
    openInquiry(id);
  }

  /** Longer while the pointer or focus is on the button. */
  function wait(given: Given, time: number): void {
    setTimeout(() => {
      const line = waiting.get(given);
      if (line?.isInUse()) wait(given, 1_000);
      else if (line !== undefined) void send(given);
    }, time);
  }

  const sendAll = (): void => [...waiting.keys()].forEach((given) => void send(given));

  function give(given: Given): void {
    // Together they must fit into what browsers send then.
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

  addEventListener('pagehide', sendAll);
  addEventListener('beforeunload', (event) => {
    if (losesDraft(drafts.ids(), unconfirmed)) event.preventDefault();
  });

  return {
    give,
    undo,
    canUndo: (given: Given) => waiting.has(given),
    ids: (): ReadonlySet<string> => new Set(unconfirmed.keys()),
    get: (id: string) => unconfirmed.get(id),
  };
}
