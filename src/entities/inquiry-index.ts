/** Reads the index of all inquiries, which is eventually consistent. docs/adr/0081 */
import type { EntityItem } from 'electrodb';
import type { createInquiryEntity } from './inquiry.ts';
import { DIGITS, LAST_ID, toFirstId, toShard } from './keys.ts';

type InquiryEntity = ReturnType<typeof createInquiryEntity>;

/** The index has no subject, which can be as long as a body. */
export type IndexedInquiry = Omit<EntityItem<InquiryEntity>, 'subject' | 'body' | 'reply'>;

export interface IndexQuery {
  /** Absent: all inquiries; true includes dismissed ones. */
  isAnswered?: boolean | undefined;
  /** Compared byte for byte. */
  email?: string | undefined;
  sub?: string | undefined;
  /** Ids, inclusive. */
  first?: string | undefined;
  last?: string | undefined;
  /** Default: `newest` first. */
  order?: 'newest' | 'oldest' | undefined;
  abortSignal?: AbortSignal | undefined;
}

/** Rows of a partition's first page; each further page has twice as many. */
const FIRST_LIMIT = 16;
const LAST_LIMIT = 1_024;

/**
 * Raw, because ElectroDB does not recognize rows without `__edb_v__` whose email has a line end. With `pages: 'all'`,
 * only the first raw page is returned.
 */
const RAW = { data: 'raw', originalErr: true } as const;

interface RawPage {
  Items: (IndexedInquiry & Record<'pk' | 'sk' | 'inbox', string>)[];
  LastEvaluatedKey?: { id: string };
}

/** `end` is the last id that was read; undefined: all were. */
interface Page {
  rows: IndexedInquiry[];
  end: string | undefined;
}

async function* readShard(
  inquiries: InquiryEntity,
  inbox: string,
  { email, sub, first = toFirstId(0), last = LAST_ID, order, abortSignal }: IndexQuery,
  limit = FIRST_LIMIT,
): AsyncGenerator<Page> {
  const query = inquiries.query.byState({ inbox }).between({ id: first }, { id: last });
  const direction = order === 'oldest' ? 'asc' : 'desc';
  const options = { ...RAW, order: direction, ...(abortSignal && { abortSignal }) } as const;
  let cursor: string | null = null;
  do {
    const page: { data: unknown; cursor: string | null } = await query.go({
      ...options,
      limit,
      cursor,
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of `data` does not know `raw`
    const { Items, LastEvaluatedKey } = page.data as RawPage;
    const rows = Items.map(({ pk: _pk, sk: _sk, inbox: _inbox, ...row }) => row).filter(
      (row) => row.email === (email ?? row.email) && row.cognito_sub === (sub ?? row.cognito_sub),
    );
    yield { rows, end: LastEvaluatedKey?.id };
    ({ cursor } = page);
    limit = Math.min(2 * limit, LAST_LIMIT);
  } while (cursor !== null);
}

/** An undefined bound accepts all. */
const createIsUpTo =
  (order: IndexQuery['order'], bound: string | undefined) =>
  ({ id }: IndexedInquiry): boolean =>
    bound === undefined || (order === 'oldest' ? id <= bound : id >= bound);

/**
 * Yields the inquiries of one last digit. The unanswered partition is read first, so that none is missed while it is
 * answered; the answered row counts.
 */
async function* readBoth(
  inquiries: InquiryEntity,
  digit: string,
  query: IndexQuery,
): AsyncGenerator<Page> {
  const [from, to] =
    query.order === 'oldest' ? (['first', 'last'] as const) : (['last', 'first'] as const);
  let start: string | undefined;
  let limit = FIRST_LIMIT;
  for await (const open of readShard(inquiries, toShard(digit, false), query)) {
    const range = { ...query, [from]: start ?? query[from], [to]: open.end ?? query[to] };
    let { rows } = open;
    for await (const answered of readShard(inquiries, toShard(digit, true), range, limit)) {
      const end = answered.end ?? open.end;
      const isRead = createIsUpTo(query.order, end);
      // The range includes the last id of the one before.
      const next = answered.rows.filter(({ id }) => id !== start);
      yield { rows: [...next, ...rows.filter(isRead)], end };
      rows = rows.filter((row) => !isRead(row));
    }
    start = open.end;
    limit = Math.min(2 * limit, LAST_LIMIT);
  }
}

/** Yields pages in the order of ids, on demand. A page may be empty. */
export async function* readIndex(
  inquiries: InquiryEntity,
  query: IndexQuery = {},
): AsyncGenerator<IndexedInquiry[]> {
  const { isAnswered, order } = query;
  const direction = order === 'oldest' ? 1 : -1;
  const compare = (a: string, b: string): number => (a === b ? 0 : direction * (a < b ? -1 : 1));
  let unfinished = DIGITS.map((digit) =>
    isAnswered === undefined
      ? readBoth(inquiries, digit, query)
      : readShard(inquiries, toShard(digit, isAnswered), query),
  );
  let unread: IndexedInquiry[] = [];
  while (unfinished.length > 0) {
    const pages: Page[] = await Promise.all(
      unfinished.map(async (source): Promise<Page> => (await source.next()).value),
    );
    unread.push(...pages.flatMap(({ rows }) => rows));
    const [bound] = pages.flatMap(({ end }) => end ?? []).toSorted(compare);
    const isRead = createIsUpTo(order, bound);
    const page = unread.filter(isRead).toSorted((a, b) => compare(a.id, b.id));
    yield page.filter(({ id }, at) => id !== page[at - 1]?.id);
    unread = unread.filter((row) => !isRead(row));
    unfinished = unfinished.filter((_, at) => pages[at]?.end !== undefined);
  }
}

export async function findInIndex(
  inquiries: InquiryEntity,
  id: string,
  abortSignal?: AbortSignal,
): Promise<IndexedInquiry | undefined> {
  for (const isAnswered of [false, true]) {
    const query = { first: id, last: id, abortSignal };
    for await (const { rows } of readShard(inquiries, toShard(id, isAnswered), query)) {
      if (rows[0] !== undefined) return rows[0];
    }
  }
  return undefined;
}
