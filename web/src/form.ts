/** The form: what the user, the browser and the service do to it. */
import { isFailure, type Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { ask, button, notice } from '../../ui/dom.ts';
import { EMPTY, hasText, isSame } from './fields.ts';
import {
  createFormView,
  keep,
  say,
  show,
  tell,
  update,
  type Form,
  type FormParts,
} from './form-view.ts';
import type { Message } from './languages/strings.ts';
import { describeOldAttempt, describeSendFailure } from './messages.ts';
import { sentPanel } from './sent.ts';

/** Milliseconds until the form says that sending takes longer than usual. */
const SLOW_AFTER = 6_000;

export function createForm(parts: FormParts) {
  const form = createFormView(parts);
  const { element, submission, editor, state } = form;
  listen(form);
  keep(form);
  return {
    element,
    backButton: createBackButton(form),
    hasText: (): boolean => hasText(editor.read()),
    wouldLose: () => wouldLose(form),
    /** Deletes the text that is in the form. */
    empty: () => empty(form),
    /** Empties the form when another tab has sent the draft that is in it. */
    sentElsewhere(inquiry: Inquiry, key: string): void {
      // An attempt of this tab ends by itself, with the same inquiry.
      if (state.isSending || submission.key() !== key || !isSame(editor.read(), inquiry)) return;
      if (state.failure?.kind !== 'signed-out') state.failure = undefined;
      empty(form);
      const { title, elsewhere: text } = parts.locale.strings.sent;
      tell(form, { title, text });
    },
    /** Finishes sending after a reload or sign-in during sending. */
    async resume(): Promise<void> {
      if (submission.isUnsure()) return transmit(form);
      if (!submission.isReady()) return;
      tell(form, describeReady(form));
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
  addEventListener('online', () => showConnection(form), { signal });
}

/** An error stays until the next attempt, unless a shorter text may be taken. */
function onInput(form: Form): void {
  const { submission, state, status } = form;
  submission.edit();
  if (state.failure?.kind === 'too-large') {
    update(form, { failure: undefined });
    show(form);
  }
  status.replaceChildren();
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
  const { submission, locale } = form;
  const { sending, slow } = locale.strings.form;
  form.state.failure = undefined;
  const triedAt = submission.expiredAttempt();
  if (triedAt !== undefined) {
    submission.renew();
    keep(form);
    tell(form, describeOldAttempt(locale, triedAt));
    return form.refreshList();
  }
  update(form, { isSending: true });
  say(form, sending);
  const timer = setTimeout(() => tell(form, { title: slow }), SLOW_AFTER);
  const result = await submission.send(form.editor.read());
  clearTimeout(timer);
  update(form, { isSending: false });
  if (!isFailure(result)) finish(form, result);
  else if (result.kind === 'reused') await askAboutVersions(form);
  else fail(form, result);
}

/** The key names another version of the draft, which was sent before the last edit or from another tab. */
async function askAboutVersions(form: Form): Promise<void> {
  const { element, editor, submission, locale } = form;
  const { ask: questions, failures } = locale.strings;
  show(form);
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
  const { element, submission, locale } = form;
  const key = submission.key();
  empty(form);
  form.onSent(inquiry, key);
  const isElsewhere = document.activeElement !== document.body && !element.matches(':focus-within');
  const { element: panel, title } = sentPanel(
    inquiry,
    form,
    () => writeAnother(form),
    (text) => say(form, text),
  );
  show(form);
  update(form, { panel });
  // Focusing the title announces it. A user who has moved on to something else keeps the focus.
  if (isElsewhere) return say(form, locale.strings.sent.title);
  title.focus({ preventScroll: true });
  panel.scrollIntoView({ block: 'nearest' });
  // Where the window is too low for the whole panel.
  title.scrollIntoView({ block: 'nearest' });
}

function fail(form: Form, failure: Failure): void {
  const { alert, locale, submit: control } = form;
  update(form, { failure, isLimited: failure.kind === 'limit' });
  show(form);
  alert.append(notice('bad', describeSendFailure(locale, failure, Date.now())));
  if (failure.kind === 'limit') {
    setTimeout(
      () => {
        update(form, { isLimited: false });
        if (form.state.failure === failure) tell(form, describeReady(form));
      },
      (failure.retryAfter ?? 0) * 1_000,
    );
  }
  form.onFailed?.(failure);
  // The message may have moved the button out of view.
  control.scrollIntoView({ block: 'nearest' });
}

/** Says, after a failure for that reason, that the browser is online again. */
function showConnection(form: Form): void {
  const { state, locale } = form;
  const { isSending, panel, failure } = state;
  if (isSending || panel !== undefined || failure?.kind !== 'offline') return;
  update(form, { failure: undefined });
  const { text } = describeSendFailure(locale, failure, Date.now());
  tell(form, { title: locale.strings.form.connected, text });
}

function writeAnother(form: Form): void {
  if (form.state.panel === undefined) return;
  show(form);
  update(form, { panel: undefined });
  form.editor.focusFirst();
}

/** Empties the form. What is typed into it then is another inquiry. */
function empty(form: Form): void {
  form.submission.edit();
  form.editor.write(EMPTY);
  keep(form);
}

/** The text waits for the user. */
function describeReady({ locale }: Form): Message {
  const { form, failures } = locale.strings;
  return { title: form.ready, text: locale.join(failures.nothingSent, failures.textKept) };
}
