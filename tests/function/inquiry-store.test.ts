/** The store on both engines, and what it makes of answers that no engine gives. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries, type Inquiries, type PutOptions } from '../../src/inquiries.ts';
import { ITEM_LIMIT, PARTITION_KEY_LIMIT } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal, describeOnEngines } from '../helpers/engines.ts';
import { EMAIL, INQUIRY, list as readList, makeCall, SUB } from '../helpers/events.ts';
import { writeIdempotencyKey } from '../helpers/idempotency.ts';
import { readPartition } from '../helpers/own-table.ts';

type OwnStore = Awaited<ReturnType<typeof createOwnStore>>;

const OWNER = { sub: SUB, email: EMAIL };
const keyOf = (email: string): string => `$inquiries#cognito_sub_${SUB}#email_${email}`;
const PK = keyOf(EMAIL);
/** What is stored of INQUIRY: rows are found by these keys for ever. */
const ROW = {
  ...INQUIRY,
  pk: PK,
  sk: `$inquiry_1#id_${INQUIRY.id}`,
  inbox: 'open-a',
  __edb_e__: 'inquiry',
  __edb_v__: '1',
};
const OTHER_ID = '01a1f7a8-96d1-78c6-a4ab-07c41d3c9583';
/** SHA-256 of `["k"]` and of `["s","b"]` in base64url: stored rows have these digests. */
const KEY = 'M-FrxIABnuSoa2-wwCZQ2tdvH4gMN8D1au2GWhin_Mo';
const PAYLOAD = 'UippnumBIKGP5H2Pg_og2UVukQbi9907YKLWtN5yMX0';

describeOnEngines('the store', (endpoint, engine) => {
  let own: OwnStore;
  let inquiries: Inquiries;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
    inquiries = createInquiries(own.store);
  });
  const create = async (email: string, body = '') =>
    (await inquiries.create({ sub: SUB, email }, { subject: '', body }, makeCall())).inquiry;
  const list = async (email: string, query: object = {}) =>
    readList(inquiries, { sub: SUB, email }, query);
  const write = (Item: object) =>
    own.client.send(new PutCommand({ TableName: own.table, Item: { ...Item } }));

  it('stores these attributes under these keys, which keep their case', async () => {
    const email = 'Ana+#1@Example.com';
    const options: PutOptions = { language: 'de', isEmailVerified: true };
    await own.store.put({ ...INQUIRY, email }, makeCall(), options);
    const rows = await readPartition({ client: own.client, name: own.table }, { ...OWNER, email });
    expect(rows).toEqual([
      { ...ROW, email, pk: keyOf(email), language: 'de', email_verified: true },
    ]);
  });

  it('lists six fields of inquiries: no answer, no other attribute, and no other row of the partition', async () => {
    const email = 'shared@example.com';
    const made = [await create(email), await create(email), await create(email)].toReversed();
    const [newest, middle, oldest] = made;
    const answer = { reply: 'r', respondent: 'p', reply_at: 't', inbox: 'done-0', note: 'n' };
    const keys = { pk: keyOf(email), sk: `$inquiry_1#id_${middle?.id}` };
    await write({ ...middle, ...keys, ...answer, __edb_e__: 'inquiry', __edb_v__: '1' });
    for (const sk of ['$a', '$inquiry_10#id_1', '$zzz']) await write({ pk: keyOf(email), sk });
    for (const inquiry of made) {
      for (let key = 0; key < 20; key++) {
        await writeIdempotencyKey(own, inquiry, { key: `${inquiry.id} ${key}` });
      }
    }
    for (const [query, expected, isEnd] of [
      [{}, made, true],
      [{ limit: '2' }, [newest, middle], false],
      [{ before: middle?.id }, [oldest], true],
    ] as const) {
      const page = await list(email, query);
      expect(page.list.inquiries).toEqual(expected);
      expect(page.next === undefined).toBe(isEnd);
    }
  });

  it.each([
    ['ASCII', 'limit@b', true],
    // dynalite counts the characters of a key; DynamoDB counts its bytes.
    ['not ASCII', 'é'.repeat(300), engine !== 'dynalite'],
  ])(
    'takes as much as the engine, to the byte, with an email that is %s',
    async (_, email, isExact) => {
      const row = { ...ROW, email, pk: keyOf(email), subject: '', body: '' };
      const bytes = Buffer.byteLength(Object.entries(row).flat().join(''));
      const [body, longer] = [0, 1].map((more) => 'x'.repeat(ITEM_LIMIT - bytes + more));
      const put = (text = '') =>
        own.store.put({ ...INQUIRY, email, subject: '', body: text }, makeCall());
      expect(await put(longer)).toEqual({ refusal: 'inquiry' });
      expect(await put(body)).toEqual({ id: INQUIRY.id });
      expect((await list(email)).list.count).toBe(1);
      const outcome = write({ ...row, body: longer }).then(() => 'stored');
      expect(await outcome.catch((error: Error) => error.name)).toBe(
        isExact ? 'ValidationException' : 'stored',
      );
    },
  );

  it('takes emails up to what a partition key holds; longer ones own nothing and can store nothing', async () => {
    const longest = 'x'.repeat(PARTITION_KEY_LIMIT - keyOf('').length);
    await create(longest);
    expect((await list(longest)).list.count).toBe(1);
    const email = `${longest}x`;
    expect(await own.store.put({ ...INQUIRY, email }, makeCall())).toEqual({ refusal: 'email' });
    expect((await list(email)).list.count).toBe(0);
    const row = write({ pk: keyOf(email), sk: 'x' });
    await expect(row).rejects.toMatchObject({ name: 'ValidationException' });
  });
});

describeOnDynamoDbLocal('a write with a key and a limit', (endpoint) => {
  const time = Date.parse(INQUIRY.created_at);
  const limit = { most: 1, time };
  let own: OwnStore;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
  });

  it('stores the key, the count and the inquiry; the key stays beyond the limit, a day long', async () => {
    const put = (now: number, change: object = {}, options: PutOptions = {}) =>
      // A store of its own, as in another instance of the function.
      createInquiryStore(createDynamoDbClient({ region: 'local' }), own.table, {
        now: () => now,
        retentionDays: 30,
      }).put({ ...INQUIRY, ...change }, makeCall(), { key: 'k', limit, ...options });
    expect(await put(time)).toEqual({ id: INQUIRY.id });
    const { Items: rows = [] } = await own.client.send(new ScanCommand({ TableName: own.table }));
    const expires_at = Math.floor(time / 1_000) + 86_400;
    expect(rows.toSorted((a, b) => (String(a['sk']) < String(b['sk']) ? -1 : 1))).toEqual([
      {
        cognito_sub: SUB,
        email: EMAIL,
        pk: PK,
        sk: `$idempotency_1#key_${KEY}`,
        key: KEY,
        payload: PAYLOAD,
        inquiry: INQUIRY.id,
        expires_at,
        __edb_e__: 'idempotency',
        __edb_v__: '1',
      },
      { ...ROW, expires_at: expires_at + 29 * 86_400 },
      expect.objectContaining({
        inquiries: 1,
        expires_at: Math.floor(time / 1_000) + 7_200,
        __edb_e__: 'rate',
      }),
    ]);
    const again = { id: OTHER_ID };
    expect(await put(time, again)).toEqual({ id: INQUIRY.id });
    expect(await put(time, { ...again, subject: 'S' })).toEqual({ refusal: 'reused' });
    // The same letters with another boundary between them.
    expect(await put(time, { ...again, subject: 'sb', body: '' })).toEqual({ refusal: 'reused' });
    expect(await put(time, again, { key: 'K' })).toEqual({ refusal: 'limit' });
    expect(await put(time, again, { key: undefined })).toEqual({ refusal: 'limit' });
    const free = { limit: { most: 2, time } };
    expect(await put(expires_at * 1_000 - 1, again, free)).toEqual({ id: INQUIRY.id });
    expect(await put(expires_at * 1_000, again, free)).toEqual(again);
  });
});

/** `{ a: 'x' }` → `{ a: { S: 'x' } }` */
const toAttributes = (strings: Record<string, string>) =>
  Object.fromEntries(Object.entries(strings).map(([name, S]) => [name, { S }]));
const ITEM = toAttributes(INQUIRY);
const NEXT = toAttributes({ pk: 'p', sk: 's' });
const COUNTED = { ConsumedCapacity: {} };

/** A store whose database gives these answers, one after the other; the inputs that it was sent. */
function setUp(answers: object[], call = makeCall()) {
  const sent: object[] = [];
  const client = new DynamoDBClient();
  client.send = async ({ input }: { input: object }) => {
    sent.push(input);
    const answer = answers.shift() ?? {};
    if (answer instanceof Error) throw answer;
    return { $metadata: {}, ...answer };
  };
  const store = createInquiryStore(client, 'inquiries');
  return {
    sent,
    call,
    put: (options?: PutOptions, change: object = {}) =>
      store.put({ ...INQUIRY, ...change }, call, options),
    list: (query = {}) => Array.fromAsync(store.list(OWNER, query, call)),
  };
}

/** A cancelled transaction, with the reason for each of its writes. */
const cancelled = (...reasons: (object | string)[]) =>
  Object.assign(new Error('cancelled'), {
    $metadata: { attempts: 1 },
    CancellationReasons: reasons.map((one) => (typeof one === 'string' ? { Code: one } : one)),
  });
const [FAILED, CONFLICT] = ['ConditionalCheckFailed', 'TransactionConflict'];
const KEY_ROW = toAttributes({ inquiry: OTHER_ID, payload: PAYLOAD });
const KNOWN = { Code: FAILED, Item: KEY_ROW };
const LIMIT = { most: 3, time: 0 };

describe('a list', () => {
  it('bounds the first page by the limit and none after it, so that many expired rows take few requests', async () => {
    const expired = { ...ITEM, expires_at: { N: '1' } };
    const page = { Items: [expired, expired], LastEvaluatedKey: NEXT };
    const { sent, list } = setUp([page, page, { Items: [ITEM] }]);
    expect(await list({ limit: 1 })).toEqual([[], [], [INQUIRY]]);
    expect(sent).toMatchObject([
      { Limit: 2, ConsistentRead: true, ScanIndexForward: false },
      { ExclusiveStartKey: NEXT },
      { ExclusiveStartKey: NEXT },
    ]);
    expect(sent[1]).not.toHaveProperty('Limit');
  });

  it.each<[string, object]>([
    ...Object.keys(INQUIRY).map((name): [string, object] => [`no ${name}`, { [name]: undefined }]),
    ['another owner', { cognito_sub: { S: OTHER_ID } }],
    ['another email', { email: { S: 'Ana@example.com' } }],
    ['a number', { subject: { N: '1' } }],
  ])('is an error when one of its rows has %s', async (_, change) => {
    const { list } = setUp([{ Items: [ITEM, { ...ITEM, ...change }] }]);
    await expect(list()).rejects.toMatchObject({ name: 'MalformedRow' });
  });

  it('is an error when the response has no items', async () => {
    await expect(setUp([{}]).list()).rejects.toMatchObject({ name: 'InvalidQueryOutput' });
  });
});

describe('a write', () => {
  it.each([{}, { key: 'k' }, { limit: LIMIT }])(
    'that the database does not report is an error: %j',
    async (options) => {
      await expect(setUp([]).put(options)).rejects.toMatchObject({ name: 'UnconfirmedWrite' });
    },
  );

  it('has the id of the inquiry as its token, so that a retry after a lost response succeeds', async () => {
    const { sent, put } = setUp([COUNTED]);
    await put({ key: 'k' });
    expect(sent).toMatchObject([{ ClientRequestToken: INQUIRY.id }]);
  });

  it.each<[string, Error, object, PutOptions?, object?]>([
    ['a known key, whoever has the inquiry', cancelled(KNOWN, CONFLICT), { id: OTHER_ID }],
    [
      'a key without its text',
      cancelled({ ...KNOWN, Item: { inquiry: { S: OTHER_ID } } }),
      { refusal: 'reused' },
    ],
    ['a key in use', cancelled(CONFLICT, 'None'), { refusal: 'in use' }],
    ['a known key beyond the limit', cancelled(KNOWN, FAILED), { id: OTHER_ID }, { limit: LIMIT }],
    [
      'a key in use beyond the limit',
      cancelled(CONFLICT, FAILED),
      { refusal: 'in use' },
      { limit: LIMIT },
    ],
    // DynamoDB need not name every reason.
    [
      'a key that a read finds beyond the limit',
      cancelled('None', FAILED),
      { id: OTHER_ID },
      { limit: LIMIT },
      KEY_ROW,
    ],
  ])('that is refused for %s', async (_, error, result, options, row) => {
    const { put } = setUp([error, { Items: row ? [row] : [] }]);
    expect(await put({ key: 'k', ...options })).toEqual(result);
  });

  it.each([
    ['cancelled without the row', cancelled(FAILED, 'None')],
    ['denied', new Error('denied')],
  ])('rejects with the error itself when it is %s', async (_, error) => {
    await expect(setUp([error]).put({ key: 'k' })).rejects.toBe(error);
  });

  it('is an error when the row of the key names no inquiry', async () => {
    const { put } = setUp([cancelled({ ...KNOWN, Item: {} })]);
    await expect(put({ key: 'k' })).rejects.toMatchObject({ name: 'MalformedRow' });
  });

  it.each([
    ['count', [CONFLICT, 'None']],
    ['inquiry', ['None', CONFLICT]],
  ])('is sent again, twelve times at most, while another one has the %s', async (_, reasons) => {
    const conflicts = Array.from({ length: 12 }, () => cancelled(...reasons));
    const short = setUp([...conflicts.slice(0, 2), COUNTED]);
    expect(await short.put({ limit: LIMIT })).toEqual({ id: INQUIRY.id });
    expect(short.sent[2]).toEqual(short.sent[0]);
    const long = setUp(conflicts);
    expect(await long.put({ limit: LIMIT })).toEqual({ refusal: 'busy' });
    expect(long.sent).toHaveLength(12);
  });

  it('ends with the signal of its call while it waits', async () => {
    const conflicts = Array.from({ length: 12 }, () => cancelled(CONFLICT, 'None'));
    const { sent, put } = setUp(conflicts, makeCall(AbortSignal.timeout(50)));
    await expect(put({ limit: LIMIT })).rejects.toThrow(/abort/);
    expect(sent.length).toBeLessThan(12);
  });

  // A refused transaction costs units for all of its text.
  it('of a large inquiry looks its key up first', async () => {
    const large = { body: 'x'.repeat(20_000) };
    const known = setUp([{ Items: [KEY_ROW] }]);
    expect(await known.put({ key: 'k' }, large)).toEqual({ refusal: 'reused' });
    expect(known.sent).toHaveLength(1);
    const unknown = setUp([{ Items: [] }, COUNTED]);
    expect(await unknown.put({ key: 'k' }, large)).toEqual({ id: INQUIRY.id });
  });
});

describe('attempts', () => {
  const slow = { Items: [], $metadata: { attempts: 3 } };
  it.each<[string, object[], number, AbortSignal?]>([
    ['what the SDK says of each page', [{ ...slow, LastEvaluatedKey: NEXT }, slow], 6],
    ['what it says of a failure', [Object.assign(new Error(), slow)], 3],
    ['one when the signal has ended the request', [new Error()], 1, AbortSignal.abort()],
  ])('are %s', async (_, answers, expected, signal) => {
    const { call, list } = setUp(answers, makeCall(signal));
    await list().catch(() => undefined);
    expect(call.attempts).toBe(expected);
  });
});
