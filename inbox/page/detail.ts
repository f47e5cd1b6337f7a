/** The pane with the open inquiry. */
import { button, div, h, live, notice } from '../../ui/dom.ts';
import { formatCount } from '../../ui/format.ts';
import { showList } from './address.ts';
import type { Given } from './answers.ts';
import {
  isFailure,
  type Api,
  type Closed,
  type Failure,
  type Inquiry,
  type Session,
} from './client.ts';
import type { Drafts } from './drafts.ts';
import { markHits } from './hits.ts';
import { createAnswerView, createGivenView, createInquiryView } from './inquiry-view.ts';
import type { Outbox } from './outbox.ts';
import { createReplyBox, createUnsentBox } from './reply-box.ts';
import { undoButton } from './toasts.ts';
import { focusGently, noteTyping } from './typing.ts';

export type Detail = ReturnType<typeof createDetail>;

interface DetailParts {
  api: Api;
  drafts: Drafts;
  session: Session;
  outbox: Outbox;
  /** A draft was begun or deleted, or someone has closed the inquiry. */
  onChange: (id: string, answer?: Closed) => void;
  onAnswer: (given: Given) => void;
  onSearch: (text: string) => void;
}

export function createDetail(parts: DetailParts) {
  const { api, drafts, outbox, onChange } = parts;
  const pane = createPane();
  let opened: string | undefined;
  let loading = new AbortController();
  /** Undefined where there is nothing to answer. */
  let dismiss: (() => void) | undefined;

  /** Opens an inquiry; undefined: none. */
  async function load(id: string | undefined): Promise<void> {
    loading.abort();
    opened = id;
    dismiss = undefined;
    pane.clear(id !== undefined);
    if (id === undefined) return;
    pane.say('Loading…');
    const { signal } = (loading = new AbortController());
    const result = await api.get(id, signal);
    if (signal.aborted) return;
    pane.say('');
    draw(id, result);
    focusGently(pane.heading());
  }

  /** Looks whether a colleague has answered the open inquiry, or it is gone. */
  async function look(): Promise<void> {
    const { signal } = loading;
    if (opened === undefined || dismiss === undefined) return;
    const id = opened;
    const result = await api.get(id, signal);
    if (signal.aborted || outbox.get(id) !== undefined) return;
    if (isFailure(result) ? result.failure !== 404 : result.reply_at === undefined) return;
    const isFocused = pane.dock.contains(document.activeElement);
    dismiss = undefined;
    pane.clear(true);
    draw(id, result);
    if (!isFailure(result)) pane.tellOfAnswer(result, drafts.get(id) !== '');
    if (isFocused) focusReply();
  }

  function draw(id: string, result: Failure | Inquiry): void {
    if (isFailure(result)) {
      pane.fail(result.message, async () => load(id));
      return offerUnsent(id);
    }
    drafts.confirm(result);
    pane.read.replaceChildren(...createInquiryView(result, pane.say));
    void showOthers(result);
    const { respondent, reply_at, reply } = result;
    const given = outbox.get(id);
    if (reply_at !== undefined) {
      pane.read.append(createAnswerView(result));
      offerUnsent(id);
      onChange(id, { respondent, reply_at, reply });
    } else if (given !== undefined) {
      pane.read.append(createGivenView(given.text));
      if (outbox.canUndo(given)) pane.dock.append(undoButton(() => outbox.undo(given)));
    } else {
      offerReply(result);
    }
    return markHits();
  }

  async function showOthers({ id, email }: Inquiry): Promise<void> {
    const { signal } = loading;
    const others = await api.countOthers(id, signal);
    if (signal.aborted || isFailure(others)) return;
    pane.showOthers(others, () => parts.onSearch(email));
  }

  function offerReply(inquiry: Inquiry): void {
    const { id } = inquiry;
    const onAnswer = (text?: string): void => parts.onAnswer({ inquiry, text });
    const onInput = (text: string): void => keepDraft(id, text);
    const actions = { onInput, onAnswer, onLeave: pane.focusHeading };
    pane.dock.append(...createReplyBox(inquiry, parts.session, drafts.get(id), actions));
    dismiss = onAnswer;
  }

  function offerUnsent(id: string): void {
    const draft = drafts.get(id);
    if (draft === '') return;
    const discard = (): void => {
      keepDraft(id, '');
      pane.dock.replaceChildren();
      pane.focusHeading();
    };
    pane.dock.append(...createUnsentBox(draft, pane.say, discard));
  }

  function keepDraft(id: string, text: string): void {
    const isNew = (drafts.get(id) === '') !== (text === '');
    drafts.set(id, text);
    if (isNew) onChange(id);
  }

  function focusReply(): void {
    const text = pane.dock.querySelector('textarea');
    if (text !== null) text.focus();
    else if (document.activeElement === document.body) pane.focusHeading();
  }

  return {
    element: pane.element,
    load,
    look,
    opened: () => opened,
    focusReply,
    dismiss: () => dismiss?.(),
  };
}

/** `read` has the inquiry and its answer, `dock` what can be done with it. */
function createPane() {
  const back = button('‹ Back to the list', { class: 'ib-link ib-back' }, showList);
  const outcome = live('alert');
  const status = h('p', { class: 'sr', role: 'status' });
  const read = div('ib-read');
  const dock = div('ib-dock');
  const name = { class: 'ib-detail', 'aria-label': 'Inquiry' };
  const heading = (): HTMLElement =>
    read.querySelector('h2') ?? outcome.querySelector('button') ?? back;
  return {
    element: h('section', name, back, status, outcome, read, dock),
    read,
    dock,
    say: (text: string) => void (status.textContent = text),
    /** The heading, or the button of a failure. */
    heading,
    focusHeading: () => heading().focus(),
    clear(isOpen: boolean): void {
      if (dock.contains(document.activeElement)) noteTyping();
      back.hidden = !isOpen;
      for (const part of [outcome, read, dock]) part.replaceChildren();
    },
    fail(text: string, onAgain: () => Promise<void>): void {
      const failed = { title: 'The inquiry could not be loaded', text };
      outcome.replaceChildren(notice('bad', failed, button('Try again', {}, onAgain)));
    },
    tellOfAnswer({ respondent = '', reply }: Inquiry, hasDraft: boolean): void {
      const verb = reply === undefined ? 'dismissed' : 'answered';
      const text = hasDraft
        ? 'Your text was not sent. It is kept, and you can copy it.'
        : undefined;
      const title = `${respondent} has ${verb} this meanwhile`;
      outcome.replaceChildren(notice('plain', { title, text }));
      read.querySelector('.ib-answer')?.scrollIntoView({ block: 'nearest' });
    },
    showOthers({ count, isAll }: { count: number; isAll: boolean }, onSearch: () => void): void {
      if (count === 0) return;
      const label = `${formatCount(count, 'more', 'more')}${isAll ? '' : ' or more'} from this address`;
      read.querySelector('.ib-meta')?.append(button(label, { class: 'ib-link' }, onSearch));
    },
  };
}
