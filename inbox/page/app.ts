/** The entry point of the operators' page: takes the secret from the address, wires list, detail and keys. */
import { INQUIRY_ID } from '../../src/limits.ts';
import { button, h } from '../../web/ui/dom.ts';
import { problemPage } from '../../web/ui/problem-page.ts';
import { createApi, isFailure } from './client.ts';
import type { Api, Session } from './client.ts';
import { createDetail } from './detail.ts';
import type { Detail } from './detail.ts';
import { createDrafts } from './drafts.ts';
import { listenForKeys } from './keys.ts';
import { createList } from './rows.ts';
import type { List } from './rows.ts';
import { updateAges } from './times.ts';

const SECRET = 'inbox.secret';

const main = document.querySelector('main');
const account = document.querySelector('#account');

/** The part of the address after `#`: the id of an inquiry, or the secret of a page that is being opened. */
const fragment = (): string => location.hash.slice(1);
const openedId = (): string | undefined => (INQUIRY_ID.test(fragment()) ? fragment() : undefined);

const hasSecret = (): boolean => fragment() !== '' && openedId() === undefined;

/** Goes back to the list. */
function close(): void {
  if (openedId() !== undefined) location.hash = '';
}

/** Moves the secret from the address, where it would be seen and kept in the history, to this tab's storage. */
function takeSecret(): string | null {
  if (hasSecret()) {
    sessionStorage.setItem(SECRET, fragment());
    history.replaceState(null, '', location.pathname);
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
  const secret = takeSecret();
  if (secret === null) {
    return showProblem('This address is not complete', WRONG_ADDRESS);
  }
  const api = createApi(secret);
  const session = await api.session();
  if (!isFailure(session)) return showInbox(api, session);
  if (session.failure === 'wrong-address') {
    return showProblem('This address is not the right one', WRONG_ADDRESS);
  }
  return showProblem('The inbox cannot be opened', session.message);
}

async function showInbox(api: Api, session: Session): Promise<void> {
  const drafts = createDrafts(sessionStorage);
  const list: List = createList(api, drafts);
  const detail: Detail = createDetail({ api, drafts, session, onChange: list.update, onClose: close });
  const showKeys = listenForKeys(list, detail, close);

  document.title = `Inbox of ${session.stage}`;
  const name = { class: 'email', dir: 'auto', title: `Answers are stored as ${session.respondent}` };
  account?.replaceChildren(
    h('span', { class: 'stage' }, session.stage),
    h('span', name, session.respondent),
    button('Keys', { class: 'quiet', 'aria-keyshortcuts': '?' }, showKeys),
  );
  main?.replaceChildren(
    h('h1', { class: 'sr' }, `Inbox of ${session.stage}`),
    h('div', { class: 'panes' }, list.element, detail.element),
  );

  const route = async (): Promise<void> => {
    const id = openedId();
    const before = detail.opened();
    document.body.classList.toggle('reading', id !== undefined);
    list.open(id);
    if (id === undefined && before !== undefined) list.focus(before);
    if (id !== before) scrollTo(0, 0);
    await detail.open(id);
  };
  addEventListener('hashchange', () => void route());
  addEventListener('beforeunload', (event) => {
    if (!drafts.isEmpty()) event.preventDefault();
  });
  setInterval(updateAges, 60_000);
  await Promise.all([list.load(), route()]);
}

start().catch(() => showProblem('The inbox cannot be opened', NO_STORAGE));
