import { problemPage } from '../../ui/dom.ts';
import { createApi, isFailure } from './client.ts';
import { showInbox } from './inbox.ts';
import { FIRST_QUERY } from './list-state.ts';
import { dropSecret, hasSecret, takeSecret } from './address.ts';

const WRONG_ADDRESS =
  'The address of this page ends in a secret, which is new each time. Open the whole address that npm run inbox -- --web prints in its terminal. If the inbox is open in another tab, this one can take it from there.';

const FROM_TAB = 'Take it from the other tab';

const NO_STORAGE = 'This browser does not let the page store data. Please allow it.';

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

start().catch(() => showProblem('The inbox cannot be opened', NO_STORAGE));
