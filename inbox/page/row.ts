/** One row of the list. */
import { showAddress, showInvisible } from '../../src/invisible.ts';
import { NO_MESSAGE } from '../../src/languages.ts';
import { h } from '../../web/ui/dom.ts';
import { canMail, nearExpiryOf, subjectOf, UNDELIVERED } from '../words.ts';
import type { Inquiry } from './client.ts';
import { age } from './times.ts';

/** @param state - What the page knows beside the inquiry: whether it is open, and what was written to it. */
export function createRow(
  inquiry: Inquiry,
  { isOpened, draft }: { readonly isOpened: boolean; readonly draft: 'Being sent' | 'Draft' | '' },
): HTMLAnchorElement {
  const { id, email, subject, body, created_at } = inquiry;
  const hasSubject = subject.trim() !== '';
  const title = { class: `ib-subject${hasSubject ? '' : ' ib-absent'}`, dir: 'auto' };
  const beginning = showInvisible(body.trim().replaceAll(/\s+/g, ' '));
  const tags = [...(draft === '' ? [] : [h('span', {}, draft)]), ...tagsOf(inquiry)];
  return h(
    'a',
    { class: 'ib-row', href: `./#${id}`, 'aria-current': isOpened && 'true' },
    h(
      'span',
      { class: 'ib-line ib-row-head' },
      h('bdi', { class: 'ib-from' }, showAddress(email)),
      age(created_at),
    ),
    h('span', title, showInvisible(subjectOf(inquiry))),
    h('span', { class: 'ib-beginning', dir: 'auto' }, beginning || NO_MESSAGE),
    h('span', { class: 'ib-tags' }, ...tags),
  );
}

const bad = (...content: (Node | string)[]): HTMLElement =>
  h('span', { class: 'ib-bad' }, ...content);

/** Who closed it, that it expires soon, and why the owner does not, or will not, get an answer by mail. */
function tagsOf(inquiry: Inquiry): HTMLElement[] {
  const { reply, reply_at, respondent = '', undelivered } = inquiry;
  const tags: HTMLElement[] = [];
  if (reply_at !== undefined) {
    const verb = reply === undefined ? 'Dismissed by ' : 'Answered by ';
    tags.push(h('span', {}, verb, h('bdi', {}, respondent), ' ', age(reply_at)));
  }
  const expiry = nearExpiryOf(inquiry);
  if (expiry !== undefined) tags.push(bad('Expires ', age(new Date(expiry).toISOString())));
  if (undelivered !== undefined) {
    tags.push(bad(`Not delivered: the mail ${UNDELIVERED[undelivered]}`));
  } else if (!canMail(inquiry) && (reply_at === undefined || reply !== undefined)) {
    tags.push(bad('No mail can be sent'));
  }
  return tags;
}
