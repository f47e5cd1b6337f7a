/** The form: sending an inquiry, and what becomes of it. */
import { isFailure, type Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { ask, button, div, h, notice, setBusy } from '../ui/dom.ts';
import type { Draft, Drafts } from './drafts.ts';
import { createEditor } from './editor.ts';
import { describeOldAttempt, describeSendFailure } from './messages.ts';
import { send } from './outbox.ts';
import { sentPanel } from './sent.ts';
import type { ViewParts } from './view-parts.ts';

interface FormParts extends Omit<ViewParts, 'onSent'> {
  readonly drafts: Drafts;
  /** Shows what has arrived. */
  readonly refreshList: () => void;
  /** @param key - Of the draft. */
  readonly onSent: (inquiry: Inquiry, key: string) => void;
  /** Aborted when the form is removed. */
  readonly signal: AbortSignal;
}

/** Milliseconds until the form says that sending takes longer than usual. */
const SLOW_AFTER = 6_000;
/** Milliseconds after which a key is not sent again: the service knows it for 24 hours. */
const KEY_LIFETIME = 23 * 3_600_000;

export function createForm(parts: FormParts) {
  const { api, drafts, refreshList, locale, signal } = parts;
  const { form: strings, ask: questions, sent, session, failures } = locale.strings;
  const kept = drafts.load();
  let key = kept?.key ?? crypto.randomUUID();
  let pending = kept?.pending;
  let isSending = false;
  let needsSignIn = false;
  let isKept = true;
  /** When the limit ends at which the service has refused the draft, in milliseconds since the epoch. */
  let waitsUntil = 0;
  /** Whether the text must be edited before it can be sent: the service has called it too large. */
  let mustEdit = false;
  /** The failure that is shown. */
  let shown: Failure | undefined;
  /** What replaces the fields after sending. */
  let panel: HTMLElement | undefined;
  /** How often the browser came online. */
  let reconnections = 0;

  const keptNote = h('p', { class: 'kept' });
  const status = h('div', { class: 'live', role: 'status' });
  const alert = h('div', { class: 'live', role: 'alert' });
  const submit = h('button', { class: 'primary', type: 'submit' }, strings.send);
  const offlineHint = notice('plain', {
    title: failures.offline,
    text: strings.offline,
  });
  const editor = createEditor(parts, kept ?? { subject: '', body: '' }, () => {
    // The size says the same.
    if (shown?.kind === 'too-large') show(status);
  });
  const { hasText } = editor;
  const actions = div('actions', submit, keptNote);
  const attributes = { class: 'card form', 'aria-labelledby': 'form-title', novalidate: true };
  const progress = h('div', { class: 'progress', 'aria-hidden': 'true' });
  const form = h('form', attributes, progress, editor.element, alert, status, actions);
  const backButton = button(strings.backToForm, { class: 'primary back', hidden: true }, () => {
    writeAnother();
    form.scrollIntoView();
    editor.focusFirst();
  });
  new IntersectionObserver((entries) => {
    backButton.hidden = entries.at(-1)?.isIntersecting ?? true;
  }).observe(form);

  const read = (): Draft => ({
    ...editor.read(),
    key,
    ...(pending !== undefined && { pending }),
  });

  /** Whether there is text that no storage takes. */
  const wouldLose = (): boolean => !isKept && hasText();

  const keep = (): void => {
    form.classList.toggle('blank', !hasText());
    // Text that is typed into an empty form is a new draft.
    if (!hasText() && pending === undefined) key = crypto.randomUUID();
    isKept = drafts.save(read());
    keptNote.textContent = !isKept ? strings.notKept : hasText() ? strings.kept : '';
  };

  const show = (region: HTMLElement, ...content: Node[]): void => {
    alert.replaceChildren();
    status.replaceChildren();
    region.replaceChildren(...content);
    shown = undefined;
  };

  const showPanel = (next?: HTMLElement): void => {
    panel?.remove();
    panel = next;
    editor.element.hidden = next !== undefined;
    actions.hidden = next !== undefined;
    if (next !== undefined) editor.element.after(next);
  };

  /** Says that the browser is offline, or, after a failure for that reason, that it is online again. */
  const showConnection = (): void => {
    if (isSending || panel !== undefined) return;
    if (!navigator.onLine) {
      if (!alert.hasChildNodes()) show(status, offlineHint);
    } else if (shown?.kind === 'offline') {
      const [label, text] = shown.mayBeDone
        ? [strings.tryAgain, describeSendFailure(locale, shown, Date.now()).text]
        : [strings.send, strings.ready.text];
      submit.textContent = label;
      show(status, notice('plain', { title: strings.connected, text }));
    } else {
      offlineHint.remove();
    }
  };

  const writeAnother = (): void => {
    if (panel === undefined) return;
    show(status);
    showPanel();
    editor.focusFirst();
    showConnection();
  };

  const setSending = (sending: boolean): void => {
    isSending = sending;
    form.classList.toggle('sending', sending);
    setBusy(submit, sending);
    editor.lock(sending);
  };

  const empty = (): void => {
    pending = undefined;
    editor.write({ subject: '', body: '' });
    keep();
  };

  const finish = (inquiry: Inquiry): void => {
    const sentKey = key;
    empty();
    parts.onSent(inquiry, sentKey);
    const { activeElement } = document;
    const isElsewhere =
      activeElement !== null && activeElement !== document.body && !form.matches(':focus-within');
    const { element, title } = sentPanel(inquiry, parts, writeAnother, (text) =>
      show(status, h('p', { class: 'sr' }, text)),
    );
    show(status);
    showPanel(element);
    // Focusing the title announces it. A user who has moved on to something else keeps the focus.
    if (isElsewhere) return show(status, h('p', { class: 'sr' }, title.textContent));
    title.focus({ preventScroll: true });
    element.scrollIntoView({ block: 'nearest' });
    // Where the window is too low for the whole panel.
    title.scrollIntoView({ block: 'nearest' });
  };

  /** Lets the button work again after some seconds, and says so. */
  const waitFor = (seconds: number): void => {
    const failure = shown;
    waitsUntil = Date.now() + seconds * 1_000;
    setBusy(submit, true);
    setTimeout(() => {
      setBusy(submit, isSending);
      if (shown === failure) show(status, notice('plain', strings.ready));
    }, seconds * 1_000);
  };

  const fail = (failure: Failure): void => {
    needsSignIn = failure.kind === 'signed-out';
    mustEdit = failure.kind === 'too-large';
    submit.textContent = needsSignIn
      ? session.signInAgain
      : mustEdit
        ? strings.send
        : strings.tryAgain;
    if (!failure.mayBeDone) pending = needsSignIn ? 'signed-out' : undefined;
    keep();
    show(alert, notice('bad', describeSendFailure(locale, failure, Date.now())));
    shown = failure;
    if (failure.kind === 'limit') waitFor(failure.retryAfter ?? 0);
    parts.onFailed?.(failure);
    // The message may have moved the button out of view.
    submit.scrollIntoView({ block: 'nearest' });
  };

  /** The key names another version of the draft, which was sent before the last edit or from another tab. */
  const askAboutVersions = async (failure: Failure): Promise<void> => {
    pending = undefined;
    keep();
    show(status);
    refreshList();
    const answer = await ask(form, describeSendFailure(locale, failure, Date.now()), [
      ['send', questions.sendVersion],
      ['edit', questions.goOnEditing],
    ]);
    if (answer !== 'send') return editor.focusMessage();
    key = crypto.randomUUID();
    await transmit();
  };

  /** Sends the draft, or repeats an attempt whose outcome is unknown. */
  const transmit = async (): Promise<void> => {
    const isRetry = typeof pending === 'number';
    if (typeof pending === 'number' && Date.now() - pending > KEY_LIFETIME) {
      const message = describeOldAttempt(locale, pending);
      pending = undefined;
      key = crypto.randomUUID();
      keep();
      submit.textContent = strings.send;
      show(status, notice('plain', message));
      refreshList();
      return;
    }
    if (!navigator.onLine) return fail({ kind: 'offline', mayBeDone: isRetry });
    if (!isRetry) pending = Date.now();
    const before = reconnections;
    keep();
    setSending(true);
    submit.textContent = strings.sending;
    show(status, h('p', { class: 'sr' }, strings.sendingNow));
    const slow = setTimeout(
      () => show(status, h('p', { class: 'note' }, strings.slow)),
      SLOW_AFTER,
    );
    const result = await send(
      async (request, own) => api.create(request, own, locale.language),
      read(),
      isRetry,
    );
    clearTimeout(slow);
    setSending(false);
    submit.textContent = strings.send;
    if (!isFailure(result)) {
      finish(result);
    } else if (result.kind === 'reused') {
      await askAboutVersions(result);
    }
    // navigator.onLine may be wrong for some seconds while the connection comes back.
    else if (result.kind === 'offline' && reconnections > before) {
      fail({ ...result, kind: 'unreachable' });
    } else {
      fail(result);
    }
  };

  const submitForm = async (): Promise<void> => {
    if (isSending || panel !== undefined || Date.now() < waitsUntil) return;
    if (needsSignIn) {
      setSending(true);
      await parts
        .signIn()
        .catch(() => fail({ kind: 'unreachable', mayBeDone: typeof pending === 'number' }))
        .finally(() => setSending(false));
      return;
    }
    if (!editor.validate(mustEdit)) return;
    await transmit();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submitForm();
  });
  form.addEventListener('input', () => {
    // An edited text is a new attempt.
    pending = undefined;
    mustEdit = false;
    // Only the status is cleared; an error stays until the next attempt.
    if (!offlineHint.isConnected) status.replaceChildren();
    keep();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  const warnOfLoss = (event: Event): void => {
    if (wouldLose()) event.preventDefault();
  };
  const countReconnection = (): void => {
    reconnections++;
  };
  addEventListener('beforeunload', warnOfLoss, { signal });
  addEventListener('online', countReconnection, { signal });
  for (const change of ['online', 'offline']) addEventListener(change, showConnection, { signal });
  keep();
  showConnection();

  return {
    element: form,
    /** Leads back to the form; visible while the form is out of view. For the end of a box that holds the form. */
    backButton,
    hasText,
    wouldLose,
    empty,
    /** Empties the form when another tab has sent the draft that is in it. */
    sentElsewhere(inquiry: Inquiry, sentKey: string): void {
      // An attempt of this tab ends by itself, with the same inquiry.
      if (isSending || key !== sentKey) return;
      const { subject, body } = editor.read();
      if (subject !== inquiry.subject || body !== inquiry.body) return;
      empty();
      submit.textContent = needsSignIn ? session.signInAgain : strings.send;
      show(status, notice('plain', sent.elsewhere));
    },
    /** Finishes sending after a reload or sign-in during sending. */
    async resume(): Promise<void> {
      if (typeof pending === 'number') return transmit();
      if (pending === undefined) return;
      show(status, notice('plain', strings.ready));
      submit.focus();
    },
  };
}
