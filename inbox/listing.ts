import type {
  IndexedInquiry,
  InquiryFilter,
  StoredInquiry,
} from '../src/entities/stored-inquiries.ts';
import { createSearch } from './search.ts';
import type { Connection } from './connect.ts';
import type { ShownInquiry } from './shown-inquiry.ts';

const PAGE_SIZE = 50;
const SEARCH_ROWS = 5_000;
const SEARCH_TIME = 3_000;
/** The rows among which the latest answers are found. */
const ANSWERED_ROWS = 5_000;
const BOUNCED_FOR = 7 * 86_400_000;
const MANY = 2_000;
/** Milliseconds: a page waits for the count. */
const OTHERS_TIME = 500;

export const SHOWS = ['unanswered', 'answered', 'all', 'undelivered'] as const;

export interface ListQuery {
  show: (typeof SHOWS)[number];
  /** Of arrival; others are in the order of their answers. */
  order: 'newest' | 'oldest';
  text: string;
  from: string | undefined;
}

export const isByArrival = ({ show }: ListQuery): boolean =>
  show === 'unanswered' || show === 'all';

export interface Listing {
  inquiries: ShownInquiry[];
  next?: string;
}

export function createListing({
  inquiries,
  deliveries,
}: Pick<Connection, 'inquiries' | 'deliveries'>) {
  /** The latest answered inquiries, or the last days' replies that came back. */
  async function listAnswered({ show, from }: ListQuery, signal: AbortSignal): Promise<Listing> {
    let rows: IndexedInquiry[] = [];
    for await (const row of rowsOf(inquiries.list({ isAnswered: true }), signal)) {
      if (rows.push(row) === ANSWERED_ROWS) break;
    }
    rows.sort(({ reply_at: a = '' }, { reply_at: b = '' }) => (a < b ? 1 : -1));
    if (show === 'undelivered') {
      const since = new Date(Date.now() - BOUNCED_FOR).toISOString();
      const latest = rows.filter(({ reply_at = '' }) => reply_at >= since);
      rows = (await deliveries.addUndelivered(latest)).filter(({ undelivered }) => undelivered);
    }
    const start = rows.findIndex(({ id }) => id === from) + 1;
    const end = show === 'undelivered' ? rows.length : start + PAGE_SIZE;
    const page = await Array.fromAsync(inquiries.readInFull(rows.slice(start, end)));
    const next = end < rows.length ? rows[end - 1]?.id : undefined;
    return { inquiries: await deliveries.addUndelivered(page.flat()), ...(next && { next }) };
  }

  /** A page by arrival, or what a limited search finds. */
  async function listByArrival(
    { show, order, text, from }: ListQuery,
    signal: AbortSignal,
  ): Promise<Listing> {
    const isFound = createSearch(text);
    const end = performance.now() + SEARCH_TIME;
    const filter = {
      isAnswered: show === 'all' ? undefined : false,
      ...(order === 'oldest' ? { order, after: from } : { before: from }),
    } as const;
    const found: StoredInquiry[] = [];
    let searched = 0;
    let last: string | undefined;
    let next: string | undefined;
    for await (const row of rowsOf(inquiries.listInFull(filter), signal)) {
      const isOver = text !== '' && (searched === SEARCH_ROWS || performance.now() > end);
      if (isOver || found.length === PAGE_SIZE) next = last;
      if (next !== undefined) break;
      last = row.id;
      searched += 1;
      // The index may not know the answer yet.
      const isShown = show !== 'unanswered' || row.reply_at === undefined;
      if (isShown && isFound(row)) found.push(row);
    }
    return { inquiries: await deliveries.addUndelivered(found), ...(next && { next }) };
  }

  async function findUnanswered(except: string, query: InquiryFilter) {
    for await (const page of inquiries.list({ isAnswered: false, ...query })) {
      const row = page.find(({ id }) => id !== except);
      if (row !== undefined) return row.id;
    }
    return undefined;
  }

  return {
    list: async (query: ListQuery, signal: AbortSignal): Promise<Listing> =>
      isByArrival(query) ? listByArrival(query, signal) : listAnswered(query, signal),
    /** Byte for byte; not `isAll` if there are too many rows to read. */
    async countOthers(
      { id, email }: Pick<StoredInquiry, 'id' | 'email'>,
      signal: AbortSignal,
    ): Promise<{ count: number; isAll: boolean }> {
      const end = performance.now() + OTHERS_TIME;
      let count = 0;
      for await (const page of inquiries.list({ email })) {
        count += page.filter((row) => row.id !== id).length;
        if (signal.aborted || performance.now() > end) return { count, isAll: false };
      }
      return { count, isAll: true };
    },
    /** Ids of the unanswered inquiries beside this one. */
    async findNeighbours(id: string) {
      const [previous, next] = await Promise.all([
        findUnanswered(id, { before: id }),
        findUnanswered(id, { order: 'oldest', after: id }),
      ]);
      return { previous, next };
    },
    /** The next unanswered inquiry, or else of all the oldest. */
    findNext: async (id: string): Promise<string | undefined> =>
      (await findUnanswered(id, { order: 'oldest', after: id })) ??
      findUnanswered(id, { order: 'oldest' }),
    /** Such as `12`, or `2000+`. @param except - An id that the index may still hold. */
    async countUnanswered(signal: AbortSignal, except?: string): Promise<string> {
      let count = 0;
      for await (const { id } of rowsOf(inquiries.list({ isAnswered: false }), signal)) {
        if (count === MANY) return `${MANY}+`;
        if (id !== except) count += 1;
      }
      return String(count);
    },
  };
}

/** Until the page has closed its connection. */
async function* rowsOf<Row>(pages: AsyncIterable<Row[]>, signal: AbortSignal): AsyncGenerator<Row> {
  for await (const page of pages) {
    if (signal.aborted) return;
    yield* page;
  }
}
