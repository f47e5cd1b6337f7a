/** Creates mails about inquiries that have no mail of their own, and once a day about those that wait. docs/adr/0080 */
import { toFirstId } from '../src/entities/keys.ts';
import type { DigestState } from '../src/entities/quotas.ts';
import type { IndexedInquiry } from '../src/entities/stored-inquiries.ts';
import { HOUR } from '../src/limits.ts';
import type { MailerParts } from './attempt.ts';
import { forEachConcurrently } from './concurrency.ts';
import { INDEX_LAG } from './notices.ts';
import type { Mail } from './send-mail.ts';
import { createDailyMail, createDigestMail, type ListedInquiry } from './team-mails.ts';

/** `state` is recorded once the mail is sent. */
interface DueMail {
  mail: Mail;
  state: DigestState;
}

/** Milliseconds after an hour's end, more than the 6 hours for which the event source mapping retries. */
const GIVEN_UP = 7 * HOUR;

const ENOUGH = 20_000;
const MOST_HOURS = 48;

const NEWEST = 10;
const OLDEST = 50;

const DAY = 24 * HOUR;
/** The hour of the daily mail, UTC. */
const MORNING = 5;

interface Period {
  hour: number;
  from: number;
  to: number;
  /** Whether the whole hour is looked at for the last time, because mails were given up or the index was late. */
  isOver: boolean;
}

/** The periods that no digest has counted, oldest first, until two minutes ago. */
function planHours({ next_hour, digested = {} }: DigestState, time: number): Period[] {
  const current = Math.floor(time / HOUR);
  const first = next_hour ?? current - 1;
  const last = Math.min(current, first + MOST_HOURS);
  const hours = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  return hours.flatMap((hour) => {
    const end = (hour + 1) * HOUR;
    const isOver = time >= end + GIVEN_UP;
    const from = digested[hour] ?? end - HOUR;
    const to = Math.min(end, time - INDEX_LAG);
    return isOver || to > from ? [{ hour, from, to, isOver }] : [];
  });
}

export function createDigests({ store, config }: MailerParts) {
  const { inquiries, deliveries, quotas } = store;

  const readListed = async (
    rows: IndexedInquiry[],
    signal: AbortSignal,
  ): Promise<ListedInquiry[]> =>
    Promise.all(
      rows.map(async (row) => (await inquiries.read(row, signal)) ?? { ...row, subject: '' }),
    );

  async function findUnsent(ids: Iterable<string>, signal: AbortSignal): Promise<IndexedInquiry[]> {
    const unsent: IndexedInquiry[] = [];
    await forEachConcurrently(ids, async (id) => {
      const row = await inquiries.locate(id, signal);
      if (row === undefined || row.reply_at !== undefined) return;
      if ((await deliveries.read(id, 'inquiry', signal)) === null) unsent.push(row);
    });
    return unsent;
  }

  /**
   * Closes the hour up to a time, which fixes the ids mailed one by one; all others belong to digests.
   *
   * @param counted - Inquiries in digests of this hour. The last digest has them again if the index has more.
   */
  async function digestHour(period: Period, counted: number, signal: AbortSignal) {
    const { hour, to, isOver } = period;
    const from = isOver ? hour * HOUR : period.from;
    const before = toFirstId(to);
    const mailed = await quotas.closeHour(hour, before, signal);
    const lost = isOver ? await findUnsent(mailed, signal) : [];
    const newest: IndexedInquiry[] = [];
    let others = 0;
    for await (const page of inquiries.list({ since: from, before, abortSignal: signal })) {
      const left = page.filter(({ id }) => !mailed.has(id));
      others += left.length;
      newest.push(...left.slice(0, NEWEST - newest.length));
    }
    if (isOver && others <= counted) {
      others = 0;
      newest.length = 0;
    }
    const count = lost.length + others;
    return { count, others, newest: [...lost, ...newest], since: count > 0 ? from : Infinity };
  }

  async function listWaiting(time: number, abortSignal: AbortSignal) {
    const oldest: IndexedInquiry[] = [];
    let count = 0;
    if (config.answerWithin === undefined) return { count, oldest };
    const before = toFirstId(time - config.answerWithin * DAY);
    const query = { isAnswered: false, before, order: 'oldest', abortSignal } as const;
    for await (const page of inquiries.list(query)) {
      count += page.length;
      oldest.push(...page.slice(0, OLDEST - oldest.length));
    }
    return { count, oldest };
  }

  return {
    /**
     * Counts an hour when one of its inquiries is withheld, and when failed mails are given up.
     *
     * @param state - The last digest's.
     * @returns undefined when no inquiry is left out.
     */
    async digest(
      state: DigestState,
      time: number,
      signal: AbortSignal,
    ): Promise<DueMail | undefined> {
      const digested: Record<string, number> = { ...state.digested };
      const counted: Record<string, number> = { ...state.counted };
      let nextHour = state.next_hour ?? Math.floor(time / HOUR) - 1;
      const newest: IndexedInquiry[] = [];
      let count = 0;
      let since = time;
      for (const period of planHours(state, time)) {
        if (count >= ENOUGH) break;
        const { hour, to, isOver } = period;
        if (!isOver && !(await quotas.isWithheld(hour, signal))) continue;
        const found = await digestHour(period, counted[hour] ?? 0, signal);
        newest.push(...found.newest);
        count += found.count;
        since = Math.min(since, found.since);
        digested[hour] = to;
        counted[hour] = (counted[hour] ?? 0) + found.others;
        if (!isOver) continue;
        delete digested[hour];
        delete counted[hour];
        nextHour = hour + 1;
      }
      const after: DigestState = { next_hour: nextHour, digested, counted };
      if (count === 0) {
        await quotas.saveDigest(after, signal);
        return undefined;
      }
      newest.sort((a, b) => (a.id < b.id ? 1 : -1));
      const named = await readListed(newest.slice(0, NEWEST), signal);
      return { mail: createDigestMail({ count, since, named }, config), state: after };
    },

    /** @returns undefined when it was sent today, it is too early, or there is nothing to tell. */
    async daily(
      { daily_on }: DigestState,
      time: number,
      signal: AbortSignal,
    ): Promise<DueMail | undefined> {
      const now = new Date(time);
      const today = now.toISOString().slice(0, 10);
      if (daily_on === today || now.getUTCHours() < MORNING) return undefined;
      const withheld = await quotas.countWithheld(time - DAY, signal);
      const { count, oldest } = await listWaiting(time, signal);
      if (count + withheld === 0) return undefined;
      const named = await readListed(oldest, signal);
      const mail = createDailyMail({ count, withheld, named }, config);
      return { mail, state: { daily_on: today } };
    },
  };
}
