import { button, div, h, live, notice, p } from '../../ui/dom.ts';
import type { Locale } from './locale.ts';
import type { SignInResult } from './session.ts';

/** @param lead - Default: what a sign-in is for. */
export function signedOutPage(
  { strings: { form, session, failures, page } }: Locale,
  reason: SignInResult['reason'],
  signIn: () => Promise<void>,
  lead = session.lead,
): HTMLElement {
  const region = live('alert');
  if (reason !== undefined) {
    const title = reason === 'ended' ? failures['signed-out'] : session[reason];
    const texts: Partial<Record<typeof reason, string>> = {
      ended: failures.textKept,
      signedOutHere: session.mayBeSignedIn,
    };
    region.append(notice(reason === 'failed' ? 'bad' : 'plain', { title, text: texts[reason] }));
  }
  const start = button(session.signIn, { class: 'primary' }, async () => {
    start.textContent = page.wait;
    await signIn().catch(() => {
      start.textContent = session.signIn;
      region.replaceChildren(notice('bad', { title: session.noAnswer, text: failures.again }));
    });
  });
  return div('card welcome', h('h1', {}, form.title), p('lead', lead), region, start);
}
