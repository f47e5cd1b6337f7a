/** The quotas of mails in an hour, and what the digests know. docs/adr/0080 */
import { createQuotaEntity } from './delivery.ts';
import { toExpiry } from './expiry.ts';
import type { Table } from './table.ts';

/** What the last digest has left for the next one. */
export interface DigestState {
  /** The first one, since the epoch, of which mails may still be sent. */
  next_hour?: number;
  /** For each hour, the time in milliseconds up to which the digests have its inquiries. */
  digested?: Record<string, number>;
  /** The date of the last daily mail. */
  daily_on?: string;
}

/** A quota without a place for an id. */
export interface FullQuota {
  /** The ids that have a place. */
  mailed: ReadonlySet<string>;
  /** The beginning of an id: no lower one gets a place any more. */
  closed: string;
}

/** The key of what concerns all hours. */
const ALL = 'all';

/** Seconds that a quota is kept. */
const RETENTION = 2 * 86_400;

const expiry = () => ({ expires_at: toExpiry(Date.now(), RETENTION) });

export type Quotas = ReturnType<typeof createQuotas>;

export function createQuotas({ name, client }: Table) {
  const quotas = createQuotaEntity(name, client);

  return {
    /** Takes a place of a quota in one conditional update; the same id gets the same answer again. */
    async reserve(
      quota: string,
      id: string,
      limit: number,
      abortSignal: AbortSignal,
    ): Promise<{ granted: true } | { refused: FullQuota }> {
      const { rejected, data } = await quotas
        .update({ quota })
        .set(expiry())
        .add({ mailed: [id] })
        .where(({ mailed, closed }, { contains, escape, lte, notExists, size }) => {
          const isOpen = `(${notExists(closed)} OR ${lte(closed, id)})`;
          const hasPlace = `(${notExists(mailed)} OR ${size(mailed)} < ${escape(limit)})`;
          return `${contains(mailed, id)} OR ${isOpen} AND ${hasPlace}`;
        })
        .go({ abortSignal, returnOnConditionCheckFailure: 'all_old' });
      if (!rejected) return { granted: true };
      return { refused: { mailed: new Set(data?.mailed), closed: data?.closed ?? '' } };
    },

    /** Marks an hour: a digest has an inquiry of it. */
    async withhold(hour: string, abortSignal: AbortSignal): Promise<void> {
      await quotas
        .update({ quota: hour })
        .set({ ...expiry(), is_withheld: true })
        .go({ abortSignal });
    },

    /** Reads how many of an hour are mailed one by one, and whether it is marked. */
    async read(hour: number, abortSignal: AbortSignal) {
      const options = { abortSignal, consistent: true } as const;
      const { data } = await quotas.get({ quota: String(hour) }).go(options);
      return { mailed: data?.mailed?.length ?? 0, isWithheld: data?.is_withheld === true };
    },

    /** From now on, no inquiry with a lower id is mailed that is not claimed. @returns The ids of those that are. */
    async close(hour: number, closed: string, abortSignal: AbortSignal): Promise<Set<string>> {
      const { data } = await quotas
        .update({ quota: String(hour) })
        .set({ ...expiry(), closed })
        .go({ abortSignal, response: 'all_new' });
      return new Set(data?.mailed);
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
  };
}
