/** The store on both engines, and with answers that no engine gives. */
import { inspect } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' };
import { beforeAll, expect, it, vi } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { digest, toOwnerHour } from '../../src/entities/keys.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries, type Inquiries, type PutOptions } from '../../src/inquiries.ts';
import { HOUR, ITEM_LIMIT, PARTITION_KEY_LIMIT } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal, describeOnEngines } from '../helpers/engines.ts';
import { EMAIL, INQUIRY, list as readList, makeCall, SUB } from '../helpers/events.ts';
import { readPartition, readTable } from '../helpers/own-table.ts';

/** Functions to call during the next waits, which end at once. */
const waits = vi.hoisted((): (() => void)[] => []);
vi.mock('node:timers/promises', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  async setTimeout(_milliseconds: number, _value: unknown, { signal }: { signal: AbortSignal }) {
    waits.shift()?.();
    signal.throwIfAborted();
  },
}));

const keyOf = (email: string): string => `$inquiries#cognito_sub_${SUB}#email_${email}`;
/** INQUIRY as it is stored. Existing rows have these keys. */
const ROW = {
  ...INQUIRY,
  pk: keyOf(EMAIL),
  sk: `$inquiry_1#id_${INQUIRY.id}`,
  inbox: 'open-a',
  __edb_e__: 'inquiry',
  __edb_v__: '1',
};
const OTHER_ID = '01a1f7a8-96d1-78c6-a4ab-07c41d3c9583';
/** SHA-256 of `["k"]` and `["s","b"]` in base64url, as in existing rows. */
const KEY = 'M-FrxIABnuSoa2-wwCZQ2tdvH4gMN8D1au2GWhin_Mo';
const PAYLOAD = 'UippnumBIKGP5H2Pg_og2UVukQbi9907YKLWtN5yMX0';

describeOnEngines('the store', (endpoint, engine) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  let inquiries: Inquiries;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
    inquiries = createInquiries(own.store);
  });
  const create = async (email: string) =>
    (await inquiries.create({ sub: SUB, email }, { subject: '', body: '' }, makeCall())).inquiry;
  const list = async (email: string, query: object = {}) => {
    const { list: page, next } = await readList(inquiries, { sub: SUB, email }, query);
    return { rows: page.inquiries, isEnd: next === undefined };
  };
  const write = (Item: object) =>
    own.client.send(new PutCommand({ TableName: own.name, Item: { ...Item } }));

  it('stores these attributes under these keys, which keep their case', async () => {
    const email = 'Ana+#1@Example.com';
    const options = { language: 'de', isEmailVerified: true, follows: 'x' } as const;
    await own.store.put({ ...INQUIRY, email }, makeCall(), options);
    const rows = await readPartition(own, { sub: SUB, email });
    expect(rows).toEqual([
      { ...ROW, email, pk: keyOf(email), language: 'de', email_verified: true, follows: 'x' },
    ]);
  });

  it('lists six fields of inquiries, without answers, other attributes and other rows', async () => {
    const email = 'shared@example.com';
    const made = [await create(email), await create(email), await create(email)].toReversed();
    const [newest, middle, oldest] = made;
    const pk = keyOf(email);
    const answer = { reply: 'r', respondent: 'p', reply_at: 't', inbox: 'answered-0', note: 'n' };
    await write({ ...ROW, ...middle, ...answer, pk, sk: `$inquiry_1#id_${middle?.id}` });
    for (const sk of ['$a', `$idempotency_1#key_${KEY}`, '$inquiry_10#id_1', '$zzz']) {
      await write({ pk, sk });
    }
    expect(await list(email)).toEqual({ rows: made, isEnd: true });
    expect(await list(email, { limit: '2' })).toEqual({ rows: [newest, middle], isEnd: false });
    expect(await list(email, { before: middle?.id })).toEqual({ rows: [oldest], isEnd: true });
  });

  it('keeps every string, but for lone surrogates', async () => {
    const owner = { sub: SUB, email: 'strings@example.com' };
    const units = Array.from({ length: 65_536 }, (_, unit) => String.fromCharCode(unit)).join('');
    const made: Inquiry[] = [];
    for (const text of new Set([units, '\u{10FFFF}', '{"S":"x"}', ...naughtyStrings])) {
      const request = { subject: text, body: text };
      const { inquiry } = await inquiries.create(owner, request, makeCall());
      const stored = text.toWellFormed();
      expect(inquiry).toMatchObject({ subject: stored, body: stored });
      made.unshift(inquiry);
    }
    const pages = await Array.fromAsync(own.store.list(owner, {}, makeCall()));
    expect(pages.flat()).toEqual(made);
  });

  // dynalite counts a key's characters, DynamoDB its bytes.
  it.each(['limit@b', ...(engine === 'dynalite' ? [] : ['é'.repeat(300)])])(
    'accepts exactly as many bytes as the engine, with the email %s',
    async (email) => {
      const row = { ...ROW, email, pk: keyOf(email), subject: '', body: '' };
      const rest = ITEM_LIMIT - Buffer.byteLength(Object.entries(row).flat().join(''));
      const [body, longer] = ['x'.repeat(rest), 'x'.repeat(rest + 1)];
      const put = (text: string) =>
        own.store.put({ ...INQUIRY, email, subject: '', body: text }, makeCall());
      expect(await put(longer)).toEqual({ refusal: 'inquiry' });
      expect(await put(body)).toEqual({ id: INQUIRY.id });
      expect((await list(email)).rows).toMatchObject([{ body }]);
      await expect(write({ ...row, body: longer })).rejects.toThrow(/size/);
    },
  );

  it('accepts emails that fit into a partition key; a longer one stores and lists nothing', async () => {
    const longest = 'x'.repeat(PARTITION_KEY_LIMIT - keyOf('').length);
    const inquiry = await create(longest);
    expect((await list(longest)).rows).toEqual([inquiry]);
    const email = `${longest}x`;
    expect(await own.store.put({ ...INQUIRY, email }, makeCall())).toEqual({ refusal: 'email' });
    // DynamoDB would refuse the query, an engine does not, so none may be sent.
    const send = vi.spyOn(own.storeClient, 'send');
    expect((await list(email)).rows).toEqual([]);
    expect(send).not.toHaveBeenCalled();
    await expect(write({ pk: keyOf(email), sk: 'x' })).rejects.toThrow(/bytes|exceed/);
  });
});

describeOnDynamoDbLocal('a write with a key and a limit', (endpoint) => {
  it('stores the key, count and inquiry; the key is known for a day, even beyond the limit', async () => {
    const own = await createOwnStore(endpoint);
    const time = Date.parse(INQUIRY.created_at);
    const expires_at = Math.floor(time / 1_000) + 86_400;
    const put = (change: object, options: PutOptions = {}, now = time) =>
      createInquiryStore(createDynamoDbClient(), own.name, {
        now: () => now,
        retentionDays: 30,
      }).put({ ...INQUIRY, id: OTHER_ID, ...change }, makeCall(), {
        key: 'k',
        limit: { most: 1, time },
        ...options,
      });
    const first = { id: INQUIRY.id };
    expect(await put(first)).toEqual(first);
    const rows = (await readTable(own.client, own.name)).map((row) =>
      Object.entries(row)
        .map(([name, value]) => `${name}: ${inspect(value)}\n`)
        .toSorted()
        .join(''),
    );
    await expect(rows.toSorted().join('\n')).toMatchFileSnapshot('golden/rows.txt');
    expect(await put({})).toEqual(first);
    // The letters are the same, but divided differently.
    expect(await put({ subject: 'sb', body: '' })).toEqual({ refusal: 'reused' });
    expect(await put({}, { key: 'K' })).toEqual({ refusal: 'limit', limit: { most: 1, time } });
    const free = { limit: { most: 2, time } };
    expect(await put({}, free, expires_at * 1_000 - 1)).toEqual(first);
    expect(await put({}, free, expires_at * 1_000)).toEqual({ id: OTHER_ID });
  });
});

it.each([[['language']], [['email_verified']], [['']]])(
  'stores only the named attributes for mails: %j',
  async (storedForMail) => {
    const own = await createOwnStore();
    const store = createInquiryStore(own.storeClient, own.name, { storedForMail });
    await store.put(INQUIRY, makeCall(), { language: 'de', isEmailVerified: true });
    const [row = {}] = await readTable(own.client, own.name);
    const names = ['language', 'email_verified'].filter((name) => name in row);
    expect(names).toEqual(storedForMail.filter(Boolean));
  },
);

it('the hash of a person in a count cannot be computed without the key', () => {
  const time = Date.parse(INQUIRY.created_at);
  const hashes = ['', 'a', 'b'].map((key) => toOwnerHour(key, SUB, time));
  expect(new Set([...hashes, digest(SUB, String(Math.floor(time / HOUR)))]).size).toBe(4);
});

const ITEM = marshall(INQUIRY);
const NEXT = marshall({ pk: 'p', sk: 's' });

/** A store whose database gives these answers in turn; before a limited write, the hour's count with its keys. */
function setUp(answers: object[], call = makeCall(), counted = 0, keys = ['-']) {
  const sent: object[] = [];
  const client = new DynamoDBClient();
  client.send = async ({ input }: { input: object }) => {
    if (JSON.stringify(input).includes('owner_hour_') && !('TransactItems' in input)) {
      return { Items: [{ inquiries: { N: String(counted) }, keys: { SS: keys } }] };
    }
    sent.push(input);
    const answer = answers[sent.length - 1] ?? {};
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const store = createInquiryStore(client, 'inquiries');
  return {
    sent,
    call,
    put: (options?: PutOptions, change: object = {}) =>
      store.put({ ...INQUIRY, ...change }, call, options),
    list: (query = {}) => Array.fromAsync(store.list({ sub: SUB, email: EMAIL }, query, call)),
  };
}

it('the limit bounds only the first page of a list, so many expired rows take few requests', async () => {
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

it('a list without items is the error InvalidQueryOutput', () =>
  expect(setUp([{}]).list()).rejects.toMatchObject({ name: 'InvalidQueryOutput' }));

it.each([
  ...Object.keys(INQUIRY).map((name) => ({ [name]: undefined })),
  { cognito_sub: { S: OTHER_ID } },
  { email: { S: 'Ana@example.com' } },
  { subject: { N: '1' } },
])('a list with a row that has %j is the error MalformedRow', (change) => {
  const { list } = setUp([{ Items: [ITEM, { ...ITEM, ...change }] }]);
  return expect(list()).rejects.toMatchObject({ name: 'MalformedRow' });
});

const cancelled = (...reasons: (object | string)[]) =>
  Object.assign(new Error('cancelled'), {
    CancellationReasons: reasons.map((one) => (typeof one === 'string' ? { Code: one } : one)),
  });
const [FAILED, CONFLICT] = ['ConditionalCheckFailed', 'TransactionConflict'];
const KEY_ROW = marshall({ inquiry: OTHER_ID, payload: PAYLOAD });
const known = (Item: object) => ({ Code: FAILED, Item });
const LIMIT = { most: 3, time: 0 };
const BOTH = { key: 'k', limit: LIMIT };
const COUNTED = { ConsumedCapacity: {} };

it.each<[string, object[], PutOptions, unknown]>([
  ['no report of DynamoDB', [], {}, 'UnconfirmedWrite'],
  ['no report of a transaction', [], { key: 'k' }, 'UnconfirmedWrite'],
  [
    'a key without its text',
    [cancelled(known(marshall({ inquiry: OTHER_ID })), 'None')],
    { key: 'k' },
    { refusal: 'reused' },
  ],
  ['a key without an inquiry', [cancelled(known({}), 'None')], { key: 'k' }, 'MalformedRow'],
  ['a failure without a row', [cancelled(FAILED, 'None')], { key: 'k' }, 'Error'],
  ['a key in use beyond the limit', [cancelled(CONFLICT, FAILED)], BOTH, { refusal: 'in use' }],
  ['a known key beyond the limit', [cancelled(known(KEY_ROW), FAILED)], BOTH, { id: OTHER_ID }],
  // DynamoDB may leave out reasons.
  [
    'a key that a read finds beyond the limit',
    [cancelled('None', FAILED), { Items: [KEY_ROW] }],
    BOTH,
    { id: OTHER_ID },
  ],
  [
    'conflicts of the count and of the inquiry',
    [cancelled(CONFLICT, 'None'), cancelled('None', CONFLICT), COUNTED],
    { limit: LIMIT },
    { id: INQUIRY.id },
  ],
])('a write that gets %s', async (_, answers, options, expected) => {
  const { put } = setUp(answers);
  expect(await put(options).catch(({ name }: Error) => name)).toEqual(expected);
});

it('a limited write sends no inquiry when the hour is full', async () => {
  const { sent, put } = setUp([], makeCall(), LIMIT.most);
  expect(await put({ limit: LIMIT })).toEqual({ refusal: 'limit', limit: LIMIT });
  expect(sent).toEqual([]);
});

it.each([
  ['a key of an earlier hour', { most: 3, time: 60_000 }, [KEY.slice(0, 3)], false],
  ['a key of this hour', { most: 3, time: 60_000 }, ['-', KEY.slice(0, 4)], true],
  ['a key within a minute of the full hour', { most: 3, time: 59_999 }, ['-'], true],
  ['a key that the count need not have', { most: 151, time: 60_000 }, ['-'], true],
])('when the hour is full, %s is read: %j', async (_, limit, keys, isConsistent) => {
  for (const [Items, expected] of [
    [[KEY_ROW], { id: OTHER_ID }],
    [[], { refusal: 'limit', limit }],
  ] as const) {
    const { sent, put } = setUp([{ Items }], makeCall(), limit.most, keys);
    expect(await put({ key: 'k', limit })).toEqual(expected);
    expect(sent).toMatchObject([{ ConsistentRead: isConsistent }]);
  }
});

it('a write that conflicts is sent twelve times at most, and ends with the signal of its call', async () => {
  const conflicts = Array.from({ length: 20 }, () => cancelled(CONFLICT, 'None'));
  const { sent, put } = setUp(conflicts);
  expect(await put({ limit: LIMIT })).toEqual({ refusal: 'busy' });
  expect(sent).toHaveLength(12);
  expect(sent[0]).toHaveProperty('ClientRequestToken', INQUIRY.id);
  expect(sent[11]).toEqual(sent[0]);
  const call = new AbortController();
  const short = setUp(conflicts, makeCall(call.signal));
  waits.push(() => call.abort());
  await expect(short.put({ limit: LIMIT })).rejects.toThrow(/abort/);
  expect(short.sent).toHaveLength(1);
});

// A refused transaction costs units for its whole text.
it.each([
  [[{ Items: [KEY_ROW] }], { refusal: 'reused' }],
  [[{ Items: [] }, COUNTED], { id: INQUIRY.id }],
])('a write of a large inquiry looks its key up first: %j', async (answers, result) => {
  const { put, sent } = setUp(answers);
  expect(await put({ key: 'k' }, { body: 'x'.repeat(20_000) })).toEqual(result);
  expect(sent).toHaveLength(answers.length);
  expect(sent[0]).toHaveProperty('ConsistentRead', false);
});

it('attempts are counted as the SDK reports them, and one when the signal ended the request', async () => {
  const { call, list } = setUp([{ Items: [], $metadata: { attempts: 2 } }]);
  await list();
  expect(call.attempts).toBe(2);
  const ended = setUp([new Error()], makeCall(AbortSignal.abort()));
  await ended.list().catch(() => undefined);
  expect(ended.call.attempts).toBe(1);
});
