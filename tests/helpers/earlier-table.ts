/** A table as a version before the index `by-state` has left it. */
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { UUID } from 'uuidv7';
import type { StoredInquiry } from '../../inbox/store.ts';
import { createTable } from '../../local/database/table.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { INQUIRY } from './events.ts';
import type { OwnTable } from './own-table.ts';

/** Creates the table, on DynamoDB Local with its stream. */
export const createEarlierTable =
  (hasStream: boolean) =>
  (endpoint: string, name: string): Promise<void> =>
    createTable(endpoint, name, {
      AttributeDefinitions: ['pk', 'sk', '__edb_e__', 'id'].map((AttributeName) => {
        return { AttributeName, AttributeType: 'S' };
      }),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-time',
          KeySchema: [
            { AttributeName: '__edb_e__', KeyType: 'HASH' },
            { AttributeName: 'id', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
      ...(hasStream && {
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    });

/**
 * Stores inquiries, one a millisecond, of which every third is answered.
 *
 * @param inIndex - Whether they are stored as this version does.
 * @returns Them, newest first.
 */
export async function writeInquiries(
  { client, name }: OwnTable,
  count: number,
  { inIndex = false, isAnswered = (at: number): boolean => at % 3 === 0, body = INQUIRY.body } = {},
): Promise<StoredInquiry[]> {
  const entity = createInquiryEntity(name);
  const rows = Array.from({ length: count }, (_, at): StoredInquiry => {
    const time = Date.parse('2026-11-01T00:00Z') + at;
    return {
      ...INQUIRY,
      // 0x9E3779B1 is odd: all low digits occur, in no order.
      id: UUID.fromFieldsV7(time, 1, 2, Math.imul(at, 0x9e3779b1) >>> 0).toString(),
      body,
      email: `${at % 997}@example.com`,
      created_at: new Date(time).toISOString(),
      ...(isAnswered(at) && { reply: 'r', respondent: 'R', reply_at: new Date(time + 1).toISOString() }),
    };
  });
  const batches = Array.from({ length: Math.ceil(count / 25) }, (_, at) => rows.slice(25 * at, 25 * at + 25));
  const left = batches.values();
  const writeNext = async (): Promise<void> => {
    for (const batch of left) {
      const requests = batch.map((row) => {
        const { inbox, ...Item } = entity.put(row).params<{ Item: Record<string, unknown> }>().Item;
        return { PutRequest: { Item: inIndex ? { ...Item, inbox } : Item } };
      });
      await client.send(new BatchWriteCommand({ RequestItems: { [name]: requests } }));
    }
  };
  await Promise.all(Array.from({ length: 8 }, writeNext));
  return rows.toReversed();
}
