import { button, div, h, live, notice } from '../../ui/dom.ts';
import { showList } from './address.ts';
import { isFailure, type Api, type Failure, type Inquiry } from './client.ts';
import { createDock, type DockParts } from './dock.ts';
import { markHits } from './hits.ts';
import {
  createAnswerView,
  createGivenView,
  createInquiryView,
  createMeanwhileNotice,
  othersButton,
} from './inquiry-view.ts';
import { focusGently } from './typing.ts';

export type Detail = ReturnType<typeof createDetail>;

interface DetailParts extends DockParts {
  api: Api;
  onSearch: (text: string) => void;
}

export function createDetail(parts: DetailParts) {
  const { api, drafts, outbox } = parts;
  const back = button('‹ Back to the list', { class: 'ib-link ib-back' }, showList);
  const status = h('p', { class: 'sr', role: 'status' });
  const read = div('ib-read');
  const outcome = live('alert');
  const name = { class: 'ib-detail', 'aria-label': 'Inquiry' };
  let opened: string | undefined;
  let loading = new AbortController();

  const say = (text: string): void => void (status.textContent = text);
  /** Or a failure's button. */
  const heading = (): HTMLElement =>
    read.querySelector('h2') ?? outcome.querySelector('button') ?? back;
  const dock = createDock(parts, say, () => heading().focus());

  function clear(): void {
    back.hidden = opened === undefined;
    for (const part of [read, outcome]) part.replaceChildren();
    dock.clear();
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
    if (opened === undefined || !dock.takesAnswer()) return;
    const id = opened;
    const result = await api.get(id, signal);
    if (signal.aborted || outbox.get(id) !== undefined) return;
    if (isFailure(result) ? result.failure !== 404 : result.reply_at === undefined) return;
    const isFocused = dock.isFocused();
    clear();
    draw(id, result);
    if (!isFailure(result)) {
      outcome.replaceChildren(createMeanwhileNotice(result, drafts.get(id) !== ''));
      read.querySelector('.ib-answer')?.scrollIntoView({ block: 'nearest' });
    }
    if (isFocused) dock.focus();
  }

  function draw(id: string, result: Failure | Inquiry): void {
    if (isFailure(result)) {
      const failed = { title: 'The inquiry could not be loaded', text: result.message };
      const again = button('Try again', {}, async () => load(id));
      outcome.replaceChildren(notice('bad', failed, again));
      return dock.offerUnsent(id);
    }
    drafts.confirm(result);
    read.replaceChildren(...createInquiryView(result, say));
    void showOthers(result);
    const { respondent, reply_at, reply } = result;
    const given = outbox.get(id);
    if (reply_at !== undefined) {
      read.append(createAnswerView(result));
      dock.offerUnsent(id);
      parts.onChange(id, { respondent, reply_at, reply });
    } else if (given !== undefined) {
      read.append(createGivenView(given.text));
      dock.offerUndo(given);
    } else {
      dock.offerReply(result);
    }
    return markHits();
  }

  async function showOthers({ id, email }: Inquiry): Promise<void> {
    const { signal } = loading;
    const others = await api.countOthers(id, signal);
    if (signal.aborted || isFailure(others) || others.count === 0) return;
    read.querySelector('.ib-meta')?.append(othersButton(others, () => parts.onSearch(email)));
  }

  return {
    element: h('section', name, back, status, read, outcome, dock.element),
    load,
    look,
    opened: () => opened,
    focusReply: dock.focus,
    dismiss: dock.dismiss,
  };
}
