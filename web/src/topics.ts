import { inLanguage, type Text } from '../../src/text/languages.ts';
import { button, div, h } from '../../ui/dom.ts';
import { toggleTopic, topicOf } from './fields.ts';
import type { Locale } from './locale.ts';

export function topicMenu(
  texts: readonly Text[],
  { language, strings }: Locale,
  onChoose: (change: (subject: string) => string) => void,
) {
  if (texts.length === 0) return undefined;
  const topics = texts.map((text) => inLanguage(text, language));
  let isLocked = false;
  const chips = topics.map((topic) =>
    button(topic, { class: 'chip' }, () => {
      if (!isLocked) onChoose((subject) => toggleTopic(subject, topic, topics));
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
      const chosen = topicOf(subject, topics);
      chips.forEach((chip, index) => (chip.ariaPressed = String(topics[index] === chosen)));
    },
  };
}
