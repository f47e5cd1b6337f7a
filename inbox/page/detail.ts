/** One inquiry: its text, its answer or the box to answer it. */
import { showAddress, showInvisible } from '../../src/invisible.ts';
import { toReference } from '../../src/limits.ts';
import { copyButton } from '../../web/ui/copy.ts';
import { button, div, h, notice } from '../../web/ui/dom.ts';
import { isFailure, type Api, type Closed, type Inquiry, type Session } from './client.ts';
import type { Drafts } from './drafts.ts';
import { isSame, type Outbox } from './outbox.ts';
import { savedReplyMenu } from './saved-replies.ts';
import { age, exactTime, formatTime } from './times.ts';

const COPYING = { copied: 'Copied', notCopied: 'Not copied' };

export type Detail = ReturnType<typeof createDetail>;

/** What is said of a reply that has not arrived. */
export const UNDELIVERED = {
  refused: 'the mail service refused the address',
  bounce: 'the mail came back',
  complaint: 'the recipient reported the mail as spam',
} as const;

interface DetailParts {
  readonly api: Api;
  readonly drafts: Drafts;
  readonly session: Session;
  readonly outbox: Outbox;
  /** A draft was begun or deleted, or someone has closed the inquiry. */
  readonly onChange: (id: string, answer?: Closed) => void;
  /** The user has answered, or dismissed it: without a text. */
  readonly onAnswer: (inquiry: Inquiry, text?: string) => void;
  /** The user wants all inquiries with a text. */
  readonly onSearch: (text: string) => void;
  /** The user goes back to the list. */
  readonly onClose: () => void;
}

export function createDetail(parts: DetailParts) {
  const { api, drafts, session, outbox, onChange, onAnswer, onSearch, onClose } = parts;
  let opened: string | undefined;
  let inquiry: Inquiry | undefined;
  let loading: AbortController | undefined;

  const back = button('‹ Back to the list', { class: 'ib-link ib-back' }, onClose);
  const outcome = h('div', { class: 'ib-live', role: 'alert' });
  const status = h('p', { class: 'sr', role: 'status' });
  const read = div('ib-read');
  const dock = div('ib-dock');
  const element = h(
    'section',
    { class: 'ib-detail', 'aria-label': 'Inquiry' },
    back,
    status,
    outcome,
    read,
    dock,
  );

  const heading = (): HTMLElement | null => read.querySelector('h2');
  const textbox = (): HTMLTextAreaElement | null => dock.querySelector('textarea');

  /** Loads an inquiry; undefined: none is open. */
  async function open(id: string | undefined): Promise<void> {
    loading?.abort();
    opened = id;
    inquiry = undefined;
    back.hidden = id === undefined;
    for (const part of [outcome, read, dock]) part.replaceChildren();
    if (id === undefined) {
      const keys = [h('kbd', {}, '?'), ' shows the keys.'];
      read.append(h('p', { class: 'ib-none' }, 'Choose an inquiry to read it. ', ...keys));
      return;
    }
    status.textContent = 'Loading…';
    const { signal } = (loading = new AbortController());
    const result = await api.get(id, signal);
    if (signal.aborted) return;
    status.textContent = '';
    if (isFailure(result)) {
      const again = button('Try again', {}, async () => open(id));
      const failed = { title: 'The inquiry could not be loaded', text: result.message };
      outcome.replaceChildren(notice('bad', failed, again));
      back.focus();
      return;
    }
    inquiry = result;
    // The page was left while it was sent.
    if (isSame(result, drafts.get(id))) drafts.set(id, '');
    render(result);
    read.scrollTop = 0;
    heading()?.focus();
    const { respondent, reply_at, reply } = result;
    if (reply_at !== undefined) {
      onChange(id, { respondent, reply_at, ...(reply !== undefined && { reply }) });
    }
  }

  function render(shown: Inquiry): void {
    const { id, email, subject, body, created_at, expires_at, cognito_sub, canMail, reply } = shown;
    const { undelivered, undelivered_at = '' } = shown;
    const reference = toReference(id);
    const named = { class: 'ib-link', 'aria-label': 'Copy the reference' };
    const copy = copyButton(
      'Copy',
      reference,
      named,
      COPYING,
      (text) => (status.textContent = text),
    );
    const expiry = expires_at && new Date(expires_at * 1_000).toISOString();
    const all = button('All inquiries of this address', { class: 'ib-link' }, () =>
      onSearch(email),
    );
    const facts = [
      ...fact('Received', exactTime(created_at)),
      ...(expiry ? fact('Expires', exactTime(expiry)) : []),
      ...fact('User', cognito_sub),
      ...fact('Inquiry', id),
    ];
    const title = { dir: 'auto', tabindex: '-1', class: subject === '' ? 'ib-absent' : '' };
    const sender = h('bdi', { class: 'ib-sender' }, showAddress(email));
    read.replaceChildren(
      h('h2', title, showInvisible(subject) || 'No subject'),
      h(
        'p',
        { class: 'ib-line ib-meta' },
        sender,
        age(created_at),
        h('span', {}, h('code', {}, reference), ' ', copy),
      ),
      h(
        'details',
        { class: 'ib-details' },
        h('summary', {}, 'Details'),
        h('dl', {}, ...facts),
        all,
      ),
    );
    if (undelivered !== undefined) {
      const when = formatTime(undelivered_at).short;
      const text = `Since ${when} it is known that ${UNDELIVERED[undelivered]}. Reach the owner in another way.`;
      read.append(notice('bad', { title: 'The reply could not be delivered', text }));
    } else if (!canMail) {
      const text =
        reply === undefined
          ? 'An answer is recorded here, and its owner does not receive it. Reach them in another way.'
          : 'The answer is recorded here, and its owner has not received it.';
      read.append(notice('bad', { title: 'No mail can be sent to this address', text }));
    }
    const empty = body === '' ? 'text ib-text ib-absent' : 'text ib-text';
    read.append(h('div', { class: empty, dir: 'auto' }, body || 'No message'));
    const given = outbox.get(id);
    if (shown.reply_at !== undefined) {
      showAnswer(shown);
    } else if (given === undefined) {
      dock.replaceChildren(...replyBox(shown));
    } else {
      const undo = button('Undo', { 'aria-keyshortcuts': 'u' }, outbox.undo);
      const text = h('div', { class: 'text', dir: 'auto' }, given.text ?? '');
      read.append(section([given.text === undefined ? 'Being dismissed' : 'Being sent'], text));
      dock.replaceChildren(undo);
    }
  }

  /** Shows the answer, and the draft of a reply that was not sent because of it. */
  function showAnswer({ id, reply, reply_at = '', respondent = '' }: Inquiry): void {
    const title = [
      reply === undefined ? 'Dismissed by ' : 'Answered by ',
      h('bdi', {}, respondent),
    ];
    const text =
      reply === undefined
        ? h(
            'p',
            { class: 'hint' },
            'Answered elsewhere, or it needs no answer. Nothing was mailed.',
          )
        : h('div', { class: 'text', dir: 'auto' }, reply);
    read.append(section(title, h('p', { class: 'hint' }, exactTime(reply_at)), text));
    const draft = drafts.get(id);
    if (draft === '') return;
    const discard = button('Delete this text', {}, () => {
      drafts.set(id, '');
      dock.replaceChildren();
      onChange(id);
      heading()?.focus();
    });
    const label = h('label', { for: 'unsent' }, 'Your text, which was not sent');
    dock.replaceChildren(
      label,
      h('textarea', { id: 'unsent', dir: 'auto', readonly: true }, draft),
      discard,
    );
  }

  function replyBox(shown: Inquiry): (HTMLElement | string)[] {
    const { id, email, canMail } = shown;
    const text = h('textarea', {
      id: 'reply',
      rows: '3',
      dir: 'auto',
      'aria-describedby': 'reply-error reply-hint',
    });
    text.value = drafts.get(id);
    text.addEventListener('input', () => {
      text.ariaInvalid = null;
      error.textContent = '';
      const isNew = (drafts.get(id) === '') !== (text.value === '');
      drafts.set(id, text.value);
      if (isNew) onChange(id);
    });
    text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        send();
      }
      if (event.key === 'Escape') heading()?.focus();
    });
    const error = h('p', { class: 'ib-error', id: 'reply-error', role: 'alert' });
    const send = (): void => {
      if (text.value.trim() !== '') return onAnswer(shown, text.value);
      text.ariaInvalid = 'true';
      error.textContent = 'Write the answer first.';
      text.focus();
    };
    const menu = savedReplyMenu(session.savedReplies, shown, (saved) => {
      text.focus();
      text.setRangeText(saved, text.selectionStart, text.selectionEnd, 'end');
      text.dispatchEvent(new Event('input'));
    });
    const isMailed = canMail && session.mail !== 'none';
    const keys = { class: 'primary', 'aria-keyshortcuts': 'Control+Enter Meta+Enter' };
    const label = h('label', { for: 'reply' }, 'Reply to ', h('bdi', {}, showAddress(email)));
    const actions = [
      button(isMailed ? 'Send reply' : 'Record the answer', keys, send),
      button('Dismiss', { 'aria-keyshortcuts': 'd' }, dismiss),
      h('p', { class: 'ib-hint', id: 'reply-hint' }, ...whatHappens(shown)),
    ];
    return [
      div('ib-line ib-dock-head', label, menu),
      text,
      error,
      div('ib-line ib-actions', ...actions),
    ];
  }

  /** What becomes of a reply, in words. */
  function whatHappens({ email, canMail }: Inquiry): (HTMLElement | string)[] {
    const owner = h('bdi', {}, showAddress(email));
    if (!canMail) return ['The answer is recorded and mailed to nobody.'];
    if (session.mail === 'none') {
      return [
        'This stage sends no mail: the answer is recorded, and ',
        owner,
        ' does not receive it.',
      ];
    }
    if (session.mail === 'sent') return ['The reply is mailed to ', owner, '.'];
    return [
      'The reply is mailed to ',
      owner,
      ' if this stage sends mail, which your credentials do not tell.',
    ];
  }

  function dismiss(): void {
    if (
      inquiry !== undefined &&
      inquiry.reply_at === undefined &&
      outbox.get(inquiry.id) === undefined
    ) {
      onAnswer(inquiry);
    }
  }

  return {
    element,
    open,
    opened: () => opened,
    /** Moves the focus to the text of the reply, if there is something to answer. */
    reply: () => textbox()?.focus(),
    dismiss,
  };
}

const fact = (name: string, value: Node | string): HTMLElement[] => [
  h('dt', {}, name),
  h('dd', {}, value),
];

const section = (title: (Node | string)[], ...content: Node[]): HTMLElement =>
  h('section', { class: 'ib-answer' }, h('h3', {}, ...title), ...content);
