/** Reads of the table are strongly consistent, reads of the index eventually. */
import { setTimeout } from 'node:timers/promises';
import { paginateQuery, paginateScan } from '@aws-sdk/lib-dynamodb';
import { isTestAddress } from '../limits.ts';
import { createAnswers } from './answers.ts';
import { deleteItems, getItems, MOST_READ, type Item } from './batches.ts';
import { createDeliveryEntity, DELIVERED_MAILS } from './delivery.ts';
import { isCurrent } from './expiry.ts';
import { findInIndex, readIndex, type IndexedInquiry, type IndexQuery } from './inquiry-index.ts';
import {
  createInquiryEntity,
  INQUIRY_MODEL,
  type InquiryKeys,
  type StoredInquiry,
} from './inquiry.ts';
import { LAST_ID, toFirstId } from './keys.ts';
import type { Table } from './table.ts';

export type { AnswerResult } from './answers.ts';
export type { IndexedInquiry, InquiryKeys, StoredInquiry };

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the object is a literal
export const FIELDS = Object.entries(INQUIRY_MODEL.attributes).flatMap(([name, attribute]) =>
  'hidden' in attribute || name === 'reply_mail' ? [] : [name],
) as (keyof StoredInquiry)[];

export interface InquiryFilter extends Omit<IndexQuery, 'first' | 'last'> {
  /** Milliseconds, inclusive. */
  since?: number | undefined;
  /** Also includes smoke tests' inquiries. */
  withExpired?: boolean | undefined;
  /** An id, exclusive. */
  before?: string | undefined;
  /** An id, exclusive. */
  after?: string | undefined;
}

export type ScanFilter = Pick<InquiryFilter, 'email' | 'sub' | 'since' | 'withExpired'>;

/** Milliseconds in which the index usually catches up. */
const SECOND_LOOK = 500;

async function lookTwice<Found>(look: () => Promise<Found[]>): Promise<Found[]> {
  const found = await look();
  if (found.length > 0) return found;
  await setTimeout(SECOND_LOOK);
  return look();
}

export type StoredInquiries = ReturnType<typeof createStoredInquiries>;

/** Hides expired and smoke tests' inquiries, unless a method says otherwise. */
export function createStoredInquiries(table: Table, now: () => number = Date.now) {
  const { client, name: TableName } = table;
  const inquiries = createInquiryEntity(TableName, client);
  const deliveries = createDeliveryEntity(TableName);
  const keyOf = ({ cognito_sub, email, id }: InquiryKeys): Item =>
    inquiries.get({ cognito_sub, email, id }).params<{ Key: Item }>().Key;
  const parse = (Items: Item[]): StoredInquiry[] => inquiries.parse({ Items }).data;
  const isShown = (row: Pick<StoredInquiry, 'email' | 'expires_at'>): boolean =>
    isCurrent(row, now()) && !isTestAddress(row.email);

  /** As {@link readIndex}, without hidden inquiries. */
  async function* list(filter: InquiryFilter = {}): AsyncIterableIterator<IndexedInquiry[]> {
    const { since, before: last, after, withExpired, ...query } = filter;
    const earliest = toFirstId(since ?? 0);
    const first = after !== undefined && after > earliest ? after : earliest;
    // DynamoDB refuses an empty range.
    if (last !== undefined && last < first) return;
    for await (const page of readIndex(inquiries, { ...query, first, last })) {
      yield page.filter(
        (row) => (withExpired === true || isShown(row)) && row.id !== last && row.id !== after,
      );
    }
  }

  /** The attributes in the index, even of a hidden inquiry. */
  const locate = async (id: string, abortSignal?: AbortSignal) =>
    findInIndex(inquiries, id, abortSignal);

  /** Also reads hidden inquiries. @returns undefined if it is not in the table. */
  async function read(
    keys: InquiryKeys,
    abortSignal?: AbortSignal,
  ): Promise<StoredInquiry | undefined> {
    const { cognito_sub, email, id } = keys;
    const options = { consistent: true, ...(abortSignal && { abortSignal }) } as const;
    return (await inquiries.get({ cognito_sub, email, id }).go(options)).data ?? undefined;
  }

  /** Also finds hidden inquiries, once the index has them. */
  async function find(id: string, abortSignal?: AbortSignal): Promise<StoredInquiry | undefined> {
    const [keys] = await lookTwice(async () => {
      const row = await locate(id, abortSignal);
      return row === undefined ? [] : [row];
    });
    return keys && read(keys, abortSignal);
  }

  /** Yields pages of up to 40 in the order of the keys, without missing and hidden inquiries. */
  async function* readInFull(keys: InquiryKeys[]): AsyncIterableIterator<StoredInquiry[]> {
    for (let at = 0; at < keys.length; at += MOST_READ) {
      const portion = keys.slice(at, at + MOST_READ);
      const items = await getItems(table, portion.map(keyOf));
      const found = new Map(parse(items).map((row) => [row.id, row]));
      yield portion.flatMap(({ id }) => found.get(id) ?? []).filter(isShown);
    }
  }

  return {
    ...createAnswers({ table, now, keyOf, read, isShown }),
    list,
    locate,
    read,
    find,
    /** As {@link find}, without hidden ones. */
    async get(id: string): Promise<StoredInquiry | undefined> {
      const row = await find(id);
      return row && isShown(row) ? row : undefined;
    },
    readInFull,
    /** As {@link list}, with all attributes. */
    async *listInFull(filter: InquiryFilter = {}): AsyncIterableIterator<StoredInquiry[]> {
      for await (const page of list(filter)) yield* readInFull(page);
    },
    /** Reads the whole table and yields each match once, in no order. */
    async *scan({ email, sub, since, withExpired }: ScanFilter = {}): AsyncGenerator<
      StoredInquiry[]
    > {
      const query = inquiries.scan.where((row, op) =>
        [
          email !== undefined && op.eq(row.email, email),
          sub !== undefined && op.eq(row.cognito_sub, sub),
          since !== undefined && op.gte(row.id, toFirstId(since)),
        ]
          .filter((condition) => condition !== false)
          .join(' AND '),
      );
      const pages = paginateScan({ client }, { ...query.params(), ConsistentRead: true });
      for await (const { Items = [] } of pages) {
        yield parse(Items).filter((row) => withExpired || isShown(row));
      }
    },
    /** The ids of an inquiry's follow-ups, the oldest first. */
    async findFollowUps({ cognito_sub, email, id }: InquiryKeys): Promise<string[]> {
      const query = inquiries.query
        .byOwner({ cognito_sub, email })
        .between({ id }, { id: LAST_ID })
        .where(({ follows }, { eq }) => eq(follows, id));
      const { data } = await query.go({ pages: 'all', consistent: true });
      return data.filter(isShown).map((row) => row.id);
    },
    async findIds(beginning: string): Promise<string[]> {
      const range = { first: beginning, last: `${beginning}${LAST_ID}` };
      const look = async () => (await Array.fromAsync(readIndex(inquiries, range))).flat();
      return (await lookTwice(look)).map(({ id }) => id);
    },
    /**
     * Deletes an owner's inquiries, delivery records and idempotency keys. Inquiries are deleted last: a repeated run
     * finds the owner by them.
     *
     * @param until - Inclusive, in the form of `created_at`.
     * @yields The ids of deleted inquiries.
     */
    async *remove(
      owner: Pick<InquiryKeys, 'cognito_sub' | 'email'>,
      until: string,
    ): AsyncGenerator<string[]> {
      const firstToKeep = toFirstId(Date.parse(until) + 1);
      const pages = paginateQuery(
        { client },
        {
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': keyOf({ ...owner, id: '' })['pk'] },
          ProjectionExpression: 'pk, sk, id, inquiry',
        },
      );
      for await (const { Items = [] } of pages) {
        const rows = Items.filter(({ id, inquiry = id }) => inquiry < firstToKeep);
        const ids = rows.flatMap(({ id }): string[] => id ?? []);
        const records = ids.flatMap((inquiry) =>
          DELIVERED_MAILS.map(
            (mail) => deliveries.get({ inquiry, mail }).params<{ Key: Item }>().Key,
          ),
        );
        await deleteItems(table, [...records, ...rows.map(({ pk, sk }) => ({ pk, sk }))]);
        yield ids;
      }
    },
    async write(rows: StoredInquiry[]): Promise<void> {
      await inquiries.put(rows.map((row) => ({ ...row }))).go({ concurrent: 10 });
    },
  };
}
