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

/**
 * Creates the ElectroDB model of what the mailer and its digests know of an hour, and, under `all`, of all of them. It
 * names nobody. docs/adr/0080
 */
export function createHourEntity(table: string, client?: DocumentClient) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'hour', version: '1' },
      attributes: {
        /** Hours since the epoch, or `all`. */
        hour: { type: 'string' },
        /** Ids of the inquiries of the hour that are mailed one by one. */
        mailed: { type: 'set', items: 'string' },
        /** Whether an inquiry of the hour is not mailed because of its owner's quota. */
        is_withheld: { type: 'boolean' },
        /** The beginning of an id: no lower one is added to `mailed` any more. */
        closed: { type: 'string' },
        /** Seconds since the epoch; absent under `all`. */
        expires_at: { type: 'number' },
        /** Under `all`: the time in milliseconds before which no other digest begins. */
        next_at: { type: 'number' },
        /** Under `all`: the first hour of which inquiries may still be mailed. */
        next_hour: { type: 'number' },
        /** Under `all`: hours, each with the time in milliseconds up to which the digests have their inquiries. */
        digested: { type: 'any' },
        /** Under `all`: ids of inquiries whose reply could not be mailed at once. */
        replies: { type: 'set', items: 'string' },
        /** Under `all`: the date of the last daily mail. */
        daily_on: { type: 'string' },
      },
      indexes: {
        byHour: {
          pk: { field: 'pk', composite: ['hour'], casing: 'none' },
          sk: { field: 'sk', composite: [], casing: 'none' },
        },
      },
    } as const,
    { table, ...(client && { client }) },
  );
}
