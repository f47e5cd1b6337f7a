/** What the store sends to the database and how it reads unusual responses; on real engines: tests/function/store.test.ts. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';

import type { Inquiry } from '../../src/contract.ts';
import { createInquiryStore, type InquiryStoreOptions } from '../../src/entities/inquiry-store.ts';
import { toShard } from '../../src/entities/keys.ts';
import type { InquiryStore } from '../../src/inquiries.ts';
import { EMAIL, INQUIRY, makeCall, SUB } from '../helpers/events.ts';

const OWNER = { sub: SUB, email: EMAIL };
/** The partition of the owner of INQUIRY. */
const PK = `$inquiries#cognito_sub_${SUB}#email_${EMAIL}`;
/** `{ a: 'x' }` → `{ a: { S: 'x' } }`; what is undefined is left out. */
const toRow = (strings: Record<string, string | undefined>) =>
  Object.fromEntries(
    Object.entries(strings).flatMap(([name, S]) => (S === undefined ? [] : [[name, { S }]])),
  );

/** A store whose database gives these responses, one after the other, the inputs that were sent to it, and their options. */
const setUp = (...answers: object[]) => setUpWith({}, ...answers);
function setUpWith(options: InquiryStoreOptions, ...answers: object[]) {
  const asked: object[] = [];
  const given: unknown[] = [];
  const client = new DynamoDBClient();
  client.send = async ({ input }: { input: object }, more?: unknown) => {
    asked.push(input);
    given.push(more);
    const answer = answers.shift() ?? {};
    if (answer instanceof Error) throw answer;
    return { $metadata: {}, ...answer };
  };
  return { asked, given, store: createInquiryStore(client, 'inquiries', options) };
}

async function readPages(store: InquiryStore, query = {}, call = makeCall()): Promise<Inquiry[][]> {
  const pages: Inquiry[][] = [];
  for await (const page of store.list(OWNER, query, call)) pages.push(page);
  return pages;
}

describe('a list', () => {
  it('asks for the six fields and the expiry, of the owner’s partition, strongly consistent and backwards from `before`', async () => {
    const { asked, store } = setUp({ Items: [] });
    await readPages(store, { limit: 5, before: INQUIRY.id });
    expect(asked).toEqual([
      expect.objectContaining({
        TableName: 'inquiries',
        ConsistentRead: true,
        ScanIndexForward: false,
        Limit: 6,
        ProjectionExpression: 'id,cognito_sub,email,subject,body,created_at,expires_at',
        // There need be no such row.
        ExclusiveStartKey: toRow({ pk: PK, sk: `$inquiry_1#id_${INQUIRY.id}` }),
      }),
    ]);
  });

  it('bounds the first page by the limit and none after it, so that many expired rows take few requests', async () => {
    const expired = { ...toRow(INQUIRY), expires_at: { N: '1' } };
    const key = toRow({ pk: 'p', sk: 's' });
    const page = { Items: [expired, expired], LastEvaluatedKey: key };
    const { asked, store } = setUp(page, page, { Items: [toRow(INQUIRY)] });
    expect(await readPages(store, { limit: 1 })).toEqual([[], [], [INQUIRY]]);
    const inputs = asked as { Limit?: number; ExclusiveStartKey?: object }[];
    expect(inputs.map((input) => [input.Limit, input.ExclusiveStartKey])).toEqual([
      [2, undefined],
      [undefined, key],
      [undefined, key],
    ]);
  });

  it.each<[string, object]>([
    ...Object.keys(INQUIRY).map((name): [string, object] => [
      `has no ${name}`,
      { [name]: undefined },
    ]),
    ['is of another user', { cognito_sub: { S: '0f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b' } }],
    ['is of another email', { email: { S: 'Ana@example.com' } }],
    ['has a number', { subject: { N: '1' } }],
  ])('rejects as MalformedRow when one row of it %s', async (_, change) => {
    const { store } = setUp({ Items: [toRow(INQUIRY), { ...toRow(INQUIRY), ...change }] });
    await expect(readPages(store)).rejects.toMatchObject({
      name: 'MalformedRow',
      message: 'A stored row is not an inquiry of its owner.',
    });
  });

  it('rejects as InvalidQueryOutput when the response has no items', async () => {
    await expect(readPages(setUp({}).store)).rejects.toMatchObject({
      name: 'InvalidQueryOutput',
      message: 'A query returned no Items.',
    });
  });
});

describe('a write', () => {
  // Rows are found by these keys for ever: code that makes others finds none of what is stored.
  it('stores these attributes under these keys, and requests the consumed capacity', async () => {
    const { asked, store } = setUp({ ConsumedCapacity: { CapacityUnits: 1 } });
    const email = 'Ana+#1@Example.com';
    await store.put({ ...INQUIRY, email }, makeCall());
    expect(asked).toEqual([
      {
        TableName: 'inquiries',
        ReturnConsumedCapacity: 'TOTAL',
        Item: toRow({
          ...INQUIRY,
          email,
          pk: `$inquiries#cognito_sub_${SUB}#email_${email}`,
          sk: `$inquiry_1#id_${INQUIRY.id}`,
          inbox: toShard(INQUIRY.id, false),
          __edb_e__: 'inquiry',
          __edb_v__: '1',
        }),
      },
    ]);
  });

  it.each([undefined, 'k'])(
    'rejects as UnconfirmedWrite when the database does not report it, key %j',
    async (key) => {
      await expect(setUp({}).store.put(INQUIRY, makeCall(), { key })).rejects.toMatchObject({
        name: 'UnconfirmedWrite',
        message: 'The response to a write has no ConsumedCapacity.',
      });
    },
  );
});

/** SHA-256 of `["k"]` and of `["s","b"]` in base64url: stored rows have these digests, so code must not make others. */
const KEY = 'M-FrxIABnuSoa2-wwCZQ2tdvH4gMN8D1au2GWhin_Mo';
const PAYLOAD = 'UippnumBIKGP5H2Pg_og2UVukQbi9907YKLWtN5yMX0';
/** The row of the key `k`. */
const SK = `$idempotency_1#key_${KEY}`;
const OTHER_ID = '01a1f7a8-96d1-78c6-a4ab-07c41d3c9583';
/** The row of the key `k`, a day after the time of INQUIRY the latest. */
const makeKeyRow = (change: object = {}) => ({
  ...toRow({ inquiry: OTHER_ID, payload: PAYLOAD, ...change }),
  expires_at: { N: '1795241462' },
});

const cancelled = (...CancellationReasons: object[]) =>
  Object.assign(new Error('cancelled'), { $metadata: { attempts: 1 }, CancellationReasons });
const FAILED = { Code: 'ConditionalCheckFailed' };
const CONFLICT = { Code: 'TransactionConflict' };
const NONE = { Code: 'None' };

describe('a write with a key', () => {
  it('is one transaction: the key, if it is not there or has expired, and the inquiry', async () => {
    const options = { now: () => 1_795_155_062_999, retentionDays: 30 };
    const { asked, store } = setUpWith(options, { ConsumedCapacity: [{ CapacityUnits: 4 }] });
    expect(await store.put(INQUIRY, makeCall(), { key: 'k' })).toEqual({ id: INQUIRY.id });
    const owner = { cognito_sub: SUB, email: EMAIL, pk: PK };
    const keyModel = { __edb_e__: 'idempotency', __edb_v__: '1' };
    const inquiryModel = {
      __edb_e__: 'inquiry',
      __edb_v__: '1',
      inbox: toShard(INQUIRY.id, false),
    };
    expect(asked).toEqual([
      {
        TransactItems: [
          {
            Put: {
              TableName: 'inquiries',
              Item: makeKeyRow({ ...owner, sk: SK, key: KEY, inquiry: INQUIRY.id, ...keyModel }),
              ConditionExpression:
                'attribute_not_exists(#expires_at) OR #expires_at <= :expires_at0',
              ExpressionAttributeNames: { '#expires_at': 'expires_at' },
              ExpressionAttributeValues: { ':expires_at0': { N: '1795155062' } },
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          },
          {
            Put: {
              TableName: 'inquiries',
              Item: {
                ...toRow({
                  ...INQUIRY,
                  ...owner,
                  sk: `$inquiry_1#id_${INQUIRY.id}`,
                  ...inquiryModel,
                }),
                expires_at: { N: '1797747062' },
              },
            },
          },
        ],
        ClientRequestToken: INQUIRY.id,
        ReturnConsumedCapacity: 'TOTAL',
      },
    ]);
  });

  const known = (change?: object) => ({ ...FAILED, Item: makeKeyRow(change) });
  const [REUSED, IN_USE] = [{ refusal: 'reused' }, { refusal: 'in use' }];
  it.each<[string, object[], object, object?]>([
    ['the id of the inquiry that has the key', [known(), NONE], { id: OTHER_ID }],
    ['the same while another transaction has the inquiry', [known(), CONFLICT], { id: OTHER_ID }],
    ['a refusal where the row has another text', [known({ payload: 'x' }), NONE], REUSED],
    ['a refusal where the row has no text', [known({ payload: undefined }), NONE], REUSED],
    ['a refusal of another subject', [known(), NONE], REUSED, { subject: 'S' }],
    [
      'a refusal of another boundary between them',
      [known(), NONE],
      REUSED,
      { subject: 'sb', body: '' },
    ],
    ['a refusal while another transaction has the key', [CONFLICT, NONE], IN_USE],
  ])('resolves to %s', async (_, reasons, result, change) => {
    const { store } = setUp(cancelled(...reasons));
    expect(await store.put({ ...INQUIRY, ...change }, makeCall(), { key: 'k' })).toEqual(result);
  });

  it.each([
    ['throttled', cancelled({ Code: 'ThrottlingError' }, NONE)],
    ['cancelled without the row', cancelled(FAILED, NONE)],
    ['cancelled for no reason', cancelled()],
    ['denied', Object.assign(new Error('denied'), { name: 'AccessDeniedException' })],
  ])('rejects with the error itself when it is %s', async (_, error) => {
    await expect(setUp(error).store.put(INQUIRY, makeCall(), { key: 'k' })).rejects.toBe(error);
  });

  it('rejects as MalformedRow when the row of the key names no inquiry', async () => {
    const { store } = setUp(cancelled(known({ inquiry: undefined })));
    await expect(store.put(INQUIRY, makeCall(), { key: 'k' })).rejects.toMatchObject({
      name: 'MalformedRow',
      message: 'A stored row is not an idempotency key.',
    });
  });

  it.each([
    ['a success', { ConsumedCapacity: [], $metadata: { attempts: 2 } }, 2],
    ['a known key', cancelled(known()), 1],
    ['a conflict', cancelled(CONFLICT), 1],
  ])('counts the attempts of %s', async (_, answer, attempts) => {
    const call = makeCall();
    await setUp(answer).store.put(INQUIRY, call, { key: 'k' });
    expect(call.attempts).toBe(attempts);
  });
});

describe('a write with a limit', () => {
  const limit = { most: 3, time: 0 };
  const [counted, isKnown] = [{ ConsumedCapacity: [] }, { ...FAILED, Item: makeKeyRow() }];

  it('counts the inquiry in the transaction that stores it, below the limit', async () => {
    const { asked, store } = setUp(counted);
    expect(await store.put(INQUIRY, makeCall(), { limit })).toEqual({ id: INQUIRY.id });
    expect(asked).toMatchObject([
      {
        TransactItems: [
          {
            Update: {
              ConditionExpression: 'attribute_not_exists(#inquiries) OR #inquiries < :inquiries0',
              ExpressionAttributeValues: { ':inquiries0': { N: '3' }, ':inquiries_u0': { N: '1' } },
            },
          },
          { Put: { Item: { id: { S: INQUIRY.id } } } },
        ],
        ClientRequestToken: INQUIRY.id,
      },
    ]);
  });

  it.each<[string, object[], object, string?, object?]>([
    ['the limit when it is reached', [FAILED, NONE], { refusal: 'limit' }],
    ['a known key beyond the limit', [isKnown, FAILED, NONE], { id: OTHER_ID }, 'k'],
    ['a key in use beyond the limit', [CONFLICT, FAILED, NONE], { refusal: 'in use' }, 'k'],
    ['the limit for a key that is not known', [NONE, FAILED, NONE], { refusal: 'limit' }, 'k'],
    // DynamoDB need not name every reason.
    ['a key that a read finds', [NONE, FAILED, NONE], { id: OTHER_ID }, 'k', makeKeyRow()],
  ])('resolves to %s', async (_, reasons, result, key, row) => {
    const { store } = setUpWith({ now: () => 0 }, cancelled(...reasons), {
      Items: row ? [row] : [],
    });
    expect(await store.put(INQUIRY, makeCall(), { limit, key })).toEqual(result);
  });

  it.each([
    ['counter', [CONFLICT, NONE]],
    ['inquiry', [NONE, CONFLICT]],
  ])('is sent again while another transaction has the %s', async (_, reasons) => {
    const { asked, store } = setUp(cancelled(...reasons), cancelled(...reasons), counted);
    expect(await store.put(INQUIRY, makeCall(), { limit })).toEqual({ id: INQUIRY.id });
    expect(asked).toHaveLength(3);
    expect(asked[2]).toEqual(asked[0]);
  });

  it('ends with the signal of its call while it waits', async () => {
    const abort = new AbortController();
    const { asked, store } = setUp(...Array.from({ length: 20 }, () => cancelled(CONFLICT, NONE)));
    setTimeout(() => abort.abort(), 50);
    await expect(store.put(INQUIRY, makeCall(abort.signal), { limit })).rejects.toThrow(/abort/);
    expect(asked.length).toBeLessThan(12);
  });

  it('says after twelve conflicts that there are too many at once', async () => {
    const { asked, store } = setUp(...Array.from({ length: 12 }, () => cancelled(CONFLICT, NONE)));
    expect(await store.put(INQUIRY, makeCall(), { limit })).toEqual({ refusal: 'busy' });
    expect(asked).toHaveLength(12);
  });

  it('rejects as UnconfirmedWrite when the database does not report it', async () => {
    await expect(setUp({}).store.put(INQUIRY, makeCall(), { limit })).rejects.toMatchObject({
      name: 'UnconfirmedWrite',
    });
  });
});

describe('the key of a large inquiry', () => {
  const large = { ...INQUIRY, body: 'x'.repeat(20_000) };

  it('is looked up before a transaction, which costs units for all of its text when it is refused', async () => {
    const { asked, store } = setUpWith({ now: () => 0 }, { Items: [makeKeyRow()] });
    expect(await store.put(large, makeCall(), { key: 'k' })).toEqual({ refusal: 'reused' });
    expect(asked).toEqual([
      expect.objectContaining({ KeyConditionExpression: '#pk = :pk and #sk1 = :sk1' }),
    ]);
  });

  it('is written with the inquiry when there is none', async () => {
    const { asked, store } = setUp({ Items: [] }, { ConsumedCapacity: {} });
    expect(await store.put(large, makeCall(), { key: 'k' })).toEqual({ id: INQUIRY.id });
    expect(asked).toHaveLength(2);
  });
});

it('every request ends with the signal of its call', async () => {
  const answer = { ConsumedCapacity: {}, Items: [] };
  const { given, store } = setUp(...Array.from({ length: 3 }, () => answer));
  const call = makeCall();
  await store.put(INQUIRY, call);
  await store.put(INQUIRY, call, { key: 'k' });
  await readPages(store, {}, call);
  expect(given).toEqual(Array.from({ length: 3 }, () => ({ abortSignal: call.signal })));
});

it('a list of an email that no key can hold is empty and is not asked for', async () => {
  const { asked, store } = setUp();
  const owner = { sub: SUB, email: 'x'.repeat(2048) };
  expect(await Array.fromAsync(store.list(owner, {}, makeCall()))).toEqual([]);
  expect(asked).toEqual([]);
});

describe('attempts', () => {
  const slow = { Items: [], $metadata: { attempts: 3 } };
  it.each<[string, object[], number, AbortSignal?]>([
    [
      'what the SDK says of each page',
      [{ ...slow, LastEvaluatedKey: toRow({ pk: 'p' }) }, slow],
      6,
    ],
    ['what it says of a failure', [Object.assign(new Error(), slow)], 3],
    ['none when nothing was sent', [new Error()], 0],
    ['one when the signal has ended the request', [new Error()], 1, AbortSignal.abort()],
  ])('are %s', async (_, answers, expected, signal) => {
    const call = makeCall(signal);
    await readPages(setUp(...answers).store, {}, call).catch(() => undefined);
    expect(call.attempts).toBe(expected);
  });
});

it.each<[string, Partial<Inquiry>, string | undefined]>([
  ['a body of 400,000 bytes', { body: 'x'.repeat(400_000) }, undefined],
  ['a subject of 410,000 bytes', { subject: 'x'.repeat(410_000) }, 'inquiry'],
  ['a body of 3 × 140,000 bytes', { body: '€'.repeat(140_000) }, 'inquiry'],
  ['an email of 2,048 bytes', { email: 'x'.repeat(2048) }, 'email'],
])('tells that %s is too large, and sends nothing then', async (_, change, oversized) => {
  for (const key of [undefined, 'k']) {
    const answer = { Items: [], ConsumedCapacity: {} };
    const { asked, store } = setUp(answer, answer);
    const result = oversized === undefined ? { id: INQUIRY.id } : { refusal: oversized };
    expect(await store.put({ ...INQUIRY, ...change }, makeCall(), { key })).toEqual(result);
    expect(asked.length > 0).toBe(oversized === undefined);
  }
});
