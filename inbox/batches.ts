/** What ElectroDB leaves to its callers: the next page of a query, and the keys that a batch has not processed. */
import { setTimeout as wait } from 'node:timers/promises';

/** The name is that of the SDK's errors of this kind, which `describeFailure` knows. */
class BatchThrottled extends Error {
  override readonly name = 'ThrottlingException';
}

/** Responses without progress, one after the other, before a batch is given up: 13 s. */
const MOST_REFUSALS = 7;

interface Page<Data> {
  readonly data: Data;
  readonly cursor?: string | null;
}

/**
 * Yields all pages of a query; one may be empty. A page is read when the caller asks for it.
 *
 * @param read - `.go()` of a query with the cursor.
 */
export async function* readPages<Data>(
  read: (cursor: string | null) => Promise<Page<Data>>,
): AsyncIterableIterator<Data> {
  let cursor: string | null = null;
  do {
    const page: Page<Data> = await read(cursor);
    yield page.data;
    cursor = page.cursor ?? null;
  } while (cursor !== null);
}

type TableKeys = Readonly<Record<string, unknown>>;

const textOf = ({ pk, sk }: TableKeys): string => JSON.stringify([pk, sk]);

/**
 * Sends a batch until all of it is processed, with exponential backoff.
 *
 * @param toKeys - `createConversions(entity).fromComposite.toKeys`.
 * @param send - `.go()` of a batch with `unprocessed: 'raw'`: ElectroDB parses keys with regular expressions, which fail
 * if an email has a line end.
 * @throws BatchThrottled when DynamoDB processes nothing for 13 seconds.
 */
export async function sendAll<Key>(
  keys: readonly Key[],
  toKeys: (key: Key) => TableKeys,
  send: (keys: Key[]) => Promise<{ readonly unprocessed: unknown }>,
  sleep: (milliseconds: number) => Promise<unknown> = wait,
): Promise<void> {
  let left = [...keys];
  for (let refusals = 0; left.length > 0;) {
    const { unprocessed } = (await send(left)) as { unprocessed: TableKeys[] };
    const texts = new Set(unprocessed.map(textOf));
    refusals = unprocessed.length < left.length ? 0 : refusals + 1;
    if (refusals > MOST_REFUSALS) {
      throw new BatchThrottled('DynamoDB processes no item.');
    }
    left = texts.size === 0 ? [] : left.filter((key) => texts.has(textOf(toKeys(key))));
    if (left.length > 0) await sleep(50 * 2 ** refusals);
  }
}
