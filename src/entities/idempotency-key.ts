import { Entity, type DocumentClient } from 'electrodb';

/**
 * The ElectroDB model of an idempotency key: which inquiry was stored with it. It is in the partition of its
 * owner, with digests instead of the key and the text, and no attribute `inbox`, so that the index
 * `by-state` does not have it. docs/adr/0090
 */
export const IDEMPOTENCY_KEY_MODEL = {
  model: { service: 'inquiries', entity: 'idempotency', version: '1' },
  attributes: {
    cognito_sub: { type: 'string' },
    email: { type: 'string' },
    /** Digest of the key. */
    key: { type: 'string' },
    /** Digest of the text: the fields of the request. */
    payload: { type: 'string', required: true },
    /** The id of the inquiry. */
    inquiry: { type: 'string', required: true },
    /** Seconds since the epoch. */
    expires_at: { type: 'number', required: true },
  },
  indexes: {
    byOwner: {
      pk: { field: 'pk', composite: ['cognito_sub', 'email'], casing: 'none' },
      sk: { field: 'sk', composite: ['key'], casing: 'none' },
    },
  },
} as const;

export const createIdempotencyKeyEntity = (table: string, client?: DocumentClient) =>
  new Entity(IDEMPOTENCY_KEY_MODEL, { table, ...(client && { client }) });
