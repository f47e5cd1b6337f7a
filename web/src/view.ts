import { ask, h } from './dom.ts';
import { isInquiry } from './api.ts';
import { createDrafts, removeDeletedDrafts } from './form/drafts.ts';
import { EMPTY, hasText as isWritten } from './form/fields.ts';
import { createForm } from './form/form.ts';
import { createList } from './list/list.ts';
import type { ViewParts } from './parts.ts';
import type { Locale } from './languages/locale.ts';
import type { Inquiry } from '../../src/contract.ts';
import { isText, toRecord } from './narrow.ts';
import { attempt, dataOf, openChannel } from './storage.ts';

export type View = ReturnType<typeof createView>;

const TEXT_QUESTION = 'text?';
const TEXT_ANSWER = 'text';
/** Milliseconds. */
const ANSWER_TIMEOUT = 200;

interface SentMessage {
  inquiry: Inquiry;
  key: string;
}

export function createView(parts: ViewParts) {
  const { user, locale, drafts = createDrafts(sessionStorage, localStorage, user.sub) } = parts;
  attempt(() => removeDeletedDrafts(sessionStorage, localStorage));
  const removal = new AbortController();
  const tabs = openChannel(`inquiries.sent.${user.sub}`);
  const { signal } = removal;
  const list = parts.withList ? createList({ ...parts, signal }) : undefined;
  const form = createForm({
    ...parts,
    drafts,
    refreshList: () => void list?.refresh(),
    signal,
    onSent(inquiry, key) {
      list?.add(inquiry);
      // The view may be removed before sending ends.
      if (!signal.aborted) tabs.postMessage({ inquiry, key } satisfies SentMessage);
      parts.onSent?.(inquiry, key);
    },
  });
  tabs.addEventListener('message', (event: Event) => {
    const data = dataOf(event);
    if (data === TEXT_QUESTION && form.hasText()) tabs.postMessage(TEXT_ANSWER);
    if (!isSentMessage(data)) return;
    list?.add(data.inquiry);
    form.sentElsewhere(data.inquiry, data.key);
  });
  const element = h(
    'div',
    { class: 'view', lang: locale.language, dir: locale.direction },
    h('div', { class: list === undefined ? 'column' : 'columns' }, form.element, list?.element),
    list === undefined ? undefined : form.backButton,
  );
  return {
    element,
    form,
    drafts,
    tabs,
    show: async (id: string) => list?.show(id),
    /** Never rejects. */
    async start(): Promise<void> {
      await Promise.all([list?.show(parts.linked ?? ''), form.resume()]);
    },
    stop(): void {
      removal.abort();
      tabs.close();
    },
  };
}

/** A tab may run another version of the page, whose messages differ. */
function isSentMessage(data: unknown): data is SentMessage {
  const { inquiry, key } = toRecord(data);
  return isText(key) && isInquiry(inquiry);
}

/** @returns Whether to sign out. */
export async function askToLeave(view: View, { strings }: Locale): Promise<boolean> {
  if (!(await isTextAnywhere(view))) return true;
  const answer = await ask(view.element, strings.ask.unsent, [
    ['keep', strings.ask.keepAndSignOut],
    ['delete', strings.ask.deleteAndSignOut],
    ['stay', strings.ask.staySignedIn],
  ]);
  if (answer === 'delete') view.drafts.clearEverywhere();
  return answer === 'keep' || answer === 'delete';
}

/** Asks all tabs, and looks at what a closed one has left. */
async function isTextAnywhere({ form, drafts, tabs }: View): Promise<boolean> {
  if (form.hasText() || isWritten(drafts.load() ?? EMPTY)) return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  tabs.addEventListener(
    'message',
    (event: Event) => dataOf(event) === TEXT_ANSWER && resolve(true),
  );
  tabs.postMessage(TEXT_QUESTION);
  setTimeout(() => resolve(false), ANSWER_TIMEOUT);
  return promise;
}
