/**
 * The mails to the team about several inquiries: those that are not mailed one by one, and, once a day, those that wait
 * for an answer. docs/adr/0080
 */
import { toFirstId } from '../entities/keys.ts';
import type { IndexedInquiry } from '../entities/inquiry-index.ts';
import { HOUR } from '../limits.ts';
import type { MailerConfig } from './config.ts';
import { toDailyMail, toDigestMail, type Mail, type ListedInquiry } from './mails.ts';
import type { DigestState, MailerStore } from './store.ts';

/** A mail, and what to record when it is sent. */
export interface DueMail {
  readonly mail: Mail;
  readonly state: DigestState;
}

/** Milliseconds until an inquiry is certainly in the index: a POST takes 30 s at most. */
const LAG = 120_000;

/** Milliseconds after the end of an hour when no mail of it is tried again: the event source mapping does for 6 hours. */
const GIVEN_UP = 7 * HOUR;

/** Hours that one digest looks at. After an outage, the next ones go on. */
const HOURS = 48;

/** Inquiries that a mail names. */
const NEWEST = 10;
const OLDEST = 50;

const DAY = 24 * HOUR;
/** When the daily mail is sent: from this hour on, UTC. */
const MORNING = 5;

export function createDigests(store: MailerStore, config: MailerConfig) {
  const readSubjects = async (
    rows: readonly IndexedInquiry[],
    signal: AbortSignal,
  ): Promise<ListedInquiry[]> =>
    Promise.all(
      rows.map(async ({ id, email, ...owner }) => {
        const subject = await store.readSubject({ ...owner, id, email }, signal);
        return { id, email, subject: subject ?? '' };
      }),
    );

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
      let [count, since] = [0, time];
      for (let hour = next; hour < until; hour++) {
        const end = (hour + 1) * HOUR;
        const isOver = time >= end + GIVEN_UP;
        if (!isOver && !(await store.readHour(hour, signal)).isWithheld) continue;
        const [from, to] = [digested[hour] ?? end - HOUR, Math.min(end, time - LAG)];
        if (!isOver && to <= from) continue;
        const [first, last] = [toFirstId(from), toFirstId(to)];
        const { mailed } = await store.closeHour(hour, last, signal);
        const claimed = await store.findAll(
          isOver ? mailed : [...mailed].filter((id) => id >= first),
          signal,
        );
        const lost = isOver ? await store.filterUnsent(claimed, signal) : [];
        const between = claimed.filter(({ id }) => id >= first && id < last).length;
        const others = (await store.count({ first, last, abortSignal: signal })) - between;
        if (lost.length > 0) since = Math.min(since, end - HOUR);
        if (others > 0) {
          since = Math.min(since, from);
          const rows = await store.list(
            { first, last, abortSignal: signal },
            NEWEST,
            ({ id }) => !mailed.has(id),
          );
          newest.push(...rows);
        }
        newest.push(...lost);
        count += lost.length + Math.max(0, others);
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
        return { mail: toDigestMail({ count, since, named }, config), state: after };
      }
      await store.saveDigest(after, signal);
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
      const query = {
        isAnswered: false,
        last: toFirstId(time - answerWithin * DAY),
        abortSignal: signal,
      };
      const isCurrent = ({ expires_at }: IndexedInquiry) => (expires_at ?? Infinity) * 1_000 > time;
      const oldest = await store.list({ ...query, order: 'asc' }, OLDEST, isCurrent);
      if (oldest.length === 0) return undefined;
      const count = oldest.length < OLDEST ? oldest.length : await store.count(query);
      const named = await readSubjects(oldest, signal);
      return {
        mail: toDailyMail({ count, named, days: answerWithin }, config),
        state: { daily_on: today },
      };
    },
  };
}
