import { escapeAddress } from '../../src/text/invisible.ts';
import { escapeText } from '../../src/text/visible.ts';
import { NO_MESSAGE, NO_SUBJECT } from '../../src/text/languages.ts';
import { h } from '../../ui/dom.ts';
import { canMail, nearExpiryOf, UNDELIVERED } from '../words.ts';
import type { Inquiry } from './client.ts';
import { textOr } from './inquiry-view.ts';
import { age } from './times.ts';

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
