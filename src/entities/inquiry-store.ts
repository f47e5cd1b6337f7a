import { PutItemCommand, QueryCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import type {
  AttributeValue,
  DynamoDBClient,
  QueryCommandInput,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { inquirySchema } from '../contract.ts';
import type { Inquiry } from '../contract.ts';
import type { InquiryStore, PutResult, StoreCall } from '../inquiries.ts';
import { ITEM_LIMIT, PARTITION_KEY_LIMIT } from '../limits.ts';
import { createIdempotencyKeyEntity, digest } from './idempotency-key.ts';
import { createInquiryEntity, LAST_ID, toFirstId } from './inquiry.ts';

type Scalars = Record<string, string | number>;
type Attributes = Record<string, AttributeValue>;

/** What a query fetches: the fields of an inquiry and its expiry, not the reply columns and not the keys. */
const PROJECTION = [...inquirySchema.required, 'expires_at'].join();

/** What ElectroDB makes of a query. */
type QueryInput = Omit<QueryCommandInput, 'ExpressionAttributeValues'> & {
  ExpressionAttributeValues: Scalars;
};

const SECONDS_PER_DAY = 86_400;
/** How long a key is kept. docs/adr/0090 */
const KEY_DAYS = 1;

export interface InquiryStoreOptions {
  /** Days after which a new inquiry expires; absent: never. */
  readonly retentionDays?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** The models of what the API stores. */
export const createEntities = (table: string) => ({
  inquiries: createInquiryEntity(table),
  keys: createIdempotencyKeyEntity(table),
});

/**
 * Creates the store on DynamoDB: ElectroDB makes keys and inputs, and the request function sends the SDK's own commands,
 * which take less time and memory than ElectroDB's with a document client (docs/adr/0060).
 *
 * Errors that are not the SDK's have one of the names `UnconfirmedWrite`, `InvalidQueryOutput` and `MalformedRow`.
 */
export function createInquiryStore(
  client: DynamoDBClient,
  { inquiries, keys }: ReturnType<typeof createEntities>,
  { retentionDays, now = Date.now }: InquiryStoreOptions = {},
): InquiryStore {
  /** Reads one page. */
  const query = async (
    { ExpressionAttributeValues: values, ...input }: QueryInput,
    call: StoreCall,
  ): Promise<{ readonly rows: Attributes[]; readonly next?: Attributes | undefined }> => {
    // No key can hold this email, so nothing is stored under it, and DynamoDB would refuse the query.
    if (Buffer.byteLength(String(values[':pk'])) > PARTITION_KEY_LIMIT) return { rows: [] };
    const command = new QueryCommand({
      ...input,
      // Strongly consistent: a user who lists right after a POST sees the new inquiry. docs/adr/0015
      ConsistentRead: true,
      ExpressionAttributeValues: toAttributes(values),
    });
    const sent = client.send(command, { abortSignal: call.signal });
    const { Items, LastEvaluatedKey } = await countAttempts(call, sent);
    if (Items === undefined) throw storeError('InvalidQueryOutput', 'A query returned no Items.');
    return { rows: Items, next: LastEvaluatedKey };
  };

  return {
    async put(inquiry, call, key) {
      const { id, subject, body } = inquiry;
      const expiry = retentionDays !== undefined && { expires_at: toExpiry(inquiry, retentionDays) };
      // `put`, not `create`: a retry of `create` after a write whose response was lost fails its own condition
      // and reports an error for an inquiry that is stored. The id is fresh, so there is nothing to overwrite.
      const { Item, ...input } = inquiries
        .put({ ...inquiry, ...expiry })
        .params<{ TableName: string; Item: Scalars & { pk: string } }>();
      if (Buffer.byteLength(Item.pk) > PARTITION_KEY_LIMIT) return { refusal: 'email' };
      if (Buffer.byteLength(Object.entries(Item).flat().join('')) > ITEM_LIMIT) return { refusal: 'inquiry' };
      const put = { ...input, Item: toAttributes(Item) };
      if (key === undefined) {
        const command = new PutItemCommand({ ...put, ReturnConsumedCapacity: 'TOTAL' });
        confirm(await countAttempts(call, client.send(command, { abortSignal: call.signal })));
        return { id };
      }

      const known = keys
        .put({
          ...toKey(inquiry, key),
          payload: digest(subject, body),
          inquiry: id,
          expires_at: toExpiry(inquiry, KEY_DAYS),
        })
        .where(
          ({ expires_at }, { notExists, lte }) =>
            `${notExists(expires_at)} OR ${lte(expires_at, Math.floor(now() / 1_000))}`,
        )
        .params<{ TableName: string; Item: Scalars; ExpressionAttributeValues: Scalars }>();
      const command = new TransactWriteItemsCommand({
        TransactItems: [
          {
            Put: {
              ...known,
              Item: toAttributes(known.Item),
              ExpressionAttributeValues: toAttributes(known.ExpressionAttributeValues),
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          },
          { Put: put },
        ],
        // A retry after a lost response succeeds.
        ClientRequestToken: id,
        ReturnConsumedCapacity: 'TOTAL',
      });
      try {
        confirm(await countAttempts(call, client.send(command, { abortSignal: call.signal })));
        return { id };
      } catch (error) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any other error has no reasons
        const { CancellationReasons: reasons = [] } = error as Partial<TransactionCanceledException>;
        const row = reasons[0]?.Item;
        if (row !== undefined) return toResult(row, inquiry);
        if (reasons.some(({ Code }) => Code === 'TransactionConflict')) return { refusal: 'in use' };
        throw error;
      }
    },

    async find(inquiry, call, key) {
      const input = keys.query.byOwner(toKey(inquiry, key)).params<QueryInput>();
      const { rows } = await query(input, call);
      const row = rows.find(isCurrentAt(now()));
      return row && toResult(row, inquiry);
    },

    async findNth({ sub, email }, since, count, call) {
      const input = inquiries.query
        .byOwner({ cognito_sub: sub, email })
        .between({ id: toFirstId(since) }, { id: LAST_ID })
        .params<QueryInput>({ order: 'desc', limit: count, params: { ProjectionExpression: 'id' } });
      const { rows, next } = await query(input, call);
      return rows.length === count || next !== undefined ? rows.at(-1)?.['id']?.S : undefined;
    },

    async *list({ sub, email }, { before, limit }, call) {
      const owner = { cognito_sub: sub, email };
      const input = inquiries.query
        .byOwner(owner)
        .params<QueryInput>({ order: 'desc', params: { ProjectionExpression: PROJECTION } });
      // The key of `before` need not exist: reading starts after its position.
      let start =
        before && toAttributes(inquiries.get({ ...owner, id: before }).params<{ Key: Scalars }>().Key);
      // Of the first page only: expired rows would otherwise be read a few at a time.
      let most = limit && { Limit: limit + 1 };
      do {
        const { rows, next } = await query(
          { ...input, ...most, ...(start && { ExclusiveStartKey: start }) },
          call,
        );
        yield rows.filter(isCurrentAt(now())).map((row) => toInquiry(row, owner));
        start = next;
        most = undefined;
      } while (start !== undefined);
    },
  };
}

/** Seconds since the epoch. */
const toExpiry = ({ created_at }: Inquiry, days: number): number =>
  Math.floor(Date.parse(created_at) / 1_000) + days * SECONDS_PER_DAY;

const toKey = ({ cognito_sub, email }: Inquiry, key: string) => ({ cognito_sub, email, key: digest(key) });

/** What a row that has the key of an inquiry says of it. */
function toResult(row: Attributes, { subject, body }: Inquiry): PutResult {
  const id = row['inquiry']?.S;
  if (id === undefined) throw storeError('MalformedRow', 'A stored row is not an idempotency key.');
  return row['payload']?.S === digest(subject, body) ? { id } : { refusal: 'reused' };
}

/** DynamoDB deletes an expired row up to days later. A row without `expires_at` never expires. docs/adr/0084 */
const isCurrentAt =
  (time: number) =>
  ({ expires_at }: Attributes): boolean =>
    !(Number(expires_at?.N) * 1_000 <= time);

/**
 * The SDK takes any 200 for a success, also one with an empty body from a proxy. Only DynamoDB reports the capacity that a
 * write consumed. docs/adr/0012
 */
function confirm({ ConsumedCapacity }: { ConsumedCapacity?: unknown }): void {
  if (ConsumedCapacity !== undefined) return;
  throw storeError('UnconfirmedWrite', 'The response to a write has no ConsumedCapacity.');
}

/**
 * Adds the SDK's attempts to the call's: none if nothing was sent, one if the signal ended the request, which the SDK
 * does not count.
 */
async function countAttempts<Output extends { $metadata: { attempts?: number } }>(
  call: StoreCall,
  request: Promise<Output>,
): Promise<Output> {
  try {
    const output = await request;
    call.attempts += output.$metadata.attempts ?? 1;
    return output;
  } catch (error) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK adds it to its errors
    const { $metadata } = error as Partial<Output>;
    call.attempts += $metadata?.attempts ?? (call.signal.aborted ? 1 : 0);
    throw error;
  }
}

/** @param name - Appears in the log. */
const storeError = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** `{ a: 'x', b: 5 }` → `{ a: { S: 'x' }, b: { N: '5' } }` */
const toAttributes = (scalars: Scalars): Attributes =>
  Object.fromEntries(
    Object.entries(scalars).map(([name, value]) => [
      name,
      typeof value === 'string' ? { S: value } : { N: String(value) },
    ]),
  );

/**
 * Narrows a row to the six fields of an inquiry.
 *
 * @throws MalformedRow when one is not a string, or when the row names another owner: a list is complete or an error.
 */
function toInquiry(row: Attributes, owner: Pick<Inquiry, 'cognito_sub' | 'email'>): Inquiry {
  const { id, cognito_sub, email, subject, body, created_at } = row;
  if (
    typeof id?.S === 'string' &&
    cognito_sub?.S === owner.cognito_sub &&
    email?.S === owner.email &&
    typeof subject?.S === 'string' &&
    typeof body?.S === 'string' &&
    typeof created_at?.S === 'string'
  ) {
    return { id: id.S, ...owner, subject: subject.S, body: body.S, created_at: created_at.S };
  }
  throw storeError('MalformedRow', 'A stored row is not an inquiry of its owner.');
}
