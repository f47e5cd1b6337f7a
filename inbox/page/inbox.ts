/** Wires list, inquiry, outbox and keys, and opens what the address names. */
import { button, div, h } from '../../ui/dom.ts';
import { close, open, openedId } from './address.ts';
import {
  isFailure,
  type Api,
  type Failure,
  type Listing,
  type Query,
  type Session,
} from './client.ts';
import { createDetail, type Detail } from './detail.ts';
import { createDrafts } from './drafts.ts';
import { listenForKeys, showKeys } from './keys.ts';
import { createList, type List } from './list.ts';
import { createOutbox } from './outbox.ts';
import { queryOf, searchFor } from './query.ts';
import { updateAges } from './times.ts';
import { createToasts } from './toasts.ts';

/** Milliseconds from one look for new inquiries to the next, and for replies that came back. */
const POLL_INTERVAL = 25_000;
const BOUNCE_INTERVAL = 300_000;

/** Where list and inquiry are side by side; style.css has the same. */
const WIDE = '(min-width: 56rem) and (min-height: 32rem)';

/** @param listing - What the list begins with. */
export async function showInbox(
  api: Api,
  session: Session,
  listing: Promise<Listing | Failure>,
): Promise<void> {
  const { stage, respondent } = session;
  const drafts = createDrafts(sessionStorage);
  const toasts = createToasts();
  const outbox = createOutbox(api, drafts, toasts, (id, answer) => {
    list.update(id, answer);
    if (detail.opened() === id) void detail.open(id);
  });
  const list = createList(api, drafts, outbox, stage);
  const detail = createDetail({
    api,
    drafts,
    session,
    outbox,
    onChange: list.update,
    onAnswer(given) {
      const { id } = given.inquiry;
      outbox.give(given);
      const following = list.neighbour(1, id) ?? list.neighbour(-1, id);
      list.update(id);
      if (following === undefined) close();
      else open(following);
    },
    onSearch: (text) => show(searchFor(text)),
  });
  function show(query: Query): void {
    close();
    void list.ask(query);
  }
  const bounces = createBounceCount(api, show);
  listenForKeys(list, detail, outbox);
  document
    .querySelector('#account')
    ?.replaceChildren(
      h('span', { class: 'ib-stage' }, stage),
      bounces.element,
      h('bdi', { class: 'ib-name', title: `Answers are stored as ${respondent}` }, respondent),
      button('Keys', { class: 'ib-link ib-keys', 'aria-keyshortcuts': '?' }, showKeys),
    );
  document
    .querySelector('main')
    ?.replaceChildren(
      h('h1', { class: 'sr' }, `Inbox of ${stage}`),
      div('ib-panes', list.element, detail.element, toasts.element),
    );
  addEventListener('hashchange', () => void follow(list, detail));
  await Promise.all([
    list.load(undefined, listing),
    follow(list, detail),
    ...drafts.ids().map(async (id) => drafts.confirm(await api.get(id))),
  ]);
  const oldest = list.neighbour(1);
  if (openedId() === undefined && oldest !== undefined && matchMedia(WIDE).matches) {
    location.replace(`#${oldest}`);
  }
  await keepUpToDate(list.poll, bounces.count);
}

/** Opens the inquiry that the address names, or shows the list. */
async function follow(list: List, detail: Detail): Promise<void> {
  const id = openedId();
  const before = detail.opened();
  document.body.classList.toggle('ib-reading', id !== undefined);
  list.open(id);
  if (id === undefined && before !== undefined) list.focus(before);
  if (id !== before) scrollTo(0, 0);
  await detail.open(id);
}

const whenSeen = (act: () => Promise<void>) => (): void => {
  if (document.visibilityState === 'visible') void act();
};

/** Looks for new inquiries and for replies that came back, while the page is seen. */
async function keepUpToDate(
  poll: () => Promise<void>,
  countBounces: () => Promise<void>,
): Promise<void> {
  setInterval(updateAges, 60_000);
  setInterval(whenSeen(poll), POLL_INTERVAL);
  setInterval(whenSeen(countBounces), BOUNCE_INTERVAL);
  document.addEventListener('visibilitychange', whenSeen(poll));
  await Promise.all([poll(), countBounces()]);
}

/** How many replies of the last days have not arrived; nothing where all have. */
function createBounceCount(api: Api, onOpen: (query: Query) => void) {
  const query = queryOf('undelivered');
  const element = button('Came back', { class: 'ib-link ib-bad', hidden: true }, () =>
    onOpen(query),
  );
  return {
    element,
    async count(): Promise<void> {
      const result = await api.list(query);
      if (isFailure(result)) return;
      element.textContent = `${result.inquiries.length} came back`;
      element.hidden = result.inquiries.length === 0;
    },
  };
}
