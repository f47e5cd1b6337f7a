import type { Command } from './options.ts';
import { countInquiries, formatTable, formatTime, showProgress, toJsonLine } from './output.ts';
import { formatDuration } from './words.ts';

/** What is kept of each of many inquiries. */
interface Times {
  created_at: string;
  reply_at: string | undefined;
}

const DAY = 86_400_000;
const SHOWN_WEEKS = 10;

export async function run({ isInteractive, io, connect }: Command): Promise<void> {
  // Newest first, and so are the weeks.
  const rows: Times[] = [];
  for await (const page of showProgress(io, connect().inquiries.list())) {
    rows.push(...page.map(({ created_at, reply_at }) => ({ created_at, reply_at })));
  }
  const { inquiries, unanswered, median_seconds } = summarize(rows);
  const oldest = rows.findLast(({ reply_at }) => reply_at === undefined)?.created_at;
  const weeks = [...Map.groupBy(rows, toMonday)]
    .slice(0, SHOWN_WEEKS)
    .map(([week, ofWeek]) => Object.assign({ week }, summarize(ofWeek)));
  if (!isInteractive) {
    const oldest_unanswered = oldest ?? null;
    io.stdout.write(
      toJsonLine({ inquiries, unanswered, oldest_unanswered, median_seconds, weeks }),
    );
    return;
  }
  const since =
    oldest === undefined
      ? 'none'
      : `${formatTime(oldest)} (${formatDuration(Date.now() - Date.parse(oldest))} old)`;
  const table = formatTable<(typeof weeks)[number]>(
    [
      { head: 'WEEK OF', cell: ({ week }) => week },
      { head: 'INQUIRIES', cell: (week) => String(week.inquiries) },
      { head: 'UNANSWERED', cell: (week) => String(week.unanswered) },
      { head: 'MEDIAN', cell: (week) => formatMedian(week.median_seconds) },
    ],
    weeks,
    io.stdout.columns,
  );
  io.stdout
    .write(`Unanswered         ${unanswered.toLocaleString('en')} of ${countInquiries(inquiries)}
Oldest unanswered  ${since}
Median to answer   ${formatMedian(median_seconds)}

${table}`);
}

/** `2026-11-16`: the Monday of the week, UTC. */
function toMonday({ created_at }: Times): string {
  const date = new Date(created_at);
  const daysSinceMonday = (date.getUTCDay() + 6) % 7;
  return new Date(date.getTime() - daysSinceMonday * DAY).toISOString().slice(0, 10);
}

/** The median is the time from an inquiry to its answer in the middle, or the mean of the two in the middle. */
function summarize(rows: Times[]) {
  const times = rows
    .flatMap(({ created_at, reply_at }) =>
      reply_at === undefined ? [] : Date.parse(reply_at) - Date.parse(created_at),
    )
    .toSorted((a, b) => a - b);
  const low = times[Math.ceil(times.length / 2) - 1];
  const high = times[Math.floor(times.length / 2)];
  return {
    inquiries: rows.length,
    unanswered: rows.length - times.length,
    median_seconds:
      low === undefined || high === undefined ? null : Math.round((low + high) / 2_000),
  };
}

const formatMedian = (seconds: number | null): string =>
  seconds === null ? '-' : formatDuration(seconds * 1_000);
