import { button, div, h, notice } from '../ui/dom.ts';
import type { Locale } from './locale.ts';
import type { SignInResult } from './session.ts';

/** The page for users who are not signed in. @param lead - Default: what signing in is for. */
export function signedOutPage(
  { strings: { form, session } }: Locale,
  reason: SignInResult['reason'],
  signIn: () => Promise<void>,
  lead = session.lead,
): HTMLElement {
  const live = h('div', { class: 'live', role: 'alert' });
  if (reason !== undefined) {
    live.append(notice(reason === 'failed' ? 'bad' : 'plain', session[reason]));
  }
  const start = button(session.signIn, { class: 'primary wide' }, async () => {
    start.textContent = session.signingIn;
    await signIn().catch(() => {
      start.textContent = session.signIn;
      live.replaceChildren(notice('bad', session.noAnswer));
    });
  });
  return div(
    'card welcome',
    h('h1', {}, form.title),
    h('p', { class: 'lead' }, lead),
    h('p', { class: 'hint' }, session.hint),
    live,
    start,
  );
}
