/**
 * The operators' side of the table: reads all inquiries and records answers. The model is the function's
 * (src/entities/inquiry.ts). docs/adr/0081
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BatchGetCommand, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Inquiry } from '../src/contract.ts';
import { createInquiryEntity, LAST_ID, toFirstId } from '../src/entities/inquiry.ts';
import { ITEM_LIMIT } from '../src/limits.ts';
import { UsageError } from '../lib/command-line.ts';

/** An inquiry with what operators know of it. Unanswered: no `reply_at`; dismissed: `reply_at` without `reply`. */
export interface StoredInquiry extends Inquiry {
  readonly reply?: string;
  readonly respondent?: string;
  readonly reply_at?: string;
  /** Seconds since the epoch. */
  readonly expires_at?: number;
}

/** What a list shows of an inquiry. */
export type InquirySummary = Omit<StoredInquiry, 'body' | 'reply'>;

/** What the index holds of an inquiry. A subject may be as long as a body, so the index does not have it. */
export type IndexedInquiry = Omit<InquirySummary, 'subject'>;

/** Which inquiries to list; all of them by default. */
export interface InquiryFilter {
  readonly unansweredOnly?: boolean | undefined;
  /** Byte for byte. */
  readonly email?: string | undefined;
  readonly sub?: string | undefined;
  /** Not older. Milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Expired ones, too. */
  readonly withExpired?: boolean | undefined;
  /** Only older ones than this id. */
  readonly before?: string | undefined;
}

export type AnswerResult =
  | { readonly status: 'answered'; readonly reply_at: string }
  | { readonly status: 'already-answered'; readonly respondent: string; readonly reply_at: string }
  | { readonly status: 'not-found' }
  /** The item would be larger than DynamoDB allows: 400 KB with the inquiry. */
  | { readonly status: 'too-large' };

export type Inbox = ReturnType<typeof createInbox>;

export const TOO_LARGE = 'The reply is too long: with the inquiry it may have 400 KB; nothing was changed.';

type Keys = Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>;

/** Keys of one BatchGetItem: as many of the largest rows, 400 KB, as a response holds, 16 MB. */
const BATCH_SIZE = 40;

/** Responses of BatchGetItem without a row, one after the other, before reading is given up: 3 s. */
const MOST_REFUSALS = 5;

/** The attributes of an {@link InquirySummary}. */
const SUMMARY = 'id,cognito_sub,email,subject,created_at,respondent,reply_at,expires_at';

/** No id is lower. */
const FIRST_ID = '0';

/**
 * Creates the inbox on a table. What has expired is hidden to the second, as in the API.
 *
 * @param now - Milliseconds since the epoch.
 */
export function createInbox(client: DynamoDBDocumentClient, table: string, now: () => number = Date.now) {
  const entity = createInquiryEntity(table);
  const isCurrent = ({ expires_at = Infinity }: { expires_at?: number }): boolean =>
    expires_at * 1_000 > now();

  /**
   * Yields pages of the index, newest first; a page may be empty. A page is read when it is asked for. The index is
   * eventually consistent.
   */
  async function* list({
    unansweredOnly,
    email,
    sub,
    since,
    before,
    withExpired,
  }: InquiryFilter = {}): AsyncIterableIterator<IndexedInquiry[]> {
    const first = since === undefined ? FIRST_ID : toFirstId(since);
    // DynamoDB refuses such a range.
    if (before !== undefined && before < first) return;
    const input = entity.query
      // An id begins with the 48 bits of its milliseconds (RFC 9562, 5.7).
      .byTime({})
      .between({ id: first }, { id: before ?? LAST_ID })
      .where((row, op) =>
        [
          unansweredOnly === true && op.notExists(row.reply_at),
          email !== undefined && op.eq(row.email, email),
          sub !== undefined && op.eq(row.cognito_sub, sub),
        ]
          .filter((condition) => condition !== false)
          .join(' AND '),
      )
      .params<{ TableName: string }>({ order: 'desc' });
    let start: Record<string, unknown> | undefined;
    do {
      const page = await client.send(
        new QueryCommand({ ...input, ...(start && { ExclusiveStartKey: start }) }),
      );
      const rows = (page.Items ?? []) as IndexedInquiry[];
      yield rows
        .filter((row) => (withExpired === true || isCurrent(row)) && row.id !== before)
        .map(withoutKeys);
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  }

  /** Finds the keys of an inquiry by its id. */
  async function find(id: string): Promise<Keys | undefined> {
    const input = entity.query.byTime({ id }).params<{ TableName: string }>();
    const { Items = [] } = await client.send(new QueryCommand(input));
    return Items[0] as Keys | undefined;
  }

  const keyOf = (keys: Keys) =>
    entity.get(keys).params<{ TableName: string; Key: Record<string, unknown> }>();

  async function read(keys: Keys): Promise<StoredInquiry | undefined> {
    const { Item } = await client.send(new GetCommand({ ...keyOf(keys), ConsistentRead: true }));
    return Item !== undefined && isCurrent(Item) ? withoutKeys(Item as StoredInquiry) : undefined;
  }

  /** Reads one inquiry, strongly consistent once the index has it. */
  async function get(id: string): Promise<StoredInquiry | undefined> {
    const keys = await find(id);
    return keys && read(keys);
  }

  /** Reads rows, up to 40, in the order of the keys; one that does not exist is left out. */
  async function readAll<Row extends InquirySummary>(
    keys: readonly Keys[],
    options: { readonly ConsistentRead: boolean; readonly ProjectionExpression?: string },
  ): Promise<Row[]> {
    const found = new Map<string, Row>();
    let wanted: Record<string, unknown>[] = keys.map((each) => keyOf(each).Key);
    for (let refusals = 0; wanted.length > 0;) {
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetCommand({ RequestItems: { [table]: { Keys: wanted, ...options } } }),
      );
      const rows = (Responses?.[table] ?? []) as Row[];
      for (const row of rows) if (isCurrent(row)) found.set(row.id, withoutKeys(row));
      wanted = UnprocessedKeys?.[table]?.Keys ?? [];
      // One without a row: DynamoDB limits the requests.
      refusals = rows.length > 0 ? 0 : refusals + 1;
      if (refusals > MOST_REFUSALS)
        throw Object.assign(new Error('No rows.'), { name: 'ThrottlingException' });
      if (wanted.length > 0 && refusals > 0) await sleep(50 * 2 ** refusals);
    }
    return keys.map(({ id }) => found.get(id)).filter((row) => row !== undefined);
  }

  /** As {@link list}, but with `body` and `reply`: each page of the index in portions of up to 40 rows. */
  async function* listInFull(filter: InquiryFilter = {}): AsyncIterableIterator<StoredInquiry[]> {
    for await (const page of list(filter)) {
      for (let at = 0; at < page.length; at += BATCH_SIZE) {
        yield await readAll(page.slice(at, at + BATCH_SIZE), { ConsistentRead: true });
      }
    }
  }

  /** Yields rows of {@link list} with what a list shows, in portions of up to 40. */
  async function* summarize(rows: readonly IndexedInquiry[]): AsyncIterableIterator<InquirySummary[]> {
    for (let at = 0; at < rows.length; at += BATCH_SIZE) {
      yield await readAll(rows.slice(at, at + BATCH_SIZE), {
        ConsistentRead: false,
        ProjectionExpression: SUMMARY,
      });
    }
  }

  return {
    list,
    listInFull,
    summarize,
    get,
    /** Finds the ids that begin with a text. */
    async findIds(beginning: string): Promise<string[]> {
      const input = entity.query.byTime({}).begins({ id: beginning }).params<{ TableName: string }>();
      const { Items = [] } = await client.send(new QueryCommand(input));
      return (Items as Keys[]).map(({ id }) => id);
    },
    /**
     * Records an answer, once: one conditional update of the three columns. Without `reply` the inquiry is dismissed.
     *
     * @param reply - From {@link parseReply}.
     */
    async answer(
      id: string,
      { reply, respondent }: { reply?: string; respondent: string },
    ): Promise<AnswerResult> {
      const keys = await find(id);
      // An expired one is not answered: the mailer would not send the reply.
      if (keys === undefined || (await read(keys)) === undefined) return { status: 'not-found' };
      const reply_at = new Date(now()).toISOString();
      try {
        await client.send(
          new UpdateCommand({
            ...keyOf(keys),
            UpdateExpression: `SET respondent = :respondent, reply_at = :reply_at${reply === undefined ? '' : ', reply = :reply'}`,
            ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(reply_at)',
            ExpressionAttributeValues: {
              ':respondent': respondent,
              ':reply_at': reply_at,
              ...(reply !== undefined && { ':reply': reply }),
            },
          }),
        );
        return { status: 'answered', reply_at };
      } catch (error) {
        const { name, message } = error as Error;
        if (name === 'ValidationException' && /item size/i.test(message)) return { status: 'too-large' };
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

const HIDDEN = new Set(['pk', 'sk', '__edb_e__', '__edb_v__']);

/** Leaves out the keys and ElectroDB's own attributes. */
const withoutKeys = <Row extends object>(row: Row): Row =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only attributes that the type does not name go
  Object.fromEntries(Object.entries(row).filter(([name]) => !HIDDEN.has(name))) as unknown as Row;
