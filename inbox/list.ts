import { UsageError } from '../lib/terminal/command-line.ts';
import { escapeAddress } from '../text/invisible.ts';
import { toReference } from '../src/limits.ts';
import type { Command } from './options.ts';
import { countInquiries, formatTable, showProgress, toJsonLine, writePages } from './output.ts';
import { createSearch } from './search.ts';
import { SHOWN_FIELDS, type ShownInquiry } from './shown-inquiry.ts';
import { formatAge, formatDuration, nearExpiryOf, subjectOf, UNDELIVERED } from './words.ts';

const LISTED_FIELDS = SHOWN_FIELDS.filter((name) => name !== 'body' && name !== 'reply');

export async function run({ values, filter, isInteractive, io, connect }: Command): Promise<void> {
  const { all = false, text = '', order = all ? 'newest' : 'oldest' } = values;
  if (order !== 'newest' && order !== 'oldest') {
    throw new UsageError('--order must be newest or oldest.');
  }
  if (values.limit !== undefined && !/^[1-9]\d{0,8}$/.test(values.limit)) {
    throw new UsageError('--limit must be a positive whole number.');
  }
  const limit = Number(values.limit ?? (isInteractive ? 50 : Infinity));
  const { inquiries, deliveries } = connect();
  const query = { ...filter, isAnswered: all ? undefined : false, order } as const;
  const isFound = createSearch(text);
  // One more row tells whether there are others.
  const most = limit + Number(isInteractive);
  const pages = async function* () {
    let left = most;
    for await (const page of inquiries.listInFull(query)) {
      const rows = page.filter(isFound).slice(0, left);
      yield deliveries.addUndelivered(rows);
      left -= rows.length;
      if (left === 0) return;
    }
  };
  if (!isInteractive) {
    const toLines = (page: ShownInquiry[]): string =>
      page.map((row) => toJsonLine(row, LISTED_FIELDS)).join('');
    return writePages(pages(), toLines, io.stdout, { end: false });
  }
  const rows = (await Array.fromAsync(showProgress(io, pages()))).flat();
  if (rows.length === 0) {
    const none = all ? 'There are no inquiries' : 'No unanswered inquiries';
    io.stdout.write(`${none}${text === '' ? '' : ' with this text'}.\n`);
    return;
  }
  const shown = rows.slice(0, limit);
  io.stdout.write(formatRows(shown, io.stdout.columns));
  if (rows.length === most) {
    io.stdout.write(`The ${order} ${countInquiries(shown.length)}; --limit N shows more.\n`);
  }
}

function formatRows(rows: ShownInquiry[], columns = 0): string {
  const now = Date.now();
  const toExpiry = (row: ShownInquiry): string => {
    const expiry = nearExpiryOf(row);
    return expiry === undefined ? '' : formatAge(expiry, now);
  };
  const toAnswer = ({ reply_at, undelivered }: ShownInquiry): string => {
    if (undelivered !== undefined) return UNDELIVERED[undelivered];
    return reply_at === undefined ? '' : formatAge(Date.parse(reply_at), now);
  };
  return formatTable<ShownInquiry>(
    [
      { head: 'REFERENCE', cell: ({ id }) => toReference(id) },
      { head: 'AGE', cell: ({ created_at }) => formatDuration(now - Date.parse(created_at)) },
      { head: 'EXPIRES', cell: toExpiry },
      { head: 'ANSWERED', cell: toAnswer },
      { head: 'EMAIL', cell: ({ email }) => escapeAddress(email), flexible: true },
      { head: 'SUBJECT', cell: subjectOf, flexible: true },
      { head: 'BY', cell: ({ respondent = '' }) => respondent, flexible: true },
    ],
    rows,
    columns,
  );
}
