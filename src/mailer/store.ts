/** The mailer's reads and writes. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { EntityItem } from 'electrodb';
import { timeOf, type Inquiry } from '../contract.ts';
import {
  createDeliveryEntity,
  createQuotaEntity,
  type DELIVERED_MAILS,
} from '../entities/delivery.ts';
import { countInIndex, findInIndex, readIndex } from '../entities/inquiry-index.ts';
import type { IndexedInquiry, IndexQuery } from '../entities/inquiry-index.ts';
import { createInquiryEntity } from '../entities/inquiry.ts';
import { LAST_ID, toOwnerHour } from '../entities/keys.ts';
import { HOUR, isTestAddress } from '../limits.ts';
import type { MailerConfig } from './config.ts';
import { runSideBySide } from './side-by-side.ts';

/** A row of the table, unchecked. */
export type Row = Readonly<Record<string, unknown>>;
export type MailerStore = ReturnType<typeof createMailerStore>;

type Keys = Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>;
type DeliveredMail = (typeof DELIVERED_MAILS)[number];

/** An hour of all owners. */
export interface Hour {
  /** Ids of the inquiries that are mailed one by one. */
  readonly mailed: ReadonlySet<string>;
  /** Whether a digest is due for others: the quota of all owners, or of one, is used up. */
  readonly isWithheld: boolean;
}

/** What the last digest has left for the next one. */
export interface DigestState {
  /** The first one, since the epoch, of which mails may still be sent. */
  readonly next_hour?: number;
  /** Of hours, the time in milliseconds up to which the digests have their inquiries. */
  readonly digested?: Readonly<Record<string, number>>;
  /** The date of the last daily mail. */
  readonly daily_on?: string;
}

/** The key of what concerns all hours. */
const ALL = 'all';

/** Seconds. Longer than the stream keeps a record (24 h). */
const KEPT = 2 * 86_400;

/** Seconds that it is known, at most, that a mail did not arrive: the longest that an inquiry is kept, a century. */
const KEPT_UNDELIVERED = 36_500 * 86_400;

const expiry = (kept = KEPT) => ({ expires_at: Math.floor(Date.now() / 1_000) + kept });

/**
 * Creates the mailer's store. Its methods reject with ElectroDB's error, whose cause is the SDK's. Reads of the table are
 * strongly consistent.
 *
 * @param config - How many inquiries of one person (`sub`), and of all, are mailed in one hour.
 */
export function createMailerStore(
  client: DynamoDBDocumentClient,
  {
    tableName,
    mailsPerHour,
    totalMailsPerHour,
  }: Pick<MailerConfig, 'tableName' | 'mailsPerHour' | 'totalMailsPerHour'>,
) {
  const inquiries = createInquiryEntity(tableName, client);
  const deliveries = createDeliveryEntity(tableName, client);
  const quotas = createQuotaEntity(tableName, client);
  /**
   * Quotas that have refused an inquiry, each with their ids, and the beginning of an id below which no other is added:
   * later inquiries need not ask. A refused update costs as much as the whole row, and all would meet in one partition.
   */
  const refusing = new Map<string, { mailed: ReadonlySet<string>; closed: string }>();
  /** The hour that was marked last, because an inquiry of it is withheld. */
  let marked: string | undefined;

  /** Takes a place of a quota. @returns Whether the inquiry has one. */
  const take = async (
    quota: string,
    id: string,
    limit: number,
    abortSignal: AbortSignal,
  ): Promise<boolean> => {
    const { rejected, data } = await quotas
      .update({ quota })
      .set(expiry())
      .add({ mailed: [id] })
      .where(
        ({ mailed, closed }, { contains, escape, lte, notExists, size }) =>
          `${contains(mailed, id)} OR (${notExists(closed)} OR ${lte(closed, id)}) AND (${notExists(mailed)} OR ${size(mailed)} < ${escape(limit)})`,
      )
      .go({ abortSignal, returnOnConditionCheckFailure: 'all_old' });
    if (!rejected) return true;
    if (refusing.size >= 1_000) refusing.clear();
    const ids = new Set(data?.mailed);
    refusing.set(quota, {
      mailed: ids,
      closed: ids.size >= limit ? LAST_ID : (data?.closed ?? ''),
    });
    return false;
  };
  const toHour = (row: Partial<EntityItem<typeof quotas>> | null | undefined): Hour => {
    const mailed = new Set(row?.mailed);
    return { mailed, isWithheld: mailed.size >= totalMailsPerHour || row?.is_withheld === true };
  };

  return {
    /** Finds an inquiry by its id, once the index has it. */
    async find(id: string, abortSignal: AbortSignal): Promise<Row | undefined> {
      const keys = await findInIndex(inquiries, id, abortSignal);
      if (keys === undefined) return undefined;
      const { cognito_sub, email } = keys;
      const row = await inquiries
        .get({ cognito_sub, email, id })
        .go({ consistent: true, abortSignal });
      return row.data ?? undefined;
    },

    /** Whether the inquiry is still in the table. */
    async exists({ cognito_sub, email, id }: Keys, abortSignal: AbortSignal): Promise<boolean> {
      const { data } = await inquiries
        .get({ cognito_sub, email, id })
        .go({ attributes: ['id'], consistent: true, abortSignal });
      return data !== null;
    },

    async readDelivery(inquiry: string, mail: DeliveredMail, abortSignal: AbortSignal) {
      return (await deliveries.get({ inquiry, mail }).go({ consistent: true, abortSignal })).data;
    },

    /** @param since - When the mail was begun: what is known of it since then is kept. */
    async recordDelivery(
      inquiry: string,
      mail: DeliveredMail,
      since: string,
      abortSignal: AbortSignal,
    ): Promise<void> {
      const sent_at = new Date().toISOString();
      await deliveries
        .put({ inquiry, mail, sent_at, ...expiry() })
        .where(
          ({ undelivered_at }, { lt, notExists }) =>
            `${notExists(undelivered_at)} OR ${lt(undelivered_at, since)}`,
        )
        .go({ abortSignal, returnOnConditionCheckFailure: 'all_old' });
    },

    /** Records that a mail is not with its recipient, for as long as the row of the inquiry is kept. */
    async recordUndelivered(
      { inquiry, mail, expires_at }: { inquiry: string; mail: DeliveredMail; expires_at: unknown },
      undelivered: 'refused' | 'bounce' | 'complaint',
      abortSignal: AbortSignal,
    ): Promise<void> {
      const until = typeof expires_at === 'number' ? { expires_at } : expiry(KEPT_UNDELIVERED);
      await deliveries
        .update({ inquiry, mail })
        .set({ undelivered, undelivered_at: new Date().toISOString(), ...until })
        .go({ abortSignal });
    },

    /** Takes one of the notices of the current hour, of which there are as many as mails about new inquiries. */
    claimNotice: async (id: string, abortSignal: AbortSignal): Promise<boolean> =>
      take(`notices-${Math.floor(Date.now() / HOUR)}`, id, totalMailsPerHour, abortSignal),

    /** Whether it is known, without a request, that {@link claim} would refuse the inquiry. */
    isRefused(inquiry: Keys): boolean {
      const { id } = inquiry;
      const hour = hourOf(id);
      // A refusal by the owner's quota alone counts once the digests know of it.
      return [hour, ...(marked === hour ? [ownerHourOf(inquiry)] : [])].some((quota) => {
        const known = refusing.get(quota);
        return known !== undefined && id < known.closed && !known.mailed.has(id);
      });
    },

    /**
     * Takes one of the mails of the person and the hour of an inquiry, whatever the email, and one of those of all
     * persons, each in one conditional update. The same inquiry gets the same answer again.
     *
     * @returns Whether the inquiry is mailed; otherwise a digest has it.
     */
    async claim(inquiry: Keys, abortSignal: AbortSignal): Promise<boolean> {
      const { id } = inquiry;
      const hour = hourOf(id);
      if (await take(ownerHourOf(inquiry), id, mailsPerHour, abortSignal)) {
        return take(hour, id, totalMailsPerHour, abortSignal);
      }
      const set = { ...expiry(), is_withheld: true };
      if (marked !== hour) await quotas.update({ quota: hour }).set(set).go({ abortSignal });
      marked = hour;
      return false;
    },

    /**
     * Begins a digest, for as long as no other begins one: the time until the next.
     *
     * @returns What the last one has left; undefined when it is too early.
     */
    async beginDigest(
      time: number,
      turn: number,
      abortSignal: AbortSignal,
    ): Promise<DigestState | undefined> {
      const { rejected, data } = await quotas
        .update({ quota: ALL })
        .set({ next_at: time + turn })
        .where(
          ({ next_at }, { lte, notExists }) => `${notExists(next_at)} OR ${lte(next_at, time)}`,
        )
        .go({ abortSignal, response: 'all_new', returnOnConditionCheckFailure: 'all_old' });
      return rejected ? undefined : (data ?? {});
    },

    /** Records what the digests have, in one update. */
    async saveDigest(state: DigestState, abortSignal: AbortSignal): Promise<void> {
      await quotas.update({ quota: ALL }).set(state).go({ abortSignal });
    },

    async readHour(hour: number, abortSignal: AbortSignal): Promise<Hour> {
      const { data } = await quotas
        .get({ quota: String(hour) })
        .go({ abortSignal, consistent: true });
      return toHour(data);
    },

    /** From now on, no inquiry with a lower id is mailed that is not claimed. @returns Those that are. */
    async closeHour(hour: number, closed: string, abortSignal: AbortSignal): Promise<Hour> {
      const { data } = await quotas
        .update({ quota: String(hour) })
        .set({ ...expiry(), closed })
        .go({ abortSignal, response: 'all_new' });
      return toHour(data);
    },

    /** Of these ids, those that the index has. */
    async findAll(ids: Iterable<string>, abortSignal: AbortSignal): Promise<IndexedInquiry[]> {
      const found: IndexedInquiry[] = [];
      await runSideBySide(ids, async (id) => {
        found.push(
          ...[await findInIndex(inquiries, id, abortSignal)].filter((row) => row !== undefined),
        );
      });
      return found;
    },

    /** Of these inquiries, those about which a mail is missing; none is about one that is answered. */
    async filterUnsent(
      rows: readonly IndexedInquiry[],
      abortSignal: AbortSignal,
    ): Promise<IndexedInquiry[]> {
      const unsent: IndexedInquiry[] = [];
      await runSideBySide(rows, async (row) => {
        if (row.reply_at !== undefined || isTestAddress(row.email)) return;
        if ((await this.readDelivery(row.id, 'inquiry', abortSignal)) === null) unsent.push(row);
      });
      return unsent;
    },

    count: async (query: IndexQuery): Promise<number> => countInIndex(inquiries, query),

    /** The first inquiries of the index that a test lets through, in the query's order. */
    async list(query: IndexQuery, limit: number, isWanted: (row: IndexedInquiry) => boolean) {
      const rows: IndexedInquiry[] = [];
      for await (const page of readIndex(inquiries, query)) {
        rows.push(...page.filter((row) => !isTestAddress(row.email) && isWanted(row)));
        if (rows.length >= limit) break;
      }
      return rows.slice(0, limit);
    },

    /** Undefined: it was deleted. */
    async readSubject(
      { cognito_sub, email, id }: Keys,
      abortSignal: AbortSignal,
    ): Promise<string | undefined> {
      const { data } = await inquiries
        .get({ cognito_sub, email, id })
        .go({ attributes: ['subject'], abortSignal });
      return data?.subject;
    },
  };
}

/** Hours since the epoch. */
const hourOf = (id: string): string => String(Math.floor(timeOf(id) / HOUR));

const ownerHourOf = ({ id, cognito_sub }: Keys): string => toOwnerHour(cognito_sub, timeOf(id));
