/** The pane with the inquiry that is open: loads it, and shows it with its answer or the box to answer it. */
import { button, div, h, notice } from '../../web/ui/dom.ts';
import { close } from './address.ts';
import { isFailure, type Api, type Closed, type Inquiry, type Session } from './client.ts';
import type { Drafts } from './drafts.ts';
import { markHits } from './hits.ts';
import { describeAnswer, describeGiven, describeInquiry } from './inquiry-view.ts';
import { isSame, type Outbox } from './outbox.ts';
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
  /** The user has answered, or dismissed it: without a text. */
  onAnswer: (inquiry: Inquiry, text?: string) => void;
  /** The user wants all inquiries with a text. */
  onSearch: (text: string) => void;
}

export function createDetail(parts: DetailParts) {
  const { api, drafts, session, outbox, onChange, onAnswer, onSearch } = parts;
  let opened: string | undefined;
  let loading: AbortController | undefined;
  /** Undefined where there is nothing to dismiss. */
  let dismiss: (() => void) | undefined;

  const back = button('‹ Back to the list', { class: 'ib-link ib-back' }, close);
  const outcome = h('div', { class: 'ib-live', role: 'alert' });
  const status = h('p', { class: 'sr', role: 'status' });
  const read = div('ib-read');
  const dock = div('ib-dock');
  const name = { class: 'ib-detail', 'aria-label': 'Inquiry' };
  const element = h('section', name, back, status, outcome, read, dock);

  const focusHeading = (): void => read.querySelector('h2')?.focus();
  const say = (text: string): void => void (status.textContent = text);

  /** Loads an inquiry; undefined: none is open. */
  async function open(id: string | undefined): Promise<void> {
    loading?.abort();
    opened = id;
    dismiss = undefined;
    back.hidden = id === undefined;
    for (const part of [outcome, read, dock]) part.replaceChildren();
    if (id === undefined) return;
    say('Loading…');
    const { signal } = (loading = new AbortController());
    const result = await api.get(id, signal);
    if (signal.aborted) return;
    say('');
    if (isFailure(result)) {
      const again = button('Try again', {}, async () => open(id));
      const failed = { title: 'The inquiry could not be loaded', text: result.message };
      outcome.replaceChildren(notice('bad', failed, again));
      back.focus();
      return;
    }
    render(result);
    markHits();
    read.scrollTop = 0;
    focusHeading();
    const { respondent, reply_at, reply } = result;
    if (reply_at !== undefined) onChange(id, { respondent, reply_at, reply });
  }

  function render(shown: Inquiry): void {
    const { id, reply_at } = shown;
    // The page was left while it was sent.
    if (isSame(shown, drafts.get(id))) drafts.set(id, '');
    const draft = drafts.get(id);
    const given = outbox.get(id);
    read.replaceChildren(...describeInquiry(shown, onSearch, say));
    if (reply_at !== undefined) {
      read.append(describeAnswer(shown));
      if (draft !== '') dock.append(...createUnsentBox(draft, () => discard(id)));
    } else if (given !== undefined) {
      read.append(describeGiven(given.text));
      if (given.toast !== undefined) dock.append(undoButton(() => outbox.undo(id)));
    } else {
      dismiss = () => onAnswer(shown);
      const box = createReplyBox(shown, session, draft, {
        onInput: (text) => keep(id, text),
        onSend: (text) => onAnswer(shown, text),
        onDismiss: dismiss,
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
