import { h } from '../../ui/dom.ts';
import { formatAge } from '../words.ts';
import { formatTime } from './format-time.ts';

export function age(timestamp: string): HTMLTimeElement {
  const text = formatAge(Date.parse(timestamp));
  const element = h('time', { class: 'age', datetime: timestamp }, text);
  element.addEventListener('pointerenter', () => {
    element.title = formatTime(timestamp).exact;
  });
  return element;
}

export function exactTime(timestamp: string): HTMLElement {
  const { exact, machine, language } = formatTime(timestamp);
  return h(
    'span',
    {},
    h('time', { datetime: machine, lang: language }, exact),
    ' (',
    age(timestamp),
    ')',
  );
}

export function updateAges(): void {
  for (const element of document.querySelectorAll<HTMLTimeElement>('time.age')) {
    element.textContent = formatAge(Date.parse(element.dateTime));
  }
}
