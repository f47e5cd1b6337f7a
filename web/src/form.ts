/** The form: sending an inquiry, and what becomes of it. */
import { isFailure, type Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { ask, button, div, h, notice, setBusy } from '../ui/dom.ts';
import type { Drafts } from './drafts.ts';
import { createEditor } from './editor.ts';
import { EMPTY, hasText, isSame } from './fields.ts';
import { describeOldAttempt, describeSendFailure } from './messages.ts';
import { sentPanel } from './sent.ts';
import { createSubmission } from './submission.ts';
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

export function createForm(parts: FormParts) {
  const { api, refreshList, locale, signal } = parts;
  const { form: strings, ask: questions, sent, session, failures } = locale.strings;
  const submission = createSubmission(
    parts.drafts,
    async (request, key) => api.create(request, key, locale.language),
    () => navigator.onLine,
  );
  const state = {
    isSending: false,
    isKept: true,
    /** When the limit ends at which the service has refused the draft, in milliseconds since the epoch. */
    waitsUntil: 0,
  };
  /** Why the last attempt has failed. */
  let failure: Failure | undefined;
  /** What replaces the fields after sending. */
  let panel: HTMLElement | undefined;

  const keptNote = h('p', { class: 'kept' });
  const status = h('div', { class: 'live', role: 'status' });
  const alert = h('div', { class: 'live', role: 'alert' });
  const submit = h('button', { class: 'primary', type: 'submit' }, strings.send);
  const offlineHint = notice('plain', { title: failures.offline, text: strings.offline });
  const editor = createEditor(parts, submission.texts, () => {
    // The size says the same.
    if (failure?.kind === 'too-large') show(status);
  });
  const actions = div('actions', submit, keptNote);
  const attributes = { class: 'card form', 'aria-labelledby': 'form-title', novalidate: true };
  const form = h('form', attributes, editor.element, alert, status, actions);
  const backButton = button(strings.backToForm, { class: 'primary back', hidden: true }, () => {
    writeAnother();
    form.scrollIntoView();
    editor.focusFirst();
  });
  new IntersectionObserver((entries) => {
    backButton.hidden = entries.at(-1)?.isIntersecting ?? true;
  }).observe(form);

  const isWritten = (): boolean => hasText(editor.read());
  /** Whether there is text that no storage takes. */
  const wouldLose = (): boolean => !state.isKept && isWritten();

  const keep = (): void => {
    state.isKept = submission.keep(editor.read());
    form.classList.toggle('blank', !isWritten());
    keptNote.textContent = !state.isKept ? strings.notKept : isWritten() ? strings.kept : '';
  };

  const show = (region: HTMLElement, ...content: Node[]): void => {
    alert.replaceChildren();
    status.replaceChildren();
    region.replaceChildren(...content);
  };
  const say = (text: string): void => show(status, h('p', { class: 'sr' }, text));
  const explain = (failed: Failure) => describeSendFailure(locale, failed, Date.now());

  const showPanel = (next?: HTMLElement): void => {
    panel?.remove();
    panel = next;
    editor.element.hidden = next !== undefined;
    actions.hidden = next !== undefined;
    if (next !== undefined) editor.element.after(next);
  };

  const writeAnother = (): void => {
    if (panel === undefined) return;
    show(status);
    showPanel();
    editor.focusFirst();
    showConnection();
  };

  /** Says that the browser is offline, or, after a failure for that reason, that it is online again. */
  const showConnection = (): void => {
    if (state.isSending || panel !== undefined) return;
    if (!navigator.onLine) {
      if (!alert.hasChildNodes()) show(status, offlineHint);
      return;
    }
    offlineHint.remove();
    if (failure?.kind !== 'offline') return;
    const text = failure.mayBeDone ? explain(failure).text : strings.ready.text;
    submit.textContent = failure.mayBeDone ? strings.tryAgain : strings.send;
    failure = undefined;
    show(status, notice('plain', { title: strings.connected, text }));
  };

  const setSending = (isSending: boolean): void => {
    state.isSending = isSending;
    setBusy(submit, isSending);
    editor.lock(isSending);
  };

  const empty = (): void => {
    submission.edit();
    editor.write(EMPTY);
    keep();
  };

  const finish = (inquiry: Inquiry): void => {
    const key = submission.key();
    empty();
    parts.onSent(inquiry, key);
    const { activeElement } = document;
    const isElsewhere =
      activeElement !== null && activeElement !== document.body && !form.matches(':focus-within');
    const { element, title } = sentPanel(inquiry, parts, writeAnother, say);
    show(status);
    showPanel(element);
    // Focusing the title announces it. A user who has moved on to something else keeps the focus.
    if (isElsewhere) return say(sent.title);
    title.focus({ preventScroll: true });
    element.scrollIntoView({ block: 'nearest' });
    // Where the window is too low for the whole panel.
    title.scrollIntoView({ block: 'nearest' });
  };

  /** Lets the button work again after some seconds, and says so. */
  const waitFor = (seconds: number, limit: Failure): void => {
    state.waitsUntil = Date.now() + seconds * 1_000;
    setBusy(submit, true);
    setTimeout(() => {
      setBusy(submit, state.isSending);
      if (failure === limit) show(status, notice('plain', strings.ready));
    }, seconds * 1_000);
  };

  const fail = (failed: Failure): void => {
    failure = failed;
    const { kind, retryAfter = 0 } = failed;
    if (kind === 'signed-out') submit.textContent = session.signInAgain;
    else if (kind !== 'too-large') submit.textContent = strings.tryAgain;
    show(alert, notice('bad', explain(failed)));
    if (kind === 'limit') waitFor(retryAfter, failed);
    parts.onFailed?.(failed);
    // The message may have moved the button out of view.
    submit.scrollIntoView({ block: 'nearest' });
    // The connection may be back already.
    showConnection();
  };

  /** The key names another version of the draft, which was sent before the last edit or from another tab. */
  const askAboutVersions = async (failed: Failure): Promise<void> => {
    show(status);
    refreshList();
    const answer = await ask(form, explain(failed), [
      ['send', questions.sendVersion],
      ['edit', questions.goOnEditing],
    ]);
    if (answer !== 'send') return editor.focusMessage();
    submission.renew();
    await transmit();
  };

  const transmit = async (): Promise<void> => {
    failure = undefined;
    submit.textContent = strings.send;
    const triedAt = submission.expiredAttempt();
    if (triedAt !== undefined) {
      submission.renew();
      keep();
      show(status, notice('plain', describeOldAttempt(locale, triedAt)));
      return refreshList();
    }
    setSending(true);
    submit.textContent = strings.sending;
    say(strings.sending);
    const slow = setTimeout(
      () => show(status, h('p', { class: 'note' }, strings.slow)),
      SLOW_AFTER,
    );
    const result = await submission.send(editor.read());
    clearTimeout(slow);
    setSending(false);
    submit.textContent = strings.send;
    if (!isFailure(result)) finish(result);
    else if (result.kind === 'reused') await askAboutVersions(result);
    else fail(result);
  };

  const submitForm = async (): Promise<void> => {
    if (state.isSending || panel !== undefined || Date.now() < state.waitsUntil) return;
    if (failure?.kind === 'signed-out') {
      setSending(true);
      await parts
        .signIn()
        .catch(() => fail({ kind: 'unreachable', mayBeDone: submission.isUnsure() }))
        .finally(() => setSending(false));
      return;
    }
    if (editor.validate(failure?.kind === 'too-large')) await transmit();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submitForm();
  });
  form.addEventListener('input', () => {
    submission.edit();
    // A shorter text may be taken.
    if (failure?.kind === 'too-large') failure = undefined;
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
  addEventListener('beforeunload', warnOfLoss, { signal });
  for (const change of ['online', 'offline']) addEventListener(change, showConnection, { signal });
  keep();
  showConnection();

  return {
    element: form,
    /** Leads back to the form; visible while the form is out of view. For the end of a box that holds the form. */
    backButton,
    hasText: isWritten,
    wouldLose,
    empty,
    /** Empties the form when another tab has sent the draft that is in it. */
    sentElsewhere(inquiry: Inquiry, key: string): void {
      // An attempt of this tab ends by itself, with the same inquiry.
      if (state.isSending || submission.key() !== key || !isSame(editor.read(), inquiry)) return;
      empty();
      if (failure?.kind !== 'signed-out') submit.textContent = strings.send;
      show(status, notice('plain', sent.elsewhere));
    },
    /** Finishes sending after a reload or sign-in during sending. */
    async resume(): Promise<void> {
      if (submission.isUnsure()) return transmit();
      if (!submission.isReady()) return;
      show(status, notice('plain', strings.ready));
      submit.focus();
    },
  };
}
