/** What is shown of one inquiry: its heading, text and answer, and what is known of mails to its owner. */
import { showAddress, showInvisible } from '../../src/invisible.ts';
import { NO_MESSAGE, NO_SUBJECT } from '../../src/languages.ts';
import { toReference } from '../../src/limits.ts';
import { copyButton } from '../../web/ui/copy.ts';
import { button, h, notice } from '../../web/ui/dom.ts';
import { beginningOf } from '../../web/ui/format.ts';
import { canMail, factsOf, UNDELIVERED } from '../words.ts';
import type { Inquiry } from './client.ts';
import { age, exactTime, formatTime } from './times.ts';

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
  const title = beginningOf(subject, SUBJECT_LENGTH);
  const meta = h(
    'p',
    { class: 'ib-line ib-meta' },
    h('bdi', { class: 'ib-sender' }, showAddress(email)),
    age(created_at),
    h('span', {}, h('code', {}, reference), ' ', copy),
  );
  const facts = factsOf(inquiry).flatMap(({ label, value, isTime }) => [
    h('dt', {}, label),
    h('dd', {}, isTime ? exactTime(value) : showInvisible(value)),
  ]);
  const whole =
    title === subject ? [] : [h('dt', {}, 'Subject'), h('dd', {}, showInvisible(subject))];
  const details = h(
    'details',
    { class: 'ib-details' },
    h('summary', {}, 'Details'),
    h('dl', {}, ...facts, ...whole),
    button('All inquiries of this address', { class: 'ib-link' }, () => onSearch(email)),
  );
  const heading = textOr(
    'h2',
    'ib-heading',
    showInvisible(title === subject ? subject : `${title}…`),
    NO_SUBJECT.en,
  );
  heading.tabIndex = -1;
  return [
    heading,
    meta,
    details,
    ...problemOf(inquiry),
    textOr('div', 'text ib-text', body, NO_MESSAGE),
  ];
}

/** A text, or in grey that there is none. */
function textOr(name: 'div' | 'h2', classes: string, text: string, none: string): HTMLElement {
  const isEmpty = text.trim() === '';
  const attributes = { class: isEmpty ? `${classes} ib-absent` : classes, dir: 'auto' };
  return h(name, attributes, isEmpty ? none : text);
}

function problemOf(inquiry: Inquiry): HTMLElement[] {
  const { reply, undelivered, undelivered_at = '' } = inquiry;
  if (undelivered !== undefined) {
    const when = formatTime(undelivered_at).short;
    const text = `We learned on ${when} that the mail ${UNDELIVERED[undelivered]}. Reach the owner in another way.`;
    return [notice('bad', { title: 'The reply could not be delivered', text })];
  }
  if (canMail(inquiry)) return [];
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
