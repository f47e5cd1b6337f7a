import type { Command } from './options.ts';
import {
  countInquiries,
  formatTable,
  formatTime,
  showProgress,
  toJsonLine,
  type Column,
} from './output.ts';
import { formatDuration } from './words.ts';

const DAY = 86_400_000;
const SHOWN_WEEKS = 10;

/** Milliseconds from an inquiry to its answer; undefined: there is none yet. */
type AnswerTime = number | undefined;

export async function printStatistics({ isInteractive, io, connect }: Command): Promise<void> {
  const { inbox } = connect();
  const all: AnswerTime[] = [];
  const byWeek = new Map<string, AnswerTime[]>();
  let oldest: string | undefined;
  for await (const page of showProgress(io, inbox.list())) {
    for (const { created_at, reply_at } of page) {
      const time =
        reply_at === undefined ? undefined : Date.parse(reply_at) - Date.parse(created_at);
      const monday = toMonday(created_at);
      const week = byWeek.get(monday) ?? [];
      byWeek.set(monday, week);
      for (const times of [all, week]) times.push(time);
      // The list is newest first.
      if (reply_at === undefined) oldest = created_at;
    }
  }
  const total = summarize(all);
  // Insertion order is newest first, too.
  const weeks = [...byWeek]
    .slice(0, SHOWN_WEEKS)
    .map(([week, times]) => Object.assign({ week }, summarize(times)));
  if (!isInteractive) {
    const { median_seconds, ...counts } = total;
    const oldest_unanswered = oldest ?? null;
    io.stdout.write(toJsonLine({ ...counts, oldest_unanswered, median_seconds, weeks }));
    return;
  }
  const lines = [
    `Unanswered         ${total.unanswered.toLocaleString('en')} of ${countInquiries(total.inquiries)}`,
    `Oldest unanswered  ${oldest === undefined ? 'none' : `${formatTime(oldest)} (${formatDuration(Date.now() - Date.parse(oldest))} old)`}`,
    `Median to answer   ${formatMedian(total)}`,
  ];
  const columns: Column<(typeof weeks)[number]>[] = [
    { head: 'WEEK OF', cell: ({ week }) => week },
    { head: 'INQUIRIES', cell: ({ inquiries }) => String(inquiries) },
    { head: 'UNANSWERED', cell: ({ unanswered }) => String(unanswered) },
    { head: 'MEDIAN', cell: formatMedian },
  ];
  io.stdout.write(`${lines.join('\n')}\n\n${formatTable(columns, weeks, io.stdout.columns)}`);
}

/** `2026-11-16`: the Monday of the week, UTC. */
function toMonday(time: string): string {
  const date = new Date(time);
  const daysSinceMonday = (date.getUTCDay() + 6) % 7;
  return new Date(date.getTime() - daysSinceMonday * DAY).toISOString().slice(0, 10);
}

/** The median is the time in the middle, or the mean of the two in the middle. */
function summarize(answerTimes: readonly AnswerTime[]) {
  const times = answerTimes.flatMap((time) => time ?? []).toSorted((a, b) => a - b);
  const low = times[Math.ceil(times.length / 2) - 1] ?? 0;
  const high = times[Math.floor(times.length / 2)] ?? 0;
  return {
    inquiries: answerTimes.length,
    unanswered: answerTimes.length - times.length,
    median_seconds: times.length === 0 ? null : Math.round((low + high) / 2_000),
  };
}

const formatMedian = ({ median_seconds }: ReturnType<typeof summarize>): string =>
  median_seconds === null ? '-' : formatDuration(median_seconds * 1_000);
