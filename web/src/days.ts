/** The inquiries of the list, grouped by the reader's days. */
import type { Inquiry } from '../../src/contract.ts';
import { div, h } from '../ui/dom.ts';
import type { Locale } from './locale.ts';
import { dayOf, titleOf } from './search.ts';

interface Day {
  readonly element: HTMLElement;
  readonly heading: HTMLElement;
  readonly list: HTMLElement;
}

/** @param elementOf - The element of an inquiry. */
export function createDays(
  locale: Locale,
  elementOf: (inquiry: Inquiry) => HTMLElement | undefined,
) {
  const days = new Map<string, Day>();

  const create = (day: string): Day => {
    const heading = h('h3');
    const list = h('ul', { class: 'items', role: 'list' });
    const created = { element: div('day', heading, list), heading, list };
    days.set(day, created);
    return created;
  };

  /** Arranges inquiries, of which the first may be out of order; returns the elements of their days. */
  return (inquiries: readonly Inquiry[], outOfOrder: Inquiry | undefined): HTMLElement[] => {
    const now = new Date();
    const groups = Map.groupBy(inquiries, (inquiry) =>
      inquiry === outOfOrder ? '' : dayOf(inquiry),
    );
    for (const day of days.keys()) if (!groups.has(day)) days.delete(day);
    return [...groups].map(([day, members]) => {
      const { element, heading, list } = days.get(day) ?? create(day);
      const date = day === '' && outOfOrder !== undefined ? dayOf(outOfOrder) : day;
      const title = titleOf(date, now, locale);
      // On paper, no day is today.
      heading.dataset['date'] = titleOf(date, new Date(0), locale);
      if (heading.textContent !== title) heading.textContent = title;
      arrange(
        list,
        members.flatMap((inquiry) => elementOf(inquiry) ?? []),
      );
      return element;
    });
  };
}

/** Gives an element these children. Those that stay are not moved, so that they keep the focus. */
export function arrange(parent: Element, wanted: readonly Element[]): void {
  const kept = new Set(wanted);
  for (const child of Array.from(parent.children).filter((one) => !kept.has(one))) child.remove();
  let at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}
