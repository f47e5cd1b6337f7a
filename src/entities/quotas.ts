/** How many mails were sent in an hour, and the digests' state. docs/adr/0080 */
import { createQuotaEntity } from './delivery.ts';
import { expireRecord } from './expiry.ts';
import type { Table } from './table.ts';

export interface DigestState {
  /** The first hour with mails that may still be sent. */
  next_hour?: number;
  /** By hour: the time up to which digests have counted. */
  digested?: Record<string, number>;
  /** By hour: how many inquiries they have counted. */
  counted?: Record<string, number>;
  daily_on?: string;
  /** Milliseconds up to which inquiries are acknowledged and replies mailed, even if the stream failed. */
  acknowledged?: number;
  replied?: number;
}

export interface FullQuota {
  mailed: ReadonlySet<string>;
  /** Lower ids are refused. */
  closed: string;
}

const ALL = 'all';

export type Quotas = ReturnType<typeof createQuotas>;

export function createQuotas({ name, client }: Table) {
  const quotas = createQuotaEntity(name, client);

  return {
    /** A reserved id is granted again. */
    async reserve(
      quota: string,
      id: string,
      limit: number,
      abortSignal: AbortSignal,
    ): Promise<{ granted: true } | { refused: FullQuota }> {
      const { rejected, data } = await quotas
        .update({ quota })
        .set(expireRecord())
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

    async release(quota: string, id: string, abortSignal: AbortSignal): Promise<void> {
      await quotas
        .update({ quota })
        .delete({ mailed: [id] })
        .go({ abortSignal });
    },

    /** Marks an hour with an inquiry that a digest reports. */
    async withhold(hour: string, abortSignal: AbortSignal): Promise<void> {
      await quotas
        .update({ quota: hour })
        .set({ ...expireRecord(), is_withheld: true })
        .go({ abortSignal });
    },

    async read(quota: string, abortSignal: AbortSignal) {
      const options = { abortSignal, consistent: true } as const;
      const { data } = await quotas.get({ quota }).go(options);
      return { mailed: data?.mailed?.length ?? 0, isWithheld: data?.is_withheld === true };
    },

    /** From now on refuses lower ids that are not reserved. @returns The reserved ones. */
    async closeHour(hour: number, closed: string, abortSignal: AbortSignal): Promise<Set<string>> {
      const { data } = await quotas
        .update({ quota: String(hour) })
        .set({ ...expireRecord(), closed })
        .go({ abortSignal, response: 'all_new' });
      return new Set(data?.mailed);
    },

    /**
     * Begins a digest, and keeps others from beginning for `turn` milliseconds.
     *
     * @returns The last digest's state; undefined when it is too early.
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

    async saveDigest(state: DigestState, abortSignal: AbortSignal): Promise<void> {
      await quotas.update({ quota: ALL }).set(state).go({ abortSignal });
    },
  };
}
