/** The form: what the user, the browser and the service do to it. */
import { isFailure, type Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { ask, button, h, notice } from '../ui/dom.ts';
import { EMPTY, hasText, isSame } from './fields.ts';
import { createFormView, keep, say, show, update, type Form, type FormParts } from './form-view.ts';
import { describeOldAttempt, describeSendFailure } from './messages.ts';
import { sentPanel } from './sent.ts';

/** Milliseconds until the form says that sending takes longer than usual. */
const SLOW_AFTER = 6_000;

export function createForm(parts: FormParts) {
  const form = createFormView(parts);
  const { element, submission, status, editor, state } = form;
  listen(form);
  keep(form);
  showConnection(form);
  return {
    element,
    backButton: createBackButton(form),
    hasText: (): boolean => hasText(editor.read()),
    wouldLose: () => wouldLose(form),
    empty: () => empty(form),
    /** Empties the form when another tab has sent the draft that is in it. */
    sentElsewhere(inquiry: Inquiry, key: string): void {
      // An attempt of this tab ends by itself, with the same inquiry.
      if (state.isSending || submission.key() !== key || !isSame(editor.read(), inquiry)) return;
      if (state.failure?.kind !== 'signed-out') state.failure = undefined;
      empty(form);
      const { title, elsewhere: text } = parts.locale.strings.sent;
      show(form, status, notice('plain', { title, text }));
    },
    /** Finishes sending after a reload or sign-in during sending. */
    async resume(): Promise<void> {
      if (submission.isUnsure()) return transmit(form);
      if (!submission.isReady()) return;
      show(form, status, readyNotice(form));
      form.submit.focus();
    },
  };
}

/** Whether there is text that no storage takes. */
const wouldLose = ({ state, editor }: Form): boolean => !state.isKept && hasText(editor.read());

function listen(form: Form): void {
  const { element, signal } = form;
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit(form);
  });
  element.addEventListener('input', () => onInput(form));
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    element.requestSubmit();
  });
  const warnOfLoss = (event: Event): void => {
    if (wouldLose(form)) event.preventDefault();
  };
  addEventListener('beforeunload', warnOfLoss, { signal });
  for (const change of ['online', 'offline']) {
    addEventListener(change, () => showConnection(form), { signal });
  }
}

/** An error stays until the next attempt, unless a shorter text may be taken. */
function onInput(form: Form): void {
  const { submission, state, status, offlineHint } = form;
  submission.edit();
  if (state.failure?.kind === 'too-large') {
    update(form, { failure: undefined });
    show(form, status);
  }
  if (!offlineHint.isConnected) status.replaceChildren();
  keep(form);
}

/** Leads back to the form; visible while the form is out of view. For the end of a box that holds the form. */
function createBackButton(form: Form): HTMLElement {
  const { element, editor, locale } = form;
  const attributes = { class: 'primary back', hidden: true };
  const back = button(locale.strings.form.backToForm, attributes, () => {
    writeAnother(form);
    element.scrollIntoView();
    editor.focusFirst();
  });
  new IntersectionObserver((entries) => {
    back.hidden = entries.at(-1)?.isIntersecting ?? true;
  }).observe(element);
  return back;
}

async function submit(form: Form): Promise<void> {
  const { isSending, isLimited, panel, failure } = form.state;
  if (isSending || isLimited || panel !== undefined) return;
  if (failure?.kind === 'signed-out') {
    update(form, { isSending: true });
    const mayBeDone = form.submission.isUnsure();
    await form.signIn().catch(() => fail(form, { kind: 'unreachable', mayBeDone }));
    update(form, { isSending: false });
  } else if (form.editor.validate(failure?.kind === 'too-large')) {
    await transmit(form);
  }
}

/** Sends the texts, or repeats an attempt whose outcome is unknown. */
async function transmit(form: Form): Promise<void> {
  const { submission, status, locale } = form;
  const { sending, slow } = locale.strings.form;
  const triedAt = submission.expiredAttempt();
  if (triedAt !== undefined) {
    submission.renew();
    keep(form);
    show(form, status, notice('plain', describeOldAttempt(locale, triedAt)));
    return form.refreshList();
  }
  update(form, { failure: undefined, isSending: true });
  say(form, sending);
  const timer = setTimeout(() => show(form, status, h('p', { class: 'note' }, slow)), SLOW_AFTER);
  const result = await submission.send(form.editor.read());
  clearTimeout(timer);
  update(form, { isSending: false });
  if (!isFailure(result)) finish(form, result);
  else if (result.kind === 'reused') await askAboutVersions(form);
  else fail(form, result);
}

/** The key names another version of the draft, which was sent before the last edit or from another tab. */
async function askAboutVersions(form: Form): Promise<void> {
  const { element, status, editor, submission, locale } = form;
  const { ask: questions, failures } = locale.strings;
  show(form, status);
  form.refreshList();
  const answer = await ask(element, { title: failures.reused, text: failures.textKept }, [
    ['send', questions.sendVersion],
    ['edit', questions.goOnEditing],
  ]);
  if (answer !== 'send') return editor.focusMessage();
  submission.renew();
  await transmit(form);
}

function finish(form: Form, inquiry: Inquiry): void {
  const { status, element, submission, locale } = form;
  const key = submission.key();
  empty(form);
  form.onSent(inquiry, key);
  const { activeElement } = document;
  const isElsewhere =
    activeElement !== null && activeElement !== document.body && !element.matches(':focus-within');
  const { element: panel, title } = sentPanel(
    inquiry,
    form,
    () => writeAnother(form),
    (text) => say(form, text),
  );
  show(form, status);
  update(form, { panel });
  // Focusing the title announces it. A user who has moved on to something else keeps the focus.
  if (isElsewhere) return say(form, locale.strings.sent.title);
  title.focus({ preventScroll: true });
  panel.scrollIntoView({ block: 'nearest' });
  // Where the window is too low for the whole panel.
  title.scrollIntoView({ block: 'nearest' });
}

function fail(form: Form, failure: Failure): void {
  const { alert, status, locale } = form;
  update(form, { failure, isLimited: failure.kind === 'limit' });
  show(form, alert, notice('bad', describeSendFailure(locale, failure, Date.now())));
  if (failure.kind === 'limit') {
    setTimeout(
      () => {
        update(form, { isLimited: false });
        if (form.state.failure === failure) show(form, status, readyNotice(form));
      },
      (failure.retryAfter ?? 0) * 1_000,
    );
  }
  form.onFailed?.(failure);
  // The message may have moved the button out of view.
  form.submit.scrollIntoView({ block: 'nearest' });
  // The connection may be back already.
  showConnection(form);
}

/** Says that the browser is offline, or, after a failure for that reason, that it is online again. */
function showConnection(form: Form): void {
  const { state, alert, status, offlineHint, locale } = form;
  const { isSending, panel, failure } = state;
  if (isSending || panel !== undefined) return;
  if (!navigator.onLine) {
    if (!alert.hasChildNodes()) show(form, status, offlineHint);
    return;
  }
  offlineHint.remove();
  if (failure?.kind !== 'offline') return;
  update(form, { failure: undefined });
  const { text } = describeSendFailure(locale, failure, Date.now());
  show(form, status, notice('plain', { title: locale.strings.form.connected, text }));
}

function writeAnother(form: Form): void {
  if (form.state.panel === undefined) return;
  show(form, form.status);
  update(form, { panel: undefined });
  form.editor.focusFirst();
  showConnection(form);
}

/** Empties the form. What is typed into it then is another inquiry. */
function empty(form: Form): void {
  form.submission.edit();
  form.editor.write(EMPTY);
  keep(form);
}

/** Says that the text waits for the user. */
function readyNotice({ locale }: Form): HTMLElement {
  const { form, failures } = locale.strings;
  const text = locale.join(failures.nothingSent, failures.textKept);
  return notice('plain', { title: form.ready, text });
}
