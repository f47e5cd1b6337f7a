/** Records of the table's stream. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBBatchResponse } from 'aws-lambda';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import type { Inquiry } from '../../src/contract.ts';
import { toShard } from '../../src/entities/keys.ts';
import { createRequests } from '../../src/entities/requests.generated.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';
import { answerById, putInquiries, type NewInquiry } from '../function/test-inquiries.ts';
import { removeRow, type OwnTable } from '../helpers/own-table.ts';

export type Row = Record<string, AttributeValue>;

export interface StreamRecord {
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  dynamodb: {
    SequenceNumber: string;
    NewImage: Row;
    OldImage?: Row;
  };
}

let sequence = 0;

export const toRecord = (
  NewImage: Row,
  OldImage?: Row,
  eventName: StreamRecord['eventName'] = OldImage ? 'MODIFY' : 'INSERT',
): StreamRecord => ({
  eventName,
  dynamodb: {
    SequenceNumber: String(++sequence).padStart(12, '0'),
    NewImage,
    ...(OldImage && { OldImage }),
  },
});

export const toReply = (
  { dynamodb: { NewImage } }: StreamRecord,
  columns: Record<string, string> = {},
): StreamRecord => {
  const added = Object.entries({ reply: 'r', ...columns }).map(([name, S]) => [name, { S }]);
  return toRecord({ ...NewImage, ...Object.fromEntries(added) }, NewImage);
};

export const idOf = ({ dynamodb }: StreamRecord): string => dynamodb.NewImage['id']?.S ?? '';
export const sequenceOf = ({ dynamodb }: StreamRecord): string => dynamodb.SequenceNumber;

export const readFailures = (result: unknown): string[] =>
  (result as DynamoDBBatchResponse).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);

export function createWriter(own: Pick<OwnTable, 'client' | 'name'>, now?: () => number) {
  const { client, name: table } = own;
  const { putInquiry } = createRequests(table);
  const inbox = createStoredInquiries(own, now);
  const write = async (rows: NewInquiry[]) =>
    (await putInquiries(own, rows)).map((row) => {
      const inquiry = { ...row, inbox: toShard(row.id, row.reply_at !== undefined) };
      return toRecord(putInquiry({ inquiry }).Item);
    });
  return {
    client,
    table,
    inbox,
    write,
    add: async (row: NewInquiry = {}) => (await write([row]))[0] as StreamRecord,
    answer: async (id: string, reply?: string) =>
      answerById(inbox)(id, { reply, respondent: 'bea' }),
    remove: async ({ dynamodb }: StreamRecord) =>
      removeRow(client, table, unmarshall(dynamodb.NewImage) as Inquiry),
  };
}

export const INBOX = { INBOX_TO: MAIL_SETTINGS.inboxTo, INBOX_FROM: MAIL_SETTINGS.inboxFrom };
