/**
 * The operators' side of the table: reads all inquiries and records answers. The model is the function's
 * (src/entities/inquiry.ts). docs/adr/0081
 */
import { paginateScan, UpdateCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { EntityItem } from 'electrodb';
import { createDeliveryEntity } from '../src/entities/delivery.ts';
import {
  findInIndex,
  readIndex,
  type IndexedInquiry,
  type IndexQuery,
} from '../src/entities/inquiry-index.ts';
import { createInquiryEntity, INQUIRY_MODEL } from '../src/entities/inquiry.ts';
import { LAST_ID, toFirstId, toShard } from '../src/entities/keys.ts';
import { isTestAddress, ITEM_LIMIT } from '../src/limits.ts';
import { UsageError } from '../lib/command-line.ts';
import { getItems, MOST_READ, type Item } from './batches.ts';

/** An inquiry with what operators know of it. Unanswered: no `reply_at`; dismissed: `reply_at` without `reply`. */
export type StoredInquiry = Readonly<EntityItem<ReturnType<typeof createInquiryEntity>>>;

/** The fields of an inquiry, in the order in which JSON and CSV have them: all that the model does not hide. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the object is a literal
export const FIELDS = Object.entries(INQUIRY_MODEL.attributes).flatMap(([name, attribute]) =>
  'hidden' in attribute ? [] : [name],
) as (keyof StoredInquiry)[];

/** These, and those of {@link Undelivered}. */
export const SHOWN_FIELDS = [...FIELDS, 'undelivered', 'undelivered_at'] as const;

/** Which inquiries to list; all of them by default. */
export interface InquiryFilter extends Pick<IndexQuery, 'isAnswered' | 'email' | 'sub'> {
  /** Not older. Milliseconds since the epoch. */
  since?: number | undefined;
  /** What nobody reads, too: expired ones, and those of smoke tests. */
  withExpired?: boolean | undefined;
  /** Only older ones than this id. */
  before?: string | undefined;
  /** Only newer ones than this id. */
  after?: string | undefined;
  /** Default: `newest`, first. */
  order?: 'newest' | 'oldest' | undefined;
}

export type ScanFilter = Pick<InquiryFilter, 'email' | 'sub' | 'since' | 'withExpired'>;

/** Why a reply is not with the owner, and since when this is known. */
export type Undelivered = Readonly<
  Required<
    Pick<EntityItem<ReturnType<typeof createDeliveryEntity>>, 'undelivered' | 'undelivered_at'>
  >
>;

/** An inquiry, and what became of the mail with its reply. */
export type ShownInquiry = StoredInquiry & Partial<Undelivered>;

export type AnswerResult =
  | { status: 'answered'; reply_at: string }
  | { status: 'already-answered'; respondent: string; reply_at: string }
  | { status: 'not-found' }
  /** The item would be larger than DynamoDB allows: 400 KB with the inquiry. */
  | { status: 'too-large' };

export type Inbox = ReturnType<typeof createInbox>;

export const TOO_LARGE =
  'The reply is too long: with the inquiry it may have 400 KB; nothing was changed.';

type Keys = Pick<StoredInquiry, 'cognito_sub' | 'email' | 'id'>;

/**
 * Creates the inbox on a table. What has expired is hidden to the second, as in the API, and so are the inquiries of smoke
 * tests.
 *
 * @param now - Milliseconds since the epoch.
 */
export function createInbox(
  client: DynamoDBDocumentClient,
  table: string,
  now: () => number = Date.now,
) {
  const inquiries = createInquiryEntity(table, client);
  const deliveries = createDeliveryEntity(table, client);
  const keyOf = ({ cognito_sub, email, id }: Keys) =>
    inquiries.get({ cognito_sub, email, id }).params<{ TableName: string; Key: Item }>();
  const parse = (Items: Item[]): StoredInquiry[] => inquiries.parse({ Items }).data;
  const isCurrent = ({ email, expires_at = Infinity }: IndexedInquiry): boolean =>
    expires_at * 1_000 > now() && !isTestAddress(email);

  /**
   * Yields pages of the index, in the order of the filter; a page may be empty. A page is read when the caller asks for it,
   * so that a search can be shown and stopped. The index is eventually consistent.
   */
  async function* list(filter: InquiryFilter = {}): AsyncIterableIterator<IndexedInquiry[]> {
    const { since, before: last, after, withExpired, ...query } = filter;
    // An id begins with the 48 bits of its milliseconds (RFC 9562, 5.7).
    const earliest = toFirstId(since ?? 0);
    const first = after !== undefined && after > earliest ? after : earliest;
    // DynamoDB refuses such a range.
    if (last !== undefined && last < first) return;
    const order = filter.order === 'oldest' ? 'asc' : 'desc';
    for await (const page of readIndex(inquiries, { ...query, first, last, order })) {
      yield page.filter(
        (row) => (withExpired === true || isCurrent(row)) && row.id !== last && row.id !== after,
      );
    }
  }

  async function read(keys: Keys): Promise<StoredInquiry | undefined> {
    const [row] = parse(await getItems({ client, table }, [keyOf(keys).Key]));
    return row !== undefined && isCurrent(row) ? row : undefined;
  }

  /** Reads one inquiry, strongly consistent once the index has it. */
  async function get(id: string): Promise<StoredInquiry | undefined> {
    const keys = await findInIndex(inquiries, id);
    return keys && read(keys);
  }

  /** Yields what is stored under keys in portions of up to 40, in their order; what is gone or expired is left out. */
  async function* readInFull(keys: Keys[]): AsyncIterableIterator<StoredInquiry[]> {
    for (let at = 0; at < keys.length; at += MOST_READ) {
      const portion = keys.slice(at, at + MOST_READ);
      const items = await getItems(
        { client, table },
        portion.map((each) => keyOf(each).Key),
      );
      const found = new Map(parse(items).map((row) => [row.id, row]));
      yield portion.flatMap(({ id }) => found.get(id) ?? []).filter(isCurrent);
    }
  }

  return {
    list,
    get,
    /** Yields rows of {@link list} with all that is stored. */
    readInFull,
    /** As {@link list}, but with all that is stored. */
    async *listInFull(filter: InquiryFilter = {}): AsyncIterableIterator<StoredInquiry[]> {
      for await (const page of list(filter)) yield* readInFull(page);
    },
    /**
     * Yields all inquiries that match, in no order, from the table itself: strongly consistent, and none is missing or there
     * twice, whatever happens to it while it is read. It reads, and AWS charges for, the whole table.
     */
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
        yield parse(Items).filter((row) => withExpired || isCurrent(row));
      }
    },
    /** Adds to rows of answered inquiries why the reply has not arrived. */
    async addUndelivered<Row extends Pick<StoredInquiry, 'id' | 'reply_at'>>(
      rows: Row[],
    ): Promise<(Row & Partial<Undelivered>)[]> {
      const keys = rows
        .filter(({ reply_at }) => reply_at !== undefined)
        .map(
          ({ id }) => deliveries.get({ inquiry: id, mail: 'reply' }).params<{ Key: Item }>().Key,
        );
      const Items = await getItems({ client, table }, keys);
      const found = new Map<string, Undelivered>();
      for (const { inquiry, undelivered, undelivered_at = '' } of deliveries.parse({ Items })
        .data) {
        if (undelivered !== undefined) found.set(inquiry, { undelivered, undelivered_at });
      }
      return rows.map((row) => ({ ...row, ...found.get(row.id) }));
    },
    /** Finds the ids that begin with a text. */
    async findIds(beginning: string): Promise<string[]> {
      const pages = readIndex(inquiries, { first: beginning, last: `${beginning}${LAST_ID}` });
      return (await Array.fromAsync(pages)).flat().map(({ id }) => id);
    },
    /**
     * Records an answer, once: one conditional update of the three columns and of the place in the index. Without
     * `reply` the inquiry is dismissed.
     *
     * @param reply - From {@link parseReply}.
     */
    async answer(
      id: string,
      { reply, respondent }: { reply?: string | undefined; respondent: string },
    ): Promise<AnswerResult> {
      const keys = await findInIndex(inquiries, id);
      // An expired one is not answered: the mailer would not send the reply.
      if (keys === undefined || (await read(keys)) === undefined) return { status: 'not-found' };
      const reply_at = new Date(now()).toISOString();
      try {
        // Not ElectroDB's patch, which also sets the id, the owner and ElectroDB's own attributes: the operators' policy
        // allows these columns only (infra/terraform/bootstrap/policies.tf).
        await client.send(
          new UpdateCommand({
            ...keyOf(keys),
            UpdateExpression: `SET respondent = :respondent, reply_at = :reply_at, inbox = :inbox${reply === undefined ? '' : ', reply = :reply'}`,
            ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(reply_at)',
            ExpressionAttributeValues: {
              ':respondent': respondent,
              ':reply_at': reply_at,
              ':inbox': toShard(id, true),
              ...(reply !== undefined && { ':reply': reply }),
            },
          }),
        );
        return { status: 'answered', reply_at };
      } catch (error) {
        const { name, message } = error as Error;
        if (name === 'ValidationException' && /item size/i.test(message)) {
          return { status: 'too-large' };
        }
        if (name !== 'ConditionalCheckFailedException') throw error;
      }
      const row = await read(keys);
      if (row?.reply_at === undefined) return { status: 'not-found' };
      const { respondent: by = '' } = row;
      // The SDK retries an update whose response was lost, and then refuses its own answer.
      if (row.reply_at === reply_at && by === respondent && row.reply === reply) {
        return { status: 'answered', reply_at };
      }
      return { status: 'already-answered', respondent: by, reply_at: row.reply_at };
    },
  };
}

/**
 * Parses the text of a reply: well-formed Unicode, LF between lines, no white space at its end.
 *
 * @throws UsageError when it is blank or larger than any inquiry can hold.
 */
export function parseReply(text: string): string {
  const reply = text.toWellFormed().replaceAll(/\r\n?/g, '\n').trimEnd();
  if (reply === '') throw new UsageError('The reply is empty; nothing was changed.');
  if (Buffer.byteLength(reply) > ITEM_LIMIT) throw new UsageError(TOO_LARGE);
  return reply;
}
