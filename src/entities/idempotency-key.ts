import { createHash } from 'node:crypto';
import { Entity } from 'electrodb';
import type { DocumentClient } from 'electrodb';

/**
 * Creates the ElectroDB model of an idempotency key: which inquiry was stored with it. It is in the partition of its
 * owner, with digests instead of the key and the text, and has no attribute named `id`, so that the index
 * `by-time` does not have it. docs/adr/0090
 */
export function createIdempotencyKeyEntity(table: string, client?: DocumentClient) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'idempotency', version: '1' },
      attributes: {
        cognito_sub: { type: 'string' },
        email: { type: 'string' },
        /** Digest of the key. */
        key: { type: 'string' },
        /** Digest of subject and body. */
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
    } as const,
    { table, ...(client && { client }) },
  );
}

/** SHA-256 in base64url, 43 characters. */
export const digest = (...texts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url');
