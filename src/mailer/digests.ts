/**
 * The mails to the team about several inquiries: those that are not mailed one by one, and, once a day, those that wait
 * for an answer. docs/adr/0080
 */
import { toFirstId } from '../entities/keys.ts';
import type { IndexedInquiry } from '../entities/inquiry-index.ts';
import { HOUR, isTestAddress } from '../limits.ts';
import type { MailerConfig } from './config.ts';
import { INDEX_LAG } from './inquiries.ts';
import { createDailyMail, createDigestMail, type ListedInquiry } from './team-mails.ts';
import type { DigestState } from './quotas.ts';
import type { Mail } from './send-mail.ts';
import { forEachConcurrently } from './concurrency.ts';
import type { MailerStore } from './store.ts';

/** A mail, and what to record when it is sent. */
export interface DueMail {
  readonly mail: Mail;
  readonly state: DigestState;
}

/** Milliseconds after the end of an hour when no mail of it is tried again: the event source mapping does for 6 hours. */
const GIVEN_UP = 7 * HOUR;

/** Hours, and inquiries, at which one digest looks. After an outage, the next ones go on. */
const HOURS = 48;
const ENOUGH = 20_000;

/** Inquiries that a mail names. */
const NEWEST = 10;
const OLDEST = 50;

const DAY = 24 * HOUR;
/** When the daily mail is sent: from this hour on, UTC. */
const MORNING = 5;

export function createDigests(
  { inquiries, deliveries, quotas }: MailerStore,
  config: MailerConfig,
) {
  const readSubjects = async (
    rows: readonly IndexedInquiry[],
    signal: AbortSignal,
  ): Promise<ListedInquiry[]> =>
    Promise.all(
      rows.map(async (row) => {
        const subject = await inquiries.readSubject(row, signal);
        return { id: row.id, email: row.email, subject: subject ?? '' };
      }),
    );

  /** Finds those of the claimed inquiries about which a mail is missing; none is about one that is answered. */
  async function findUnsent(ids: Iterable<string>, signal: AbortSignal): Promise<IndexedInquiry[]> {
    const unsent: IndexedInquiry[] = [];
    await forEachConcurrently(await inquiries.findAll(ids, signal), async (row) => {
      if (row.reply_at !== undefined || isTestAddress(row.email)) return;
      if ((await deliveries.read(row.id, 'inquiry', signal)) === null) unsent.push(row);
    });
    return unsent;
  }

  /** Counts the inquiries between two ids that have no place in the hour. Each is counted once, also when it is answered now. */
  async function countOthers(
    mailed: ReadonlySet<string>,
    { first, last, signal }: { first: string; last: string; signal: AbortSignal },
  ) {
    const newest: IndexedInquiry[] = [];
    let count = 0;
    for await (const row of inquiries.list({ first, last, abortSignal: signal })) {
      if (mailed.has(row.id)) continue;
      count++;
      if (newest.length < NEWEST) newest.push(row);
    }
    return { count, newest };
  }

  return {
    /**
     * Counts what is in no mail. An hour is looked at as soon as one of its inquiries is withheld, up to two minutes ago,
     * and for the last time when the mails that failed are given up. Before it is counted, it is closed: then the ids
     * that are mailed one by one are certain, and all others belong to this digest.
     *
     * @param state - What the last digest has left.
     * @returns undefined when no inquiry is left out.
     */
    async digest(
      state: DigestState,
      time: number,
      signal: AbortSignal,
    ): Promise<DueMail | undefined> {
      const current = Math.floor(time / HOUR);
      let next = state.next_hour ?? current - 1;
      const until = Math.min(current + 1, next + HOURS);
      const digested: Record<string, number> = { ...state.digested };
      const newest: IndexedInquiry[] = [];
      let count = 0;
      let since = time;
      for (let hour = next; hour < until && count < ENOUGH; hour++) {
        const end = (hour + 1) * HOUR;
        const isOver = time >= end + GIVEN_UP;
        if (!isOver && !(await quotas.readHour(hour, signal)).isWithheld) continue;
        const from = digested[hour] ?? end - HOUR;
        const to = Math.min(end, time - INDEX_LAG);
        if (!isOver && to <= from) continue;
        const range = { first: toFirstId(from), last: toFirstId(to), signal };
        const { mailed } = await quotas.closeHour(hour, range.last, signal);
        const lost = isOver ? await findUnsent(mailed, signal) : [];
        const others = await countOthers(mailed, range);
        if (lost.length > 0) since = Math.min(since, end - HOUR);
        if (others.count > 0) since = Math.min(since, from);
        newest.push(...lost, ...others.newest);
        count += lost.length + others.count;
        digested[hour] = to;
        if (isOver && hour === next) {
          delete digested[hour];
          next++;
        }
      }
      const after: DigestState = { next_hour: next, digested };
      if (count > 0) {
        newest.sort((a, b) => (a.id < b.id ? 1 : -1));
        const named = await readSubjects(newest.slice(0, NEWEST), signal);
        return { mail: createDigestMail({ count, since, named }, config), state: after };
      }
      await quotas.saveDigest(after, signal);
      return undefined;
    },

    /** @returns undefined when today's was sent, when it is too early, or when nothing has waited for that long. */
    async daily(
      { daily_on }: DigestState,
      time: number,
      signal: AbortSignal,
    ): Promise<DueMail | undefined> {
      const { answerWithin } = config;
      const now = new Date(time);
      const today = now.toISOString().slice(0, 10);
      if (answerWithin === undefined || daily_on === today || now.getUTCHours() < MORNING) {
        return undefined;
      }
      const last = toFirstId(time - answerWithin * DAY);
      const query = { isAnswered: false, last, abortSignal: signal };
      const oldest: IndexedInquiry[] = [];
      for await (const row of inquiries.list({ ...query, order: 'asc' })) {
        if ((row.expires_at ?? Infinity) * 1_000 > time) oldest.push(row);
        if (oldest.length === OLDEST) break;
      }
      if (oldest.length === 0) return undefined;
      const count = oldest.length < OLDEST ? oldest.length : await inquiries.count(query);
      const named = await readSubjects(oldest, signal);
      return {
        mail: createDailyMail(
          { count: Math.max(count, oldest.length), named, days: answerWithin },
          config,
        ),
        state: { daily_on: today },
      };
    },
  };
}
