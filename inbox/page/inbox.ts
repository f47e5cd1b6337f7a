/** Wires list, inquiry, outbox and keys, and opens what the address names. */
import { button, div, h } from '../../web/ui/dom.ts';
import { isFailure, type Api, type Failure, type Listing, type Session } from './client.ts';
import { createDetail, type Detail } from './detail.ts';
import { createDrafts } from './drafts.ts';
import { markHits } from './hits.ts';
import { listenForKeys } from './keys.ts';
import { createList, type List } from './list.ts';
import { createOutbox, isSame, type Outbox } from './outbox.ts';
import { openedId } from './secret.ts';
import { updateAges } from './times.ts';
import { createToasts } from './toasts.ts';

/** Milliseconds from one look for new inquiries to the next, and for replies that came back. */
const POLL_INTERVAL = 25_000;
const BOUNCE_INTERVAL = 300_000;

/** Where list and inquiry are side by side; style.css has the same. */
const WIDE = '(min-width: 56rem) and (min-height: 32rem)';

const open = (id: string): void => void (location.hash = id);

function close(): void {
  if (openedId() !== undefined) location.hash = '';
}

const isVisible = (): boolean => document.visibilityState === 'visible';

/** @param listing - What the list begins with. */
export async function showInbox(
  api: Api,
  session: Session,
  listing: Promise<Listing | Failure>,
): Promise<void> {
  const drafts = createDrafts(sessionStorage);
  const toasts = createToasts(open);
  const outbox: Outbox = createOutbox({
    api,
    drafts,
    toasts,
    open,
    onChange(id, answer) {
      list.update(id, answer);
      if (detail.opened() === id) void detail.open(id);
    },
  });
  const list: List = createList({
    api,
    drafts,
    outbox,
    onRender(count) {
      markHits(list.text());
      const prefix = count === '' || count === '0' ? '' : `(${count}) `;
      document.title = `${prefix}Inbox of ${session.stage}`;
    },
  });
  const detail: Detail = createDetail({
    api,
    drafts,
    session,
    outbox,
    onChange: list.update,
    onRender: () => markHits(list.text()),
    onAnswer(inquiry, text) {
      outbox.give(inquiry, text);
      const following = list.neighbour(inquiry.id, 1) ?? list.neighbour(inquiry.id, -1);
      list.update(inquiry.id);
      if (following === undefined) close();
      else open(following.hash.slice(1));
    },
    onSearch(text) {
      close();
      void list.find(text);
    },
    onClose: close,
  });
  const bounces = createBounceCount(api, () => {
    close();
    void list.show('undelivered');
  });
  showHeader(session, bounces.element, listenForKeys({ list, detail, outbox, close }));
  document
    .querySelector('main')
    ?.replaceChildren(
      h('h1', { class: 'sr' }, `Inbox of ${session.stage}`),
      div('ib-panes', list.element, detail.element, toasts.element),
    );

  const route = async (): Promise<void> => {
    const id = openedId();
    const before = detail.opened();
    document.body.classList.toggle('ib-reading', id !== undefined);
    list.open(id);
    if (id === undefined && before !== undefined) list.focus(before);
    if (id !== before) scrollTo(0, 0);
    await detail.open(id);
  };
  addEventListener('hashchange', () => void route());
  addEventListener('beforeunload', (event) => {
    if (drafts.ids().some((id) => !outbox.takes(id))) event.preventDefault();
  });
  // Responses may have been lost while the page was kept for the back button.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  const poll = (): void => {
    if (isVisible()) void list.poll();
  };
  setInterval(updateAges, 60_000);
  setInterval(poll, POLL_INTERVAL);
  setInterval(() => void (isVisible() && bounces.count()), BOUNCE_INTERVAL);
  document.addEventListener('visibilitychange', poll);
  await Promise.all([list.load(listing), route(), ...drafts.ids().map(dropStored)]);
  const oldest = list.neighbour(undefined, 1);
  if (openedId() === undefined && oldest !== undefined && matchMedia(WIDE).matches) {
    location.replace(oldest.hash);
  }
  await Promise.all([list.poll(), bounces.count()]);

  /** Deletes the draft of an answer that was sent while the page was left. */
  async function dropStored(id: string): Promise<void> {
    if (isSame(await api.get(id), drafts.get(id))) drafts.set(id, '');
  }
}

function showHeader(
  { stage, respondent }: Session,
  bounces: HTMLElement,
  showKeys: () => void,
): void {
  const name = { class: 'ib-name', title: `Answers are stored as ${respondent}` };
  document
    .querySelector('#account')
    ?.replaceChildren(
      h('span', { class: 'ib-stage' }, stage),
      bounces,
      h('bdi', name, respondent),
      button('Keys', { class: 'ib-link ib-keys', 'aria-keyshortcuts': '?' }, showKeys),
    );
}

/** How many replies of the last days have not arrived; nothing where all have. */
function createBounceCount(api: Api, onOpen: () => void) {
  const element = button('Came back', { class: 'ib-link ib-bad', hidden: true }, onOpen);
  return {
    element,
    async count(): Promise<void> {
      const query = { show: 'undelivered', order: 'answered', text: '' } as const;
      const result = await api.list(query, new AbortController().signal);
      if (isFailure(result)) return;
      element.textContent = `${result.inquiries.length} came back`;
      element.hidden = result.inquiries.length === 0;
    },
  };
}
