/**
 * Reads the index `by-state`, which has the inquiries of all owners in many partitions. It is eventually consistent: a
 * moment after its answer, an inquiry may be in neither list. The request function does not load this. docs/adr/0081
 */
import type { EntityItem } from 'electrodb';
import type { createInquiryEntity } from './inquiry.ts';
import { LAST_ID, listShards, toFirstId, toShard } from './keys.ts';

type InquiryEntity = ReturnType<typeof createInquiryEntity>;

/** What the index has of an inquiry. A subject may be as long as a body, so it is not in it. */
export type IndexedInquiry = Readonly<
  Omit<EntityItem<InquiryEntity>, 'subject' | 'body' | 'reply'>
>;

export interface IndexQuery {
  /** False: unanswered ones only; true: those that were answered or dismissed; absent: all. */
  readonly isAnswered?: boolean | undefined;
  /** Byte for byte. */
  readonly email?: string | undefined;
  readonly sub?: string | undefined;
  /** Ids, inclusive. */
  readonly first?: string | undefined;
  readonly last?: string | undefined;
  /** `desc`, the default: newest first. */
  readonly order?: 'asc' | 'desc';
  readonly abortSignal?: AbortSignal | undefined;
}

/** Rows of the first page of a partition, twice as many of each next one, and of a page at most. */
const FIRST_LIMIT = 16;
const LAST_LIMIT = 1_024;

/**
 * ElectroDB recognizes rows without `__edb_v__` by parsing their keys, which fails if the email has a line end. With
 * `pages: 'all'` it would return the first page of raw rows only. Errors stay those of the SDK.
 */
const RAW = { data: 'raw', originalErr: true } as const;

interface Page {
  readonly Items: readonly (IndexedInquiry & Readonly<Record<'pk' | 'sk' | 'inbox', string>>)[];
  readonly LastEvaluatedKey?: { readonly id: string };
}

/** The rows of a page, without their keys, and the id up to which the partition has been read; none: to its end. */
function parsePage(data: unknown) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of `data` does not know `raw`
  const { Items, LastEvaluatedKey } = data as Page;
  const rows: IndexedInquiry[] = Items.map(({ pk: _pk, sk: _sk, inbox: _inbox, ...row }) => row);
  return { rows, end: LastEvaluatedKey?.id };
}

/** Yields the pages of one partition. */
async function* readShard(
  inquiries: InquiryEntity,
  shard: string,
  { email, sub, first, last, order = 'desc', abortSignal }: IndexQuery,
): AsyncGenerator<ReturnType<typeof parsePage>> {
  const query = inquiries.query
    .byState({ inbox: shard })
    .between({ id: first ?? toFirstId(0) }, { id: last ?? LAST_ID })
    .where((row, op) =>
      [
        email !== undefined && op.eq(row.email, email),
        sub !== undefined && op.eq(row.cognito_sub, sub),
      ]
        .filter((condition) => condition !== false)
        .join(' AND '),
    );
  let cursor: string | null = null;
  let limit = FIRST_LIMIT;
  do {
    const page: { data: unknown; cursor: string | null } = await query.go({
      ...RAW,
      order,
      limit,
      cursor,
      ...(abortSignal && { abortSignal }),
    });
    cursor = page.cursor;
    limit = Math.min(2 * limit, LAST_LIMIT);
    yield parsePage(page.data);
  } while (cursor !== null);
}

/**
 * Yields inquiries of all owners in the order of their ids, which is that of their time, in pages; a page may be empty.
 * The next page is read when the caller asks for it: the partitions are read side by side, a few rows of each at first.
 */
export async function* readIndex(
  inquiries: InquiryEntity,
  query: IndexQuery = {},
): AsyncGenerator<IndexedInquiry[]> {
  const { isAnswered, order = 'desc' } = query;
  const direction = order === 'desc' ? -1 : 1;
  const compare = (a: string, b: string): number => (a === b ? 0 : direction * (a < b ? -1 : 1));
  // Of an inquiry that is in both lists, because it has just been answered, the answered row comes first.
  let sources = (isAnswered === undefined ? [true, false] : [isAnswered])
    .flatMap(listShards)
    .map((shard) => {
      const unread: ReturnType<typeof parsePage> = { rows: [], end: '' };
      return Object.assign(unread, { pages: readShard(inquiries, shard, query) });
    });
  while (sources.length > 0) {
    const empty = sources.filter(({ rows }) => rows.length === 0);
    await Promise.all(
      empty.map(async (source) => Object.assign(source, (await source.pages.next()).value)),
    );
    // Up to this id, all partitions have been read.
    const [bound] = sources.flatMap(({ end }) => end ?? []).toSorted(compare);
    const isRead = ({ id }: IndexedInquiry): boolean =>
      bound === undefined || compare(id, bound) <= 0;
    const page = sources
      .flatMap(({ rows }) => rows.filter(isRead))
      .toSorted((a, b) => compare(a.id, b.id));
    yield page.filter(({ id }, at) => id !== page[at - 1]?.id);
    for (const source of sources) source.rows = source.rows.filter((row) => !isRead(row));
    sources = sources.filter(({ rows, end }) => rows.length > 0 || end !== undefined);
  }
}

/** Counts inquiries of all owners without reading them. */
export async function countInIndex(
  inquiries: InquiryEntity,
  { isAnswered, first = toFirstId(0), last = LAST_ID, abortSignal }: IndexQuery,
): Promise<number> {
  const shards = (isAnswered === undefined ? [true, false] : [isAnswered]).flatMap(listShards);
  const options = { ...RAW, params: { Select: 'COUNT' }, ...(abortSignal && { abortSignal }) };
  const counts = await Promise.all(
    shards.map(async (inbox) => {
      const query = inquiries.query.byState({ inbox }).between({ id: first }, { id: last });
      let [count, cursor]: [number, string | null] = [0, null];
      do {
        const page: { data: unknown; cursor: string | null } = await query.go({
          ...options,
          cursor,
        });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of `data` does not know `raw`
        count += (page.data as { Count: number }).Count;
        ({ cursor } = page);
      } while (cursor !== null);
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Finds an inquiry by its id. */
export async function findInIndex(
  inquiries: InquiryEntity,
  id: string,
  abortSignal?: AbortSignal,
): Promise<IndexedInquiry | undefined> {
  for (const isAnswered of [false, true]) {
    const { data } = await inquiries.query
      .byState({ inbox: toShard(id, isAnswered), id })
      .go({ ...RAW, ...(abortSignal && { abortSignal }) });
    const [found] = parsePage(data).rows;
    if (found !== undefined) return found;
  }
  return undefined;
}
