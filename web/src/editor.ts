/** The fields of an inquiry, and what is said about its size. */
import { inLanguage } from '../../src/languages.ts';
import { toMailbox } from '../../src/mailbox.ts';
import { div, h } from '../ui/dom.ts';
import { directionOf } from '../ui/format.ts';
import { isolate } from './bidi.ts';
import { CONTROLS, fieldNames, mapFields, type Texts } from './fields.ts';
import { describeSize } from './messages.ts';
import { measure } from './size.ts';
import { topicMenu } from './topics.ts';
import type { ViewParts } from './view-parts.ts';

/** @param onTooLarge - Called when the texts have become larger than the service stores. */
export function createEditor(
  { user, locale, branding }: Pick<ViewParts, 'user' | 'locale' | 'branding'>,
  texts: Texts,
  onTooLarge: () => void,
) {
  const { form: strings } = locale.strings;
  const state = { isMissing: false, isOver: false };

  const inputs = mapFields((name) =>
    h(name === 'body' ? 'textarea' : 'input', { id: name, ...CONTROLS[name] }),
  );
  const { subject, body } = inputs;
  const read = (): Texts => mapFields((name) => inputs[name].value);
  const size = h('p', { class: 'size', id: 'size', role: 'status' });
  const topics = topicMenu(branding.topics, locale, subject);
  const hasMail = toMailbox(user.email) !== undefined;
  const noMail = locale.join(strings.noMail(isolate(user.email)), strings.reachable);
  const fields = fieldNames.map((name) =>
    div('field', h('label', { for: name }, strings.fields[name]), inputs[name]),
  );
  const element = h(
    'div',
    {},
    h('h1', { id: 'form-title' }, strings.title),
    h('p', { class: 'lead' }, inLanguage(branding.introduction ?? strings.lead, locale.language)),
    hasMail ? undefined : div('notice', h('p', {}, noMail)),
    topics?.element,
    ...fields,
  );
  body.after(size);

  /** Shows topic, size and direction of the texts. */
  const update = (): void => {
    // dir=auto would make each keystroke in a text of 400 KB take a second.
    for (const input of Object.values(inputs)) input.dir = directionOf(input.value);
    const measured = measure(read());
    const wasOver = state.isOver;
    state.isOver = measured.level === 'over';
    const text = state.isMissing ? strings.empty : describeSize(locale, measured);
    if (size.textContent !== text) size.textContent = text;
    body.ariaInvalid = state.isOver || state.isMissing ? 'true' : null;
    topics?.update();
    if (!state.isOver || wasOver) return;
    onTooLarge();
    // It is below a text that may fill the window.
    size.scrollIntoView({ block: 'nearest' });
  };

  const write = (next: Texts): void => {
    for (const name of fieldNames) inputs[name].value = next[name] ?? '';
    update();
  };

  element.addEventListener('input', () => {
    state.isMissing = false;
    update();
  });
  write(texts);

  return {
    element,
    read,
    write,
    /** Whether the texts can be sent. A topic is not a message. Says why not. */
    validate(isRefused: boolean): boolean {
      const hasSubject = topics === undefined ? subject.value.trim() !== '' : !topics.isAlone();
      state.isMissing = !hasSubject && body.value.trim() === '';
      if (!state.isMissing && !isRefused && !state.isOver) {
        return Object.values(inputs).every((input) => input.reportValidity());
      }
      body.focus();
      size.scrollIntoView({ block: 'nearest' });
      // So that it is announced again.
      size.textContent = '';
      update();
      return false;
    },
    lock(isLocked: boolean): void {
      for (const input of Object.values(inputs)) input.readOnly = isLocked;
    },
    focusFirst: () => subject.focus(),
    focusMessage: () => body.focus(),
  };
}
