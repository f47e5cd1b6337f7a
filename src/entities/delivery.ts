import { Entity, type DocumentClient } from 'electrodb';

export const DELIVERED_MAILS = ['inquiry', 'reply', 'acknowledgement', 'notice'] as const;

/** A record of a mail about an inquiry, without personal data. docs/adr/0080 */
export function createDeliveryEntity(table: string, client?: DocumentClient) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'delivery', version: '1' },
      attributes: {
        /** The id of the inquiry; for a notice, of SES's event. */
        inquiry: { type: 'string' },
        mail: { type: DELIVERED_MAILS },
        /** Milliseconds. Until then, one invocation alone sends the notice. */
        claimed_until: { type: 'number' },
        /** Absent: SES has refused the mail, or it is not sent yet. */
        sent_at: { type: 'string' },
        undelivered: { type: ['refused', 'bounce', 'complaint'] },
        undelivered_at: { type: 'string' },
        /** Whether the team was told of a reply that cannot be sent. */
        is_noticed: { type: 'boolean' },
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
 * Mails in an hour: about new inquiries of one person or of all, acknowledgements to one address, or notices.
 * docs/adr/0080
 */
export function createQuotaEntity(table: string, client?: DocumentClient) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'quota', version: '1' },
      attributes: {
        /**
         * A hash of person or address and hour; hours since the epoch, maybe after a kind such as `notices-`; or `all`.
         */
        quota: { type: 'string' },
        /** Ids of inquiries or of SES's events. */
        mailed: { type: 'set', items: 'string' },
        /** Whether the mail about an inquiry of the hour is withheld. */
        is_withheld: { type: 'boolean' },
        /** A prefix of ids: no lower id is added to `mailed`. */
        closed: { type: 'string' },
        expires_at: { type: 'number' },
        // Only `all` has these: DigestState (quotas.ts) and the milliseconds of the next digest.
        next_at: { type: 'number' },
        next_hour: { type: 'number' },
        digested: { type: 'any' },
        counted: { type: 'any' },
        daily_on: { type: 'string' },
        acknowledged: { type: 'number' },
        replied: { type: 'number' },
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
