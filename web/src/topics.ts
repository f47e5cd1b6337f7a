import { inLanguage, type Text } from './config.ts';
import { button, h } from '../ui/dom.ts';
import type { Locale } from './locale.ts';
import { toggleTopic, topicOf } from './subject.ts';

/** Buttons that fill the subject; undefined without topics. */
export function topicChips(texts: readonly Text[], { language, strings }: Locale, subject: HTMLInputElement) {
  if (texts.length === 0) return undefined;
  const topics = texts.map((text) => inLanguage(text, language));
  const chips = topics.map((topic) =>
    button(topic, { class: 'chip' }, () => {
      if (subject.readOnly) return;
      subject.value = toggleTopic(subject.value, topic, topics);
      subject.dispatchEvent(new Event('input', { bubbles: true }));
    }),
  );
  return {
    element: h('div', { class: 'topics', role: 'group', 'aria-label': strings.form.topics }, ...chips),
    /** Marks the topic of the subject. */
    update(): void {
      const chosen = topicOf(subject.value, topics);
      chips.forEach((chip, index) => (chip.ariaPressed = String(topics[index] === chosen)));
    },
  };
}
