import { Entity, type DocumentClient } from 'electrodb';

/** An idempotency key, in its owner's partition, with the inquiry stored under it. docs/adr/0090 */
export const IDEMPOTENCY_KEY_MODEL = {
  model: { service: 'inquiries', entity: 'idempotency', version: '1' },
  attributes: {
    cognito_sub: { type: 'string' },
    email: { type: 'string' },
    key: { type: 'string' },
    payload: { type: 'string', required: true },
    inquiry: { type: 'string', required: true },
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
