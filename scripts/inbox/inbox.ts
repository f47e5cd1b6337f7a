/**
 * The operators' side of the table: reads all inquiries, records an answer, deletes. The model is the function's
 * (src/entities/inquiry.ts). docs/adr/0081
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DeleteCommand, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Inquiry } from '../../src/contract.ts';
import { createInquiryEntity, toFirstId } from '../../src/entities/inquiry.ts';

/** An inquiry with what operators know of it. Unanswered: no `reply_at`; dismissed: `reply_at` without `reply`. */
export interface StoredInquiry extends Inquiry {
  readonly reply?: string;
  readonly respondent?: string;
  readonly reply_at?: string;
  /** Seconds since the epoch. */
  readonly expires_at?: number;
}

/** What the index holds of an inquiry. */
export type InquirySummary = Omit<StoredInquiry, 'body' | 'reply'>;

/** Which inquiries to list; all of them by default. */
export interface InquiryFilter {
  readonly unansweredOnly?: boolean | undefined;
  /** Byte for byte. */
  readonly email?: string | undefined;
  readonly sub?: string | undefined;
  /** Not older. Milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only older ones than this id. */
  readonly before?: string | undefined;
}

export type AnswerResult =
  | { readonly status: 'answered'; readonly reply_at: string }
  | { readonly status: 'already-answered'; readonly respondent: string; readonly reply_at: string }
  | { readonly status: 'not-found' };

export type Inbox = ReturnType<typeof createInbox>;

type Keys = Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>;

/** Neither a lower nor a higher id exists. */
const FIRST_ID = '0';
const LAST_ID = 'g';

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
  }: InquiryFilter = {}): AsyncIterableIterator<InquirySummary[]> {
    const input = entity.query
      // An id begins with the 48 bits of its milliseconds (RFC 9562, 5.7).
      .byTime({})
      .between({ id: since === undefined ? FIRST_ID : toFirstId(since) }, { id: before ?? LAST_ID })
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
      const rows = (page.Items ?? []) as InquirySummary[];
      yield rows.filter((row) => isCurrent(row) && row.id !== before).map(withoutKeys);
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  }

  /** Finds the keys of an inquiry by its id. */
  async function find(id: string): Promise<Keys | undefined> {
    const input = entity.query.byTime({ id }).params<{ TableName: string }>();
    const { Items = [] } = await client.send(new QueryCommand(input));
    return Items[0] as Keys | undefined;
  }

  const keyOf = (keys: Keys) => entity.get(keys).params<{ TableName: string; Key: object }>();

  /** Reads one inquiry, strongly consistent once the index has it. */
  async function get(id: string): Promise<StoredInquiry | undefined> {
    const keys = await find(id);
    if (keys === undefined) return undefined;
    const { Item } = await client.send(new GetCommand({ ...keyOf(keys), ConsistentRead: true }));
    return Item !== undefined && isCurrent(Item) ? withoutKeys(Item as StoredInquiry) : undefined;
  }

  return {
    list,
    get,
    /**
     * Records an answer, once: one conditional update of the three columns. Without `reply` the inquiry is dismissed.
     */
    async answer(
      id: string,
      { reply, respondent }: { reply?: string; respondent: string },
    ): Promise<AnswerResult> {
      const keys = await find(id);
      if (keys === undefined) return { status: 'not-found' };
      const reply_at = new Date(now()).toISOString();
      try {
        await client.send(
          new UpdateCommand({
            ...keyOf(keys),
            UpdateExpression: `SET respondent = :respondent, reply_at = :reply_at${reply === undefined ? '' : ', reply = :reply'}`,
            ConditionExpression:
              'attribute_exists(pk) AND attribute_not_exists(reply_at) AND (attribute_not_exists(expires_at) OR expires_at > :now)',
            ExpressionAttributeValues: {
              ':respondent': respondent,
              ':reply_at': reply_at,
              ':now': Math.floor(now() / 1_000),
              ...(reply !== undefined && { ':reply': reply }),
            },
          }),
        );
        return { status: 'answered', reply_at };
      } catch (error) {
        if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
      }
      const row = await get(id);
      if (row?.reply_at === undefined) return { status: 'not-found' };
      const { respondent: by = '' } = row;
      // The SDK retries an update whose response was lost, and then refuses its own answer.
      if (row.reply_at === reply_at && by === respondent) return { status: 'answered', reply_at };
      return { status: 'already-answered', respondent: by, reply_at: row.reply_at };
    },
    /** Deletes one inquiry; one that does not exist is no error. */
    async remove(keys: Keys): Promise<void> {
      await client.send(new DeleteCommand(keyOf(keys)));
    },
  };
}

const HIDDEN = new Set(['pk', 'sk', '__edb_e__', '__edb_v__']);

/** Leaves out the keys and ElectroDB's own attributes. */
const withoutKeys = <Row extends InquirySummary>(row: Row): Row =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only attributes that the type does not name go
  Object.fromEntries(Object.entries(row).filter(([name]) => !HIDDEN.has(name))) as unknown as Row;
