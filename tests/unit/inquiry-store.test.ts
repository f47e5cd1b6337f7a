/** What the store asks of the database and makes of odd answers; how both get on is tests/integration/store.test.ts. */
import { describe, expect, it } from 'vitest';
import { countAttempts } from '../../src/attempts.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import type { InquiryStore } from '../../src/inquiries.ts';
import { EMAIL, INQUIRY, SUB } from '../helpers/events.ts';

const OWNER = { sub: SUB, email: EMAIL };
const signal = new AbortController().signal;

/** A store whose database gives these answers, one after the other, and the inputs that it was asked with. */
function setUp(...answers: object[]) {
  const asked: object[] = [];
  const client = {
    async send({ input }: { input: object }) {
      asked.push(input);
      const answer = answers.shift() ?? {};
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { asked, store: createInquiryStore(createInquiryEntity({ client, table: 'inquiries' })) };
}

async function readPages(store: InquiryStore, query = {}, until = signal): Promise<Inquiry[][]> {
  const pages: Inquiry[][] = [];
  for await (const page of store.list(OWNER, query, until)) pages.push(page);
  return pages;
}

describe('a list', () => {
  it('asks for the six fields of the owner’s partition, strongly consistent and backwards', async () => {
    const { asked, store } = setUp({ Items: [] });
    await readPages(store, { limit: 5 });
    expect(asked).toEqual([
      expect.objectContaining({
        TableName: 'inquiries',
        ConsistentRead: true,
        ScanIndexForward: false,
        Limit: 6,
        ProjectionExpression: 'id,cognito_sub,email,subject,body,created_at',
      }),
    ]);
  });

  it('goes on from where a page has ended, an empty one too', async () => {
    const key = { pk: 'p', sk: 's' };
    const { asked, store } = setUp({ Items: [], LastEvaluatedKey: key }, { Items: [INQUIRY] });
    expect(await readPages(store)).toEqual([[], [INQUIRY]]);
    expect(asked).toEqual([
      expect.objectContaining({ ExclusiveStartKey: undefined }),
      expect.objectContaining({ ExclusiveStartKey: key }),
    ]);
  });

  it.each([
    ['has a field that is no string', { subject: undefined }],
    ['is of another user', { cognito_sub: '0f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b' }],
    ['is of another email', { email: 'Ana@example.com' }],
  ])('rejects as MalformedRow when one row of it %s', async (_, change) => {
    const { store } = setUp({ Items: [INQUIRY, { ...INQUIRY, ...change }] });
    await expect(readPages(store)).rejects.toMatchObject({
      name: 'MalformedRow',
      message: 'A stored row is no inquiry of its owner.',
    });
  });

  it('shows six fields of a row, whatever else it holds', async () => {
    const { store } = setUp({ Items: [{ ...INQUIRY, reply: 'no', pk: 'no' }] });
    expect(await readPages(store)).toStrictEqual([[INQUIRY]]);
  });
});

describe('a write', () => {
  it('asks what it has cost, and resolves when the database says so', async () => {
    const { asked, store } = setUp({ ConsumedCapacity: { CapacityUnits: 1 } });
    await store.put(INQUIRY, signal);
    expect(asked).toEqual([
      expect.objectContaining({
        TableName: 'inquiries',
        ReturnConsumedCapacity: 'TOTAL',
        Item: expect.objectContaining(INQUIRY),
      }),
    ]);
  });

  // Rows are found by these keys for ever: code that makes others finds none of what is stored.
  it('stores these attributes under these keys', async () => {
    const { asked, store } = setUp({ ConsumedCapacity: {} });
    await store.put({ ...INQUIRY, email: 'Ana+#1@Example.com' }, signal);
    expect(asked).toHaveProperty('0.Item', {
      ...INQUIRY,
      email: 'Ana+#1@Example.com',
      pk: `$inquiries#cognito_sub_${SUB}#email_Ana+#1@Example.com`,
      sk: `$inquiry_1#id_${INQUIRY.id}`,
      __edb_e__: 'inquiry',
      __edb_v__: '1',
    });
  });

  it('rejects as UnconfirmedWrite when the database does not', async () => {
    await expect(setUp({}).store.put(INQUIRY, signal)).rejects.toMatchObject({
      name: 'UnconfirmedWrite',
      message: 'The answer to a write was not DynamoDB’s.',
    });
  });
});

describe('attempts', () => {
  const slow = { $metadata: { attempts: 3 } };
  it.each([
    [
      'what the SDK says of each page',
      [
        { Items: [], LastEvaluatedKey: { pk: 'p' }, ...slow },
        { Items: [], ...slow },
      ],
      6,
    ],
    ['what it says of a failure', [Object.assign(new Error(), slow)], 3],
    ['one when it does not say', [new Error()], 1],
  ])('are %s', async (_, answers, expected) => {
    const { signal: own } = new AbortController();
    await readPages(setUp(...answers).store, {}, own).catch(() => undefined);
    expect(countAttempts(own)).toBe(expected);
  });
});

it('counts the subject’s bytes as it counts the body’s', () => {
  const { store } = setUp();
  for (const length of [400_000, 410_000]) {
    const text = 'x'.repeat(length);
    const [inSubject, inBody] = [
      { subject: text, body: '' },
      { subject: '', body: text },
    ].map((texts) => store.fits({ ...INQUIRY, ...texts }));
    expect(inSubject).toBe(length === 400_000);
    expect(inBody).toBe(inSubject);
  }
});
