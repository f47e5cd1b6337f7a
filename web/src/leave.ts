import { ask } from '../ui/dom.ts';
import type { Locale } from './locale.ts';
import { TEXT_ANSWER, TEXT_QUESTION, type View } from './view.ts';

/** Milliseconds. */
const ANSWER_TIMEOUT = 200;

/** Asks at sign-out what becomes of text that is not sent; 'delete': in all tabs. */
export async function askToLeave(view: View, { strings }: Locale): Promise<'keep' | 'delete' | 'stay'> {
  if (!(await isTextAnywhere(view))) return 'keep';
  const answer = await ask(view.element, strings.ask.unsent, [
    ['keep', strings.ask.keepAndSignOut],
    ['delete', strings.ask.deleteAndSignOut],
    ['stay', strings.ask.staySignedIn],
  ]);
  if (answer === 'delete') view.drafts.clearEverywhere();
  return answer ?? 'stay';
}

/** Whether there is such text in this tab, in another one, or in what a closed one has stored. */
async function isTextAnywhere({ hasText, drafts, tabs }: View): Promise<boolean> {
  const { subject = '', body = '' } = drafts.load() ?? {};
  if (hasText() || subject + body !== '') return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  tabs.addEventListener('message', ({ data }) => data === TEXT_ANSWER && resolve(true));
  tabs.postMessage(TEXT_QUESTION);
  setTimeout(() => resolve(false), ANSWER_TIMEOUT);
  return promise;
}
