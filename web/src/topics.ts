import { inLanguage } from './config.ts';
import type { Text } from './config.ts';
import { button, h } from './dom.ts';
import type { Locale } from './locale.ts';

/** Buttons that fill the subject; undefined without topics. */
export function topicChips(
  topics: readonly Text[],
  { language, strings }: Locale,
  subject: HTMLInputElement,
): HTMLElement | undefined {
  if (topics.length === 0) return undefined;
  const chips = topics.map((text) => {
    const topic = inLanguage(text, language);
    return button(topic, { class: 'chip' }, () => {
      subject.value = topic;
      subject.dispatchEvent(new Event('input', { bubbles: true }));
      subject.focus();
    });
  });
  return h('div', { class: 'topics', role: 'group', 'aria-label': strings.form.topics }, ...chips);
}
