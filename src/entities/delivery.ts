import { Entity, type DocumentClient } from 'electrodb';

export const DELIVERED_MAILS = ['inquiry', 'reply', 'acknowledgement', 'notice'] as const;

/**
 * The model of a delivery: a mail about an inquiry that SES has accepted or refused, and what became of it. It has no
 * personal data. docs/adr/0080
 */
export function createDeliveryEntity(table: string, client?: DocumentClient) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'delivery', version: '1' },
      attributes: {
        /** The inquiry's id; for a notice, the id of SES's event. */
        inquiry: { type: 'string' },
        mail: { type: DELIVERED_MAILS },
        /** On a notice: the id of the invocation that sends it. */
        claimed_by: { type: 'string' },
        /** Absent: SES refused the mail, or does not have it yet. */
        sent_at: { type: 'string' },
        /** Why the mail is not with its recipient, if that is known. */
        undelivered: { type: ['refused', 'bounce', 'complaint'] },
        /** Since when this is known. */
        undelivered_at: { type: 'string' },
        /** On a reply that cannot be sent: whether the team has a mail that says so. */
        is_noticed: { type: 'boolean' },
        /** Seconds since the epoch. */
        expires_at: { type: 'number', required: true },
      },
      indexes: {
        byInquiry: {
          pk: { field: 'pk', composite: ['inquiry'], casing: 'none' },
          sk: { field: 'sk', composite: ['mail'], casing: 'none' },
        },
      },
    } as const,
    { table, ...(client && { client }) },
  );
}

/**
 * The model of a quota of an hour: which inquiries of one owner, or of all, are mailed one by one, which are acknowledged to
 * one address, and which notices are sent; under `all`, what the digests know. docs/adr/0080
 */
export function createQuotaEntity(table: string, client?: DocumentClient) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'quota', version: '1' },
      attributes: {
        /** A hash of owner or address and hour; hours since the epoch; `notices-` and such hours; or `all`. */
        quota: { type: 'string' },
        /** Ids of inquiries, or of SES's events. */
        mailed: { type: 'set', items: 'string' },
        /** On an hour: whether its owner's quota withholds an inquiry. */
        is_withheld: { type: 'boolean' },
        /** On an hour: the beginning of an id; no lower one is added to `mailed` any more. */
        closed: { type: 'string' },
        /** Seconds since the epoch; absent under `all`. */
        expires_at: { type: 'number' },
        // Under `all`: DigestState (quotas.ts), and the milliseconds before which no other digest begins.
        next_at: { type: 'number' },
        next_hour: { type: 'number' },
        digested: { type: 'any' },
        daily_on: { type: 'string' },
      },
      indexes: {
        byQuota: {
          pk: { field: 'pk', composite: ['quota'], casing: 'none' },
          sk: { field: 'sk', composite: [], casing: 'none' },
        },
      },
    } as const,
    { table, ...(client && { client }) },
  );
}
