/** One row of the list. */
import { showAddress, showInvisible } from '../../src/invisible.ts';
import { h } from '../../web/ui/dom.ts';
import type { Inquiry } from './client.ts';
import { age } from './times.ts';
import { UNDELIVERED } from './words.ts';

/** Milliseconds before the end of an unanswered inquiry from which the list says so. */
const NEAR_EXPIRY = 7 * 86_400_000;

/** What the page knows of a row beside the inquiry. */
export interface RowState {
  readonly isOpened: boolean;
  /** Whether an answer is on its way. */
  readonly isGiven: boolean;
  readonly hasDraft: boolean;
}

export function createRow(inquiry: Inquiry, { isOpened, isGiven, hasDraft }: RowState) {
  const { id, email, subject, body, created_at } = inquiry;
  const hasSubject = subject.trim() !== '';
  const title = { class: `ib-subject${hasSubject ? '' : ' ib-absent'}`, dir: 'auto' };
  const beginning = showInvisible(body.trim().replaceAll(/\s+/g, ' '));
  const tags = [
    ...(isGiven ? [tag('Being sent')] : hasDraft ? [tag('Draft')] : []),
    ...answerOf(inquiry),
    ...expiryOf(inquiry),
    ...problemOf(inquiry),
  ];
  return h(
    'a',
    { class: 'ib-row', href: `./#${id}`, 'aria-current': isOpened && 'true' },
    h(
      'span',
      { class: 'ib-line ib-row-head' },
      h('bdi', { class: 'ib-from' }, showAddress(email)),
      age(created_at),
    ),
    h('span', title, hasSubject ? showInvisible(subject) : 'No subject'),
    h('span', { class: 'ib-beginning', dir: 'auto' }, beginning || 'No message'),
    h('span', { class: 'ib-tags' }, ...tags),
  );
}

const tag = (...content: (Node | string)[]): HTMLElement => h('span', {}, ...content);
const bad = (...content: (Node | string)[]): HTMLElement =>
  h('span', { class: 'ib-bad' }, ...content);

function answerOf({ reply, reply_at, respondent }: Inquiry): HTMLElement[] {
  if (reply_at === undefined) return [];
  const verb = reply === undefined ? 'Dismissed by ' : 'Answered by ';
  return [tag(verb, h('bdi', {}, respondent ?? ''), ' ', age(reply_at))];
}

function expiryOf({ reply_at, expires_at = Infinity }: Inquiry): HTMLElement[] {
  const expiry = expires_at * 1_000;
  if (reply_at !== undefined || expiry - Date.now() >= NEAR_EXPIRY) return [];
  return [bad('Expires ', age(new Date(expiry).toISOString()))];
}

/** Why the owner does not, or will not, get an answer by mail. */
function problemOf({ canMail, reply, reply_at, undelivered }: Inquiry): HTMLElement[] {
  if (undelivered !== undefined) return [bad(`Not delivered: ${UNDELIVERED[undelivered]}`)];
  const isConcerned = !canMail && (reply_at === undefined || reply !== undefined);
  return isConcerned ? [bad('No mail can be sent')] : [];
}
