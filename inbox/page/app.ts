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

async function start(): Promise<void> {
  // The address of another run, or a corrected one, was pasted into this tab.
  addEventListener('hashchange', () => {
    if (hasSecret()) location.reload();
  });
  const secret = takeSecret();
  if (secret === null) {
    main?.replaceChildren(problemPage({ title: 'This address is not complete', text: WRONG_ADDRESS }));
    return;
  }
  const api = createApi(secret);
  const session = await api.session();
  if (!isFailure(session)) return showInbox(api, session);
  const page =
    session.failure === 'wrong-address'
      ? problemPage({ title: 'This address is not the right one', text: WRONG_ADDRESS })
      : problemPage({ title: 'The inbox cannot be opened', text: session.message });
  main?.replaceChildren(page);
}

async function showInbox(api: Api, session: Session): Promise<void> {
  const drafts = createDrafts(sessionStorage);
  const list: List = createList(api, drafts);
  const detail: Detail = createDetail({ api, drafts, session, onChange: list.update, onClose: close });
  const showKeys = listenForKeys(list, detail, close);

  document.title = `Inbox of ${session.stage}`;
  account?.replaceChildren(
    h('span', { class: 'stage' }, session.stage),
    h(
      'span',
      { class: 'email', dir: 'auto', title: `Answers are stored as ${session.respondent}` },
      session.respondent,
    ),
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

start().catch(() => {
  main?.replaceChildren(
    problemPage({
      title: 'The inbox cannot be opened',
      text: 'This browser does not let the page store data. Please allow it.',
    }),
  );
});
