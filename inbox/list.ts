import { pipeline } from 'node:stream/promises';
import { styleText } from 'node:util';
import { parseOptions, UsageError, type Io } from '../lib/command-line.ts';
import { parseSince, parseUuid } from './arguments.ts';
import { showAddress } from '../src/invisible.ts';
import { toReference } from '../src/limits.ts';
import type { Connect } from './connect.ts';
import { countInquiries, formatDuration, formatSubject, formatTable, OUTCOMES } from './output.ts';
import { isInteractive, showProgress, toJsonLine, type Column } from './output.ts';
import { createSearch } from './search.ts';
import {
  SHOWN_FIELDS,
  type InquiryFilter,
  type InquirySummary,
  type Inbox,
  type Undelivered,
} from './store.ts';
import type { IndexedInquiry } from '../src/entities/inquiry-index.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] list [options]

Lists the unanswered inquiries, the oldest first. A new inquiry is in the list
after a moment.

  --all         answered and dismissed ones, too, the newest first, and which
                replies could not be delivered
  --order O     newest or oldest first
  --text WORDS  with each of these words in email, subject or text, whatever
                case and accents, or as the beginning of the id from 8 digits on
  --email E     of this email only, as it is written in the inquiry
  --sub UUID    of this user only, whatever the email
  --since WHEN  not older than an age (12h, 7d), a date (2026-11-01, local time)
                or a date-time
  --limit N     at most N (default: 50 on a terminal, otherwise all)
  --json        one JSON object a line on a terminal, too
`;

const OPTIONS = {
  all: { type: 'boolean', default: false },
  order: { type: 'string' },
  text: { type: 'string' },
  email: { type: 'string' },
  sub: { type: 'string' },
  since: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const DEFAULT_LIMIT = 50;

/** An unanswered inquiry that expires sooner is marked. */
const NEAR_EXPIRY = 7 * 86_400_000;

export async function listInquiries(connect: Connect, args: string[], io: Io): Promise<void> {
  const { all, text, email, sub, since, limit, json, ...options } = parseOptions(
    USAGE,
    OPTIONS,
    args,
  );
  const { order = all ? 'newest' : 'oldest' } = options;
  if (order !== 'newest' && order !== 'oldest') {
    throw new UsageError('--order must be newest or oldest.');
  }
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) {
    throw new UsageError('--limit must be a positive whole number.');
  }
  const filter: Filter = {
    isAnswered: all ? undefined : false,
    email,
    sub: sub === undefined ? undefined : parseUuid(sub, '--sub'),
    since: since === undefined ? undefined : parseSince(since),
    text,
    order,
  };
  const { inbox } = connect();
  if (isInteractive(io, json)) return printTable(inbox, filter, Number(limit ?? DEFAULT_LIMIT), io);
  return printLines(inbox, filter, Number(limit ?? Infinity), io);
}

type Filter = InquiryFilter & { readonly text: string | undefined };

async function* find(
  inbox: Inbox,
  { text, ...filter }: Filter,
): AsyncGenerator<readonly IndexedInquiry[]> {
  if (text === undefined) {
    yield* inbox.list(filter);
    return;
  }
  const isFound = createSearch(text);
  for await (const page of inbox.listInFull(filter)) yield page.filter(isFound);
}

type Row = InquirySummary & Partial<Undelivered>;

/** Reads what a list shows, and of answered inquiries whether the reply could not be delivered. */
async function* readRows(inbox: Inbox, found: readonly IndexedInquiry[]): AsyncGenerator<Row[]> {
  for await (const rows of inbox.summarize(found)) {
    const answered = rows.filter(({ reply_at }) => reply_at !== undefined);
    const undelivered = await inbox.readUndelivered(answered.map(({ id }) => id));
    yield rows.map((row) => Object.assign(row, undelivered.get(row.id)));
  }
}

async function printLines(inbox: Inbox, filter: Filter, limit: number, io: Io): Promise<void> {
  let left = limit;
  const lines = async function* () {
    for await (const page of find(inbox, filter)) {
      for await (const rows of readRows(inbox, page.slice(0, left))) {
        yield rows.map((row) => toJsonLine(row, SHOWN_FIELDS)).join('');
      }
      left -= page.length;
      if (left <= 0) return;
    }
  };
  await pipeline(lines, io.stdout, { end: false });
}

async function printTable(inbox: Inbox, filter: Filter, limit: number, io: Io): Promise<void> {
  const rows: IndexedInquiry[] = [];
  let isComplete = true;
  for await (const page of showProgress(io, find(inbox, filter))) {
    // At most one page more than is needed tells whether there are others.
    if (rows.length > limit && page.length > 0) {
      isComplete = false;
      break;
    }
    rows.push(...page);
  }
  const shown = (await Array.fromAsync(readRows(inbox, rows.slice(0, limit)))).flat();
  if (shown.length === 0) {
    const none = filter.isAnswered === false ? 'No unanswered inquiries' : 'There are no inquiries';
    io.stdout.write(`${none}${filter.text === undefined ? '' : ' with this text'}.\n`);
    return;
  }
  const now = Date.now();
  const ageOf = (time: string): string => formatDuration(now - Date.parse(time));
  const toExpiry = ({ reply_at, expires_at = Infinity }: InquirySummary): string => {
    const left = expires_at * 1_000 - now;
    return reply_at === undefined && left < NEAR_EXPIRY ? `in ${formatDuration(left)}` : '';
  };
  const toAnswer = ({ reply_at, respondent = '', undelivered }: Row): string => {
    const mark = undelivered === undefined ? '' : `${OUTCOMES[undelivered]}! `;
    return reply_at === undefined ? '' : `${mark}${respondent}, ${ageOf(reply_at)} ago`;
  };
  const isNear = shown.some((row) => toExpiry(row) !== '');
  const columns: Column<Row>[] = [
    { head: 'REFERENCE', cell: ({ id }) => toReference(id) },
    { head: 'AGE', cell: ({ created_at }) => ageOf(created_at) },
    ...(isNear ? [{ head: 'EXPIRES', cell: toExpiry }] : []),
    ...(filter.isAnswered === false ? [] : [{ head: 'ANSWERED', cell: toAnswer, flexible: true }]),
    { head: 'EMAIL', cell: ({ email }) => showAddress(email), flexible: true },
    { head: 'SUBJECT', cell: ({ subject }) => formatSubject(subject), flexible: true },
  ];
  io.stdout.write(formatTable(columns, shown, io.stdout.columns));
  if (rows.length > shown.length) {
    const total = `${isComplete ? '' : 'more than '}${countInquiries(rows.length)}`;
    const note = `The ${filter.order} ${shown.length} of ${total}; --limit N shows more.\n`;
    io.stdout.write(styleText('dim', note, { stream: io.stdout }));
  }
}
