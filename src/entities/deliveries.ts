/** Records of mails. Errors are ElectroDB's, with the SDK's as cause. */
import type { EntityItem } from 'electrodb';
import { getItems, type Item } from './batches.ts';
import { createDeliveryEntity, type DELIVERED_MAILS } from './delivery.ts';
import { expireRecord } from './expiry.ts';
import type { Table } from './table.ts';

type Delivery = EntityItem<ReturnType<typeof createDeliveryEntity>>;
type DeliveredMail = (typeof DELIVERED_MAILS)[number];

export type Undelivered = Readonly<Required<Pick<Delivery, 'undelivered' | 'undelivered_at'>>>;

/** Milliseconds: longer than a function runs, shorter than its queue waits to repeat (mailer/events.tf). */
const CLAIM = 2 * 60_000;
/** Seconds: longer than mail/overdue.ts looks back. */
const OWNER_MAIL_RETENTION = 10 * 86_400;
/** Seconds: a century, the longest retention. */
const UNDELIVERED_RETENTION = 36_500 * 86_400;

export type Deliveries = ReturnType<typeof createDeliveries>;

export function createDeliveries(table: Table, now: () => number = Date.now) {
  const deliveries = createDeliveryEntity(table.name, table.client);

  return {
    async read(inquiry: string, mail: DeliveredMail, abortSignal: AbortSignal) {
      return (await deliveries.get({ inquiry, mail }).go({ consistent: true, abortSignal })).data;
    },

    /** @param since - When the mail was begun. A failure recorded later is kept. */
    async record(
      inquiry: string,
      mail: DeliveredMail,
      since: string,
      abortSignal: AbortSignal,
    ): Promise<void> {
      await deliveries
        .put({
          inquiry,
          mail,
          sent_at: new Date().toISOString(),
          ...expireRecord(
            mail === 'reply' || mail === 'acknowledgement' ? OWNER_MAIL_RETENTION : undefined,
          ),
        })
        .where(
          ({ undelivered_at }, { lt, notExists }) =>
            `${notExists(undelivered_at)} OR ${lt(undelivered_at, since)}`,
        )
        .go({ abortSignal, returnOnConditionCheckFailure: 'all_old' });
    },

    /** The record is kept as long as the inquiry. */
    async recordUndelivered(
      { id, expires_at }: { id?: unknown; expires_at?: unknown },
      { mail, ...columns }: Pick<Delivery, 'mail' | 'undelivered' | 'is_noticed'>,
      abortSignal: AbortSignal,
    ): Promise<void> {
      const until =
        typeof expires_at === 'number' ? { expires_at } : expireRecord(UNDELIVERED_RETENTION);
      const undelivered_at = new Date().toISOString();
      await deliveries
        .update({ inquiry: String(id), mail })
        .set({ ...columns, undelivered_at, ...until })
        .go({ abortSignal });
    },

    /** @returns `granted`: the caller sends it; `claimed`: another one does; `done`: it was sent or refused. */
    async claimNotice(
      event: string,
      abortSignal: AbortSignal,
    ): Promise<'granted' | 'claimed' | 'done'> {
      const time = now();
      const { rejected, data } = await deliveries
        .update({ inquiry: event, mail: 'notice' })
        .set({ claimed_until: time + CLAIM, ...expireRecord() })
        .where(({ claimed_until, sent_at, undelivered }, { lte, notExists }) =>
          [
            `(${notExists(claimed_until)} OR ${lte(claimed_until, time)})`,
            notExists(sent_at),
            notExists(undelivered),
          ].join(' AND '),
        )
        .go({ abortSignal, returnOnConditionCheckFailure: 'all_old' });
      if (!rejected) return 'granted';
      return data?.sent_at === undefined && data?.undelivered === undefined ? 'claimed' : 'done';
    },

    async addUndelivered<Row extends { id: string; reply_at?: string | undefined }>(
      rows: Row[],
    ): Promise<(Row & Partial<Undelivered>)[]> {
      const keys = rows
        .filter(({ reply_at }) => reply_at !== undefined)
        .map(
          ({ id }) => deliveries.get({ inquiry: id, mail: 'reply' }).params<{ Key: Item }>().Key,
        );
      const found = new Map<string, Undelivered>();
      const { data } = deliveries.parse({ Items: await getItems(table, keys) });
      for (const { inquiry, undelivered, undelivered_at = '' } of data) {
        if (undelivered !== undefined) found.set(inquiry, { undelivered, undelivered_at });
      }
      return rows.map((row) => ({ ...row, ...found.get(row.id) }));
    },

    async write(inquiries: string[], expires_at: number): Promise<void> {
      const sent_at = new Date().toISOString();
      const mail = 'inquiry' as const;
      await deliveries
        .put(inquiries.map((inquiry) => ({ inquiry, mail, sent_at, expires_at })))
        .go();
    },
  };
}
