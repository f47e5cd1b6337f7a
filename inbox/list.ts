import { pipeline } from 'node:stream/promises';
import { styleText } from 'node:util';
import { formatCount } from '../web/ui/format.ts';
import { parseOptions, UsageError } from '../lib/command-line.ts';
import { parseSince } from './arguments.ts';
import type { Connect } from './connect.ts';
import type { IndexedInquiry, InquiryFilter, Inbox } from './store.ts';
import { createProgress, FIELDS, formatDuration, formatTable, isForPeople, toJsonLine } from './output.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] list [options]

Lists the inquiries that nobody has answered, newest first. The list is read from an index: an inquiry is in it
within a second.

  --all         answered and dismissed ones, too
  --email E     of this email only, as it is written in the inquiry
  --since WHEN  not older than an age (12h, 7d), a date (2026-11-01, local time) or a date-time
  --limit N     at most N (default: 50 on a terminal, otherwise all)
  --json        one JSON object a line on a terminal, too
`;

const DEFAULT_LIMIT = 50;

/** An unanswered inquiry that expires sooner is marked. */
const NEAR_EXPIRY = 7 * 86_400_000;

export async function listInquiries(connect: Connect, args: string[]): Promise<void> {
  const { all, email, since, limit, json } = parseOptions(
    USAGE,
    {
      all: { type: 'boolean', default: false },
      email: { type: 'string' },
      since: { type: 'string' },
      limit: { type: 'string' },
      json: { type: 'boolean' },
    },
    args,
  );
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) {
    throw new UsageError('--limit must be a whole number from 1 on.');
  }
  const filter: InquiryFilter = {
    unansweredOnly: !all,
    email,
    since: since === undefined ? undefined : parseSince(since),
  };
  const { inbox } = connect();
  if (isForPeople(json)) return printTable(inbox, filter, Number(limit ?? DEFAULT_LIMIT));
  return printLines(inbox, filter, Number(limit ?? Infinity));
}

async function printLines(inbox: Inbox, filter: InquiryFilter, limit: number): Promise<void> {
  let left = limit;
  const lines = async function* () {
    for await (const page of inbox.list(filter)) {
      for await (const rows of inbox.summarize(page.slice(0, left))) {
        yield rows.map((row) => toJsonLine(row, FIELDS)).join('');
      }
      left -= page.length;
      if (left <= 0) return;
    }
  };
  await pipeline(lines, process.stdout, { end: false });
}

async function printTable(inbox: Inbox, filter: InquiryFilter, limit: number): Promise<void> {
  const progress = createProgress();
  const rows: IndexedInquiry[] = [];
  let isComplete = true;
  for await (const page of inbox.list(filter)) {
    // At most one page more than is needed tells whether there are others.
    if (rows.length > limit && page.length > 0) {
      isComplete = false;
      break;
    }
    rows.push(...page);
    progress.show(`${formatCount(rows.length, 'inquiry', 'inquiries')} …`);
  }
  const shown = (await Array.fromAsync(inbox.summarize(rows.slice(0, limit)))).flat();
  progress.clear();

  const now = Date.now();
  if (shown.length === 0) {
    process.stdout.write(
      filter.unansweredOnly === true ? 'Nothing is unanswered.\n' : 'There are no inquiries.\n',
    );
    return;
  }
  const expiries = shown.map(({ reply_at, expires_at = Infinity }) => {
    const left = expires_at * 1_000 - now;
    return reply_at === undefined && left < NEAR_EXPIRY ? `in ${formatDuration(left)}` : '';
  });
  const isNear = expiries.some((text) => text !== '');
  const answers = shown.map(({ reply_at, respondent = '' }) =>
    reply_at === undefined ? '' : `${respondent}, ${formatDuration(now - Date.parse(reply_at))} ago`,
  );
  process.stdout.write(
    formatTable(
      [
        { head: 'ID' },
        { head: 'AGE' },
        ...(isNear ? [{ head: 'EXPIRES' }] : []),
        ...(filter.unansweredOnly === true ? [] : [{ head: 'ANSWERED', flexible: true }]),
        { head: 'EMAIL', flexible: true },
        { head: 'SUBJECT', flexible: true },
      ],
      shown.map(({ id, email, subject, created_at }, at) => [
        id,
        formatDuration(now - Date.parse(created_at)),
        ...(isNear ? [expiries[at] ?? ''] : []),
        ...(filter.unansweredOnly === true ? [] : [answers[at] ?? '']),
        email,
        subject,
      ]),
    ),
  );
  if (rows.length > shown.length) {
    const total = `${isComplete ? '' : 'more than '}${formatCount(rows.length, 'inquiry', 'inquiries')}`;
    process.stdout.write(styleText('dim', `The newest ${shown.length} of ${total}; --limit N shows more.\n`));
  }
}
