import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { paginateScan, UpdateCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { toShard } from '../src/entities/keys.ts';

type Row = Readonly<
  Record<'pk' | 'sk' | 'id', string> & Partial<Record<'reply_at' | 'inbox', string>>
>;

/** Updates at a time: some 2,000 a second on AWS, half of what a new table takes. */
const CONCURRENCY = 16;

/**
 * Puts inquiries into the index `by-state` that are not in it, or in a wrong place: those that a version before the index
 * has stored or answered. Nothing else of them changes, so the mailer sends nothing. It may be interrupted and repeated, and
 * requests and answers may go on meanwhile. docs/adr/0081
 *
 * @yields After each page of the table how many rows, of all kinds, it had, and how many inquiries were changed.
 */
export async function* reindex(
  client: DynamoDBDocumentClient,
  TableName: string,
): AsyncGenerator<Readonly<Record<'length' | 'changed', number>>> {
  const place = async ({ pk, sk, id }: Row, isAnswered: boolean): Promise<boolean> => {
    const command = new UpdateCommand({
      TableName,
      Key: { pk, sk },
      UpdateExpression: 'SET inbox = :inbox',
      // Neither a row that was deleted in the meantime, nor one that was answered.
      ConditionExpression: `attribute_exists(pk) AND ${isAnswered ? 'attribute_exists' : 'attribute_not_exists'}(reply_at)`,
      ExpressionAttributeValues: { ':inbox': toShard(id, isAnswered) },
    });
    try {
      await client.send(command);
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        return !isAnswered && place({ pk, sk, id }, true);
      }
      throw error;
    }
  };
  const scan = {
    TableName,
    ConsistentRead: true,
    ProjectionExpression: 'pk, sk, id, reply_at, inbox',
    FilterExpression: '#entity = :inquiry',
    ExpressionAttributeNames: { '#entity': '__edb_e__' },
    ExpressionAttributeValues: { ':inquiry': 'inquiry' },
  };
  for await (const { Items = [], ScannedCount: length = 0 } of paginateScan({ client }, scan)) {
    let changed = 0;
    const misplaced = (Items as Row[])
      .filter(({ id, reply_at, inbox }) => inbox !== toShard(id, reply_at !== undefined))
      .values();
    const placeAll = async (): Promise<void> => {
      for (const row of misplaced) if (await place(row, row.reply_at !== undefined)) changed++;
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, placeAll));
    yield { length, changed };
  }
}
