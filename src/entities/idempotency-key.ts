import { Entity, type DocumentClient } from 'electrodb';

/** The model of an idempotency key, in the partition of its owner: which inquiry was stored with it. docs/adr/0090 */
export const IDEMPOTENCY_KEY_MODEL = {
  model: { service: 'inquiries', entity: 'idempotency', version: '1' },
  attributes: {
    cognito_sub: { type: 'string' },
    email: { type: 'string' },
    /** A digest. */
    key: { type: 'string' },
    /** A digest of the fields of the request. */
    payload: { type: 'string', required: true },
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
