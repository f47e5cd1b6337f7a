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
import { HOUR, isTestAddress, ITEM_LIMIT, PARTITION_KEY_LIMIT } from '../limits.ts';
import { isCurrent, toExpiry } from './expiry.ts';
import { digest, toOwnerHour, toShard } from './keys.ts';
import { createRequests } from './requests.generated.ts';
import type { Attributes, KeyRow, Requests } from './requests.ts';

const DAY = 86_400;
/** Seconds. */
const KEY_KEPT = DAY;
/** Bytes. */
const LOOK_UP_FROM = 16 * 1024;
const SMOKE_TEST_DAYS = 1;
/** Seconds: more than an hour, because clocks differ. */
const RATE_KEPT = 7_200;
/** Up to this limit, the rate's row lists its keys and stays below 1 KB. */
const LISTED_MOST = 150;
/**
 * Characters of a digest in that row. With 150 keys, one other in 100,000 begins alike, which costs a consistent read.
 */
const LISTED_LENGTH = 4;
const NOT_LISTED = '-';
/** Milliseconds until eventually consistent reads certainly see a write. */
const SETTLED = 60_000;
const CONFLICT_ATTEMPTS = 12;
/** Milliseconds. */
const FIRST_WAIT = 20;
const LONGEST_WAIT = 500;

export interface InquiryStoreOptions {
  retentionDays?: number | undefined;
  /** The key for hashes of persons. Default: empty, as for a local stack. */
  hashKey?: string | undefined;
  /** `language` and `email_verified` are stored if they are named here. Default: both. */
  storedForMail?: readonly string[] | undefined;
  /** Milliseconds. */
  now?: () => number;
}

type Transaction = Parameters<Requests['storeInquiry']>[0] & { limit: Limit | undefined };

class StoreError extends Error {
  constructor(name: 'InvalidQueryOutput' | 'MalformedRow' | 'UnconfirmedWrite', message: string) {
    super(message);
    this.name = name;
  }
}

/** Sends generated requests (docs/adr/0060, 0090, 0091). Its own errors are a {@link StoreError}. */
export function createInquiryStore(
  client: DynamoDBClient,
  table: string,
  { retentionDays, hashKey = '', storedForMail, now = Date.now }: InquiryStoreOptions = {},
): InquiryStore {
  const requests = createRequests(table);
  const isStored = (name: string): boolean => storedForMail?.includes(name) ?? true;

  /** Leaves out expired rows. */
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

  async function find(
    key: KeyRow,
    call: StoreCall,
    ConsistentRead: boolean,
  ): Promise<PutResult | undefined> {
    const input = requests.findKey({ owner: key, digest: key.key });
    const { rows } = await query({ ...input, ConsistentRead }, call);
    return rows[0] && toResult(rows[0], key);
  }

  /**
   * The rate's row lists the keys of this hour; an earlier hour's key is read.
   *
   * @returns Beyond the limit, a known key's inquiry or the refusal; below it, undefined.
   */
  async function checkLimit(
    { rate, key, limit }: Transaction,
    call: StoreCall,
  ): Promise<PutResult | undefined> {
    if (rate === undefined || limit === undefined) return undefined;
    const { rows } = await query(requests.readRate(rate), call);
    const { inquiries, keys } = rows[0] ?? {};
    if (!(Number(inquiries?.N) >= rate.most)) return undefined;
    const isRecent =
      rate.key === NOT_LISTED || keys?.SS?.includes(rate.key) || limit.time % HOUR < SETTLED;
    return (key && (await find(key, call, isRecent))) ?? { refusal: 'limit', limit };
  }

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
          return (key && (await find(key, call, true))) ?? { refusal: 'limit', limit };
        }
        if (!isConflict(reasons.rate) && !isConflict(reasons.inquiry)) throw error;
        if (attempt === CONFLICT_ATTEMPTS) return { refusal: 'busy' };
        const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** attempt) * Math.random();
        await sleep(wait, undefined, { signal: call.signal });
      }
    }
  }

  return {
    async put(inquiry, call, options = {}) {
      const { key, keyKept = KEY_KEPT, limit, language, isEmailVerified, follows } = options;
      const { id, cognito_sub, email } = inquiry;
      const created = Date.parse(inquiry.created_at);
      const days = isTestAddress(email) ? SMOKE_TEST_DAYS : retentionDays;
      const row = {
        ...inquiry,
        inbox: toShard(id, false),
        ...(language !== undefined && isStored('language') && { language }),
        ...(isEmailVerified && isStored('email_verified') && { email_verified: true }),
        ...(follows !== undefined && { follows }),
        ...(days !== undefined && { expires_at: toExpiry(created, days * DAY) }),
      };
      // The put has no condition: the id is new, and a retry after a lost response would fail.
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
              expires_at: toExpiry(created, keyKept),
              now: Math.floor(now() / 1_000),
            };
      const rate = limit && {
        owner_hour: toOwnerHour(hashKey, cognito_sub, limit.time),
        expires_at: toExpiry(limit.time, RATE_KEPT),
        most: limit.most,
        key: keyRow && limit.most <= LISTED_MOST ? keyRow.key.slice(0, LISTED_LENGTH) : NOT_LISTED,
      };
      const transaction = { inquiry: row, key: keyRow, rate, limit };
      const refused = await checkLimit(transaction, call);
      if (refused) return refused;
      const found = keyRow && size > LOOK_UP_FROM && (await find(keyRow, call, false));
      return found || storeInTransaction(transaction, call);
    },

    async *list({ sub, email }, { before, limit, ...others }, call) {
      // The compiler refuses a parameter that is parsed and not used.
      void (others satisfies Record<string, never>);
      const owner = { cognito_sub: sub, email };
      const input = requests.listInquiries({ owner });
      // DynamoDB would refuse the query; nothing is stored under such an email.
      if (isTooLongKey(input.ExpressionAttributeValues?.[':pk'])) return;
      let start = before === undefined ? undefined : requests.toStartKey({ owner, id: before });
      // Only the first page is limited: expired rows would be read a few at a time.
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

/** The reason of each write; empty for other errors. */
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

/** Bytes, as DynamoDB counts them; a boolean has one. */
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

/** The SDK takes any 200 for success, even a proxy's empty one. docs/adr/0012 */
function confirm({ ConsumedCapacity }: { ConsumedCapacity?: unknown }): void {
  if (ConsumedCapacity !== undefined) return;
  throw new StoreError('UnconfirmedWrite', 'The response to a write has no ConsumedCapacity.');
}

/** Also counts an attempt that the signal ended, which the SDK does not. */
async function countAttempts<Output extends { $metadata: { attempts?: number } }>(
  call: StoreCall,
  request: Promise<Output>,
): Promise<Output> {
  const count = ({ $metadata }: Partial<Output>): void => {
    call.attempts += $metadata?.attempts ?? Number(call.signal.aborted);
  };
  // The SDK's errors also have `$metadata`.
  void request.then(count, count);
  return request;
}

/** @throws StoreError, so that a list is complete or an error. */
function parseRow(
  row: Attributes,
  { cognito_sub, email }: Pick<Inquiry, 'cognito_sub' | 'email'>,
): Inquiry {
  const inquiry = toInquiry((field) => row[field] && (row[field].S ?? null));
  if (inquiry?.cognito_sub === cognito_sub && inquiry.email === email) return inquiry;
  throw new StoreError('MalformedRow', 'A stored row is not an inquiry of its owner.');
}
