/** The fields of an inquiry, and what is said about its size. */
import { inLanguage } from '../../src/languages.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';
import { toMailbox } from '../../src/mailbox.ts';
import { div, h, p } from '../../ui/dom.ts';
import { directionOf } from '../../ui/format.ts';
import { isolate } from './bidi.ts';
import { CONTROLS, fieldNames, mapFields, sizeOf, type Texts } from './fields.ts';
import { describeSize } from './messages.ts';
import { topicMenu } from './topics.ts';
import type { ViewParts } from './view-parts.ts';

type EditorParts = Pick<ViewParts, 'user' | 'locale' | 'branding'>;

export function createEditor(parts: EditorParts, texts: Texts) {
  const { locale } = parts;
  const { element, inputs, size, topics } = createFields(parts);
  const { subject, body } = inputs;
  const all = Object.values(inputs);
  let isOver = false;
  const read = (): Texts => mapFields((name) => inputs[name].value);

  /** Shows topic, size and direction of the texts. */
  const update = (isMissing = false): void => {
    // dir=auto would make each keystroke in a text of 400 KB take a second.
    for (const input of all) input.dir = directionOf(input.value);
    const bytes = sizeOf(read());
    const wasOver = isOver;
    isOver = bytes > ITEM_LIMIT;
    const text = isMissing ? locale.strings.form.empty : describeSize(locale, bytes);
    if (size.textContent !== text) size.textContent = text;
    // Otherwise `required` would make an untouched field an invalid one.
    body.ariaInvalid = String(isMissing || isOver);
    topics?.update();
    // It is below a text that may fill the window.
    if (isOver && !wasOver) size.scrollIntoView({ block: 'nearest' });
  };
  const write = (next: Texts): void => {
    for (const name of fieldNames) inputs[name].value = next[name] ?? '';
    update();
  };
  element.addEventListener('input', () => update());
  write(texts);

  return {
    element,
    read,
    write,
    /** Whether the texts can be sent. Says why not. */
    validate(isRefused: boolean): boolean {
      const isMissing = body.value.trim() === '';
      if (!isMissing && !isRefused && !isOver) {
        return all.every((input) => input.reportValidity());
      }
      body.focus();
      size.scrollIntoView({ block: 'nearest' });
      // So that it is announced again.
      size.textContent = '';
      update(isMissing);
      return false;
    },
    lock(isLocked: boolean): void {
      for (const input of all) input.readOnly = isLocked;
    },
    focusFirst: () => subject.focus(),
    focusMessage: () => body.focus(),
  };
}

function createFields({ user, locale, branding }: EditorParts) {
  const { form: strings } = locale.strings;
  const inputs = mapFields((name) =>
    h(name === 'body' ? 'textarea' : 'input', { id: name, ...CONTROLS[name] }),
  );
  const size = h('p', { class: 'size', id: 'size', role: 'status' });
  const topics = topicMenu(branding.topics, locale, inputs.subject);
  const lead = inLanguage(branding.introduction ?? strings.lead, locale.language);
  const noMail = locale.join(strings.noMail(isolate(user.email)), strings.reachable);
  const fields = fieldNames.map((name) =>
    div('field', h('label', { for: name }, strings.fields[name]), inputs[name]),
  );
  inputs.body.after(size);
  const element = h(
    'div',
    {},
    h('h1', { id: 'form-title' }, strings.title),
    p('lead', lead),
    toMailbox(user.email) === undefined ? div('notice', h('p', {}, noMail)) : undefined,
    topics?.element,
    ...fields,
  );
  return { element, inputs, size, topics };
}
