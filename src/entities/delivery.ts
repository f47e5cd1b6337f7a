import { Entity } from 'electrodb';
import type { DocumentClient } from 'electrodb';

/**
 * Creates the ElectroDB model of a delivery record: a mail about an inquiry that SES has accepted. It holds no
 * personal data, and no attribute `inbox`, so that the index `by-state` does not have it. docs/adr/0080
 */
export function createDeliveryEntity(table: string, client?: DocumentClient) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'delivery', version: '1' },
      attributes: {
        /** The id of the inquiry. */
        inquiry: { type: 'string' },
        mail: { type: ['inquiry', 'reply'] },
        sent_at: { type: 'string', required: true },
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
 * Creates the ElectroDB model of a quota: which inquiries of one owner and hour are mailed. Its key is a hash, so that
 * it does not name the owner. docs/adr/0080
 */
export function createQuotaEntity(table: string, client?: DocumentClient) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'quota', version: '1' },
      attributes: {
        owner_hour: { type: 'string' },
        /** Ids of inquiries. */
        mailed: { type: 'set', items: 'string' },
        /** When the mail about the limit was sent. */
        limit_at: { type: 'string' },
        /** Seconds since the epoch. */
        expires_at: { type: 'number', required: true },
      },
      indexes: {
        byOwnerHour: {
          pk: { field: 'pk', composite: ['owner_hour'], casing: 'none' },
          sk: { field: 'sk', composite: [], casing: 'none' },
        },
      },
    } as const,
    { table, ...(client && { client }) },
  );
}
