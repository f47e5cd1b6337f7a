/** The elements of the form, and how they show its state. */
import type { Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import { div, h, live, notice, p, setBusy } from '../../ui/dom.ts';
import { arrange } from './days.ts';
import type { Drafts } from './drafts.ts';
import { createEditor } from './editor.ts';
import { hasText } from './fields.ts';
import type { Message } from './languages/strings.ts';
import { createSubmission } from './submission.ts';
import type { ViewParts } from './view-parts.ts';

export interface FormParts extends Omit<ViewParts, 'onSent'> {
  drafts: Drafts;
  /** Shows what has arrived. */
  refreshList: () => void;
  /** @param key - Of the draft. */
  onSent: (inquiry: Inquiry, key: string) => void;
  /** Aborted when the form is removed. */
  signal: AbortSignal;
}

interface FormState {
  /** Whether a request runs. */
  isSending: boolean;
  /** Whether the service takes nothing more in this hour. */
  isLimited: boolean;
  /** Whether the browser has stored the texts. */
  isKept: boolean;
  /** Why the last attempt has failed. */
  failure?: Failure | undefined;
  /** What replaces the fields after sending. */
  panel?: HTMLElement | undefined;
}

export type Form = ReturnType<typeof createFormView>;

export function createFormView(parts: FormParts) {
  const submission = createSubmission(parts.drafts, async (request, key) =>
    parts.api.create(request, key, parts.locale.language),
  );
  const editor = createEditor(parts, submission.texts);
  const place = div('');
  const alert = live('alert');
  const status = live('status');
  const submit = h('button', { class: 'primary', type: 'submit' });
  const keptNote = p('kept');
  const actions = div('actions', submit, keptNote);
  const attributes = { class: 'card form', 'aria-labelledby': 'form-title', novalidate: true };
  const state: FormState = { isSending: false, isLimited: false, isKept: true };
  return {
    ...parts,
    submission,
    editor,
    place,
    alert,
    status,
    submit,
    keptNote,
    actions,
    element: h('form', attributes, editor.element, place, alert, status, actions),
    state,
  };
}

/** Changes the state, and shows it. */
export function update(form: Form, change: Partial<FormState> = {}): void {
  const { state, editor, place, actions, keptNote, submit } = form;
  const { isSending, isLimited, isKept, panel } = Object.assign(state, change);
  const { form: strings } = form.locale.strings;
  const isWritten = hasText(editor.read());
  submit.textContent = labelOf(form);
  setBusy(submit, isSending || isLimited);
  editor.lock(isSending);
  editor.element.hidden = panel !== undefined;
  actions.hidden = panel !== undefined;
  arrange(place, panel === undefined ? [] : [panel]);
  keptNote.textContent = isKept ? (isWritten ? strings.kept : '') : strings.notKept;
  form.element.classList.toggle('blank', !isWritten);
}

/** What the button says. */
function labelOf({ state: { isSending, failure }, submission, locale }: Form): string {
  const { form, session } = locale.strings;
  if (failure?.kind === 'signed-out') return session.signInAgain;
  if (isSending) return form.sending;
  const hasFailed = failure !== undefined && failure.kind !== 'too-large';
  return hasFailed || submission.isUnsure() ? form.tryAgain : form.send;
}

/** Stores the texts. */
export function keep(form: Form): void {
  update(form, { isKept: form.submission.keep(form.editor.read()) });
}

/** Shows something in the region for the status, and nothing else. */
export function show({ alert, status }: Form, ...content: Node[]): void {
  alert.replaceChildren();
  status.replaceChildren(...content);
}

export const tell = (form: Form, message: Message): void => show(form, notice('plain', message));

/** Says something to users of a screen reader. */
export const say = (form: Form, text: string): void => show(form, p('sr', text));
