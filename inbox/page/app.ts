/** The entry point of the operators' page: takes the secret from the address, wires list, inquiry, outbox and keys. */
import { INQUIRY_ID } from '../../src/limits.ts';
import { button, h, problemPage } from '../../web/ui/dom.ts';
import { createApi, isFailure, type Api, type Session } from './client.ts';
import { createDetail, type Detail } from './detail.ts';
import { createDrafts } from './drafts.ts';
import { listenForKeys } from './keys.ts';
import { createOutbox, isSame, type Outbox } from './outbox.ts';
import { createList, type List } from './rows.ts';
import { updateAges } from './times.ts';

const SECRET = 'inbox.secret';

/** Milliseconds from one look for new inquiries to the next, and for which a new tab waits for the secret of another. */
const POLL_INTERVAL = 25_000;
const ANSWER_TIME = 500;

const main = document.querySelector('main');
const account = document.querySelector('#account');

/** The part of the address after `#`: the id of an inquiry, or the secret of a page that is being opened. */
const fragment = (): string => location.hash.slice(1);
const openedId = (): string | undefined => (INQUIRY_ID.test(fragment()) ? fragment() : undefined);

const hasSecret = (): boolean => fragment() !== '' && openedId() === undefined;

const open = (id: string): void => void (location.hash = id);

function close(): void {
  if (openedId() !== undefined) location.hash = '';
}

/**
 * Moves the secret from the address, where it would be seen and kept in the history, to this tab's storage. A tab that was
 * opened from a row of the list asks the other tabs of this origin for it, which has no pages but this one.
 */
async function takeSecret(): Promise<string | null> {
  if (hasSecret()) {
    sessionStorage.setItem(SECRET, fragment());
    history.replaceState(null, '', location.pathname);
  }
  const tabs = new BroadcastChannel(SECRET);
  const { promise, resolve } = Promise.withResolvers<void>();
  tabs.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const secret = sessionStorage.getItem(SECRET);
    if (data === '' && secret !== null) tabs.postMessage(secret);
    if (data === '' || secret !== null) return;
    sessionStorage.setItem(SECRET, data);
    resolve();
  });
  if (sessionStorage.getItem(SECRET) === null) {
    tabs.postMessage('');
    setTimeout(resolve, ANSWER_TIME);
    await promise;
  }
  return sessionStorage.getItem(SECRET);
}

const WRONG_ADDRESS =
  'The address of this page ends in a secret, which is new each time. Copy the whole address from the terminal in which npm run inbox -- --web runs, or start it again.';

const NO_STORAGE = 'This browser does not let the page store data. Please allow it.';

function showProblem(title: string, text: string): void {
  main?.replaceChildren(problemPage({ title, text }));
}

async function start(): Promise<void> {
  // The address of another run, or a corrected one, was pasted into this tab.
  addEventListener('hashchange', () => {
    if (hasSecret()) location.reload();
  });
  const secret = await takeSecret();
  if (secret === null) {
    return showProblem('This address is not complete', WRONG_ADDRESS);
  }
  const api = createApi(secret);
  const session = await api.session();
  if (!isFailure(session)) return showInbox(api, session);
  if (session.failure === 'wrong-address') {
    // Not for another tab either.
    sessionStorage.removeItem(SECRET);
    return showProblem('This address is not the right one', WRONG_ADDRESS);
  }
  return showProblem('The inbox cannot be opened', session.message);
}

async function showInbox(api: Api, session: Session): Promise<void> {
  const drafts = createDrafts(sessionStorage);
  const outbox: Outbox = createOutbox({
    api,
    drafts,
    open,
    onChange(id, answer) {
      list.update(id, answer);
      if (detail.opened() === id) void detail.open(id);
    },
  });
  const list: List = createList({ api, drafts, outbox }, (count) => {
    document.title = `${count === '' || count === '0' ? '' : `(${count}) `}Inbox of ${session.stage}`;
  });
  const detail: Detail = createDetail({
    api,
    drafts,
    session,
    outbox,
    onChange: list.update,
    onAnswer(inquiry, text) {
      outbox.give({ inquiry, text });
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
  const showKeys = listenForKeys({ list, detail, outbox, close });

  const name = { class: 'ib-name', title: `Answers are stored as ${session.respondent}` };
  account?.replaceChildren(
    h('span', { class: 'ib-stage' }, session.stage),
    h('bdi', name, session.respondent),
    button('Keys', { class: 'ib-link', 'aria-keyshortcuts': '?' }, showKeys),
  );
  main?.replaceChildren(
    h('h1', { class: 'sr' }, `Inbox of ${session.stage}`),
    h('div', { class: 'ib-panes' }, list.element, detail.element, outbox.element),
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
  setInterval(updateAges, 60_000);
  const poll = (): void => {
    if (document.visibilityState === 'visible') void list.poll();
  };
  setInterval(poll, POLL_INTERVAL);
  document.addEventListener('visibilitychange', poll);
  await Promise.all([list.load(), list.poll(), route(), ...drafts.ids().map(dropStored)]);

  /** Deletes the draft of an answer that was sent while the page was left. */
  async function dropStored(id: string): Promise<void> {
    if (isSame(await api.get(id), drafts.get(id))) drafts.set(id, '');
  }
}

start().catch(() => showProblem('The inbox cannot be opened', NO_STORAGE));
