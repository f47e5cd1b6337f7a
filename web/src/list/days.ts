import type { Inquiry } from '../../../src/contract.ts';
import { div, h } from '../dom.ts';
import type { Locale } from '../languages/locale.ts';

function titleOf(date: Date, now: Date, { formatDay }: Locale): string {
  const ago = [0, 1].find((days) => {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
    return day.toDateString() === date.toDateString();
  });
  return formatDay(date, ago);
}

function createDay() {
  const heading = h('h3');
  const list = h('ul', { class: 'items', role: 'list' });
  return { element: div('day', heading, list), heading, list };
}

export function createDays(
  locale: Locale,
  elementOf: (inquiry: Inquiry) => HTMLElement | undefined,
) {
  const days = new Map<string, ReturnType<typeof createDay>>();
  return (inquiries: readonly Inquiry[], outOfOrder: Inquiry | undefined): HTMLElement[] => {
    const now = new Date();
    const groups = Map.groupBy(inquiries, (inquiry) =>
      inquiry === outOfOrder ? 'first' : new Date(inquiry.created_at).toDateString(),
    );
    return [...groups].map(([name, members]) => {
      const day = days.get(name) ?? createDay();
      days.set(name, day);
      const date = new Date(members[0]?.created_at ?? now);
      const title = titleOf(date, now, locale);
      // A print has the date in place of “Today”.
      day.heading.dataset['date'] = locale.formatDay(date);
      if (day.heading.textContent !== title) day.heading.textContent = title;
      arrange(
        day.list,
        members.flatMap((inquiry) => elementOf(inquiry) ?? []),
      );
      return day.element;
    });
  };
}

/** Children that stay keep the focus. */
export function arrange(parent: Element, wanted: Element[]): void {
  const kept = new Set(wanted);
  for (const child of Array.from(parent.children).filter((one) => !kept.has(one))) child.remove();
  let at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}
