/** The pages without the form: signed out, and cannot start. */
import { button, h, notice } from './dom.ts';
import type { SignInResult } from './session.ts';

const REASONS: Record<SignInResult['reason'], { title: string; text: string } | undefined> = {
  none: undefined,
  'signed-in': undefined,
  'signed-out': { title: 'You are signed out', text: '' },
  'signed-out-here': {
    title: 'You are signed out here',
    text: 'The sign-in service did not answer and may still know you. On a shared computer, close the browser.',
  },
  ended: { title: 'Your session has ended', text: 'What you have typed is kept. Sign in to go on.' },
  cancelled: { title: 'The sign-in was cancelled', text: '' },
  failed: { title: 'The sign-in did not work', text: 'Please try again.' },
};

/** The page for users who are not signed in. */
export function signedOutPage(reason: SignInResult['reason'], signIn: () => Promise<void>): HTMLElement {
  const message = REASONS[reason];
  const kind = reason === 'failed' ? 'bad' : 'plain';
  const live = h('div', { class: 'live', role: 'alert' });
  if (message !== undefined) live.append(notice(kind, message));
  const start = button('Sign in', { class: 'primary wide' }, async () => {
    start.textContent = 'One moment…';
    await signIn().catch(() => {
      start.textContent = 'Sign in';
      const text = 'Please check your connection and try again.';
      live.replaceChildren(notice('bad', { title: 'The sign-in service does not answer', text }));
    });
  });
  return h(
    'div',
    { class: 'card welcome' },
    h('h1', {}, 'Contact us'),
    h('p', { class: 'lead' }, 'Send us an inquiry, and find every one you have sent in one place.'),
    live,
    start,
    h('p', { class: 'hint' }, 'You come back to this page. No other user sees what you send.'),
  );
}

/** The page that tells the owner of the site why the form cannot start. */
export function problemPage(title: string, text: string): HTMLElement {
  return h(
    'div',
    { class: 'card welcome', role: 'alert' },
    h('h1', {}, title),
    h('p', { class: 'lead' }, text),
    button('Reload', { class: 'primary wide' }, () => location.reload()),
  );
}
