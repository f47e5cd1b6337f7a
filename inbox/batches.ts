/** What ElectroDB leaves to its callers: the next page of a query, and the keys that a batch has not processed. */
import { setTimeout as wait } from 'node:timers/promises';

/** Responses without progress, one after the other, before a batch is given up: 13 s. */
const MOST_REFUSALS = 7;

/**
 * Yields all pages of a query; one may be empty. A page is read when it is asked for.
 *
 * @param read - `.go()` of a query with the cursor; it has `limit` or the 1 MB of a page.
 */
export async function* readPages<Row>(
  read: (cursor: string | null) => Promise<{ readonly data: Row[]; readonly cursor: string | null }>,
): AsyncIterableIterator<Row[]> {
  let cursor: string | null = null;
  do {
    const page = await read(cursor);
    yield page.data;
    ({ cursor } = page);
  } while (cursor !== null);
}

/**
 * Sends a batch until all of it is processed, with exponential backoff.
 *
 * @param send - Sends the keys of items and returns those that DynamoDB has not processed.
 * @throws Error named `ThrottlingException` when DynamoDB processes nothing for 13 seconds.
 */
export async function sendAll<Key>(
  keys: readonly Key[],
  send: (keys: Key[]) => Promise<readonly Key[]>,
  sleep: (milliseconds: number) => Promise<unknown> = wait,
): Promise<void> {
  let left = [...keys];
  for (let refusals = 0; left.length > 0;) {
    const unprocessed = await send(left);
    refusals = unprocessed.length < left.length ? 0 : refusals + 1;
    if (refusals > MOST_REFUSALS) {
      throw Object.assign(new Error('DynamoDB processes no item.'), { name: 'ThrottlingException' });
    }
    if (unprocessed.length > 0) await sleep(50 * 2 ** refusals);
    left = [...unprocessed];
  }
}
