import { html } from 'hono/html';
import { escapeAddress } from '../../text/invisible.ts';
import { NO_MESSAGE, NO_SUBJECT } from '../../text/languages.ts';
import { escapeText } from '../../text/visible.ts';
import { toReference } from '../../src/limits.ts';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import { beginningOf, formatCount } from '../../ui/format.ts';
import type { SavedReply } from '../saved-replies.ts';
import type { ShownInquiry } from '../shown-inquiry.ts';
import { canMail, factsOf, stateOf, subjectOf, UNDELIVERED } from '../words.ts';
import { fillIn } from './fill-in.ts';
import type { MailState } from '../connect.ts';
import { layout, type View } from './layout.ts';
import { keptText, notice, textBox } from './problem-page.ts';
import { markText, type Markup, type Times } from './texts.ts';

const SUBJECT_LENGTH = 200;

export interface Draft {
  text: string;
  error?: string;
  /** Those that the error names. */
  braces?: string;
}

interface Shown {
  inquiry: ShownInquiry;
  savedReplies: SavedReply[];
  mail: MailState;
  others: { count: number; isAll: boolean };
  /** The ids around it among the unanswered. */
  previous?: string | undefined;
  next?: string | undefined;
  query?: string;
  recorded?: Markup | undefined;
  draft?: Draft;
}

const stepTo = (id: string | undefined, key: string, label: string) =>
  id !== undefined && html`<a href="/inquiries/${id}" accesskey="${key}">${label}</a>`;

export function inquiryPage(view: View, shown: Shown): Markup {
  const { inquiry, query = '', recorded, previous, next, draft } = shown;
  const { email, subject, body, created_at, reply_at } = inquiry;
  const { times } = view;
  const beginning = beginningOf(subject, SUBJECT_LENGTH);
  const title = beginning === subject ? subject : `${beginning}…`;
  const main = html`${recorded}
    <nav class="steps" aria-label="Unanswered">
      ${stepTo(previous, 'k', '‹ Previous')}${stepTo(next, 'j', 'Next ›')}
    </nav>
    <div class="sheet">
      <article>
        <h1 dir="auto">${markText(title, { none: NO_SUBJECT.en, query })}</h1>
        <p class="meta">
          <bdi class="from">${markText(escapeAddress(email), { none: '', query })}</bdi>
          ${times.age(created_at)}
        </p>
        ${warningOf(view, inquiry)}
        <div class="text body" dir="auto">${markText(body, { none: NO_MESSAGE, query })}</div>
        <div id="answer" data-live="/inquiries/${inquiry.id}" aria-live="polite">
          ${reply_at !== undefined && answer(times, shown)}
        </div>
        ${reply_at === undefined ? replyForm(shown) : keptText(inquiry.id, draft?.text)}
      </article>
      ${details(view, shown, title !== subject)}
    </div>`;
  const name = beginningOf(escapeText(subjectOf(inquiry)), 60);
  return layout(view, { title: name }, main);
}

/** Why the owner does not get an answer. */
function warningOf({ times }: View, inquiry: ShownInquiry): Markup | undefined {
  const { undelivered, undelivered_at = '' } = inquiry;
  if (undelivered !== undefined) {
    const text = html`We learned on ${times.exact(undelivered_at)} that the mail
    ${UNDELIVERED[undelivered]}. Reach the owner in another way.`;
    return notice('bad', 'The reply could not be delivered', text);
  }
  if (canMail(inquiry)) return undefined;
  const text = 'Answers are recorded here alone. Reach the owner in another way.';
  return notice('bad', 'No mail can be sent to this address', text);
}

function answer(times: Times, { inquiry, draft }: Shown): Markup {
  const { id, reply, reply_at = '', respondent = '', additions = [] } = inquiry;
  const reopen = html`<p class="hint">
      Answered elsewhere, or it needs no answer. Nothing was mailed.
    </p>
    ${reopenForm(id, reply_at)}`;
  const heading = draft === undefined ? '' : ' meanwhile. Your text was not sent';
  return html`<section class="answer">
    <h2><bdi>${respondent}</bdi> has ${stateOf(inquiry)} this${heading}</h2>
    <p class="hint">${times.exact(reply_at)} (${times.age(reply_at)})</p>
    ${reply === undefined ? reopen : html`<div class="text reply" dir="auto">${escapeText(reply)}</div>`}
    ${additions.map(
      ({ text, at }) =>
        html`<h3>Added by <bdi>${respondent}</bdi></h3>
          <p class="hint">${times.exact(at)} (${times.age(at)})</p>
          <div class="text" dir="auto">${escapeText(text)}</div>`,
    )}
  </section>`;
}

const reopenForm = (id: string, reply_at: string | undefined): Markup =>
  html`<form method="post" action="/inquiries/${id}/reopen">
    <button name="dismissed_at" value="${reply_at}">Reopen</button>
  </form>`;

/** Says after an answer, on the next page, what was recorded. */
export function recordedNotice(inquiry: StoredInquiry | undefined): Markup | undefined {
  if (inquiry === undefined) return undefined;
  const { id, reply_at } = inquiry;
  const state = stateOf(inquiry);
  return html`<div
    class="notice"
    role="status"
    ${state === 'answered' && html`data-recorded="${id}"`}
  >
    <p>${RECORDED[state]}: <bdi>${beginningOf(escapeText(subjectOf(inquiry)), 60)}</bdi></p>
    ${state === 'dismissed' && reopenForm(id, reply_at)}
  </div>`;
}

const RECORDED = { open: 'Reopened', dismissed: 'Dismissed', answered: 'Answered' } as const;

function replyForm({ inquiry, mail, savedReplies, draft }: Shown): Markup {
  const { id, email } = inquiry;
  const isMailed = canMail(inquiry) && mail !== 'none';
  const { text = '', error, braces } = draft ?? {};
  const saved = html`<details>
    <summary>Saved replies</summary>
    <ul class="saved" role="list">
      ${savedReplies.map(
        (each, at) =>
          html`<li>
            <button name="saved" value="${at}">
              <strong dir="auto">${each.title}</strong>
              <span class="beginning" dir="auto">${fillIn(each.text, inquiry)}</span>
            </button>
          </li>`,
      )}
    </ul>
  </details>`;
  const attributes = html`id="reply" name="reply" rows="6" accesskey="r"
  aria-describedby="reply-error reply-hint" ${error && html`aria-invalid="true" autofocus`}`;
  return html`<form class="reply-form" method="post" action="/inquiries/${id}/reply">
    <label for="reply">Reply to <bdi>${escapeAddress(email)}</bdi></label>
    ${textBox(id, attributes, text)}
    <p class="error" id="reply-error" role="alert">${error}</p>
    ${braces && html`<input type="hidden" name="braces" value="${braces}" />`}
    <div class="actions">
      <button class="primary" aria-keyshortcuts="Control+Enter Meta+Enter">
        ${isMailed ? 'Send reply' : 'Record the answer'}
      </button>
      <button formaction="/inquiries/${id}/dismiss">Dismiss</button>
      <p class="hint" id="reply-hint">${mailHint(inquiry, mail)}</p>
    </div>
    ${savedReplies.length > 0 && saved}
  </form>`;
}

function mailHint(inquiry: ShownInquiry, mail: MailState): Markup | string {
  const owner = html`<bdi>${escapeAddress(inquiry.email)}</bdi>`;
  if (!canMail(inquiry)) return 'The answer is recorded and mailed to nobody.';
  if (mail === 'none') {
    return html`This stage sends no mail: the answer is recorded, and ${owner} does not get it.`;
  }
  const condition = ' if this stage sends mail, which cannot be looked up with your credentials.';
  return html`The reply is mailed to ${owner}${mail === 'sent' ? '.' : condition}`;
}

const linkTo = (id: string): Markup => html`<a href="/inquiries/${id}">${toReference(id)}</a>`;

function details({ times }: View, { inquiry, others }: Shown, isCut: boolean): Markup {
  const { id, email, subject, follows, follow_ups = [] } = inquiry;
  const facts = factsOf(inquiry);
  if (isCut) facts.push({ label: 'Subject', value: subject, isTime: false });
  const reference = toReference(id);
  const count = others.isAll ? formatCount(others.count, 'more', 'more') : 'Others';
  const search = html`<form method="post" action="/search">
    <button class="quiet" name="text" value="${email}">${count} from this address</button>
  </form>`;
  return html`<aside aria-label="Details">
    <p>
      Reference <code id="reference">${reference}</code>
      <button class="quiet" type="button" data-copy="reference" hidden>Copy</button>
    </p>
    ${follows !== undefined && html`<p>Follows ${linkTo(follows)}</p>`}
    ${follow_ups.map((each) => html`<p>Followed by ${linkTo(each)}</p>`)}
    ${(others.count > 0 || !others.isAll) && search}
    <dl>
      ${facts.map(
        ({ label, value, isTime }) =>
          html`<dt>${label}</dt>
            <dd>${isTime ? times.exact(value) : escapeText(value)}</dd>`,
      )}
    </dl>
  </aside>`;
}
