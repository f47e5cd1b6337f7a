/** How many mails are sent in an hour, and what the digests know. docs/adr/0080 */
import { timeOf } from '../contract.ts';
import type { createQuotaEntity } from '../entities/delivery.ts';
import { digest, LAST_ID, toOwnerHour } from '../entities/keys.ts';
import { HOUR } from '../limits.ts';
import type { MailerConfig } from './config.ts';
import { expiry } from './deliveries.ts';
import type { Keys } from './inquiries.ts';

/** What the last digest has left for the next one. */
export interface DigestState {
  /** The first one, since the epoch, of which mails may still be sent. */
  next_hour?: number;
  /** For each hour, the time in milliseconds up to which the digests have its inquiries. */
  digested?: Record<string, number>;
  /** The date of the last daily mail. */
  daily_on?: string;
}

/** The key of what concerns all hours. */
const ALL = 'all';

/** Acknowledgements to one address in an hour. */
const ACKNOWLEDGEMENTS = 3;

/** Creates the quotas. @param config - How many inquiries of one person (`sub`), and of all, are mailed in one hour. */
export function createQuotas(
  quotas: ReturnType<typeof createQuotaEntity>,
  { mailsPerHour, totalMailsPerHour }: MailerConfig,
) {
  /**
   * The hour whose quota has refused an inquiry last, with the ids that have a place, and the beginning of an id below which
   * no other gets one. A refused update costs as much as the whole row, and all would meet in one partition.
   */
  let refusing = { hour: '', mailed: new Set<string>(), closed: '' };
  /** The hour that was marked last, because an inquiry of it is withheld. */
  let markedHour: string | undefined;

  /** Reserves a place of a quota. @returns undefined; what the quota has, when there is none for the id. */
  const reserve = async (quota: string, id: string, limit: number, abortSignal: AbortSignal) => {
    const { rejected, data } = await quotas
      .update({ quota })
      .set(expiry())
      .add({ mailed: [id] })
      .where(
        ({ mailed, closed }, { contains, escape, lte, notExists, size }) =>
          `${contains(mailed, id)} OR (${notExists(closed)} OR ${lte(closed, id)}) AND (${notExists(mailed)} OR ${size(mailed)} < ${escape(limit)})`,
      )
      .go({ abortSignal, returnOnConditionCheckFailure: 'all_old' });
    return rejected ? { mailed: new Set(data?.mailed), closed: data?.closed ?? '' } : undefined;
  };

  return {
    /** Whether it is known, without a request, that {@link claim} would refuse the inquiry. */
    isRefused: (id: string): boolean =>
      refusing.hour === hourOf(id) && id < refusing.closed && !refusing.mailed.has(id),

    /**
     * Takes one of the mails of the person and the hour of an inquiry, whatever the email, and one of those of all
     * persons, each in one conditional update. The same inquiry gets the same answer again.
     *
     * @returns Whether the inquiry is mailed; otherwise a digest has it.
     */
    async claim({ id, cognito_sub }: Keys, abortSignal: AbortSignal): Promise<boolean> {
      const hour = hourOf(id);
      const ownerHour = toOwnerHour(cognito_sub, timeOf(id));
      if ((await reserve(ownerHour, id, mailsPerHour, abortSignal)) === undefined) {
        const full = await reserve(hour, id, totalMailsPerHour, abortSignal);
        if (full === undefined) return true;
        const closed = full.mailed.size < totalMailsPerHour ? full.closed : LAST_ID;
        refusing = { hour, mailed: full.mailed, closed };
      } else if (markedHour !== hour) {
        const withheld = { ...expiry(), is_withheld: true };
        await quotas.update({ quota: hour }).set(withheld).go({ abortSignal });
        markedHour = hour;
      }
      return false;
    },

    /** Reserves one of the acknowledgements to the address of an inquiry in its hour. */
    async claimAcknowledgement({ id, email }: Keys, abortSignal: AbortSignal): Promise<boolean> {
      const quota = digest('acknowledgement', email.toLowerCase(), hourOf(id));
      return (await reserve(quota, id, ACKNOWLEDGEMENTS, abortSignal)) === undefined;
    },

    /** Reserves one of the notices of the current hour, of which there are as many as mails about new inquiries. */
    async claimNotice(event: string, abortSignal: AbortSignal): Promise<boolean> {
      const quota = `notices-${Math.floor(Date.now() / HOUR)}`;
      return (await reserve(quota, event, totalMailsPerHour, abortSignal)) === undefined;
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

    /** Whether an hour has inquiries for a digest: the quota of all owners, or of one, is used up. */
    async isWithheld(hour: number, abortSignal: AbortSignal): Promise<boolean> {
      const options = { abortSignal, consistent: true } as const;
      const { data } = await quotas.get({ quota: String(hour) }).go(options);
      return data?.is_withheld === true || (data?.mailed?.length ?? 0) >= totalMailsPerHour;
    },

    /** From now on, no inquiry with a lower id is mailed that is not claimed. @returns The ids of those that are. */
    async closeHour(hour: number, closed: string, abortSignal: AbortSignal) {
      const { data } = await quotas
        .update({ quota: String(hour) })
        .set({ ...expiry(), closed })
        .go({ abortSignal, response: 'all_new' });
      return new Set(data?.mailed);
    },
  };
}

/** Hours since the epoch. */
const hourOf = (id: string): string => String(Math.floor(timeOf(id) / HOUR));
