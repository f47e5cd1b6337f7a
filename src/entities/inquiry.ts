import { Entity, type DocumentClient, type EntityItem } from 'electrodb';
import { toShard } from './keys.ts';

/**
 * A reverse query of a partition lists newest first. By default, ElectroDB lowers the case of keys, so emails could
 * collide. docs/adr/0009
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
    // The language of mails to the owner. docs/adr/0080
    language: { type: 'string', readOnly: true },
    // Absent: the email is not verified.
    email_verified: { type: 'boolean', readOnly: true },
    // The id of the inquiry before a follow-up. docs/adr/0086
    follows: { type: 'string', readOnly: true },
    // Seconds since the epoch; absent: never. docs/adr/0084
    expires_at: { type: 'number', readOnly: true },
    // Operators' tools set these once and together. No response has them (spec, "Inquiry").
    reply: { type: 'string' },
    respondent: { type: 'string' },
    reply_at: { type: 'string' },
    // The names of the answer's files, which the receiver mails. docs/adr/0085
    files: { type: 'list', items: { type: 'string' } },
    // A hash of the mail with the answer. Only the receiver uses it.
    reply_mail: { type: 'string' },
    // What the respondent has added by mail.
    additions: {
      type: 'list',
      items: {
        type: 'map',
        properties: {
          text: { type: 'string', required: true },
          at: { type: 'string', required: true },
          mail: { type: 'string', required: true },
        },
      },
    },
    // The partition in the index. An update of `reply_at` also writes this.
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
    // All inquiries, unanswered or answered. docs/adr/0081
    byState: {
      index: 'by-state',
      pk: { field: 'inbox', composite: ['inbox'], template: '${inbox}', casing: 'none' },
      sk: { field: 'id', composite: ['id'], template: '${id}', casing: 'none' },
    },
  },
} as const;

/** Without a client, only `.params()` works. */
export const createInquiryEntity = (table: string, client?: DocumentClient) =>
  new Entity(INQUIRY_MODEL, { table, ...(client && { client }) });

/** An unanswered inquiry has no `reply_at`, a dismissed one no `reply`. */
export type StoredInquiry = Readonly<EntityItem<ReturnType<typeof createInquiryEntity>>>;

export type InquiryKeys = Pick<StoredInquiry, 'cognito_sub' | 'email' | 'id'>;
