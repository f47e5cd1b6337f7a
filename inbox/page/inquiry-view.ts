import { escapeAddress } from '../../text/invisible.ts';
import { escapeText } from '../../text/visible.ts';
import { NO_MESSAGE, NO_SUBJECT } from '../../text/languages.ts';
import { toReference } from '../../src/limits.ts';
import { button, copyButton, h, notice } from '../../ui/dom.ts';
import { beginningOf, formatCount } from '../../ui/format.ts';
import { canMail, factsOf, nearExpiryOf, UNDELIVERED } from '../words.ts';
import type { Inquiry } from './client.ts';
import { formatTime } from './format-time.ts';
import { age, exactTime } from './times.ts';

const SUBJECT_LENGTH = 200;

export function createInquiryView(inquiry: Inquiry, say: (text: string) => void): HTMLElement[] {
  const { id, email, subject, body, created_at } = inquiry;
  const reference = toReference(id);
  const copyLabel = { class: 'ib-link', 'aria-label': 'Copy the reference' };
  const words = { copied: 'Copied', notCopied: 'Not copied' };
  const beginning = beginningOf(subject, SUBJECT_LENGTH);
  const title = beginning === subject ? subject : `${beginning}…`;
  const heading = textOr('h2', 'ib-heading', escapeText(title), NO_SUBJECT.en);
  heading.tabIndex = -1;
  const meta = h(
    'p',
    { class: 'ib-line ib-meta' },
    h('bdi', { class: 'ib-sender' }, escapeAddress(email)),
    age(created_at),
    h(
      'span',
      {},
      h('code', {}, reference),
      ' ',
      copyButton('Copy', reference, copyLabel, words, say),
    ),
  );
  const facts = factsOf(inquiry);
  if (title !== subject) facts.push({ label: 'Subject', value: subject, isTime: false });
  const details = h(
    'details',
    { class: 'ib-details' },
    h('summary', {}, 'Details'),
    h(
      'dl',
      {},
      ...facts.flatMap(({ label, value, isTime }) => [
        h('dt', {}, label),
        h('dd', {}, isTime ? exactTime(value) : escapeText(value)),
      ]),
    ),
  );
  const text = textOr('div', 'text ib-text', escapeText(body), NO_MESSAGE);
  return [heading, meta, details, ...createWarnings(inquiry), text];
}

function textOr(
  name: 'div' | 'h2' | 'span',
  classes: string,
  text: string,
  none: string,
): HTMLElement {
  const isEmpty = text.trim() === '';
  const attributes = { class: isEmpty ? `${classes} ib-absent` : classes, dir: 'auto' };
  return h(name, attributes, isEmpty ? none : text);
}

/** Why the owner does not get an answer. */
function createWarnings(inquiry: Inquiry): HTMLElement[] {
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

export function createAnswerView({ reply, reply_at = '', respondent = '' }: Inquiry): HTMLElement {
  const [verb, text] =
    reply === undefined
      ? ['Dismissed by ', 'Answered elsewhere, or it needs no answer. Nothing was mailed.']
      : ['Answered by ', reply];
  return createSection(
    [verb, h('bdi', {}, respondent)],
    text,
    h('p', { class: 'hint' }, exactTime(reply_at)),
  );
}

/** Names a colleague who has answered while the inquiry was open. */
export function createMeanwhileNotice(
  { respondent = '', reply }: Inquiry,
  hasDraft: boolean,
): HTMLElement {
  const verb = reply === undefined ? 'dismissed' : 'answered';
  const text = hasDraft ? 'Your text was not sent. It is kept, and you can copy it.' : undefined;
  return notice('plain', { title: `${respondent} has ${verb} this meanwhile`, text });
}

export function othersButton(
  { count, isAll }: { count: number; isAll: boolean },
  onSearch: () => void,
): HTMLElement {
  const label = `${formatCount(count, 'more', 'more')}${isAll ? '' : ' or more'} from this address`;
  return button(label, { class: 'ib-link' }, onSearch);
}

/** @param text - Undefined: a dismissal. */
export const createGivenView = (text = ''): HTMLElement =>
  createSection([text === '' ? 'Being dismissed' : 'Being sent'], text);

const createSection = (title: (Node | string)[], text: string, when?: Node): HTMLElement =>
  h(
    'section',
    { class: 'ib-answer' },
    h('h3', {}, ...title),
    when,
    h('div', { class: 'text', dir: 'auto' }, escapeText(text)),
  );

export function createRow(inquiry: Inquiry, isOpened: boolean, draft: string): HTMLAnchorElement {
  const { id, email, subject, body, created_at } = inquiry;
  const beginning = escapeText(body).trim().replaceAll(/\s+/g, ' ');
  return h(
    'a',
    { class: 'ib-row', href: `./#${id}`, 'aria-current': isOpened && 'true' },
    h(
      'span',
      { class: 'ib-line ib-row-head' },
      h('bdi', { class: 'ib-from' }, escapeAddress(email)),
      age(created_at),
    ),
    textOr('span', 'ib-subject', escapeText(subject), NO_SUBJECT.en),
    h('span', { class: 'ib-beginning', dir: 'auto' }, beginning || NO_MESSAGE),
    h('span', { class: 'ib-tags' }, draft && h('span', {}, draft), ...tagsOf(inquiry)),
  );
}

function tagsOf(inquiry: Inquiry): HTMLElement[] {
  const { reply, reply_at, respondent = '', undelivered } = inquiry;
  const bad = { class: 'ib-bad' };
  const tags: HTMLElement[] = [];
  if (reply_at !== undefined) {
    const verb = reply === undefined ? 'Dismissed by ' : 'Answered by ';
    tags.push(h('span', {}, verb, h('bdi', {}, respondent), ' ', age(reply_at)));
  }
  const expiry = nearExpiryOf(inquiry);
  if (expiry !== undefined) {
    tags.push(h('span', bad, 'Expires ', age(new Date(expiry).toISOString())));
  }
  if (undelivered !== undefined) {
    tags.push(h('span', bad, `Not delivered: the mail ${UNDELIVERED[undelivered]}`));
  } else if (!canMail(inquiry) && (reply_at === undefined || reply !== undefined)) {
    tags.push(h('span', bad, 'No mail can be sent'));
  }
  return tags;
}
