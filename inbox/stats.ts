import type { Command } from './options.ts';
import { countInquiries, formatTable, formatTime, showProgress, toJsonLine } from './output.ts';
import { formatDuration } from './words.ts';

const DAY = 86_400_000;
const SHOWN_WEEKS = 10;

interface Counts {
  inquiries: number;
  unanswered: number;
  /** Milliseconds from each inquiry to its answer. */
  times: number[];
}

export async function printStatistics({ isInteractive, io, connect }: Command): Promise<void> {
  const { inbox } = connect();
  const total: Counts = { inquiries: 0, unanswered: 0, times: [] };
  const byWeek = new Map<string, Counts>();
  let oldest: string | undefined;
  for await (const page of showProgress(io, inbox.list())) {
    for (const { created_at, reply_at } of page) {
      const monday = toMonday(created_at);
      const week = byWeek.get(monday) ?? { inquiries: 0, unanswered: 0, times: [] };
      byWeek.set(monday, week);
      for (const counts of [total, week]) {
        counts.inquiries++;
        if (reply_at === undefined) counts.unanswered++;
        else counts.times.push(Date.parse(reply_at) - Date.parse(created_at));
      }
      // The list is newest first.
      if (reply_at === undefined) oldest = created_at;
    }
  }
  // Insertion order is newest first, too.
  const weeks = [...byWeek].slice(0, SHOWN_WEEKS);
  if (!isInteractive) {
    const result = {
      inquiries: total.inquiries,
      unanswered: total.unanswered,
      oldest_unanswered: oldest ?? null,
      median_seconds: toSeconds(medianOf(total.times)),
      weeks: weeks.map(([week, { inquiries, unanswered, times }]) => {
        return { week, inquiries, unanswered, median_seconds: toSeconds(medianOf(times)) };
      }),
    };
    io.stdout.write(toJsonLine(result));
    return;
  }
  const age =
    oldest === undefined ? '' : ` (${formatDuration(Date.now() - Date.parse(oldest))} old)`;
  const lines = [
    `Unanswered         ${total.unanswered.toLocaleString('en')} of ${countInquiries(total.inquiries)}`,
    `Oldest unanswered  ${oldest === undefined ? 'none' : formatTime(oldest) + age}`,
    `Median to answer   ${formatMedian(total)}`,
  ];
  const columns = ['WEEK OF', 'INQUIRIES', 'UNANSWERED', 'MEDIAN'].map((head, at) => {
    return { head, cell: (row: readonly string[]) => row[at] ?? '' };
  });
  const rows = weeks.map(([week, counts]) => [
    week,
    String(counts.inquiries),
    String(counts.unanswered),
    formatMedian(counts),
  ]);
  io.stdout.write(`${lines.join('\n')}\n\n${formatTable(columns, rows, io.stdout.columns)}`);
}

/** `2026-11-16`: the Monday of the week, UTC. */
function toMonday(time: string): string {
  const date = new Date(time);
  const daysSinceMonday = (date.getUTCDay() + 6) % 7;
  return new Date(date.getTime() - daysSinceMonday * DAY).toISOString().slice(0, 10);
}

/** The middle one, or the mean of the two in the middle. */
function medianOf(times: readonly number[]): number | undefined {
  const sorted = times.toSorted((a, b) => a - b);
  const { length } = sorted;
  const low = sorted[Math.ceil(length / 2) - 1];
  const high = sorted[Math.floor(length / 2)];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

const toSeconds = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined ? null : Math.round(milliseconds / 1_000);

function formatMedian({ times }: Counts): string {
  const median = medianOf(times);
  return median === undefined ? '-' : formatDuration(median);
}
