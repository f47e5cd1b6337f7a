import { html } from 'hono/html';
import { escapeAddress } from '../../text/invisible.ts';
import { NO_MESSAGE, NO_SUBJECT } from '../../text/languages.ts';
import { beginningOf, formatCount } from '../../ui/format.ts';
import { isByArrival, type ListQuery, type Listing } from '../listing.ts';
import type { ShownInquiry } from '../shown-inquiry.ts';
import { canMail, nearExpiryOf, UNDELIVERED } from '../words.ts';
import { layout, TABS, type View } from './layout.ts';
import { markText, type Markup, type Times } from './texts.ts';

/** UTF-16 units of subject and text in the list. */
const BEGINNING = 160;

const ORDERS = { oldest: 'Oldest first', newest: 'Newest first' };

interface List {
  query: ListQuery;
  listing: Listing;
  unanswered: string;
  recorded?: Markup | undefined;
}

export function listPage(view: View, list: List): Markup {
  const { query, unanswered, recorded } = list;
  const { show, order } = query;
  const heading = show === 'unanswered' ? `${unanswered} unanswered` : TABS[show].title;
  const other = order === 'oldest' ? 'newest' : 'oldest';
  const turn =
    isByArrival(query) &&
    html`<a href="/?show=${show}&order=${other}" aria-label="${ORDERS[order]}, change the order"
      >${ORDERS[order]}</a
    >`;
  const title = unanswered === '0' ? TABS[show].title : `(${unanswered}) ${TABS[show].title}`;
  const none =
    show === 'unanswered'
      ? 'Nothing to answer. New inquiries appear here by themselves.'
      : 'No inquiries.';
  const main = html`${recorded}
    <p id="news" role="status"></p>
    <div id="list" data-live="">
      <div class="head">
        <h1>${heading}</h1>
        ${turn}
      </div>
      ${rows(view.times, list, none)}
    </div>`;
  return layout(view, { title, tab: show, isList: true }, main);
}

/** Has an address of its own, since a refresh of the list would lose what is typed here. */
export function searchPage(view: View, list: Omit<List, 'unanswered' | 'recorded'>): Markup {
  const { text } = list.query;
  const { inquiries, next } = list.listing;
  const found = formatCount(inquiries.length, 'match', 'matches');
  const status = next === undefined ? found : `${found}; older ones not searched yet`;
  const main = html`<h1>Search</h1>
    <form class="search" role="search" method="post" action="/search">
      <input
        type="search"
        name="text"
        value="${text}"
        maxlength="200"
        autocomplete="off"
        aria-label="Search all inquiries by reference, email and text"
        placeholder="Reference, email, text"
      />
      <button class="primary">Search</button>
    </form>
    ${text !== '' && html`<p class="status" role="status">${status}</p>`}
    ${text !== '' && rows(view.times, list)}`;
  return layout(view, { title: 'Search', tab: 'search' }, main);
}

function rows(times: Times, { query, listing }: Omit<List, 'unanswered'>, none?: string): Markup {
  const { inquiries, next } = listing;
  const { show, order, text } = query;
  if (inquiries.length === 0 && next === undefined) {
    return html`${none && html`<p class="empty">${none}</p>`}`;
  }
  const more =
    text === ''
      ? html`<a class="more" href="/?show=${show}&order=${order}&from=${next}">Show more</a>`
      : html`<a class="more" href="/search?from=${next}">Search older ones</a>`;
  return html`<ul class="rows" role="list">
      ${inquiries.map((inquiry) => html`<li>${row(times, inquiry, text)}</li>`)}
    </ul>
    ${next !== undefined && more}`;
}

function row(times: Times, inquiry: ShownInquiry, query: string): Markup {
  const { id, email, subject, body, created_at } = inquiry;
  const beginning = beginningOf(body, BEGINNING).trim().replaceAll(/\s+/g, ' ');
  const marked = query === '' ? '' : '?marked';
  return html`<a class="row" href="/inquiries/${id}${marked}">
    <bdi class="from">${markText(escapeAddress(email), { none: '', query })}</bdi>
    <span class="subject" dir="auto"
      >${markText(beginningOf(subject, BEGINNING), { none: NO_SUBJECT.en, query })}</span
    >
    <span class="beginning" dir="auto">${markText(beginning, { none: NO_MESSAGE, query })}</span>
    <span class="tags">${tagsOf(times, inquiry)}</span>
    ${times.age(created_at)}
  </a>`;
}

function tagsOf(times: Times, inquiry: ShownInquiry): Markup[] {
  const { reply, reply_at, respondent = '', undelivered } = inquiry;
  const tags: Markup[] = [];
  if (reply_at !== undefined) {
    const verb = reply === undefined ? 'Dismissed' : 'Answered';
    tags.push(html`<span>${verb} by <bdi>${respondent}</bdi> ${times.age(reply_at)}</span>`);
  }
  const bad = (text: Markup | string) => tags.push(html`<span class="warning">${text}</span>`);
  const expiry = nearExpiryOf(inquiry);
  if (expiry !== undefined) bad(html`Expires ${times.age(new Date(expiry).toISOString())}`);
  if (undelivered !== undefined) {
    bad(`Not delivered: the mail ${UNDELIVERED[undelivered]}`);
  } else if (!canMail(inquiry) && (reply_at === undefined || reply !== undefined)) {
    bad('No mail can be sent');
  }
  return tags;
}
