/** The form: editing and sending an inquiry. */
import { ITEM_LIMIT } from '../../src/limits.ts';
import { isFailure } from './api.ts';
import type { Api, Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { ask, h, notice, setBusy } from './dom.ts';
import type { Draft, Drafts } from './drafts.ts';
import { directionOf, formatBytes, formatCount } from './format.ts';
import { describeOldAttempt, describeSendFailure, describeSize } from './messages.ts';
import { send } from './outbox.ts';
import { measure } from './size.ts';

interface FormParts {
  readonly create: Api['create'];
  readonly drafts: Drafts;
  readonly onSent: (inquiry: Inquiry) => void;
  readonly refreshList: () => Promise<void>;
  /** Redirects to the sign-in. */
  readonly signIn: () => Promise<void>;
}

export interface Form {
  readonly element: HTMLElement;
  /** Whether there is unsent text. */
  readonly hasText: () => boolean;
  /** Finishes sending after a reload or sign-in during sending. */
  readonly resume: () => Promise<void>;
}

/** Milliseconds until the form says that sending takes longer than usual. */
const SLOW_AFTER = 6_000;
/** Milliseconds after which a key is not sent again: the service knows it for 24 hours. */
const KEY_LIFETIME = 23 * 3_600_000;

export function createForm({ create, drafts, onSent, refreshList, signIn }: FormParts): Form {
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
  const submit = h('button', { class: 'primary', type: 'submit' }, 'Send inquiry');
  const form = h(
    'form',
    { class: 'card form', 'aria-labelledby': 'form-title', novalidate: true },
    h('div', { class: 'progress', 'aria-hidden': 'true' }),
    h('h1', { id: 'form-title' }, 'Contact us'),
    h('p', { class: 'lead' }, 'Tell us what it is about. You find it in your list as soon as it is sent.'),
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'subject' }, 'Subject'),
      h('p', { class: 'hint', id: 'subject-hint' }, 'A few words, so that you find it again.'),
      subject,
    ),
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'body' }, 'Message'),
      h('p', { class: 'hint', id: 'body-hint' }, 'As long as you like; line breaks are kept.'),
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

  const showText = (): void => {
    // dir=auto would make each keystroke in a text of 400 KB take a second.
    for (const field of [subject, body]) field.dir = directionOf(field.value);
    const { characters, bytes, level } = measure(subject.value, body.value);
    size.textContent = `${formatCount(characters, 'character')}, ${formatBytes(bytes)} of ${formatBytes(ITEM_LIMIT)}`;
    meter.style.setProperty('--share', String(Math.min(1, bytes / ITEM_LIMIT)));
    form.dataset['level'] = level;
    const text = describeSize({ characters, bytes, level }) ?? '';
    if (sizeAlert.textContent !== text) sizeAlert.textContent = text;
    body.ariaInvalid = level === 'over' ? 'true' : null;
  };

  const keep = (): void => {
    // What is typed into an empty form is another draft.
    if (!hasText() && pending === undefined) key = crypto.randomUUID();
    isKept = drafts.save(read());
    keptNote.textContent = !isKept
      ? 'This browser keeps no drafts: do not close the page.'
      : hasText()
        ? 'Draft kept in this browser.'
        : '';
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

  const finish = (inquiry: Inquiry): void => {
    pending = undefined;
    subject.value = '';
    body.value = '';
    showText();
    keep();
    show(status, notice('good', { title: 'Your inquiry has been sent', text: 'It is on top of your list.' }));
    onSent(inquiry);
  };

  const fail = (failure: Failure): void => {
    needsSignIn = failure.kind === 'signed-out';
    submit.textContent = needsSignIn ? 'Sign in again' : 'Try again';
    if (!failure.mayBeDone) pending = needsSignIn ? 'signed-out' : undefined;
    keep();
    show(alert, notice('bad', describeSendFailure(failure, Date.now())));
    // The message may have moved the button out of view.
    submit.scrollIntoView({ block: 'nearest' });
  };

  /** The key names another version of the draft, which was sent before the last edit or from another tab. */
  const askAboutVersions = async (failure: Failure): Promise<void> => {
    pending = undefined;
    keep();
    show(status);
    void refreshList();
    const { title, text } = describeSendFailure(failure, Date.now());
    const answer = await ask(title, text, [
      ['send', 'Send this version as well'],
      ['edit', 'Go on editing'],
    ]);
    if (answer !== 'send') return body.focus();
    key = crypto.randomUUID();
    await transmit();
  };

  /** Sends the draft, or the rest of an attempt whose outcome is unknown. */
  const transmit = async (): Promise<void> => {
    const isRetry = typeof pending === 'number';
    if (typeof pending === 'number' && Date.now() - pending > KEY_LIFETIME) {
      const message = describeOldAttempt(pending);
      pending = undefined;
      key = crypto.randomUUID();
      keep();
      submit.textContent = 'Send inquiry';
      show(status, notice('plain', message));
      void refreshList();
      return;
    }
    if (!isRetry) pending = Date.now();
    keep();
    setSending(true);
    submit.textContent = 'Sending…';
    show(status, h('p', { class: 'sr' }, 'Sending your inquiry.'));
    const slow = setTimeout(() => {
      show(status, h('p', { class: 'note' }, 'This takes longer than usual. Please keep the page open.'));
    }, SLOW_AFTER);
    const result = await send(create, read(), isRetry);
    clearTimeout(slow);
    setSending(false);
    submit.textContent = 'Send inquiry';
    if (!isFailure(result)) finish(result);
    else if (result.kind === 'reused') await askAboutVersions(result);
    else fail(result);
  };

  const confirmIfEmpty = async (): Promise<boolean> =>
    subject.value.trim() !== '' ||
    body.value.trim() !== '' ||
    (await ask('Send an empty inquiry?', 'Neither a subject nor a message has been typed.', [
      ['back', 'Go back'],
      ['send', 'Send it empty'],
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
      show(alert, notice('bad', describeSendFailure({ kind: 'too-large', mayBeDone: false }, Date.now())));
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
  addEventListener('beforeunload', (event) => {
    if (!isKept && hasText()) event.preventDefault();
  });
  showText();
  keep();

  return {
    element: form,
    hasText,
    async resume() {
      if (typeof pending === 'number') return transmit();
      if (pending === undefined) return;
      const text = 'Your inquiry was not sent yet. Your text is as you left it.';
      show(status, notice('plain', { title: 'Ready to send', text }));
      submit.focus();
    },
  };
}
