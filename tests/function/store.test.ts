import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { paginateScan, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { tableDefinition } from '../../local/database/table.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries, type Inquiries, type InquiryStore } from '../../src/inquiries.ts';
import { createOwnStore, describeOnEngines } from '../helpers/engines.ts';
import { EMAIL, list as readList, makeCall, SUB } from '../helpers/events.ts';
import { writeIdempotencyKey } from '../helpers/idempotency.ts';

const OWNER = { sub: SUB, email: EMAIL };

const readAll = (store: InquiryStore, call = makeCall()) =>
  Array.fromAsync(store.list(OWNER, {}, call));

/** The length of the largest body that fits beside an empty subject; nothing is stored. */
async function findLargest(email: string): Promise<number> {
  const client = new DynamoDBClient();
  client.send = async () => ({ ConsumedCapacity: {}, $metadata: {} });
  const store = createInquiryStore(client, 'any');
  const inquiry = {
    id: SUB,
    cognito_sub: SUB,
    email,
    subject: '',
    created_at: new Date(0).toISOString(),
  };
  let [low, high] = [0, 500_000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const result = await store.put({ ...inquiry, body: 'x'.repeat(middle) }, makeCall());
    if ('id' in result) low = middle;
    else high = middle;
  }
  return low;
}

describeOnEngines('the store', (endpoint, engine) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  let inquiries: Inquiries;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
    inquiries = createInquiries(own.store);
  });
  const create = async (owner: typeof OWNER, subject: string, body = '') =>
    (await inquiries.create(owner, { subject, body }, makeCall())).inquiry;
  const list = async (owner: typeof OWNER, query: object = {}) =>
    (await readList(inquiries, owner, query)).list;
  const subjectsOf = async (owner: typeof OWNER) =>
    (await list(owner)).inquiries.map(({ subject }) => subject);

  it('has the table keys that the entity uses', async () => {
    const { byOwner, byState } = own.entity.schema.indexes;
    const keysOf = ({ pk, sk }: typeof byOwner | typeof byState) => [
      { AttributeName: pk.field, KeyType: 'HASH' },
      { AttributeName: sk.field, KeyType: 'RANGE' },
    ];
    const { Table } = await own.client.send(new DescribeTableCommand({ TableName: own.table }));
    expect(tableDefinition.KeySchema).toEqual(keysOf(byOwner));
    expect(tableDefinition.AttributeDefinitions).toEqual(
      [byOwner, byState]
        .flatMap(keysOf)
        .map(({ AttributeName }) => ({ AttributeName, AttributeType: 'S' })),
    );
    expect(Table?.KeySchema).toEqual(tableDefinition.KeySchema);
    const [index] = tableDefinition.GlobalSecondaryIndexes;
    expect(index).toMatchObject({ IndexName: byState.index, KeySchema: keysOf(byState) });
  });

  it('reads every page of a list, and lists the rest when the response is full', async () => {
    const owner = { ...OWNER, email: 'pages@example.com' };
    const made: string[] = [];
    for (let index = 0; index < 24; index++) {
      made.unshift((await create(owner, '', 'x'.repeat(300_000))).id);
    }
    const call = makeCall();
    const { list: first, next } = await readList(inquiries, owner, {}, call);
    expect(call.attempts).toBeGreaterThan(1);
    const rest = await list(owner, { before: next?.before });
    expect([...first.inquiries, ...rest.inquiries].map(({ id }) => id)).toEqual(made);
    expect(rest.count).toBeGreaterThan(0);
  });

  it.each([
    ['the same sub with another email', { email: 'ben@example.com' }],
    ['the same email with another sub', { sub: '0f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b' }],
    ['emails that differ in case', { email: 'ANA@example.com' }],
    ['an email with key-like text', { email: 'ana@example.com#email_b' }],
  ])('keeps owners apart: %s', async (rule, change) => {
    const stranger = { ...OWNER, ...change };
    await create(OWNER, rule);
    await create(stranger, `stranger: ${rule}`);
    expect((await subjectsOf(OWNER))[0]).toBe(rule);
    expect(await subjectsOf(stranger)).toEqual([`stranger: ${rule}`]);
  });

  it.each([
    ['empty', ''],
    ['emoji', '👩‍👩‍👧‍👦🏳️‍🌈'],
    [
      'all control characters',
      Array.from({ length: 32 }, (_, code) => String.fromCodePoint(code)).join(''),
    ],
    ['noncharacters', '\uFFFE\uFFFF\u{10FFFF}'],
    ['combining characters unnormalised', 'e\u0301 é ﬁ'],
    ['expression syntax', ':pk #pk ${id} $inquiry_1#id_'],
    ['390 KB', 'é'.repeat((390 * 1024) / 2)],
  ])('stores and returns text byte for byte: %s', async (name, text) => {
    const owner = { ...OWNER, email: `${name}@example.com` };
    const made = [await create(owner, text), await create(owner, '', text)];
    expect((await list(owner)).inquiries).toEqual(made.toReversed());
    expect(made.map(({ subject, body }) => subject + body)).toEqual([text, text]);
  });

  it('never returns reply, respondent and reply_at, nor an attribute it does not know', async () => {
    const owner = { ...OWNER, email: 'replied@example.com' };
    const inquiry = await create(owner, 'answered');
    const Item = own.entity
      .put({ ...inquiry, reply: 'r', respondent: 'p', reply_at: 't' })
      .params<{ Item: object }>().Item;
    expect(Item).toMatchObject({ reply: 'r', respondent: 'p', reply_at: 't' });
    await own.client.send(new PutCommand({ TableName: own.table, Item: { ...Item, note: 'n' } }));
    expect((await list(owner)).inquiries).toEqual([inquiry]);
  });

  it('leaves room for other types of entity in the same partition', async () => {
    const owner = { ...OWNER, email: 'shared@example.com' };
    const inquiry = await create(owner, 'mine');
    for (const sk of ['$a', '$inquiry_10#id_1', '$zzz']) {
      const key = { pk: `$inquiries#cognito_sub_${SUB}#email_shared@example.com`, sk };
      await own.client.send(
        new PutCommand({
          TableName: own.table,
          Item: { ...key, __edb_e__: 'other', __edb_v__: '1' },
        }),
      );
    }
    expect((await list(owner)).inquiries).toEqual([inquiry]);
  });

  it('shows no idempotency keys: neither in lists, nor in pages, nor before an id; the index has none', async () => {
    const owner = { ...OWNER, email: 'keys@example.com' };
    const made = [];
    for (let index = 0; index < 3; index++) made.unshift(await create(owner, String(index)));
    for (const inquiry of made) {
      for (let index = 0; index < 20; index++) {
        await writeIdempotencyKey(own, inquiry, { key: `${inquiry.id} ${index}` });
      }
    }
    expect((await list(owner)).inquiries).toEqual(made);
    const [newest, middle, oldest] = made;
    for (const [query, expected, isEnd] of [
      [{ limit: '2' }, [newest, middle], false],
      [{ limit: '3' }, made, true],
      [{ limit: '1', before: middle?.id }, [oldest], true],
      [{ before: oldest?.id }, [], true],
    ] as const) {
      const page = await readList(inquiries, owner, query);
      expect(page.list.inquiries).toEqual(expected);
      expect(page.next === undefined).toBe(isEnd);
    }
    const scan = paginateScan(
      { client: own.client },
      { TableName: own.table, IndexName: 'by-state' },
    );
    const rows = (await Array.fromAsync(scan)).flatMap(({ Items = [] }) => Items);
    expect(rows.filter(({ email }) => email === owner.email)).toHaveLength(3);
  });

  describe('limits', () => {
    it.each([
      ['ASCII', 'limit@b', true],
      // dynalite counts the characters of a key; DynamoDB counts its bytes.
      ['not ASCII', 'é'.repeat(300), engine !== 'dynalite'],
    ])(
      'is the limit of the engine to the byte, with an email that is %s',
      async (_, email, exact) => {
        const owner = { ...OWNER, email };
        const length = await findLargest(email);
        const inquiry = await create(owner, '', 'x'.repeat(length));
        await expect(create(owner, '', 'x'.repeat(length + 1))).rejects.toMatchObject({
          status: 413,
        });
        expect((await list(owner)).inquiries).toEqual([inquiry]);
        // The engine itself, without the store's own check.
        const oneMore = own.entity
          .put({ ...inquiry, body: 'x'.repeat(length + 1) })
          .params<{ TableName: string; Item: Record<string, string> }>();
        const write = own.client.send(new PutCommand(oneMore)).then(() => 'stored');
        expect(await write.catch((error: Error) => error.name)).toBe(
          exact ? 'ValidationException' : 'stored',
        );
      },
    );

    it('takes emails up to what a partition key holds; longer ones own nothing and can store nothing', async () => {
      const keyOf = (email: string): string =>
        own.entity
          .put({ id: SUB, cognito_sub: SUB, email, subject: '', body: '', created_at: '' })
          .params<{ Item: { pk: string } }>().Item.pk;
      const longest = { ...OWNER, email: 'x'.repeat(2048 - keyOf('').length) };
      const tooLong = { ...OWNER, email: `${longest.email}x` };
      await create(longest, 'fits');
      expect(await subjectsOf(longest)).toEqual(['fits']);
      await expect(create(tooLong, 'no')).rejects.toMatchObject({
        status: 413,
        message: 'The `email` claim is too long for an inquiry to be stored under it.',
      });
      expect(await subjectsOf(tooLong)).toEqual([]);
      const Item = { pk: keyOf(tooLong.email), sk: 'x' };
      const write = own.client.send(new PutCommand({ TableName: own.table, Item }));
      await expect(write).rejects.toMatchObject({ name: 'ValidationException' });
    });
  });

  it('rejects with the name of the fault, and holds no item, when the table is missing', async () => {
    const client = createDynamoDbClient({ region: 'local' });
    const store = createInquiryStore(client, 'no-such-table');
    await expect(readAll(store)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  it('stops when the signal is aborted', async () => {
    await expect(readAll(own.store, makeCall(AbortSignal.abort()))).rejects.toThrow(/abort/i);
  });
});
