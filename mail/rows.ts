import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { toInquiry, type Inquiry } from '../src/contract.ts';
import { isLanguage, type Language } from '../text/languages.ts';
import { INQUIRY_ID } from '../src/limits.ts';

export type Row = Record<string, unknown>;
export type MailKind = 'inquiry' | 'reply' | 'acknowledgement';

export type MailedInquiry = Inquiry & {
  language?: Language | undefined;
  reply?: string | undefined;
  isEmailVerified: boolean;
  follows?: string | undefined;
};

export class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}

const toRow = (image: unknown): Row =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types differ in binary values only
  unmarshall((image ?? {}) as Parameters<typeof unmarshall>[0], { wrapNumbers: Number });

/**
 * Finds the mail that a record calls for. A copy of an answered row calls for none, nor does a reply with files, which
 * the receiver sends.
 */
export function parseRecord({ dynamodb, eventName }: DynamoDBRecord) {
  const row = toRow(dynamodb?.NewImage);
  const { __edb_e__: entity, reply, reply_at, files } = row;
  const isInquiry = eventName === 'INSERT' && reply_at === undefined;
  const hadReply = toRow(dynamodb?.OldImage)['reply'] !== undefined;
  const isReply = eventName === 'MODIFY' && reply !== undefined && files === undefined && !hadReply;
  const kind = isInquiry ? 'inquiry' : isReply ? 'reply' : undefined;
  return { row, kind: entity === 'inquiry' ? kind : undefined } as const;
}

const isText = (value: unknown): value is string => typeof value === 'string';

export const isInquiryId = (id: unknown): id is string => isText(id) && INQUIRY_ID.test(id);

/** @throws MalformedRow when a column is missing or not a text, or the id is not this service's. */
export function parseRow(row: Row): MailedInquiry {
  const { language, reply, email_verified: verified, follows } = row;
  const inquiry = toInquiry((field) => row[field]);
  if (!isInquiryId(inquiry?.id) || (reply !== undefined && !isText(reply))) {
    throw new MalformedRow('A stored row is not an inquiry.');
  }
  return {
    ...inquiry,
    language: isLanguage(language) ? language : undefined,
    reply,
    isEmailVerified: verified === true,
    follows: isInquiryId(follows) ? follows : undefined,
  };
}
