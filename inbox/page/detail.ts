/** The pane with the inquiry that is open: loads it, and shows it with its answer or the box to answer it. */
import { button, div, h, live, notice } from '../../ui/dom.ts';
import { close } from './address.ts';
import type { Given } from './answers.ts';
import { isFailure, type Api, type Closed, type Inquiry, type Session } from './client.ts';
import type { Drafts } from './drafts.ts';
import { markHits } from './hits.ts';
import { describeAnswer, describeGiven, describeInquiry } from './inquiry-view.ts';
import type { Outbox } from './outbox.ts';
import { createReplyBox, createUnsentBox } from './reply-box.ts';
import { undoButton } from './toasts.ts';

export type Detail = ReturnType<typeof createDetail>;

interface DetailParts {
  api: Api;
  drafts: Drafts;
  session: Session;
  outbox: Outbox;
  /** A draft was begun or deleted, or someone has closed the inquiry. */
  onChange: (id: string, answer?: Closed) => void;
  /** The user has answered it, or dismissed it. */
  onAnswer: (given: Given) => void;
  /** The user wants all inquiries with a text. */
  onSearch: (text: string) => void;
}

export function createDetail({
  api,
  drafts,
  session,
  outbox,
  onChange,
  onAnswer,
  onSearch,
}: DetailParts) {
  const pane = createPane();
  const { element, read, dock, say, focusHeading } = pane;
  let opened: string | undefined;
  let loading: AbortController | undefined;
  /** Undefined where there is nothing to dismiss. */
  let dismiss: (() => void) | undefined;

  /** Loads an inquiry; undefined: none is open. */
  async function open(id: string | undefined): Promise<void> {
    loading?.abort();
    opened = id;
    dismiss = undefined;
    pane.clear(id !== undefined);
    if (id === undefined) return;
    say('Loading…');
    const { signal } = (loading = new AbortController());
    const result = await api.get(id, signal);
    if (signal.aborted) return;
    say('');
    if (isFailure(result)) return pane.fail(result.message, async () => open(id));
    render(result);
    markHits();
    focusHeading();
    const { respondent, reply_at, reply } = result;
    if (reply_at !== undefined) onChange(id, { respondent, reply_at, reply });
  }

  function render(inquiry: Inquiry): void {
    const { id, reply_at } = inquiry;
    drafts.confirm(inquiry);
    const draft = drafts.get(id);
    const given = outbox.get(id);
    read.replaceChildren(...describeInquiry(inquiry, onSearch, say));
    if (reply_at !== undefined) {
      read.append(describeAnswer(inquiry));
      if (draft !== '') dock.append(...createUnsentBox(draft, () => discard(id)));
    } else if (given !== undefined) {
      read.append(describeGiven(given.text));
      if (outbox.canUndo(given)) dock.append(undoButton(() => outbox.undo(given)));
    } else {
      const answer = (text?: string): void => onAnswer({ inquiry, text });
      dismiss = answer;
      const box = createReplyBox(inquiry, session, draft, {
        onInput: (text) => keep(id, text),
        onAnswer: answer,
        onLeave: focusHeading,
      });
      dock.append(...box);
    }
  }

  function keep(id: string, text: string): void {
    const isNew = (drafts.get(id) === '') !== (text === '');
    drafts.set(id, text);
    if (isNew) onChange(id);
  }

  function discard(id: string): void {
    keep(id, '');
    dock.replaceChildren();
    focusHeading();
  }

  return {
    element,
    open,
    opened: () => opened,
    /** Moves the focus to the text of the reply, if there is something to answer. */
    reply: () => dock.querySelector('textarea')?.focus(),
    dismiss: () => dismiss?.(),
  };
}

/** The elements of the pane: `read` has the inquiry and its answer, `dock` what can be done with it. */
function createPane() {
  const back = button('‹ Back to the list', { class: 'ib-link ib-back' }, close);
  const outcome = live('alert');
  const status = h('p', { class: 'sr', role: 'status' });
  const read = div('ib-read');
  const dock = div('ib-dock');
  const name = { class: 'ib-detail', 'aria-label': 'Inquiry' };
  return {
    element: h('section', name, back, status, outcome, read, dock),
    read,
    dock,
    say: (text: string) => void (status.textContent = text),
    focusHeading: () => read.querySelector('h2')?.focus(),
    clear(isOpen: boolean): void {
      back.hidden = !isOpen;
      for (const part of [outcome, read, dock]) part.replaceChildren();
    },
    fail(text: string, onAgain: () => Promise<void>): void {
      const failed = { title: 'The inquiry could not be loaded', text };
      outcome.replaceChildren(notice('bad', failed, button('Try again', {}, onAgain)));
      back.focus();
    },
  };
}
