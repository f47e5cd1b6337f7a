/** Batches are sent until DynamoDB has processed all items. */
import { setTimeout as wait } from 'node:timers/promises';
import { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from './table.ts';

export type Item = Record<string, unknown>;

/** This many items of 400 KB fit into a response of 16 MB. */
export const MOST_READ = 40;
/** DynamoDB's maximum. */
const MOST_WRITTEN = 25;

/** It has the SDK's name, which `describeFailure` knows. */
class BatchThrottled extends Error {
  override readonly name = 'ThrottlingException';
}

/** Attempts without progress; together they take 13 seconds. */
const MOST_REFUSALS = 7;

/** Reads strongly consistently and in no order. Missing items are left out. */
export async function getItems({ client, name }: Table, keys: Item[]): Promise<Item[]> {
  const items: Item[] = [];
  await sendAll(keys, MOST_READ, async (Keys) => {
    const RequestItems = { [name]: { Keys, ConsistentRead: true } };
    const response = await client.send(new BatchGetCommand({ RequestItems }));
    items.push(...(response.Responses?.[name] ?? []));
    return response.UnprocessedKeys?.[name]?.Keys ?? [];
  });
  return items;
}

/** Deletes in the order of the keys. */
export async function deleteItems({ client, name }: Table, keys: Item[]): Promise<void> {
  await sendAll(keys, MOST_WRITTEN, async (batch) => {
    const RequestItems = { [name]: batch.map((Key) => ({ DeleteRequest: { Key } })) };
    const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems }));
    const left = UnprocessedItems?.[name] ?? [];
    return left.flatMap(({ DeleteRequest }) => DeleteRequest?.Key ?? []);
  });
}

/**
 * Sends with exponential backoff.
 *
 * @param send - Returns the keys that DynamoDB has not processed.
 * @throws BatchThrottled when nothing is processed for 13 seconds.
 */
export async function sendAll<Key>(
  keys: Key[],
  most: number,
  send: (batch: Key[]) => Promise<Key[]>,
  sleep: (milliseconds: number) => Promise<unknown> = wait,
): Promise<void> {
  let left = [...keys];
  for (let refusals = 0; left.length > 0;) {
    const batch = left.slice(0, most);
    const unprocessed = await send(batch);
    refusals = unprocessed.length < batch.length ? 0 : refusals + 1;
    if (refusals > MOST_REFUSALS) throw new BatchThrottled('DynamoDB processes no item.');
    if (unprocessed.length > 0) await sleep(50 * 2 ** refusals);
    left = [...unprocessed, ...left.slice(most)];
  }
}
