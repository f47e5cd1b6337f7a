/** The form: editing and sending an inquiry. */
import { ITEM_LIMIT } from '../../src/limits.ts';
import { isFailure } from './api.ts';
import type { Api, Failure } from './api.ts';
import { inLanguage } from './config.ts';
import type { Branding } from './config.ts';
import type { Inquiry } from '../../src/contract.ts';
import { ask, h, notice, setBusy } from './dom.ts';
import type { Draft, Drafts } from './drafts.ts';
import { directionOf } from './format.ts';
import type { Locale } from './locale.ts';
import { describeOldAttempt, describeSendFailure, describeSize } from './messages.ts';
import { send } from './outbox.ts';
import { sentPanel } from './sent.ts';
import { measure } from './size.ts';
import { topicChips } from './topics.ts';
import type { User } from './user.ts';

interface FormParts {
  readonly create: Api['create'];
  readonly drafts: Drafts;
  readonly user: User;
  readonly locale: Locale;
  readonly branding: Branding;
  /** @param key - Of the draft. */
  readonly onSent: (inquiry: Inquiry, key: string) => void;
  readonly onFailed: (failure: Failure) => void;
  /** Aborted when the form is removed. */
  readonly signal: AbortSignal;
  readonly refreshList: () => Promise<void>;
  /** Shows an inquiry in the list, where there is one. */
  readonly viewInList?: (id: string) => void;
  /** Leads to the sign-in. */
  readonly signIn: () => Promise<void>;
}

export interface Form {
  readonly element: HTMLElement;
  /** Whether there is unsent text. */
  readonly hasText: () => boolean;
  /** Whether there is text that no storage takes. */
  readonly wouldLose: () => boolean;
  /** Empties the form when another tab has sent the draft that is in it. */
  readonly sentElsewhere: (inquiry: Inquiry, key: string) => void;
  /** Finishes sending after a reload or sign-in during sending. */
  readonly resume: () => Promise<void>;
}

/** Milliseconds until the form says that sending takes longer than usual. */
const SLOW_AFTER = 6_000;
/** Milliseconds after which a key is not sent again: the service knows it for 24 hours. */
const KEY_LIFETIME = 23 * 3_600_000;

export function createForm({
  create,
  drafts,
  user,
  locale,
  branding,
  onSent,
  onFailed,
  signal,
  refreshList,
  viewInList,
  signIn,
}: FormParts): Form {
  const {
    strings: { form: strings, ask: questions, sent, session },
    formatBytes,
  } = locale;
  const kept = drafts.load();
  let key = kept?.key ?? crypto.randomUUID();
  let pending = kept?.pending;
  let isSending = false;
  let needsSignIn = false;
  let isKept = true;

  const subject = h('input', {
    id: 'subject',
    type: 'text',
    autocomplete: 'off',
    'aria-describedby': 'subject-hint',
  });
  const body = h('textarea', {
    id: 'body',
    rows: '8',
    'aria-describedby': 'body-hint size',
    'aria-keyshortcuts': 'Control+Enter Meta+Enter',
  });
  subject.value = kept?.subject ?? '';
  body.value = kept?.body ?? '';

  const meter = h('span', { class: 'meter', 'aria-hidden': 'true' });
  const size = h('p', { class: 'size', id: 'size' });
  const sizeAlert = h('p', { class: 'size-alert', role: 'status' });
  const keptNote = h('p', { class: 'kept' });
  const status = h('div', { class: 'live', role: 'status' });
  const alert = h('div', { class: 'live', role: 'alert' });
  const submit = h('button', { class: 'primary', type: 'submit' }, strings.send);
  const form = h(
    'form',
    { class: 'card form', 'aria-labelledby': 'form-title', novalidate: true },
    h('div', { class: 'progress', 'aria-hidden': 'true' }),
    h('h1', { id: 'form-title' }, strings.title),
    h('p', { class: 'lead' }, inLanguage(branding.introduction ?? strings.lead, locale.language)),
    topicChips(branding.topics, locale, subject),
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'subject' }, strings.subject),
      h('p', { class: 'hint', id: 'subject-hint' }, strings.subjectHint),
      subject,
    ),
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'body' }, strings.message),
      h('p', { class: 'hint', id: 'body-hint' }, strings.messageHint),
      body,
      h('div', { class: 'sizes' }, meter, size, sizeAlert),
    ),
    alert,
    status,
    h('div', { class: 'actions' }, submit, keptNote),
  );

  const read = (): Draft => ({
    subject: subject.value,
    body: body.value,
    key,
    ...(pending !== undefined && { pending }),
  });

  const hasText = (): boolean => subject.value !== '' || body.value !== '';

  const wouldLose = (): boolean => !isKept && hasText();

  const showText = (): void => {
    // dir=auto would make each keystroke in a text of 400 KB take a second.
    for (const field of [subject, body]) field.dir = directionOf(field.value);
    const measured = measure(subject.value, body.value);
    const { bytes, level } = measured;
    size.textContent = level === 'fine' ? '' : strings.size(formatBytes(bytes), formatBytes(ITEM_LIMIT));
    meter.style.setProperty('--share', String(Math.min(1, bytes / ITEM_LIMIT)));
    form.dataset['level'] = level;
    const text = describeSize(locale, measured) ?? '';
    if (sizeAlert.textContent !== text) sizeAlert.textContent = text;
    body.ariaInvalid = level === 'over' ? 'true' : null;
  };

  const keep = (): void => {
    // What is typed into an empty form is another draft.
    if (!hasText() && pending === undefined) key = crypto.randomUUID();
    isKept = drafts.save(read());
    keptNote.textContent = !isKept ? strings.notKept : hasText() ? strings.kept : '';
  };

  const show = (region: HTMLElement, ...content: Node[]): void => {
    alert.replaceChildren();
    status.replaceChildren();
    region.replaceChildren(...content);
  };

  const setSending = (sending: boolean): void => {
    isSending = sending;
    form.classList.toggle('sending', sending);
    setBusy(submit, sending);
    subject.readOnly = sending;
    body.readOnly = sending;
  };

  const empty = (): void => {
    pending = undefined;
    subject.value = '';
    body.value = '';
    showText();
    keep();
  };

  const finish = (inquiry: Inquiry): void => {
    const sentKey = key;
    empty();
    onSent(inquiry, sentKey);
    const panel = sentPanel(inquiry, { user, locale, branding, viewInList }, () => {
      status.replaceChildren();
      subject.focus();
    });
    show(status, panel);
    panel.scrollIntoView({ block: 'nearest' });
  };

  const fail = (failure: Failure): void => {
    needsSignIn = failure.kind === 'signed-out';
    submit.textContent = needsSignIn ? session.signInAgain : strings.tryAgain;
    if (!failure.mayBeDone) pending = needsSignIn ? 'signed-out' : undefined;
    keep();
    show(alert, notice('bad', describeSendFailure(locale, failure, Date.now())));
    onFailed(failure);
    // The message may have moved the button out of view.
    submit.scrollIntoView({ block: 'nearest' });
  };

  /** The key names another version of the draft, which was sent before the last edit or from another tab. */
  const askAboutVersions = async (failure: Failure): Promise<void> => {
    pending = undefined;
    keep();
    show(status);
    void refreshList();
    const answer = await ask(form, describeSendFailure(locale, failure, Date.now()), [
      ['send', questions.sendVersion],
      ['edit', questions.goOnEditing],
    ]);
    if (answer !== 'send') return body.focus();
    key = crypto.randomUUID();
    await transmit();
  };

  /** Sends the draft, or the rest of an attempt whose outcome is unknown. */
  const transmit = async (): Promise<void> => {
    const isRetry = typeof pending === 'number';
    if (typeof pending === 'number' && Date.now() - pending > KEY_LIFETIME) {
      const message = describeOldAttempt(locale, pending);
      pending = undefined;
      key = crypto.randomUUID();
      keep();
      submit.textContent = strings.send;
      show(status, notice('plain', message));
      void refreshList();
      return;
    }
    if (!isRetry) pending = Date.now();
    keep();
    setSending(true);
    submit.textContent = strings.sending;
    show(status, h('p', { class: 'sr' }, strings.sendingNow));
    const slow = setTimeout(() => {
      show(status, h('p', { class: 'note' }, strings.slow));
    }, SLOW_AFTER);
    const result = await send(create, read(), isRetry);
    clearTimeout(slow);
    setSending(false);
    submit.textContent = strings.send;
    if (!isFailure(result)) finish(result);
    else if (result.kind === 'reused') await askAboutVersions(result);
    else fail(result);
  };

  const confirmIfEmpty = async (): Promise<boolean> =>
    subject.value.trim() !== '' ||
    body.value.trim() !== '' ||
    (await ask(form, questions.empty, [
      ['back', questions.goBack],
      ['send', questions.sendEmpty],
    ])) === 'send';

  const submitForm = async (): Promise<void> => {
    if (isSending) return;
    if (needsSignIn) {
      setSending(true);
      await signIn()
        .catch(() => fail({ kind: 'unreachable', mayBeDone: typeof pending === 'number' }))
        .finally(() => setSending(false));
      return;
    }
    if (measure(subject.value, body.value).level === 'over') {
      show(
        alert,
        notice('bad', describeSendFailure(locale, { kind: 'too-large', mayBeDone: false }, Date.now())),
      );
      body.focus();
      return;
    }
    if ((await confirmIfEmpty()) && !isSending) await transmit();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submitForm();
  });
  form.addEventListener('input', () => {
    // Another text is another attempt.
    pending = undefined;
    // Only the status is cleared; an error stays until the next attempt.
    status.replaceChildren();
    showText();
    keep();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  addEventListener(
    'beforeunload',
    (event) => {
      if (wouldLose()) event.preventDefault();
    },
    { signal },
  );
  showText();
  keep();

  return {
    element: form,
    hasText,
    wouldLose,
    sentElsewhere(inquiry, sentKey) {
      // An attempt of this tab ends by itself, with the same inquiry.
      if (isSending || key !== sentKey) return;
      if (subject.value !== inquiry.subject || body.value !== inquiry.body) return;
      empty();
      submit.textContent = needsSignIn ? session.signInAgain : strings.send;
      show(status, notice('plain', sent.elsewhere));
    },
    async resume() {
      if (typeof pending === 'number') return transmit();
      if (pending === undefined) return;
      show(status, notice('plain', strings.ready));
      submit.focus();
    },
  };
}
