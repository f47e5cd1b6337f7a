/** Texts of strangers as markup. */
import { html } from 'hono/html';
import { findHits } from '../../text/search-text.ts';
import { escapeText } from '../../text/visible.ts';
import { formatAge } from '../words.ts';

export type Markup = ReturnType<typeof html>;

/** Marks what the search has found. @param none - Stands for a blank text. */
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
  const exact = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'full',
    timeStyle: 'long',
    timeZone,
  });
  const format = (timestamp: string): string =>
    Number.isNaN(Date.parse(timestamp)) ? timestamp : exact.format(Date.parse(timestamp));
  return {
    age: (timestamp: string): Markup =>
      html`<time datetime="${timestamp}" title="${format(timestamp)}"
        >${formatAge(Date.parse(timestamp))}</time
      >`,
    exact: (timestamp: string): Markup =>
      html`<time datetime="${timestamp}">${format(timestamp)}</time>`,
  };
}

export type Times = ReturnType<typeof createTimes>;
