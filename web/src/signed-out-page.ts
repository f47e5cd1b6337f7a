import { button, div, h, live, notice, p } from '../ui/dom.ts';
import type { Message } from './languages/strings.ts';
import type { Locale } from './locale.ts';
import type { SignInResult } from './session.ts';

/** The page for users who are not signed in. @param lead - Default: what signing in is for. */
export function signedOutPage(
  { strings: { form, session, failures, page } }: Locale,
  reason: SignInResult['reason'],
  signIn: () => Promise<void>,
  lead = session.lead,
): HTMLElement {
  const region = live('alert');
  const ended: Message = { title: failures['signed-out'], text: failures.textKept };
  if (reason !== undefined) {
    const message = reason === 'ended' ? ended : session[reason];
    region.append(notice(reason === 'failed' ? 'bad' : 'plain', message));
  }
  const start = button(session.signIn, { class: 'primary wide' }, async () => {
    start.textContent = page.wait;
    await signIn().catch(() => {
      start.textContent = session.signIn;
      region.replaceChildren(notice('bad', { title: session.noAnswer, text: failures.again }));
    });
  });
  return div('card welcome', h('h1', {}, form.title), p('lead', lead), region, start);
}
