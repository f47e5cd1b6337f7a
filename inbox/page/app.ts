import { button, div, h, problemPage } from '../../ui/dom.ts';
import { dropSecret, hasSecret, openedId, openInquiry, showList, takeSecret } from './address.ts';
import {
  createApi,
  isFailure,
  type Api,
  type Failure,
  type Listing,
  type Query,
  type Session,
} from './client.ts';
import { createDetail, type Detail } from './detail.ts';
import { createDrafts, type Drafts } from './drafts.ts';
import { listenForKeys, showKeys } from './keys.ts';
import { createList, type List } from './list.ts';
import { FIRST_QUERY, queryOf, searchFor } from './list-state.ts';
import { createOutbox } from './outbox.ts';
import { updateAges } from './times.ts';
import { createToasts, type Toasts } from './toasts.ts';

const WRONG_ADDRESS =
  'The address of this page ends in a secret, which is new each time. Open the whole address that npm run inbox -- --web prints in its terminal. If the inbox is open in another tab, this one can take it from there.';

const FROM_TAB = 'Take it from the other tab';

const NO_STORAGE = 'This browser does not let the page store data. Please allow it.';

/** Milliseconds. */
const POLL_INTERVAL = 25_000;
const BOUNCE_INTERVAL = 300_000;

const WIDE = '(min-width: 56rem) and (min-height: 32rem)';

function showProblem(title: string, text: string, wayOn?: string): void {
  document.querySelector('main')?.replaceChildren(problemPage({ title, text }, wayOn));
}

async function start(): Promise<void> {
  // Another run's address was pasted.
  addEventListener('hashchange', () => {
    if (hasSecret()) location.reload();
  });
  // Kept for the back button, the page has missed responses.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  const secret = await takeSecret();
  if (secret === null) {
    return showProblem('This address is not complete', WRONG_ADDRESS, FROM_TAB);
  }
  const api = createApi(secret);
  const listing = api.list(FIRST_QUERY);
  const session = await api.session();
  if (!isFailure(session)) return showInbox(api, session, listing);
  if (session.failure === 403) {
    dropSecret();
    return showProblem('This address is not the right one', WRONG_ADDRESS, FROM_TAB);
  }
  return showProblem('The inbox cannot be opened', session.message);
}

async function showInbox(
  api: Api,
  session: Session,
  listing: Promise<Listing | Failure>,
): Promise<void> {
  const drafts = createDrafts(sessionStorage);
  const toasts = createToasts();
  const { list, detail, outbox } = createParts(api, session, drafts, toasts);
  const bounces = createBounceCount(api, (query) => {
    showList();
    void list.ask(query);
  });
  listenForKeys(list, detail, outbox);
  fillPage(session, bounces.element, [list.element, detail.element, toasts.element]);
  addEventListener('hashchange', () => void follow(list, detail));
  await Promise.all([
    list.load({ requested: listing }),
    follow(list, detail),
    ...drafts.ids().map(async (id) => checkDraft(id, api, drafts, toasts)),
  ]);
  const oldest = list.neighbour(1);
  if (openedId() === undefined && oldest !== undefined && matchMedia(WIDE).matches) {
    location.replace(`#${oldest}`);
  }
  const look = async (): Promise<unknown> => Promise.all([list.poll(), detail.look()]);
  await keepUpToDate(look, bounces.count);
}

function createParts(api: Api, session: Session, drafts: Drafts, toasts: Toasts) {
  const outbox = createOutbox(api, drafts, toasts, (id, answer) => {
    list.update(id, answer);
    if (detail.opened() === id) void detail.load(id);
  });
  const list = createList(api, drafts, outbox, session.stage);
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
      if (following === undefined) showList();
      else openInquiry(following);
    },
    onSearch(text) {
      showList();
      void list.ask(searchFor(text));
    },
  });
  return { list, detail, outbox };
}

function fillPage({ stage, respondent }: Session, bounces: Node, panes: Node[]): void {
  document
    .querySelector('#account')
    ?.replaceChildren(
      h('span', { class: 'ib-stage' }, stage),
      bounces,
      h('bdi', { class: 'ib-name', title: `Answers are stored as ${respondent}` }, respondent),
      button('Keys', { class: 'ib-link ib-keys', 'aria-keyshortcuts': '?' }, showKeys),
    );
  document
    .querySelector('main')
    ?.replaceChildren(h('h1', { class: 'sr' }, `Inbox of ${stage}`), div('ib-panes', ...panes));
}

async function follow(list: List, detail: Detail): Promise<void> {
  const id = openedId();
  const before = detail.opened();
  document.body.classList.toggle('ib-reading', id !== undefined);
  list.mark(id);
  if (id === undefined && before !== undefined) list.focus(before);
  if (id !== before) scrollTo(0, 0);
  await detail.load(id);
}

/** Names a draft whose inquiry is closed or gone. */
async function checkDraft(id: string, api: Api, drafts: Drafts, toasts: Toasts): Promise<void> {
  const result = await api.get(id);
  drafts.confirm(result);
  if (drafts.get(id) === '' || id === openedId()) return;
  if (isFailure(result)) {
    if (result.failure === 404) toasts.fail({ id }, 'Your text is kept:', result.message);
  } else if (result.reply_at !== undefined) {
    toasts.fail(result, 'Your text is kept:', `${result.respondent} has answered.`);
  }
}

const whenSeen = (act: () => Promise<unknown>) => (): void => {
  if (document.visibilityState === 'visible') void act();
};

async function keepUpToDate(
  look: () => Promise<unknown>,
  countBounces: () => Promise<void>,
): Promise<void> {
  setInterval(updateAges, 60_000);
  setInterval(whenSeen(look), POLL_INTERVAL);
  setInterval(whenSeen(countBounces), BOUNCE_INTERVAL);
  document.addEventListener('visibilitychange', whenSeen(look));
  await Promise.all([look(), countBounces()]);
}

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

start().catch(() => showProblem('The inbox cannot be opened', NO_STORAGE));
