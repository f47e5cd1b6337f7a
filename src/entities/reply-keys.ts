/** A key for each month, which the codes in addresses for answers need. docs/adr/0085 */
import { randomBytes } from 'node:crypto';
import { Entity, type DocumentClient } from 'electrodb';
import { isCurrent } from './expiry.ts';
import type { Table } from './table.ts';

export type ReplyKeys = ReturnType<typeof createReplyKeys>;

export function createReplyKeyEntity(table: string, client?: DocumentClient) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'replykey', version: '1' },
      attributes: {
        /** Such as `2611` for November 2026. */
        month: { type: 'string' },
        secret: { type: 'string', required: true },
        expires_at: { type: 'number', required: true },
      },
      indexes: {
        byMonth: {
          pk: { field: 'pk', composite: ['month'], casing: 'none' },
          sk: { field: 'sk', composite: [], casing: 'none' },
        },
      },
    } as const,
    { table, ...(client && { client }) },
  );
}

export function createReplyKeys({ name, client }: Table) {
  const keys = createReplyKeyEntity(name, client);
  return {
    /** @param time - Milliseconds. @returns undefined when there is none, or it has expired. */
    async read(month: string, time: number, abortSignal: AbortSignal): Promise<string | undefined> {
      const { data } = await keys.get({ month }).go({ consistent: true, abortSignal });
      return data && isCurrent(data, time) ? data.secret : undefined;
    },

    /** @returns The new key, or the one that another instance made first. */
    async make(month: string, expires_at: number, abortSignal: AbortSignal): Promise<string> {
      const secret = randomBytes(32).toString('base64url');
      const { rejected, data } = await keys
        .update({ month })
        .set({ secret, expires_at })
        .where((row, { notExists }) => notExists(row.secret))
        .go({ abortSignal, returnOnConditionCheckFailure: 'all_old' });
      return (rejected && data?.secret) || secret;
    },
  };
}
