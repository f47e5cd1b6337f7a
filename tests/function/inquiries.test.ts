import { describe, expect, it, vi } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { HOUR, LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { EMAIL, list as readList, makeCall, SUB } from '../helpers/events.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';

const OWNER = { sub: SUB, email: EMAIL };
const INPUT = { subject: 'Hello', body: 'Is anyone there?' };
const START = 472_222 * HOUR;
const call = makeCall();

it.each([
  ['stands still', () => START + 7],
  ['runs backwards by a millisecond a call', (index: number) => START - index],
  ['runs backwards by a day a call', (index: number) => START - index * 24 * HOUR],
  ['jumps to and fro', (index: number) => START + (index % 2 ? HOUR : 0)],
])('ids only increase, and created_at is their time, when the clock %s', async (_, clock) => {
  let calls = 0;
  const store = createMemoryStore();
  const inquiries = createInquiries(store, { now: () => clock(calls++) });
  for (let index = 0; index < 500; index++) {
    const { inquiry } = await inquiries.create(OWNER, INPUT, call);
    expect(inquiry).toEqual(store.rows.at(-1));
  }
  const ids = store.rows.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted());
  expect(store.rows[0]?.created_at).toBe(new Date(clock(0)).toISOString());
  for (const { id, created_at } of store.rows) {
    const digits = Date.parse(created_at).toString(16).padStart(12, '0');
    expect(id.replace('-', '').slice(0, 12)).toBe(digits);
  }
});

it('returns the inquiry that another instance has stored with the key, with the time that is in its id', async () => {
  const id = '018bcfe5-6800-7abc-8def-0123456789ab';
  const inquiries = createInquiries(createMemoryStore({ put: async () => ({ id }) }));
  const created_at = '2023-11-14T22:13:20.000Z';
  expect(await inquiries.create(OWNER, INPUT, call, { key: 'k' })).toStrictEqual({
    inquiry: { id, cognito_sub: SUB, email: EMAIL, ...INPUT, created_at },
    isReplay: true,
  });
});

it.each([
  [0, '3600'],
  [1_000, '3599'],
  [HOUR - 1, '1'],
])(
  'the limit is reached until the hour ends: after %i ms Retry-After is %j',
  async (elapsed, wait) => {
    const put = vi.fn<InquiryStore['put']>(async () => ({ refusal: 'limit' }));
    const time = START + elapsed;
    const options = { inquiriesPerHour: 7, now: () => time };
    const inquiries = createInquiries(createMemoryStore({ put }), options);
    await expect(inquiries.create(OWNER, INPUT, call)).rejects.toMatchObject({
      status: 429,
      headers: { 'Retry-After': wait },
    });
    expect(put.mock.lastCall?.[2]?.limit).toEqual({ most: 7, time });
  },
);

describe('a list', () => {
  const make = async (bodies: string[]) => {
    const store = createMemoryStore({}, Infinity);
    const inquiries = createInquiries(store);
    for (const body of bodies) await inquiries.create(OWNER, { subject: '', body }, call);
    return { inquiries, rows: store.rows };
  };
  /** Follows `next` to the end. @returns How many inquiries each page has: together each of the rows once, newest first. */
  const countPages = async (
    { inquiries, rows }: Awaited<ReturnType<typeof make>>,
    limit?: string,
    between?: () => Promise<unknown>,
  ) => {
    const listed = rows.toReversed();
    const pages: Inquiry[][] = [];
    let before: string | undefined;
    do {
      const { list, next } = await readList(inquiries, OWNER, { limit, before });
      pages.push(list.inquiries);
      before = next?.before;
      await between?.();
    } while (before !== undefined);
    expect(pages.flat()).toEqual(listed);
    return pages.map((page) => page.length);
  };

  it('loses no inquiry and repeats none while others are being added', async () => {
    const made = await make(['1', '2', '3', '4', '5']);
    await countPages(made, '2', () => made.inquiries.create(OWNER, INPUT, call));
    expect(made.rows).toHaveLength(8);
  });

  it('without a limit holds inquiries of Lambda’s 6,291,556 bytes less 64 KB, to the byte', async () => {
    // One comma less than there are inquiries.
    const budget = LAMBDA_PAYLOAD_LIMIT - 64 * 1024 + 1;
    // With the comma that follows, without the quotes around.
    const sizeOf = (row: Inquiry): number =>
      Buffer.byteLength(JSON.stringify(JSON.stringify(row))) - 1;
    const bodies = Array.from(
      { length: 20 },
      (_, index) => `é€\u0001"\\\n${'x'.repeat(300_000 + index)}`,
    );
    const { rows } = await make([...bodies, '']);
    const rest = budget - rows.reduce((sum, row) => sum + sizeOf(row), 0);
    const countWith = async (length: number) =>
      countPages(await make([...bodies, 'x'.repeat(length)]));
    expect(await countWith(rest)).toEqual([21]);
    expect(await countWith(rest + 1)).toEqual([20, 1]);
  });

  it('reads no further page of the store than it needs, and passes over empty ones', async () => {
    const { rows } = await make(['1', '2', '3', '4']);
    let read = 0;
    const store = createMemoryStore({
      async *list() {
        for (const page of [[], ...rows.map((row) => [row])]) {
          read++;
          yield page;
        }
      },
    });
    const { list } = await readList(createInquiries(store), OWNER, { limit: '2' });
    expect([list.count, read]).toEqual([2, 4]);
  });
});
