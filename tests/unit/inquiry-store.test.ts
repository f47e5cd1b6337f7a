/** What the store sends to the database and how it reads unusual responses; on real engines: tests/integration/store.test.ts. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { createEntities, createInquiryStore } from '../../src/entities/inquiry-store.ts';
import type { InquiryStoreOptions } from '../../src/entities/inquiry-store.ts';
import type { InquiryStore } from '../../src/inquiries.ts';
import { EMAIL, INQUIRY, makeCall, SUB } from '../helpers/events.ts';

const OWNER = { sub: SUB, email: EMAIL };
/** `{ a: 'x' }` → `{ a: { S: 'x' } }`; what is undefined is left out. */
const toRow = (strings: Record<string, string | undefined>) =>
  Object.fromEntries(
    Object.entries(strings).flatMap(([name, S]) => (S === undefined ? [] : [[name, { S }]])),
  );

/** A store whose database gives these responses, one after the other, and the inputs that were sent to it. */
const setUp = (...answers: object[]) => setUpWith({}, ...answers);

function setUpWith(options: InquiryStoreOptions, ...answers: object[]) {
  const asked: object[] = [];
  const client = new DynamoDBClient();
  client.send = async ({ input }: { input: object }) => {
    asked.push(input);
    const answer = answers.shift() ?? {};
    if (answer instanceof Error) throw answer;
    return { $metadata: {}, ...answer };
  };
  return { asked, store: createInquiryStore(client, createEntities('inquiries'), options) };
}

async function readPages(store: InquiryStore, query = {}, call = makeCall()): Promise<Inquiry[][]> {
  const pages: Inquiry[][] = [];
  for await (const page of store.list(OWNER, query, call)) pages.push(page);
  return pages;
}

describe('a list', () => {
  it('asks for the six fields and the expiry, of the owner’s partition, strongly consistent and backwards', async () => {
    const { asked, store } = setUp({ Items: [] });
    await readPages(store, { limit: 5 });
    expect(asked).toEqual([
      expect.objectContaining({
        TableName: 'inquiries',
        ConsistentRead: true,
        ScanIndexForward: false,
        Limit: 6,
        ProjectionExpression: 'id,cognito_sub,email,subject,body,created_at,expires_at',
      }),
    ]);
  });

  it('goes on from where a page has ended, an empty one too', async () => {
    const key = toRow({ pk: 'p', sk: 's' });
    const { asked, store } = setUp({ Items: [], LastEvaluatedKey: key }, { Items: [toRow(INQUIRY)] });
    expect(await readPages(store)).toEqual([[], [INQUIRY]]);
    expect(asked).toEqual([
      expect.not.objectContaining({ ExclusiveStartKey: expect.anything() as unknown }),
      expect.objectContaining({ ExclusiveStartKey: key }),
    ]);
  });

  it('bounds the first page by the limit and none after it, so that many expired rows take few requests', async () => {
    const expired = { ...toRow(INQUIRY), expires_at: { N: '1' } };
    const page = { Items: [expired, expired], LastEvaluatedKey: toRow({ pk: 'p', sk: 's' }) };
    const { asked, store } = setUp(page, page, { Items: [toRow(INQUIRY)] });
    expect(await readPages(store, { limit: 1 })).toEqual([[], [], [INQUIRY]]);
    expect(asked.map((input) => (input as { Limit?: number }).Limit)).toEqual([2, undefined, undefined]);
  });

  it.each([
    ['has a row a millisecond before its expiry', -1, 1],
    ['has no row from its expiry on', 0, 0],
    ['has no row after its expiry', 1_000, 0],
  ])('%s', async (_, later, count) => {
    const { store } = setUpWith(
      { now: () => 1_800_000_000_000 + later },
      { Items: [{ ...toRow(INQUIRY), expires_at: { N: '1800000000' } }] },
    );
    expect((await readPages(store)).flat()).toHaveLength(count);
  });

  it.each([
    ['has a field that is no string', { subject: undefined }],
    ['is of another user', { cognito_sub: '0f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b' }],
    ['is of another email', { email: 'Ana@example.com' }],
  ])('rejects as MalformedRow when one row of it %s', async (_, change) => {
    const { store } = setUp({ Items: [toRow(INQUIRY), toRow({ ...INQUIRY, ...change })] });
    await expect(readPages(store)).rejects.toMatchObject({
      name: 'MalformedRow',
      message: 'A stored row is not an inquiry of its owner.',
    });
  });

  it('rejects as MalformedRow when a field is a number', async () => {
    const { store } = setUp({ Items: [{ ...toRow(INQUIRY), subject: { N: '1' } }] });
    await expect(readPages(store)).rejects.toMatchObject({ name: 'MalformedRow' });
  });

  it('rejects as InvalidQueryOutput when the response has no items', async () => {
    await expect(readPages(setUp({}).store)).rejects.toMatchObject({ name: 'InvalidQueryOutput' });
  });

  it('returns the six fields of a row and no others', async () => {
    const { store } = setUp({ Items: [toRow({ ...INQUIRY, reply: 'no', pk: 'no' })] });
    expect(await readPages(store)).toStrictEqual([[INQUIRY]]);
  });
});

describe('a write', () => {
  it.each([
    [1, '1795241462'],
    [36_500, '4948755062'],
  ])('with %i days of retention stores expires_at in whole seconds', async (retentionDays, N) => {
    const { asked, store } = setUpWith({ retentionDays }, { ConsumedCapacity: {} });
    await store.put(INQUIRY, makeCall());
    expect(asked).toHaveProperty('0.Item.expires_at', { N });
  });

  it('requests the consumed capacity, and resolves when the response has it', async () => {
    const { asked, store } = setUp({ ConsumedCapacity: { CapacityUnits: 1 } });
    await store.put(INQUIRY, makeCall());
    expect(asked).toEqual([
      expect.objectContaining({
        TableName: 'inquiries',
        ReturnConsumedCapacity: 'TOTAL',
        Item: expect.objectContaining(toRow(INQUIRY)),
      }),
    ]);
  });

  // Rows are found by these keys for ever: code that makes others finds none of what is stored.
  it('stores these attributes under these keys', async () => {
    const { asked, store } = setUp({ ConsumedCapacity: {} });
    await store.put({ ...INQUIRY, email: 'Ana+#1@Example.com' }, makeCall());
    expect(asked).toHaveProperty(
      '0.Item',
      toRow({
        ...INQUIRY,
        email: 'Ana+#1@Example.com',
        pk: `$inquiries#cognito_sub_${SUB}#email_Ana+#1@Example.com`,
        sk: `$inquiry_1#id_${INQUIRY.id}`,
        __edb_e__: 'inquiry',
        __edb_v__: '1',
      }),
    );
  });

  it('rejects as UnconfirmedWrite when the database does not', async () => {
    await expect(setUp({}).store.put(INQUIRY, makeCall())).rejects.toMatchObject({
      name: 'UnconfirmedWrite',
      message: 'The response to a write has no ConsumedCapacity.',
    });
  });
});

describe('attempts', () => {
  const slow = { $metadata: { attempts: 3 } };
  it.each([
    [
      'what the SDK says of each page',
      [
        { Items: [], LastEvaluatedKey: toRow({ pk: 'p' }), ...slow },
        { Items: [], ...slow },
      ],
      6,
    ],
    ['what it says of a failure', [Object.assign(new Error(), slow)], 3],
    ['none when nothing was sent', [new Error()], 0],
  ])('are %s', async (_, answers, expected) => {
    const call = makeCall();
    await readPages(setUp(...answers).store, {}, call).catch(() => undefined);
    expect(call.attempts).toBe(expected);
  });

  it('are one when the signal has ended the request, of which the SDK does not tell', async () => {
    const call = makeCall(AbortSignal.abort());
    await readPages(setUp(new Error('aborted')).store, {}, call).catch(() => undefined);
    expect(call.attempts).toBe(1);
  });
});

it.each<[string, Partial<Inquiry>, string | undefined]>([
  ['a subject of 400,000 bytes', { subject: 'x'.repeat(400_000) }, undefined],
  ['a body of 400,000 bytes', { body: 'x'.repeat(400_000) }, undefined],
  ['a subject of 410,000 bytes', { subject: 'x'.repeat(410_000) }, 'inquiry'],
  ['a body of 410,000 bytes', { body: 'x'.repeat(410_000) }, 'inquiry'],
  ['a body of 3 × 140,000 bytes', { body: '€'.repeat(140_000) }, 'inquiry'],
  ['an email of 2,048 bytes', { email: 'x'.repeat(2048) }, 'email'],
])('tells that %s is too large, and sends nothing then', async (_, change, oversized) => {
  const { asked, store } = setUp({ ConsumedCapacity: {} });
  const result = oversized === undefined ? { id: INQUIRY.id } : { refusal: oversized };
  expect(await store.put({ ...INQUIRY, ...change }, makeCall())).toEqual(result);
  expect(asked).toHaveLength(oversized === undefined ? 1 : 0);
});
