import { inLanguage, type Text } from '../../src/languages.ts';
import { button, div, h } from '../ui/dom.ts';
import type { Locale } from './locale.ts';
import { toggleTopic, topicOf, withoutTopic } from './subject.ts';

/** More topics than this are in a menu. */
const MOST_CHIPS = 6;

/** Buttons, or a menu, that fill the subject; undefined without topics. */
export function topicMenu(
  texts: readonly Text[],
  { language, strings }: Locale,
  subject: HTMLInputElement,
) {
  if (texts.length === 0) return undefined;
  const topics = texts.map((text) => inLanguage(text, language));
  const label = strings.form.topics;
  const change = (value: string): void => {
    if (subject.readOnly) return;
    subject.value = value;
    subject.dispatchEvent(new Event('input', { bubbles: true }));
  };
  /** Whether the subject says nothing but a topic. */
  const isAlone = (): boolean => withoutTopic(subject.value, topics).trim() === '';
  if (topics.length > MOST_CHIPS) {
    const options = topics.map((topic) => h('option', { value: topic }, topic));
    const menu = h('select', { id: 'topic' }, h('option', { value: '' }, '–'), ...options);
    // Before the event reaches the form, which shows the topic of the subject.
    menu.addEventListener('input', () => {
      const chosen = menu.value === '' ? topicOf(subject.value, topics) : menu.value;
      if (chosen !== undefined) change(toggleTopic(subject.value, chosen, topics));
    });
    return {
      element: div('field', h('label', { for: menu.id }, label), menu),
      isAlone,
      update(): void {
        menu.value = topicOf(subject.value, topics) ?? '';
      },
    };
  }
  const chips = topics.map((topic) =>
    button(topic, { class: 'chip' }, () => change(toggleTopic(subject.value, topic, topics))),
  );
  return {
    element: h(
      'div',
      { class: 'field', role: 'group', 'aria-labelledby': 'topics-label' },
      h('p', { class: 'label', id: 'topics-label' }, label),
      div('topics', ...chips),
    ),
    isAlone,
    /** Shows the topic of the subject. */
    update(): void {
      const chosen = topicOf(subject.value, topics);
      chips.forEach((chip, index) => (chip.ariaPressed = String(topics[index] === chosen)));
    },
  };
}
