import { Entity, type DocumentClient } from 'electrodb';
import { toShard } from './keys.ts';

/**
 * The model of an inquiry. The partition is its owner; the sort key ends in the UUIDv7 id, so a reverse query lists the
 * newest first. Keys keep their case: ElectroDB's default would put emails that differ in case into one partition.
 * docs/adr/0009
 */
export const INQUIRY_MODEL = {
  model: { service: 'inquiries', entity: 'inquiry', version: '1' },
  attributes: {
    id: { type: 'string' },
    cognito_sub: { type: 'string' },
    email: { type: 'string' },
    subject: { type: 'string', required: true, readOnly: true },
    body: { type: 'string', required: true, readOnly: true },
    created_at: { type: 'string', required: true, readOnly: true },
    // For the mails to the owner; never in a response. docs/adr/0080
    language: { type: 'string', readOnly: true },
    // Absent: the issuer has not verified the email.
    email_verified: { type: 'boolean', readOnly: true },
    // Seconds since the epoch; absent: kept for ever. docs/adr/0084
    expires_at: { type: 'number', readOnly: true },
    // Set together and once, by operators' tools; never by the API, never in a response (spec, "Inquiry").
    reply: { type: 'string' },
    respondent: { type: 'string' },
    reply_at: { type: 'string' },
    // The partition in the index, which follows from the others; whoever writes `reply_at` writes it in the same update.
    inbox: {
      type: 'string',
      hidden: true,
      watch: ['id', 'reply_at'],
      set: (shard: string | undefined, { id, reply_at }: { id?: string; reply_at?: string }) =>
        shard ?? toShard(String(id), reply_at !== undefined),
    },
  },
  indexes: {
    byOwner: {
      pk: { field: 'pk', composite: ['cognito_sub', 'email'], casing: 'none' },
      sk: { field: 'sk', composite: ['id'], casing: 'none' },
    },
    // All inquiries by whether they are answered (inquiry-index.ts). docs/adr/0081
    byState: {
      index: 'by-state',
      pk: { field: 'inbox', composite: ['inbox'], template: '${inbox}', casing: 'none' },
      sk: { field: 'id', composite: ['id'], template: '${id}', casing: 'none' },
    },
  },
} as const;

/** Without a client it makes inputs of commands only (`.params()`). */
export const createInquiryEntity = (table: string, client?: DocumentClient) =>
  new Entity(INQUIRY_MODEL, { table, ...(client && { client }) });
