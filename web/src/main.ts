/** The entry point: wires the parts and decides which page is shown. */
import { createApi } from './api.ts';
import { ConfigError, loadConfig } from './config.ts';
import type { Config } from './config.ts';
import { ask, button, h } from './dom.ts';
import { createDrafts } from './drafts.ts';
import { createForm } from './form.ts';
import { createList } from './list.ts';
import { problemPage, signedOutPage } from './pages.ts';
import { createSignIn } from './session.ts';
import type { SignIn } from './session.ts';
import type { Session } from './user.ts';

const main = document.querySelector('main');
const account = document.querySelector('#account');

async function start(): Promise<void> {
  const config = await loadConfig(async (file) => fetch(file, { cache: 'no-cache' }));
  const signIn = createSignIn(config, location, sessionStorage);
  const { session, reason } = await signIn.resume();
  if (session === undefined) {
    main?.replaceChildren(signedOutPage(reason, signIn.redirect));
    return;
  }
  signIn.onSignOut(() => location.reload());
  // A page restored from the back/forward cache may be of a session that has ended.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
  await showInquiries(config, signIn, session);
}

async function showInquiries(config: Config, signIn: SignIn, session: Session): Promise<void> {
  const api = createApi(config.apiUrl, session, () => navigator.onLine);
  const drafts = createDrafts(sessionStorage, localStorage, session.user.sub);
  const list = createList(api, signIn.redirect);
  const form = createForm({
    create: api.create,
    drafts,
    onSent: list.add,
    refreshList: list.refresh,
    signIn: signIn.redirect,
  });

  const signOut = async (): Promise<void> => {
    if (form.hasText()) {
      const answer = await ask(
        'You have text that is not sent',
        'Keep it in this browser until you sign in again, or delete it?',
        [
          ['keep', 'Keep it and sign out'],
          ['delete', 'Delete it and sign out'],
          ['stay', 'Stay signed in'],
        ],
      );
      if (answer === undefined || answer === 'stay') return;
      if (answer === 'delete') drafts.clear();
    }
    await signIn.signOut().catch(() => location.reload());
  };

  account?.replaceChildren(
    h('span', { class: 'email', dir: 'auto', title: session.user.email }, session.user.email),
    button('Sign out', { class: 'quiet' }, signOut),
  );
  main?.replaceChildren(h('div', { class: 'columns' }, form.element, list.element));
  await Promise.all([list.refresh(), form.resume()]);
}

start().catch((error: unknown) => {
  const text =
    error instanceof ConfigError
      ? error.message
      : 'This browser lets the page keep nothing, or lacks something it needs. Please allow it to store data.';
  main?.replaceChildren(problemPage('The contact form cannot start', text));
});
