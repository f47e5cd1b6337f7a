import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { UUID } from 'uuidv7';
import type { StoredInquiry } from '../../inbox/store.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { INQUIRY } from './events.ts';
import type { OwnTable } from './own-table.ts';

/**
 * Stores inquiries, one a millisecond, of which every third is answered.
 *
 * @returns Them, newest first.
 */
export async function writeInquiries(
  { client, name }: OwnTable,
  count: number,
  { isAnswered = (at: number): boolean => at % 3 === 0, body = INQUIRY.body } = {},
): Promise<StoredInquiry[]> {
  const entity = createInquiryEntity(name);
  const rows = Array.from({ length: count }, (_, at): StoredInquiry => {
    const created_at = new Date(Date.parse('2026-11-01T00:00Z') + at).toISOString();
    return {
      ...INQUIRY,
      // An odd factor: all low digits occur, in no order.
      id: UUID.fromFieldsV7(
        Date.parse(created_at),
        1,
        2,
        Math.imul(at, 0x9e3779b1) >>> 0,
      ).toString(),
      body,
      email: `${at % 997}@example.com`,
      created_at,
      ...(isAnswered(at) && { reply: 'r', respondent: 'R', reply_at: created_at }),
    };
  });
  for (let at = 0; at < count; at += 25) {
    const requests = rows.slice(at, at + 25).map((row) => {
      const { Item } = entity.put(row).params<{ Item: Record<string, unknown> }>();
      return { PutRequest: { Item } };
    });
    await client.send(new BatchWriteCommand({ RequestItems: { [name]: requests } }));
  }
  return rows.toReversed();
}
