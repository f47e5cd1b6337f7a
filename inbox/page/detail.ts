import { button, div, h, live, notice } from '../../ui/dom.ts';
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
import {
  createAnswerView,
  createGivenView,
  createInquiryView,
  createMeanwhileNotice,
  othersButton,
} from './inquiry-view.ts';
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
  /** A draft was begun or deleted, or the inquiry closed. */
  onChange: (id: string, answer?: Closed) => void;
  onAnswer: (given: Given) => void;
  onSearch: (text: string) => void;
}

export function createDetail(parts: DetailParts) {
  const { api, drafts, outbox } = parts;
  const back = button('‹ Back to the list', { class: 'ib-link ib-back' }, showList);
  const status = h('p', { class: 'sr', role: 'status' });
  const read = div('ib-read');
  const outcome = live('alert');
  const dock = div('ib-dock');
  const name = { class: 'ib-detail', 'aria-label': 'Inquiry' };
  let opened: string | undefined;
  /** Undefined where there is nothing to answer. */
  let dismiss: (() => void) | undefined;
  let loading = new AbortController();

  const say = (text: string): void => void (status.textContent = text);
  /** Or a failure's button. */
  const heading = (): HTMLElement =>
    read.querySelector('h2') ?? outcome.querySelector('button') ?? back;
  const focusHeading = (): void => heading().focus();

  function clear(): void {
    if (dock.contains(document.activeElement)) noteTyping();
    dismiss = undefined;
    back.hidden = opened === undefined;
    for (const part of [read, outcome, dock]) part.replaceChildren();
  }

  async function load(id: string | undefined): Promise<void> {
    loading.abort();
    opened = id;
    clear();
    if (id === undefined) return;
    say('Loading…');
    const { signal } = (loading = new AbortController());
    const result = await api.get(id, signal);
    if (signal.aborted) return;
    say('');
    draw(id, result);
    focusGently(heading());
  }

  /** A colleague may have answered, or the inquiry may be gone. */
  async function look(): Promise<void> {
    const { signal } = loading;
    if (opened === undefined || dismiss === undefined) return;
    const id = opened;
    const result = await api.get(id, signal);
    if (signal.aborted || outbox.get(id) !== undefined) return;
    if (isFailure(result) ? result.failure !== 404 : result.reply_at === undefined) return;
    const isFocused = dock.contains(document.activeElement);
    clear();
    draw(id, result);
    if (!isFailure(result)) {
      outcome.replaceChildren(createMeanwhileNotice(result, drafts.get(id) !== ''));
      read.querySelector('.ib-answer')?.scrollIntoView({ block: 'nearest' });
    }
    if (isFocused) focusReply();
  }

  function draw(id: string, result: Failure | Inquiry): void {
    if (isFailure(result)) {
      const failed = { title: 'The inquiry could not be loaded', text: result.message };
      const again = button('Try again', {}, async () => load(id));
      outcome.replaceChildren(notice('bad', failed, again));
      return offerUnsent(id);
    }
    drafts.confirm(result);
    read.replaceChildren(...createInquiryView(result, say));
    void showOthers(result);
    const { respondent, reply_at, reply } = result;
    const given = outbox.get(id);
    if (reply_at !== undefined) {
      read.append(createAnswerView(result));
      offerUnsent(id);
      parts.onChange(id, { respondent, reply_at, reply });
    } else if (given !== undefined) {
      read.append(createGivenView(given.text));
      if (outbox.canUndo(given)) dock.append(undoButton(() => outbox.undo(given)));
    } else {
      offerReply(result);
    }
    return markHits();
  }

  async function showOthers({ id, email }: Inquiry): Promise<void> {
    const { signal } = loading;
    const others = await api.countOthers(id, signal);
    if (signal.aborted || isFailure(others) || others.count === 0) return;
    read.querySelector('.ib-meta')?.append(othersButton(others, () => parts.onSearch(email)));
  }

  function offerReply(inquiry: Inquiry): void {
    const { id } = inquiry;
    const onAnswer = (text?: string): void => parts.onAnswer({ inquiry, text });
    const onInput = (text: string): void => keepDraft(id, text);
    const actions = { onInput, onAnswer, onLeave: focusHeading };
    dock.append(...createReplyBox(inquiry, parts.session, drafts.get(id), actions));
    dismiss = onAnswer;
  }

  /** For an inquiry that takes no answer any more. */
  function offerUnsent(id: string): void {
    const draft = drafts.get(id);
    if (draft === '') return;
    const discard = (): void => {
      keepDraft(id, '');
      dock.replaceChildren();
      focusHeading();
    };
    dock.append(...createUnsentBox(draft, say, discard));
  }

  function keepDraft(id: string, text: string): void {
    const isNew = (drafts.get(id) === '') !== (text === '');
    drafts.set(id, text);
    if (isNew) parts.onChange(id);
  }

  function focusReply(): void {
    const text = dock.querySelector('textarea');
    if (text !== null) text.focus();
    else if (document.activeElement === document.body) focusHeading();
  }

  return {
    element: h('section', name, back, status, read, outcome, dock),
    load,
    look,
    opened: () => opened,
    focusReply,
    dismiss: () => dismiss?.(),
  };
}
