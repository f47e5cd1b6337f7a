import { inLanguage, type Text } from '../../../text/languages.ts';
import { ITEM_LIMIT } from '../../../src/limits.ts';
import { toMailbox } from '../../../text/mailbox.ts';
import { button, div, h, p } from '../dom.ts';
import { directionOf } from '../../../ui/format.ts';
import {
  CONTROLS,
  fieldNames,
  mapFields,
  sizeOf,
  toggleTopic,
  topicOf,
  type Texts,
} from './fields.ts';
import type { FormState } from './form-state.ts';
import type { Locale } from '../languages/locale.ts';
import { describeSize, isolate } from '../languages/messages.ts';
import type { ViewParts } from '../parts.ts';

export function createEditor(
  { user, locale, branding }: ViewParts,
  onEdit: (texts: Texts) => void,
) {
  const { form: strings } = locale.strings;
  const inputs = mapFields((name) =>
    h(name === 'body' ? 'textarea' : 'input', { id: name, ...CONTROLS[name] }),
  );
  const all = Object.values(inputs);
  const { subject, body } = inputs;
  const size = h('p', { class: 'size', id: 'size', role: 'status' });
  const read = (): Texts => mapFields((name) => inputs[name].value);
  const topics = topicMenu(branding.topics, locale, (change) =>
    onEdit({ ...read(), subject: change(subject.value) }),
  );
  const noMail = locale.join(strings.noMail(isolate(user.email)), strings.reachable);
  const fields = fieldNames.map((name) =>
    div('field', h('label', { for: name }, strings.fields[name]), inputs[name]),
  );
  body.after(size);
  const element = h(
    'div',
    {},
    h('h1', { id: 'form-title' }, strings.title),
    p('lead', inLanguage(branding.introduction ?? strings.lead, locale.language)),
    toMailbox(user.email) === undefined ? div('notice', h('p', {}, noMail)) : undefined,
    topics?.element,
    ...fields,
  );
  element.addEventListener('input', () => onEdit(read()));
  let wasOver = false;

  return {
    element,
    render({ draft, isMissing, isSending }: FormState): void {
      for (const name of fieldNames) {
        const input = inputs[name];
        const text = draft[name] ?? '';
        if (input.value !== text) input.value = text;
        // dir=auto costs a second per keystroke in 400 KB.
        input.dir = directionOf(text);
        input.readOnly = isSending;
      }
      topics?.render(draft.subject, isSending);
      const bytes = sizeOf(draft);
      const isOver = bytes > ITEM_LIMIT;
      const text = isMissing ? strings.empty : describeSize(locale, bytes);
      if (size.textContent !== text) size.textContent = text;
      // `required` alone would make an untouched field invalid.
      body.ariaInvalid = String(isMissing || isOver);
      // The size stands below the text, which may fill the window.
      if (isOver && !wasOver) size.scrollIntoView({ block: 'nearest' });
      wasOver = isOver;
    },
    isValid: (): boolean => all.every((input) => input.reportValidity()),
    pointAtMessage(): void {
      body.focus();
      size.scrollIntoView({ block: 'nearest' });
      const said = size.textContent;
      size.textContent = '';
      size.textContent = said;
    },
    focusFirst: () => subject.focus(),
    focusMessage: () => body.focus(),
  };
}

function topicMenu(
  texts: readonly Text[],
  { language, strings, colon }: Locale,
  onChoose: (change: (subject: string) => string) => void,
) {
  if (texts.length === 0) return undefined;
  const topics = texts.map((text) => inLanguage(text, language));
  let isLocked = false;
  const chips = topics.map((topic) =>
    button(topic, { class: 'chip' }, () => {
      if (!isLocked) onChoose((subject) => toggleTopic(subject, topic, topics, colon));
    }),
  );
  return {
    element: h(
      'div',
      { class: 'field', role: 'group', 'aria-labelledby': 'topics-label' },
      h('p', { class: 'label', id: 'topics-label' }, strings.form.topics),
      div('topics', ...chips),
    ),
    render(subject: string, locked: boolean): void {
      isLocked = locked;
      const chosen = topicOf(subject, topics, colon);
      chips.forEach((chip, index) => (chip.ariaPressed = String(topics[index] === chosen)));
    },
  };
}
