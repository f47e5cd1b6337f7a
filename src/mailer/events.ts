/** The events that the mailer takes. src/mailer/handler.ts says what each does. */
import type { DynamoDBRecord } from 'aws-lambda';
import type { SnsRecord } from './notices.ts';
import { isInquiryId } from './rows.ts';

export type MailerEvent =
  | {
      readonly kind: 'stream';
      readonly records: readonly DynamoDBRecord[];
      readonly isTrial: boolean;
    }
  | { readonly kind: 'bounces'; readonly records: readonly SnsRecord[] }
  | { readonly kind: 'digest' }
  | { readonly kind: 'ids'; readonly ids: readonly string[]; readonly again: boolean };

const IDS_LIMIT = 100;

/** @throws Error when it is none of them. */
export function parseEvent(event: unknown): MailerEvent {
  const {
    Records,
    trial,
    digest,
    ids,
    again = false,
  }: Partial<Record<string, unknown>> = Object(event);
  if (isStreamBatch(Records)) {
    return { kind: 'stream', records: Records, isTrial: trial === true };
  }
  if (areSnsRecords(Records)) return { kind: 'bounces', records: Records };
  if (digest === true) return { kind: 'digest' };
  if (
    Array.isArray(ids) &&
    ids.every(isInquiryId) &&
    ids.length <= IDS_LIMIT &&
    typeof again === 'boolean'
  ) {
    return { kind: 'ids', ids, again };
  }
  throw new Error(
    `The event is neither a batch of the stream nor { "ids": [at most ${IDS_LIMIT} ids of inquiries], "again": boolean }.`,
  );
}

const isStreamBatch = (records: unknown): records is readonly DynamoDBRecord[] =>
  areFrom('dynamodb', records);

const areSnsRecords = (records: unknown): records is readonly SnsRecord[] =>
  areFrom('Sns', records);

/** Whether all records, of which there may be none, have the field that only one source sets. */
const areFrom = (field: string, records: unknown): boolean =>
  Array.isArray(records) &&
  records.every((item) => typeof item === 'object' && item !== null && field in item);
