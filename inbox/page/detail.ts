import { isFailure, type Api, type Closed, type Failure, type Inquiry } from './client.ts';
import { createDock, type DockParts } from './dock.ts';
import { markHits } from './hits.ts';
import { createAnswerView, createGivenView, createInquiryView } from './inquiry-view.ts';
import { createPane } from './pane.ts';
import { focusGently } from './typing.ts';

export type Detail = ReturnType<typeof createDetail>;

interface DetailParts extends DockParts {
  api: Api;
  /** A draft was begun or deleted, or the inquiry closed. */
  onChange: (id: string, answer?: Closed) => void;
  onSearch: (text: string) => void;
}

export function createDetail(parts: DetailParts) {
  const { api, drafts, outbox, onChange } = parts;
  const pane = createPane();
  const dock = createDock(pane, parts);
  let opened: string | undefined;
  let loading = new AbortController();

  async function load(id: string | undefined): Promise<void> {
    loading.abort();
    opened = id;
    dock.clear(id !== undefined);
    if (id === undefined) return;
    pane.say('Loading…');
    const { signal } = (loading = new AbortController());
    const result = await api.get(id, signal);
    if (signal.aborted) return;
    pane.say('');
    draw(id, result);
    focusGently(pane.heading());
  }

  /** A colleague may have answered, or the inquiry may be gone. */
  async function look(): Promise<void> {
    const { signal } = loading;
    if (opened === undefined || !dock.canAnswer()) return;
    const id = opened;
    const result = await api.get(id, signal);
    if (signal.aborted || outbox.get(id) !== undefined) return;
    if (isFailure(result) ? result.failure !== 404 : result.reply_at === undefined) return;
    const isFocused = pane.dock.contains(document.activeElement);
    dock.clear(true);
    draw(id, result);
    if (!isFailure(result)) pane.tellOfAnswer(result, drafts.get(id) !== '');
    if (isFocused) dock.focusReply();
  }

  function draw(id: string, result: Failure | Inquiry): void {
    if (isFailure(result)) {
      pane.fail(result.message, async () => load(id));
      return dock.offerUnsent(id);
    }
    drafts.confirm(result);
    pane.read.replaceChildren(...createInquiryView(result, pane.say));
    void showOthers(result);
    const { respondent, reply_at, reply } = result;
    const given = outbox.get(id);
    if (reply_at !== undefined) {
      pane.read.append(createAnswerView(result));
      dock.offerUnsent(id);
      onChange(id, { respondent, reply_at, reply });
    } else if (given !== undefined) {
      pane.read.append(createGivenView(given.text));
      dock.offerUndo(given);
    } else {
      dock.offerReply(result);
    }
    return markHits();
  }

  async function showOthers({ id, email }: Inquiry): Promise<void> {
    const { signal } = loading;
    const others = await api.countOthers(id, signal);
    if (signal.aborted || isFailure(others)) return;
    pane.showOthers(others, () => parts.onSearch(email));
  }

  return {
    element: pane.element,
    load,
    look,
    opened: () => opened,
    focusReply: dock.focusReply,
    dismiss: dock.dismiss,
  };
}
