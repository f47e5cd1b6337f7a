import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import stringWidth from 'string-width';
import type { Io } from '../lib/terminal/command-line.ts';
import { escapeUnsafe, toLine } from '../lib/terminal/terminal-text.ts';
import { formatCount } from '../ui/format.ts';

/** What an addition has, beside its mail's key. */
const ADDED = ['text', 'at'];

/** Escapes what is unsafe on a terminal; the parsed value is the same. */
export const toJsonLine = (value: object, fields?: readonly string[]): string =>
  `${escapeUnsafe(JSON.stringify(value, fields && [...fields, ...ADDED]))}\n`;

/** Writes texts no faster than they are read. */
export const writePages = async <Page>(
  pages: AsyncIterable<Page>,
  format: (page: Page) => string,
  target: Writable,
  options: { end: boolean },
): Promise<void> =>
  pipeline(
    pages,
    async function* (source: typeof pages) {
      for await (const page of source) yield format(page);
    },
    target,
    options,
  );

export const countInquiries = (count: number): string => formatCount(count, 'inquiry', 'inquiries');

const segmenter = new Intl.Segmenter();

/** UTF-16 units. Longer ones are piles of marks. */
const GRAPHEME_LIMIT = 32;

export function cutText(text: string, columns: number): string {
  let width = 0;
  let kept = '';
  let keptWithEllipsis = '';
  for (const { segment } of segmenter.segment(text)) {
    const character = segment.length > GRAPHEME_LIMIT ? '\uFFFD' : segment;
    width += stringWidth(character);
    if (width > columns) return `${keptWithEllipsis}…`;
    kept += character;
    if (width < columns) keptWithEllipsis = kept;
  }
  return kept;
}

const RIGHT_TO_LEFT =
  /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** Isolates text from right to left, so that cells keep their order. UAX #9, 3.1.2 */
function padCell(text: string, columns: number): string {
  const cut = cutText(text, columns);
  const isolated = RIGHT_TO_LEFT.test(cut) ? `\u2068${cut}\u2069` : cut;
  return isolated + ' '.repeat(columns - stringWidth(cut));
}

const NARROWEST = 8;

interface Column<Row> {
  head: string;
  cell: (row: Row) => string;
  flexible?: boolean;
}

/**
 * Leaves out empty columns.
 *
 * @param terminal - Its columns, 80 by default; exceeded only by columns that are not flexible.
 */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  terminal?: number,
): string {
  const limit = terminal || 80;
  const toCell = (text: string): string =>
    cutText(toLine(text.slice(0, limit * GRAPHEME_LIMIT)), limit);
  const table = columns.flatMap(({ head, cell, flexible = false }) => {
    const cells = [head, ...rows.map((row) => toCell(cell(row)))];
    const width = Math.max(...cells.map((text) => stringWidth(text)));
    return cells.join('') === head ? [] : { cells, width, flexible };
  });
  let excess = table.reduce((sum, { width }) => sum + width + 2, -2) - limit;
  for (; excess > 0; excess -= 1) {
    const [widest] = table
      .filter(({ flexible, width }) => flexible && width > NARROWEST)
      .toSorted((a, b) => b.width - a.width);
    if (widest === undefined) break;
    widest.width -= 1;
  }
  const lines = ['', ...rows].map((_, line) =>
    table
      .map(({ cells, width }) => padCell(cells[line] ?? '', width))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** Local time: `2026-11-20 07:11:02 UTC`. */
export function formatTime(time: string | number): string {
  // Swedish dates have the form of ISO 8601.
  return new Date(time).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'long' });
}

/** Counts on standard error at a terminal, at most four times a second. */
export async function* showProgress<Page extends { length: number }>(
  { stderr }: Io,
  pages: AsyncIterable<Page>,
  done = '',
): AsyncGenerator<Page> {
  let isShown = false;
  let changedAt = Date.now();
  let count = 0;
  try {
    for await (const page of pages) {
      yield page;
      count += page.length;
      if (stderr.isTTY !== true || Date.now() - changedAt < 250) continue;
      stderr.write(`\r\u001b[K${countInquiries(count)} ${done}…`);
      isShown = true;
      changedAt = Date.now();
    }
  } finally {
    if (isShown) stderr.write('\r\u001b[K');
  }
}
