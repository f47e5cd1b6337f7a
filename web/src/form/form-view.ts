import type { Inquiry } from '../../../src/contract.ts';
import { toReference } from '../../../src/limits.ts';
import { inLanguage } from '../../../text/languages.ts';
import { button, copyButton, div, h, live, notice, p, setBusy } from '../dom.ts';
import { createEditor } from './editor.ts';
import { hasText, type Texts } from './fields.ts';
import type { FormState, Status } from './form-state.ts';
import type { Locale } from '../languages/locale.ts';
import {
  describeAnswer,
  describeSendFailure,
  describeStatus,
  isolate,
} from '../languages/messages.ts';
import { isUnsure } from './submission.ts';
import type { ViewParts } from '../parts.ts';
import { createPrivacyLink } from '../privacy-link.ts';

interface Handlers {
  edit: (texts: Texts) => void;
  writeAnother: () => void;
  say: (text: string) => void;
}

export function createFormView(parts: ViewParts, { edit, writeAnother, say }: Handlers) {
  const { locale } = parts;
  const { form: strings } = locale.strings;
  const editor = createEditor(parts, edit);
  const place = div('');
  const alert = live('alert');
  const status = live('status');
  const submit = h('button', { class: 'primary', type: 'submit' });
  const keptNote = p('kept');
  const actions = div('actions', submit, keptNote, createPrivacyLink(parts.branding, locale));
  const attributes = { class: 'card form', 'aria-labelledby': 'form-title', novalidate: true };
  const element = h('form', attributes, editor.element, place, alert, status, actions);
  let panel: ReturnType<typeof sentPanel> | undefined;
  let shown: Partial<FormState> = {};

  return {
    element,
    editor,
    submit,
    render(state: FormState): void {
      const { draft, isKept, failure, sent } = state;
      const isWritten = hasText(draft);
      editor.render(state);
      submit.textContent = labelOf(state, locale);
      setBusy(submit, state.isSending || state.isLimited);
      keptNote.textContent = isKept ? (isWritten ? strings.kept : '') : strings.notKept;
      element.classList.toggle('blank', !isWritten);
      editor.element.hidden = sent !== undefined;
      actions.hidden = sent !== undefined;
      if (sent !== shown.sent) {
        panel = sent && sentPanel(sent, parts, writeAnother, say);
        place.replaceChildren(...(panel === undefined ? [] : [panel.element]));
      }
      if (failure !== shown.failure || state.status !== shown.status) {
        const bad = failure && !state.status && notice('bad', describeSendFailure(locale, failure));
        alert.replaceChildren(...(bad ? [bad] : []));
        status.replaceChildren(...(state.status ? [toContent(state.status, locale)] : []));
      }
      shown = state;
    },
    /** The focus announces the title. */
    focusSent(): void {
      panel?.title.focus({ preventScroll: true });
      panel?.element.scrollIntoView({ block: 'nearest' });
      // The window may be lower than the panel.
      panel?.title.scrollIntoView({ block: 'nearest' });
    },
  };
}

function labelOf({ isSending, failure, draft }: FormState, { strings }: Locale): string {
  const { form, session } = strings;
  if (failure?.kind === 'signed-out') return session.signInAgain;
  if (isSending) return form.sending;
  const hasFailed = failure !== undefined && failure.kind !== 'too-large';
  return hasFailed || isUnsure(draft) ? form.tryAgain : form.send;
}

function toContent(status: Status, locale: Locale): HTMLElement {
  if (status.kind === 'sending') return p('sr', locale.strings.form.sending);
  if (status.kind === 'announced') return p('sr', status.text);
  return notice('plain', describeStatus(locale, status));
}

/** @returns Also the title, which takes the focus. */
function sentPanel(
  inquiry: Inquiry,
  { user, locale, branding }: ViewParts,
  writeAnother: () => void,
  say: (text: string) => void,
): { element: HTMLElement; title: HTMLElement } {
  const { form, sent, list: listed } = locale.strings;
  const { expectation } = branding;
  const answer =
    describeAnswer(user, branding, locale) ??
    locale.join(form.noMail(isolate(user.email)), sent.reachable);
  const reference = toReference(inquiry.id);
  const title = h('h1', { tabindex: '-1' }, sent.title);
  const element = div(
    'sent',
    title,
    div(
      'notice reference',
      h(
        'p',
        {},
        h('span', { class: 'hint' }, sent.reference),
        ' ',
        h('code', { dir: 'ltr' }, reference),
      ),
      copyButton(sent.copy, reference, {}, listed, say),
    ),
    expectation === undefined ? undefined : h('p', {}, inLanguage(expectation, locale.language)),
    h('p', {}, answer),
    div('actions', button(sent.another, { class: 'link' }, writeAnother)),
  );
  return { element, title };
}
