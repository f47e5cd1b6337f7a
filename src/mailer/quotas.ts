/** How many mails are sent in an hour, and what the digests know. docs/adr/0080 */
import type { EntityItem } from 'electrodb';
import { timeOf } from '../contract.ts';
import type { createQuotaEntity } from '../entities/delivery.ts';
import { digest, LAST_ID, toOwnerHour } from '../entities/keys.ts';
import { HOUR } from '../limits.ts';
import type { MailerConfig } from './config.ts';
import { expiry } from './deliveries.ts';
import type { Keys } from './inquiries.ts';

type QuotaEntity = ReturnType<typeof createQuotaEntity>;
export type Quotas = ReturnType<typeof createQuotas>;

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
  /** For each hour, the time in milliseconds up to which the digests have its inquiries. */
  readonly digested?: Readonly<Record<string, number>>;
  /** The date of the last daily mail. */
  readonly daily_on?: string;
}

/** What an instance knows of the table, so that it need not ask. */
interface Memory {
  /**
   * Quotas that have refused an inquiry, each with their ids, and the beginning of an id below which no other is added.
   * A refused update costs as much as the whole row, and all would meet in one partition.
   */
  readonly refusing: Map<string, { mailed: ReadonlySet<string>; closed: string }>;
  /** The hour that was marked last, because an inquiry of it is withheld. */
  markedHour: string | undefined;
}

/** The key of what concerns all hours. */
const ALL = 'all';

const MEMORY_LIMIT = 1_000;

/** Acknowledgements to one address in an hour. */
const ACKNOWLEDGEMENTS = 3;

/** Creates the quotas. @param config - How many inquiries of one person (`sub`), and of all, are mailed in one hour. */
export function createQuotas(
  quotas: QuotaEntity,
  { mailsPerHour, totalMailsPerHour }: Pick<MailerConfig, 'mailsPerHour' | 'totalMailsPerHour'>,
) {
  const memory: Memory = { refusing: new Map(), markedHour: undefined };

  /** Reserves a place of a quota. @returns Whether the id has one. */
  const reserve = async (
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
    if (memory.refusing.size >= MEMORY_LIMIT) memory.refusing.clear();
    const mailed = new Set(data?.mailed);
    const closed = mailed.size >= limit ? LAST_ID : (data?.closed ?? '');
    memory.refusing.set(quota, { mailed, closed });
    return false;
  };

  const toHour = (row: Partial<EntityItem<QuotaEntity>> | null | undefined): Hour => {
    const mailed = new Set(row?.mailed);
    return { mailed, isWithheld: mailed.size >= totalMailsPerHour || row?.is_withheld === true };
  };

  return {
    /** Whether it is known, without a request, that {@link claim} would refuse the inquiry. */
    isRefused(inquiry: Keys): boolean {
      const { id } = inquiry;
      const hour = hourOf(id);
      // A refusal by the owner's quota alone counts once the digests know of it.
      const known = memory.markedHour === hour ? [hour, ownerHourOf(inquiry)] : [hour];
      return known.some((quota) => {
        const refusal = memory.refusing.get(quota);
        return refusal !== undefined && id < refusal.closed && !refusal.mailed.has(id);
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
      if (await reserve(ownerHourOf(inquiry), id, mailsPerHour, abortSignal)) {
        return reserve(hour, id, totalMailsPerHour, abortSignal);
      }
      if (memory.markedHour !== hour) {
        const set = { ...expiry(), is_withheld: true };
        await quotas.update({ quota: hour }).set(set).go({ abortSignal });
      }
      memory.markedHour = hour;
      return false;
    },

    /** Reserves one of the acknowledgements to the address of an inquiry in its hour. */
    async claimAcknowledgement({ id, email }: Keys, abortSignal: AbortSignal): Promise<boolean> {
      const quota = digest('acknowledgement', email.toLowerCase(), hourOf(id));
      return reserve(quota, id, ACKNOWLEDGEMENTS, abortSignal);
    },

    /** Reserves one of the notices of the current hour, of which there are as many as mails about new inquiries. */
    claimNotice: async (event: string, abortSignal: AbortSignal): Promise<boolean> =>
      reserve(`notices-${Math.floor(Date.now() / HOUR)}`, event, totalMailsPerHour, abortSignal),

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
      const options = { abortSignal, consistent: true } as const;
      return toHour((await quotas.get({ quota: String(hour) }).go(options)).data);
    },

    /** From now on, no inquiry with a lower id is mailed that is not claimed. @returns Those that are. */
    async closeHour(hour: number, closed: string, abortSignal: AbortSignal): Promise<Hour> {
      const { data } = await quotas
        .update({ quota: String(hour) })
        .set({ ...expiry(), closed })
        .go({ abortSignal, response: 'all_new' });
      return toHour(data);
    },
  };
}

/** Hours since the epoch. */
const hourOf = (id: string): string => String(Math.floor(timeOf(id) / HOUR));

const ownerHourOf = ({ id, cognito_sub }: Keys): string => toOwnerHour(cognito_sub, timeOf(id));
