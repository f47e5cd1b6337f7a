/** Texts of strangers as markup. */
import { html } from 'hono/html';
import { findHits } from '../../text/search-text.ts';
import { escapeText } from '../../text/visible.ts';
import { createTimeFormat } from '../../ui/format.ts';
import { formatAge } from '../words.ts';

export type Markup = ReturnType<typeof html>;

/** What a search has found is marked; in place of a blank text stands `none`. */
export function markText(text: string, { none, query = '' }: { none: string; query?: string }) {
  const shown = escapeText(text);
  if (shown.trim() === '') return html`<span class="absent">${none}</span>`;
  const hits = findHits(query, shown)
    .flat()
    .toSorted(([a], [b]) => a - b);
  const pieces: (Markup | string)[] = [];
  let end = 0;
  for (const [from, to] of hits) {
    if (from < end) continue;
    pieces.push(shown.slice(end, from), html`<mark>${shown.slice(from, to)}</mark>`);
    end = to;
  }
  return html`${[...pieces, shown.slice(end)]}`;
}

/** @param timeZone - Default: the system's. */
export function createTimes(timeZone?: string) {
  const format = createTimeFormat('en-GB', timeZone);
  return {
    short: (timestamp: string) => format(timestamp).short,
    age(timestamp: string): Markup {
      const { exact, machine } = format(timestamp);
      const age = formatAge(Date.parse(timestamp));
      return html`<time datetime="${machine}" title="${exact}">${age}</time>`;
    },
    exact(timestamp: string): Markup {
      const { exact, machine } = format(timestamp);
      return html`<time datetime="${machine}">${exact}</time>`;
    },
  };
}

export type Times = ReturnType<typeof createTimes>;
