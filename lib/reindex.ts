import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { toShard } from '../src/entities/keys.ts';

interface Row {
  readonly pk: string;
  readonly sk: string;
  readonly id: string;
  readonly reply_at?: string;
  readonly inbox?: string;
}

/** Updates at a time: some 2,000 a second on AWS, half of what a new table takes. */
const CONCURRENCY = 16;

/**
 * Puts inquiries into the index `by-state` that are not in it, or in a wrong place: those that a version before the index
 * has stored or answered. Nothing else of them changes, so the mailer sends nothing. It may be interrupted and repeated, and
 * requests and answers may go on meanwhile. docs/adr/0081
 *
 * @yields After each page of the table how many rows were read, of all kinds, and how many inquiries were changed.
 */
export async function* reindex(
  client: DynamoDBDocumentClient,
  TableName: string,
): AsyncGenerator<Readonly<Record<'read' | 'changed', number>>> {
  const place = async ({ pk, sk, id }: Row, isAnswered: boolean): Promise<boolean> => {
    const command = new UpdateCommand({
      TableName,
      Key: { pk, sk },
      UpdateExpression: 'SET inbox = :inbox',
      // Neither a row that was deleted in the meantime, nor one that was answered.
      ConditionExpression: `attribute_exists(pk) AND ${isAnswered ? 'attribute_exists' : 'attribute_not_exists'}(reply_at)`,
      ExpressionAttributeValues: { ':inbox': toShard(id, isAnswered) },
    });
    return client.send(command).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      },
    );
  };
  const pages = paginateScan(
    { client },
    {
      TableName,
      ConsistentRead: true,
      ProjectionExpression: 'pk, sk, id, reply_at, inbox',
      FilterExpression: '#entity = :inquiry',
      ExpressionAttributeNames: { '#entity': '__edb_e__' },
      ExpressionAttributeValues: { ':inquiry': 'inquiry' },
    },
  );
  let changed = 0;
  let read = 0;
  for await (const { Items = [], ScannedCount = 0 } of pages) {
    const misplaced = (Items as Row[])
      .filter(({ id, reply_at, inbox }) => inbox !== toShard(id, reply_at !== undefined))
      .values();
    const placeNext = async (): Promise<void> => {
      for (const row of misplaced) {
        const isAnswered = row.reply_at !== undefined;
        if ((await place(row, isAnswered)) || (!isAnswered && (await place(row, true)))) changed++;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, placeNext));
    read += ScannedCount;
    yield { read, changed };
  }
}
