import {
  ConditionalCheckFailedException,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type {
  DynamoDBClient,
  TransactionCanceledException,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { Inquiry } from '../contract.ts';
import type { InquiryStore, PutResult, StoreCall } from '../inquiries.ts';
import { isTestAddress, ITEM_LIMIT, PARTITION_KEY_LIMIT } from '../limits.ts';
import { createInputs, type Attributes, type QueryInput } from './inputs.ts';
import { digest, toOwnerHour } from './keys.ts';

const SECONDS_PER_DAY = 86_400;
/** How long a key is kept. docs/adr/0090 */
const KEY_DAYS = 1;
/** Bytes of an inquiry from which its key is looked up first: a refused transaction costs 2 units for each KB. */
const LOOK_UP_FROM = 16 * 1024;
/** How long the inquiry of a smoke test is kept. */
const TEST_DAYS = 1;

export interface InquiryStoreOptions {
  /** Days after which a new inquiry expires; absent: never. */
  readonly retentionDays?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Creates the store on DynamoDB, with the SDK's own commands (docs/adr/0060).
 *
 * Errors that are not the SDK's have one of the names `UnconfirmedWrite`, `InvalidQueryOutput` and `MalformedRow`.
 */
export function createInquiryStore(
  client: DynamoDBClient,
  table: string,
  { retentionDays, now = Date.now }: InquiryStoreOptions = {},
): InquiryStore {
  const inputs = createInputs(table);

  /** Reads one page. */
  const query = async (
    input: QueryInput,
    call: StoreCall,
  ): Promise<{ readonly rows: Attributes[]; readonly next?: Attributes | undefined }> => {
    // No key can hold this email, so nothing is stored under it, and DynamoDB would refuse the query.
    if (Buffer.byteLength(input.ExpressionAttributeValues[':pk'].S) > PARTITION_KEY_LIMIT) {
      return { rows: [] };
    }
    const sent = client.send(new QueryCommand(input), { abortSignal: call.signal });
    const { Items, LastEvaluatedKey } = await countAttempts(call, sent);
    if (Items === undefined) throw storeError('InvalidQueryOutput', 'A query returned no Items.');
    return { rows: Items, next: LastEvaluatedKey };
  };

  const updateRate = async (input: UpdateItemCommandInput, call: StoreCall): Promise<void> => {
    const command = new UpdateItemCommand({ ...input, ReturnConsumedCapacity: 'TOTAL' });
    confirm(await countAttempts(call, client.send(command, { abortSignal: call.signal })));
  };

  const find: InquiryStore['find'] = async (inquiry, call, key) => {
    const { rows } = await query(inputs.queryKey(inquiry, key), call);
    const row = rows.find(isCurrentAt(now()));
    return row && toResult(row, inquiry);
  };

  return {
    async put(inquiry, call, { key, language, isEmailVerified } = {}) {
      const { id } = inquiry;
      const days = isTestAddress(inquiry.email) ? TEST_DAYS : retentionDays;
      const expiry = days === undefined ? undefined : toExpiry(inquiry, days);
      // Without a condition: a retry after a write whose response was lost would fail its own and report an error for
      // an inquiry that is stored. The id is fresh, so there is nothing to overwrite.
      const put = inputs.putInquiry(inquiry, expiry, language, isEmailVerified);
      if (Buffer.byteLength(put.Item.pk.S) > PARTITION_KEY_LIMIT) return { refusal: 'email' };
      const size = sizeOf(put.Item);
      if (size > ITEM_LIMIT) return { refusal: 'inquiry' };
      if (key === undefined) {
        const command = new PutItemCommand({ ...put, ReturnConsumedCapacity: 'TOTAL' });
        confirm(await countAttempts(call, client.send(command, { abortSignal: call.signal })));
        return { id };
      }

      const found = size > LOOK_UP_FROM ? await find(inquiry, call, key) : undefined;
      if (found !== undefined) return found;
      const known = inputs.putKey(
        inquiry,
        key,
        toExpiry(inquiry, KEY_DAYS),
        Math.floor(now() / 1_000),
      );
      const command = new TransactWriteItemsCommand({
        TransactItems: [
          { Put: { ...known, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } },
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
        const { CancellationReasons: reasons = [] } =
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any other error has no reasons
          error as Partial<TransactionCanceledException>;
        const row = reasons[0]?.Item;
        if (row !== undefined) return toResult(row, inquiry);
        if (reasons.some(({ Code }) => Code === 'TransactionConflict')) {
          return { refusal: 'in use' };
        }
        throw error;
      }
    },

    find,

    async count(sub, time, most, call) {
      try {
        await updateRate(inputs.updateRate(toOwnerHour(sub, time), time, 1, most), call);
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      }
    },

    async uncount(sub, time, call) {
      await updateRate(inputs.updateRate(toOwnerHour(sub, time), time, -1), call);
    },

    async *list({ sub, email }, { before, limit }, call) {
      const owner = { cognito_sub: sub, email };
      const input = inputs.queryInquiries(owner);
      // The key of `before` need not exist: reading starts after its position.
      let start: Attributes | undefined =
        before === undefined ? undefined : inputs.startAfter(owner, before);
      // Of the first page only: expired rows would otherwise be read a few at a time.
      let most = limit && { Limit: limit + 1 };
      do {
        const page = { ...input, ...most, ...(start && { ExclusiveStartKey: start }) };
        const { rows, next } = await query(page, call);
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

/** Bytes of attribute names and values; a boolean has one. */
const sizeOf = (item: Attributes): number =>
  Buffer.byteLength(
    Object.entries(item)
      .map(([name, { S, N }]) => `${name}${S ?? N ?? ' '}`)
      .join(''),
  );

/** The result for an inquiry whose key has this row. */
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
const storeError = (name: string, message: string): Error =>
  Object.assign(new Error(message), { name });

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
