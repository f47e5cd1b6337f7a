/** One inquiry: its text, its answer or the form to answer it. */
import { showAddress, showInvisible } from '../../src/invisible.ts';
import { ask, button, h, notice, setBusy } from '../../web/ui/dom.ts';
import { isFailure } from './client.ts';
import type { Api, Session, Stored } from './client.ts';
import type { Drafts } from './drafts.ts';
import type { Closed } from './rows.ts';
import { exactTime, formatTime } from './times.ts';

export type Detail = ReturnType<typeof createDetail>;

/**
 * @param onChange - A draft was begun or deleted, or the inquiry is closed.
 * @param onClose - The user goes back to the list.
 */
export function createDetail({
  api,
  drafts,
  session,
  onChange,
  onClose,
}: {
  readonly api: Api;
  readonly drafts: Drafts;
  readonly session: Session;
  readonly onChange: (id: string, closed?: Closed) => void;
  readonly onClose: () => void;
}) {
  let opened: string | undefined;
  let inquiry: Stored | undefined;
  let loading: AbortController | undefined;
  const busy = new Set<string>();

  const back = button('Back to the list', { class: 'back' }, onClose);
  const outcome = h('div', { class: 'live', role: 'alert' });
  const status = h('p', { class: 'sr', role: 'status' });
  const content = h('div', { class: 'content' });
  const pane = { class: 'card detail', 'aria-label': 'Inquiry' };
  const element = h('section', pane, back, status, outcome, content);

  const say = (...message: Parameters<typeof notice>): void => {
    outcome.replaceChildren(notice(...message));
    outcome.scrollIntoView({ block: 'nearest' });
  };

  /** Loads an inquiry; undefined: none is open. */
  async function open(id: string | undefined): Promise<void> {
    loading?.abort();
    opened = id;
    inquiry = undefined;
    outcome.replaceChildren();
    back.hidden = id === undefined;
    content.replaceChildren();
    if (id === undefined) {
      const keys = [h('kbd', {}, '?'), ' shows the keys.'];
      content.append(h('p', { class: 'empty' }, 'Choose an inquiry to read it. ', ...keys));
      return;
    }
    status.textContent = 'Loading…';
    const { signal } = (loading = new AbortController());
    const result = await api.get(id, signal);
    if (signal.aborted) return;
    status.textContent = '';
    if (isFailure(result)) {
      const again = button('Try again', {}, async () => open(id));
      say('bad', { title: 'The inquiry could not be loaded', text: result.message }, again);
      back.focus();
      return;
    }
    inquiry = result;
    render(result);
    heading()?.focus();
    if (result.reply_at !== undefined) onChange(id, result);
  }

  const heading = (): HTMLElement | null => content.querySelector('h2');
  const textbox = (): HTMLTextAreaElement | null => content.querySelector('#reply');

  function render(shown: Stored): void {
    const { id, email, subject, body, created_at, expires_at, cognito_sub } = shown;
    const title = { dir: 'auto', tabindex: '-1', class: subject === '' ? 'absent' : '' };
    const expiry = expires_at && new Date(expires_at * 1_000).toISOString();
    const facts = [
      ...fact('From', h('bdi', {}, showAddress(email))),
      ...fact('Received', exactTime(created_at)),
      ...(expiry ? fact('Expires', exactTime(expiry)) : []),
      ...fact('User', cognito_sub),
      ...fact('Inquiry', id),
    ];
    content.replaceChildren(
      h('h2', title, showInvisible(subject) || 'No subject'),
      h('dl', {}, ...facts),
      h('div', { class: body === '' ? 'text absent' : 'text', dir: 'auto' }, body || 'No message'),
      ...(shown.reply_at === undefined ? [replyForm(shown)] : answerOf(shown)),
    );
  }

  /** The answer, and the draft of a reply that was not sent because of it. */
  function answerOf({ id, reply, reply_at = '', respondent = '' }: Stored): HTMLElement[] {
    const title = reply === undefined ? 'Dismissed by ' : 'Answered by ';
    const shown = h(
      'section',
      { class: 'answer', 'aria-labelledby': 'answer' },
      h('h3', { id: 'answer' }, title, h('bdi', {}, respondent)),
      h('p', { class: 'hint' }, exactTime(reply_at)),
      reply === undefined
        ? h('p', { class: 'hint' }, 'Answered elsewhere, or it needs no answer. Nothing was mailed.')
        : h('div', { class: 'text', dir: 'auto' }, reply),
    );
    const draft = drafts.get(id);
    if (draft === '') return [shown];
    const discard = button('Delete this text', {}, () => {
      drafts.set(id, '');
      unsent.remove();
      onChange(id);
      heading()?.focus();
    });
    const unsent = h(
      'section',
      {},
      h('label', { for: 'unsent' }, 'Your text, which was not sent'),
      h('textarea', { id: 'unsent', dir: 'auto', readonly: true }, draft),
      h('div', { class: 'actions' }, discard),
    );
    return [shown, unsent];
  }

  function replyForm({ id, email }: Stored): HTMLElement {
    const text = h('textarea', { id: 'reply', dir: 'auto', 'aria-describedby': 'reply-hint' });
    text.value = drafts.get(id);
    text.addEventListener('input', () => {
      text.ariaInvalid = null;
      const isNew = (drafts.get(id) === '') !== (text.value === '');
      drafts.set(id, text.value);
      if (isNew) onChange(id);
    });
    text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        void send();
      }
      if (event.key === 'Escape') heading()?.focus();
    });
    const hint = `It is stored as the answer of ${session.respondent}, cannot be changed, and is mailed to the owner if this stage sends mail.`;
    const keys = { class: 'primary', 'aria-keyshortcuts': 'Control+Enter Meta+Enter' };
    const actions = [button('Send reply', keys, send), button('Dismiss…', {}, dismiss)];
    return h(
      'section',
      { class: 'reply' },
      h('label', { for: 'reply' }, 'Reply to ', h('bdi', {}, showAddress(email))),
      text,
      h('p', { class: 'hint', id: 'reply-hint' }, hint),
      h('div', { class: 'actions' }, ...actions),
    );
  }

  async function send(): Promise<void> {
    const text = textbox();
    if (inquiry === undefined || text === null) return;
    if (text.value.trim() === '') {
      text.ariaInvalid = 'true';
      say('bad', { title: 'There is no reply to send', text: 'Write it first.' });
      text.focus({ preventScroll: true });
      return;
    }
    await answer(inquiry, text.value);
  }

  async function dismiss(): Promise<void> {
    const shown = inquiry;
    if (shown === undefined || shown.reply_at !== undefined) return;
    const loss = drafts.get(shown.id) === '' ? '' : ' Your draft of a reply is deleted.';
    const text = `For what was answered elsewhere or needs no answer. It leaves the list of unanswered inquiries, and no mail is sent. This cannot be undone.${loss}`;
    const choices = [['dismiss', 'Dismiss'] as const, ['cancel', 'Cancel'] as const];
    const choice = await ask(document.body, { title: 'Dismiss without a reply?', text }, choices);
    if (choice === 'dismiss') await answer(shown);
  }

  /** Records an answer, one at a time per inquiry, and shows the outcome; the user may have opened another one by then. */
  async function answer({ id, email }: Stored, text?: string): Promise<void> {
    if (busy.has(id)) return;
    busy.add(id);
    setWaiting(true);
    outcome.replaceChildren();
    status.textContent = text === undefined ? 'Dismissing…' : 'Sending…';
    const result = await api.answer(id, text);
    busy.delete(id);
    status.textContent = '';
    if (isFailure(result)) {
      setWaiting(false);
      const stored = 'The answer may have been stored all the same; sending it again does no harm.';
      const hint = result.failure === 'stopped' ? ` ${stored}` : '';
      say('bad', {
        title: `The inquiry of ${showAddress(email)} could not be answered`,
        text: result.message + hint,
      });
      if (opened === id) textbox()?.focus({ preventScroll: true });
      return;
    }
    const now = await api.get(id);
    const stored = isFailure(now) ? undefined : now;
    // An answer that this page sent may have been stored when its response was lost.
    const isOwn = result.status === 'answered' || (text !== undefined && isSame(stored?.reply, text));
    if (isOwn) drafts.set(id, '');
    onChange(id, result);
    if (opened === id) {
      inquiry = { ...result, ...stored } as Stored;
      if (stored === undefined) content.replaceChildren();
      else render(stored);
      heading()?.focus();
    }
    if (!isOwn) {
      const title = `Already answered by ${result.respondent} at ${formatTime(result.reply_at).short}`;
      const kept = text === undefined ? '' : 'Your reply was not stored. Your text is kept below.';
      say('bad', { title, text: kept });
    } else if (text === undefined) say('good', { title: 'Dismissed', text: '' });
    else {
      const mailed = `It is mailed to ${showAddress(email)} if this stage sends mail.`;
      say('good', { title: 'Your reply is stored', text: mailed });
    }
  }

  function setWaiting(isWaiting: boolean): void {
    for (const action of content.querySelectorAll<HTMLElement>('.reply button')) setBusy(action, isWaiting);
    const text = textbox();
    if (text) text.readOnly = isWaiting;
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

const fact = (name: string, value: Node | string): HTMLElement[] => [h('dt', {}, name), h('dd', {}, value)];

/** Whether a stored reply is a text that was sent: the command trims it, and lines end in LF. */
const isSame = (stored: string | undefined, sent: string): boolean => stored?.trimEnd() === sent.trimEnd();
