/** What is shown of one inquiry: its heading, text and answer, and what is known of mails to its owner. */
import { showAddress, showInvisible } from '../../src/invisible.ts';
import { toReference } from '../../src/limits.ts';
import { copyButton } from '../../web/ui/copy.ts';
import { button, h, notice } from '../../web/ui/dom.ts';
import { beginningOf } from '../../web/ui/format.ts';
import type { Inquiry } from './client.ts';
import { age, exactTime, formatTime } from './times.ts';
import { UNDELIVERED } from './words.ts';

/** UTF-16 units of a subject in the heading; the details have all of it. */
const SUBJECT_LENGTH = 200;

interface Actions {
  /** The user wants all inquiries with a text. */
  readonly onSearch: (text: string) => void;
  /** Announces something to a screen reader. */
  readonly say: (text: string) => void;
}

export function describeInquiry(inquiry: Inquiry, { onSearch, say }: Actions): HTMLElement[] {
  const { email, subject, body, created_at } = inquiry;
  const reference = toReference(inquiry.id);
  const copyLabel = { class: 'ib-link', 'aria-label': 'Copy the reference' };
  const words = { copied: 'Copied', notCopied: 'Not copied' };
  const copy = copyButton('Copy', reference, copyLabel, words, say);
  const isShort = subject.length <= SUBJECT_LENGTH;
  const title = isShort ? subject : `${beginningOf(subject, SUBJECT_LENGTH)}…`;
  const meta = h(
    'p',
    { class: 'ib-line ib-meta' },
    h('bdi', { class: 'ib-sender' }, showAddress(email)),
    age(created_at),
    h('span', {}, h('code', {}, reference), ' ', copy),
  );
  const all = button('All inquiries of this address', { class: 'ib-link' }, () => onSearch(email));
  const details = h(
    'details',
    { class: 'ib-details' },
    h('summary', {}, 'Details'),
    h('dl', {}, ...factsOf(inquiry, isShort)),
    all,
  );
  return [
    textOr('h2', 'ib-heading', showInvisible(title), 'No subject'),
    meta,
    details,
    ...problemOf(inquiry),
    textOr('div', 'text ib-text', body, 'No message'),
  ];
}

/** A text, or in grey that there is none. */
function textOr(name: 'div' | 'h2', classes: string, text: string, none: string): HTMLElement {
  const isEmpty = text.trim() === '';
  const attributes = { class: isEmpty ? `${classes} ib-absent` : classes, dir: 'auto' };
  const focus = name === 'h2' ? { tabindex: '-1' } : {};
  return h(name, { ...attributes, ...focus }, isEmpty ? none : text);
}

function factsOf(inquiry: Inquiry, isSubjectShown: boolean): HTMLElement[] {
  const { id, subject, created_at, expires_at, cognito_sub } = inquiry;
  const expiry = expires_at && new Date(expires_at * 1_000).toISOString();
  const facts = [
    isSubjectShown ? undefined : ['Subject', showInvisible(subject)],
    ['Received', exactTime(created_at)],
    expiry ? ['Expires', exactTime(expiry)] : undefined,
    ['User', cognito_sub],
    ['Inquiry', id],
  ] as const;
  return facts
    .filter((fact) => fact !== undefined)
    .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]);
}

function problemOf(inquiry: Inquiry): HTMLElement[] {
  const { canMail, reply, undelivered, undelivered_at = '' } = inquiry;
  if (undelivered !== undefined) {
    const when = formatTime(undelivered_at).short;
    const text = `We learned on ${when} that ${UNDELIVERED[undelivered]}. Reach the owner in another way.`;
    return [notice('bad', { title: 'The reply could not be delivered', text })];
  }
  if (canMail) return [];
  const text =
    reply === undefined
      ? 'An answer is recorded here, and its owner does not receive it. Reach them in another way.'
      : 'The answer is recorded here, and its owner has not received it.';
  return [notice('bad', { title: 'No mail can be sent to this address', text })];
}

/** Who has answered, when and what. */
export function describeAnswer({ reply, reply_at = '', respondent = '' }: Inquiry): HTMLElement {
  const title = [reply === undefined ? 'Dismissed by ' : 'Answered by ', h('bdi', {}, respondent)];
  const text =
    reply === undefined
      ? h('p', { class: 'hint' }, 'Answered elsewhere, or it needs no answer. Nothing was mailed.')
      : h('div', { class: 'text', dir: 'auto' }, reply);
  return section(title, h('p', { class: 'hint' }, exactTime(reply_at)), text);
}

/** An answer that can still be undone. @param text - Undefined: a dismissal. */
export const describeGiven = (text: string | undefined): HTMLElement =>
  section(
    [text === undefined ? 'Being dismissed' : 'Being sent'],
    h('div', { class: 'text', dir: 'auto' }, text ?? ''),
  );

const section = (title: (Node | string)[], ...content: Node[]): HTMLElement =>
  h('section', { class: 'ib-answer' }, h('h3', {}, ...title), ...content);
