import { UsageError } from '../lib/command-line.ts';
import { showAddress } from '../src/invisible.ts';
import { toReference } from '../src/limits.ts';
import type { Command } from './options.ts';
import { countInquiries, formatTable, showProgress, writeLines, type Column } from './output.ts';
import { createSearch } from './search.ts';
import { SHOWN_FIELDS, type Inbox, type InquiryFilter, type ShownInquiry } from './store.ts';
import { formatAge, formatDuration, nearExpiryOf, subjectOf, UNDELIVERED } from './words.ts';

const LISTED_FIELDS = SHOWN_FIELDS.filter((name) => name !== 'body' && name !== 'reply');

export async function listInquiries(command: Command): Promise<void> {
  const { values, filter, isInteractive, io } = command;
  const { all = false, text = '', order = all ? 'newest' : 'oldest' } = values;
  const { limit = isInteractive ? '50' : undefined } = values;
  if (order !== 'newest' && order !== 'oldest') {
    throw new UsageError('--order must be newest or oldest.');
  }
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) {
    throw new UsageError('--limit must be a positive whole number.');
  }
  const { inbox } = command.connect();
  const most = Number(limit ?? Infinity);
  const query = { ...filter, isAnswered: all ? undefined : false, order } as const;
  // One more than is shown tells whether there are others.
  const pages = find(inbox, query, text, isInteractive ? most + 1 : most);
  if (!isInteractive) return writeLines(pages, LISTED_FIELDS, io.stdout, { end: false });
  const rows = (await Array.fromAsync(showProgress(io, pages))).flat();
  if (rows.length === 0) {
    const none = all ? 'There are no inquiries' : 'No unanswered inquiries';
    io.stdout.write(`${none}${text === '' ? '' : ' with this text'}.\n`);
    return;
  }
  const shown = rows.slice(0, most);
  io.stdout.write(formatTable(describeColumns(shown, all), shown, io.stdout.columns));
  if (rows.length > most) {
    io.stdout.write(`The ${order} ${countInquiries(most)}; --limit N shows more.\n`);
  }
}

/** Yields up to so many inquiries that match, in pages. */
async function* find(
  inbox: Inbox,
  filter: InquiryFilter,
  text: string,
  most: number,
): AsyncGenerator<ShownInquiry[]> {
  const isFound = createSearch(text);
  let left = most;
  for await (const page of inbox.listInFull(filter)) {
    const rows = page.filter(isFound).slice(0, left);
    yield inbox.addUndelivered(rows);
    left -= rows.length;
    if (left === 0) return;
  }
}

function describeColumns(rows: readonly ShownInquiry[], all: boolean): Column<ShownInquiry>[] {
  const now = Date.now();
  const toExpiry = (row: ShownInquiry): string => {
    const expiry = nearExpiryOf(row);
    return expiry === undefined ? '' : formatAge(expiry, now);
  };
  const toAnswer = ({ reply_at, respondent = '', undelivered }: ShownInquiry): string => {
    const mark = undelivered === undefined ? '' : `${UNDELIVERED[undelivered]}! `;
    return reply_at === undefined
      ? ''
      : `${mark}${respondent}, ${formatAge(Date.parse(reply_at), now)}`;
  };
  const isNear = rows.some((row) => toExpiry(row) !== '');
  return [
    { head: 'REFERENCE', cell: ({ id }) => toReference(id) },
    { head: 'AGE', cell: ({ created_at }) => formatDuration(now - Date.parse(created_at)) },
    ...(isNear ? [{ head: 'EXPIRES', cell: toExpiry }] : []),
    ...(all ? [{ head: 'ANSWERED', cell: toAnswer, flexible: true }] : []),
    { head: 'EMAIL', cell: ({ email }) => showAddress(email), flexible: true },
    { head: 'SUBJECT', cell: subjectOf, flexible: true },
  ];
}
