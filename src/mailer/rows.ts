/** Rows of the table, as the stream and the store have them: unchecked. */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { toInquiry, type Inquiry } from '../contract.ts';
import { isLanguage, type Language } from '../languages.ts';
import { INQUIRY_ID, isTestAddress } from '../limits.ts';

export type Row = Readonly<Record<string, unknown>>;
export type MailKind = 'inquiry' | 'reply' | 'acknowledgement';

/** An inquiry, with the language in which it was written if that is known, and the team's answer if it has one. */
export type MailedInquiry = Inquiry & {
  readonly language?: Language | undefined;
  readonly reply?: string | undefined;
  readonly isEmailVerified: boolean;
};

export class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}

/** An image of the stream as a row; it does not throw, whatever the numbers are. */
export const toRow = (
  image: NonNullable<DynamoDBRecord['dynamodb']>['NewImage'] | undefined,
): Row =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types differ in binary values only
  unmarshall((image ?? {}) as Parameters<typeof unmarshall>[0], { wrapNumbers: Number });

/**
 * Which mail a record of the stream calls for: a new inquiry, unless it was answered elsewhere (a copied row), or a
 * reply that was not there before. The event filters let nothing else pass.
 */
export function findMailKind(
  eventName: string | undefined,
  row: Row,
  before: Row,
): MailKind | undefined {
  if (row['__edb_e__'] !== 'inquiry') return undefined;
  if (eventName === 'INSERT') return row['reply_at'] === undefined ? 'inquiry' : undefined;
  const isReply =
    eventName === 'MODIFY' && row['reply'] !== undefined && before['reply'] === undefined;
  return isReply ? 'reply' : undefined;
}

/** Nobody reads what the smoke test has sent, and nobody receives a reply to it: no mail. */
export const isOfTest = ({ email }: Row): boolean => isText(email) && isTestAddress(email);

const isText = (value: unknown): value is string => typeof value === 'string';

export const isInquiryId = (id: unknown): id is string => isText(id) && INQUIRY_ID.test(id);

/** @throws MalformedRow when a column is missing or not a text, or the id is not one of this service. */
export function parseRow(row: Row): MailedInquiry {
  const { language, reply, email_verified: verified } = row;
  const inquiry = toInquiry((field) => row[field]);
  if (!isInquiryId(inquiry?.id) || (reply !== undefined && !isText(reply))) {
    throw new MalformedRow('A stored row is not an inquiry.');
  }
  return {
    ...inquiry,
    language: isLanguage(language) ? language : undefined,
    reply,
    isEmailVerified: verified === true,
  };
}
