import {
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  type CancellationReason,
  type DynamoDBClient,
  type QueryCommandInput,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { setTimeout as sleep } from 'node:timers/promises';
import { toInquiry, toPayload, type Inquiry } from '../contract.ts';
import type { InquiryStore, Limit, PutResult, StoreCall } from '../inquiries.ts';
import { isTestAddress, ITEM_LIMIT, PARTITION_KEY_LIMIT } from '../limits.ts';
import { isCurrent, toExpiry } from './expiry.ts';
import { digest, toOwnerHour, toShard } from './keys.ts';
import { createRequests } from './requests.generated.ts';
import type { Attributes, KeyRow, Requests } from './requests.ts';

/** Seconds. */
const DAY = 86_400;
/** How long a key is kept, in seconds. docs/adr/0090 */
const KEY_KEPT = DAY;
/** Bytes of an inquiry whose key is looked up first: a refused transaction costs 2 units for each KB. */
const LOOK_UP_FROM = 16 * 1024;
/** How long the inquiry of a smoke test is kept. */
const TEST_DAYS = 1;
/** Seconds: longer than its hour, also where clocks differ. */
const RATE_KEPT = 7_200;
/** Attempts of a transaction whose counter is in another one, and the waits between them in milliseconds. */
const CONFLICT_ATTEMPTS = 12;
const FIRST_WAIT = 20;
const LONGEST_WAIT = 500;

export interface InquiryStoreOptions {
  /** Days after which a new inquiry expires; absent: never. */
  retentionDays?: number | undefined;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

type Transaction = Parameters<Requests['storeInquiry']>[0] & { limit: Limit | undefined };

/** Its name appears in the log. */
class StoreError extends Error {
  constructor(name: 'InvalidQueryOutput' | 'MalformedRow' | 'UnconfirmedWrite', message: string) {
    super(message);
    this.name = name;
  }
}

/** With the SDK's own commands (docs/adr/0060). Errors that are not the SDK's are a {@link StoreError}. */
export function createInquiryStore(
  client: DynamoDBClient,
  table: string,
  { retentionDays, now = Date.now }: InquiryStoreOptions = {},
): InquiryStore {
  const requests = createRequests(table);

  /** Without what has expired. */
  async function query(input: QueryCommandInput, call: StoreCall) {
    const sent = client.send(new QueryCommand(input), { abortSignal: call.signal });
    const { Items, LastEvaluatedKey } = await countAttempts(call, sent);
    if (Items === undefined) {
      throw new StoreError('InvalidQueryOutput', 'A query returned no Items.');
    }
    const time = now();
    const rows = Items.filter((row) => isCurrent({ expires_at: row['expires_at']?.N }, time));
    return { rows, next: LastEvaluatedKey };
  }

  /** Undefined when the key is not known. */
  async function find(key: KeyRow, call: StoreCall): Promise<PutResult | undefined> {
    const { rows } = await query(requests.findKey({ owner: key, digest: key.key }), call);
    return rows[0] && toResult(rows[0], key);
  }

  /**
   * Undefined below the limit, as far as an eventually consistent read knows. A refused transaction would cost units
   * for all of its text.
   */
  async function checkLimit(
    { rate, key, limit }: Transaction,
    call: StoreCall,
  ): Promise<PutResult | undefined> {
    if (rate === undefined || limit === undefined) return undefined;
    const { rows } = await query(requests.readRate(rate), call);
    if (!(Number(rows[0]?.['inquiries']?.N) >= rate.most)) return undefined;
    // A known key is answered beyond the limit, too: it stores nothing.
    return (key && (await find(key, call))) ?? { refusal: 'limit', limit };
  }

  /** One transaction with key and count. docs/adr/0090, docs/adr/0091 */
  async function storeInTransaction(transaction: Transaction, call: StoreCall): Promise<PutResult> {
    const { inquiry, key, limit } = transaction;
    const command = new TransactWriteItemsCommand(requests.storeInquiry(transaction));
    for (let attempt = 1; ; attempt++) {
      try {
        confirm(await countAttempts(call, client.send(command, { abortSignal: call.signal })));
        return { id: inquiry.id };
      } catch (error) {
        const reasons = readReasons(error, transaction);
        if (key && reasons.key?.Item) return toResult(reasons.key.Item, key);
        if (isConflict(reasons.key)) return { refusal: 'in use' };
        if (limit && reasons.rate?.Code === 'ConditionalCheckFailed') {
          return (key && (await find(key, call))) ?? { refusal: 'limit', limit };
        }
        if (!isConflict(reasons.rate) && !isConflict(reasons.inquiry)) throw error;
        if (attempt === CONFLICT_ATTEMPTS) return { refusal: 'busy' };
        const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** attempt) * Math.random();
        await sleep(wait, undefined, { signal: call.signal });
      }
    }
  }

  return {
    async put(inquiry, call, { key, limit, language, isEmailVerified } = {}) {
      const { id, cognito_sub, email } = inquiry;
      const created = Date.parse(inquiry.created_at);
      const days = isTestAddress(email) ? TEST_DAYS : retentionDays;
      const row = {
        ...inquiry,
        inbox: toShard(id, false),
        ...(language !== undefined && { language }),
        ...(isEmailVerified && { email_verified: true }),
        ...(days !== undefined && { expires_at: toExpiry(created, days * DAY) }),
      };
      // Without a condition, which a retry after a lost response would fail. The id is fresh, so there is nothing to overwrite.
      const put = requests.putInquiry({ inquiry: row });
      if (isTooLongKey(put.Item['pk'])) return { refusal: 'email' };
      const size = sizeOf(put.Item);
      if (size > ITEM_LIMIT) return { refusal: 'inquiry' };
      if (key === undefined && limit === undefined) {
        const sent = client.send(new PutItemCommand(put), { abortSignal: call.signal });
        confirm(await countAttempts(call, sent));
        return { id };
      }
      const keyRow =
        key === undefined
          ? undefined
          : {
              cognito_sub,
              email,
              key: digest(key),
              payload: digest(...toPayload(inquiry)),
              inquiry: id,
              expires_at: toExpiry(created, KEY_KEPT),
              now: Math.floor(now() / 1_000),
            };
      const rate = limit && {
        owner_hour: toOwnerHour(cognito_sub, limit.time),
        expires_at: toExpiry(limit.time, RATE_KEPT),
        most: limit.most,
      };
      const transaction = { inquiry: row, key: keyRow, rate, limit };
      const refused = await checkLimit(transaction, call);
      if (refused) return refused;
      const found = keyRow && size > LOOK_UP_FROM && (await find(keyRow, call));
      return found || storeInTransaction(transaction, call);
    },

    async *list({ sub, email }, { before, limit }, call) {
      const owner = { cognito_sub: sub, email };
      const input = requests.listInquiries({ owner });
      // Nothing is stored under an email that no key can hold, and DynamoDB would refuse the query.
      if (isTooLongKey(input.ExpressionAttributeValues?.[':pk'])) return;
      // There need be no such key.
      let start = before === undefined ? undefined : requests.toStartKey({ owner, id: before });
      // Later pages are whole: expired rows would be read a few at a time.
      let most = limit && { Limit: limit + 1 };
      do {
        const page = { ...input, ...most, ...(start && { ExclusiveStartKey: start }) };
        const { rows, next } = await query(page, call);
        yield rows.map((row) => parseRow(row, owner));
        start = next;
        most = undefined;
      } while (start !== undefined);
    },
  };
}

const isTooLongKey = (key: Attributes[string] | undefined): boolean =>
  Buffer.byteLength(key?.S ?? '') > PARTITION_KEY_LIMIT;

/** By name; nothing for another error. DynamoDB keeps the order of the writes. */
function readReasons(
  error: unknown,
  { key, rate }: Transaction,
): Partial<Record<'key' | 'rate' | 'inquiry', CancellationReason>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any other error has no reasons
  const { CancellationReasons } = error as Partial<TransactionCanceledException>;
  const writes = [key && 'key', rate && 'rate', 'inquiry'].filter((name) => name !== undefined);
  return Object.fromEntries((CancellationReasons ?? []).map((reason, at) => [writes[at], reason]));
}

const isConflict = (reason: CancellationReason | undefined): boolean =>
  reason?.Code === 'TransactionConflict';

/** A boolean has one byte. */
const sizeOf = (item: Attributes): number =>
  Buffer.byteLength(
    Object.entries(item)
      .map(([name, { S, N }]) => `${name}${S ?? N ?? ' '}`)
      .join(''),
  );

function toResult({ inquiry, payload }: Attributes, key: KeyRow): PutResult {
  if (inquiry?.S === undefined) {
    throw new StoreError('MalformedRow', 'A stored row is not an idempotency key.');
  }
  return payload?.S === key.payload ? { id: inquiry.S } : { refusal: 'reused' };
}

/** The SDK takes any 200 for a success, also an empty one of a proxy. docs/adr/0012 */
function confirm({ ConsumedCapacity }: { ConsumedCapacity?: unknown }): void {
  if (ConsumedCapacity !== undefined) return;
  throw new StoreError('UnconfirmedWrite', 'The response to a write has no ConsumedCapacity.');
}

/** One attempt if the signal ended the request, which the SDK does not count. */
async function countAttempts<Output extends { $metadata: { attempts?: number } }>(
  call: StoreCall,
  request: Promise<Output>,
): Promise<Output> {
  const count = ({ $metadata }: Partial<Output>): void => {
    call.attempts += $metadata?.attempts ?? Number(call.signal.aborted);
  };
  // The SDK adds it to its errors, too.
  void request.then(count, count);
  return request;
}

/** @throws MalformedRow: a list is complete or an error. */
function parseRow(
  row: Attributes,
  { cognito_sub, email }: Pick<Inquiry, 'cognito_sub' | 'email'>,
): Inquiry {
  const inquiry = toInquiry((field) => row[field] && (row[field].S ?? null));
  if (inquiry?.cognito_sub === cognito_sub && inquiry.email === email) return inquiry;
  throw new StoreError('MalformedRow', 'A stored row is not an inquiry of its owner.');
}
