import { describe, expect, it, vi } from 'vitest';
import { timeOf, type Inquiry, type ListQuery } from '../../src/contract.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { HOUR, INQUIRY_ID, LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { EMAIL, list as readList, makeCall, SUB } from '../helpers/events.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';

const OWNER = { sub: SUB, email: EMAIL };
const INPUT = { subject: 'Hello', body: 'Is anyone there?' };
const call = makeCall();

const millisecondOf = (id: string): string => new Date(timeOf(id)).toISOString();

describe('create', () => {
  it('returns exactly the six fields of the stored inquiry; id and created_at have the time of the clock', async () => {
    const store = createMemoryStore();
    const now = () => Date.UTC(2026, 10, 20, 5, 34, 0, 7);
    const { inquiry } = await createInquiries(store, { now }).create(OWNER, INPUT, call);
    const created_at = '2026-11-20T05:34:00.007Z';
    expect(Object.keys(inquiry)).toEqual([
      'id',
      'cognito_sub',
      'email',
      'subject',
      'body',
      'created_at',
    ]);
    expect(inquiry).toMatchObject({ cognito_sub: SUB, email: EMAIL, ...INPUT, created_at });
    expect(inquiry.id).toMatch(INQUIRY_ID);
    expect(millisecondOf(inquiry.id)).toBe(created_at);
    expect(store.rows).toEqual([inquiry]);
  });

  it.each([
    ['stands still', () => 1_700_000_000_000],
    ['runs backwards by a millisecond a call', (index: number) => 1_700_000_000_000 - index],
    ['runs backwards by a day a call', (index: number) => 1_700_000_000_000 - index * 86_400_000],
    ['jumps to and fro', (index: number) => 1_700_000_000_000 + (index % 2 ? 3_600_000 : 0)],
  ])(
    'makes ids that only increase, and created_at with them, when the clock %s',
    async (_, clock) => {
      let calls = 0;
      const inquiries = createInquiries(createMemoryStore(), { now: () => clock(calls++) });
      const made = [];
      for (let index = 0; index < 2000; index++) {
        made.push((await inquiries.create(OWNER, INPUT, call)).inquiry);
      }
      const ids = made.map(({ id }) => id);
      expect(ids).toEqual([...new Set(ids)].toSorted());
      expect(made.map(({ created_at }) => created_at)).toEqual(ids.map(millisecondOf));
    },
  );
});

describe('create with a key', () => {
  it('returns the first inquiry again, whatever the clock says by then', async () => {
    const store = createMemoryStore();
    let time = 1_700_000_000_000;
    const inquiries = createInquiries(store, { now: () => time });
    const first = await inquiries.create(OWNER, INPUT, call, { key: 'k' });
    for (const later of [0, 1, 86_400_000, -86_400_000]) {
      time = 1_700_000_000_000 + later;
      expect(await inquiries.create(OWNER, INPUT, call, { key: 'k' })).toStrictEqual({
        ...first,
        isReplay: true,
      });
    }
    expect(first.isReplay).toBe(false);
    expect(store.rows).toEqual([first.inquiry]);
  });

  it('returns another instance’s inquiry with the time that is in its id', async () => {
    const id = '018bcfe5-6800-7abc-8def-0123456789ab';
    const inquiries = createInquiries(createMemoryStore({ put: async () => ({ id }) }));
    expect(await inquiries.create(OWNER, INPUT, call, { key: 'k' })).toStrictEqual({
      inquiry: {
        id,
        cognito_sub: SUB,
        email: EMAIL,
        ...INPUT,
        created_at: '2023-11-14T22:13:20.000Z',
      },
      isReplay: true,
    });
  });
});

describe('the limit of inquiries per hour', () => {
  /** The start of an hour. */
  const START = 472_222 * HOUR;

  it.each([
    [0, '3600'],
    [999, '3600'],
    [1_000, '3599'],
    [HOUR - 1_001, '2'],
    [HOUR - 1, '1'],
  ])(
    'is reached until the hour ends: %i ms after its start Retry-After is %j',
    async (elapsed, expected) => {
      const store = createMemoryStore({ put: async () => ({ refusal: 'limit' }) });
      const options = { inquiriesPerHour: 1, now: () => START + elapsed };
      await expect(
        createInquiries(store, options).create(OWNER, INPUT, call),
      ).rejects.toMatchObject({
        status: 429,
        headers: { 'Retry-After': expected },
      });
    },
  );

  it('is told to the store with the time, if there is one', async () => {
    const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
    for (const inquiriesPerHour of [7, undefined]) {
      const inquiries = createInquiries(createMemoryStore({ put }), {
        inquiriesPerHour,
        now: () => START,
      });
      await inquiries.create(OWNER, INPUT, call);
    }
    const limits = put.mock.calls.map(([, , options]) => options?.limit);
    expect(limits).toEqual([{ most: 7, time: START }, undefined]);
  });
});

describe('a list in pages', () => {
  const make = async (bodies: string[], store = createMemoryStore({}, Infinity)) => {
    const inquiries = createInquiries(store);
    for (const body of bodies) await inquiries.create(OWNER, { subject: '', body }, call);
    return { inquiries, rows: store.rows };
  };
  type Page = Awaited<ReturnType<typeof readList>>;
  /** Follows `next` to the end; the pages have each of the rows once, newest first. */
  const readPages = async (
    { inquiries, rows }: Awaited<ReturnType<typeof make>>,
    limit?: number,
    between?: () => Promise<unknown>,
  ) => {
    const pages: Page[] = [];
    const listed = rows.toReversed();
    for (
      let query: ListQuery | undefined = limit === undefined ? {} : { limit };
      query !== undefined;
    ) {
      const parameters = { ...query, ...(query.limit && { limit: String(query.limit) }) };
      const page: Page = await readList(inquiries, OWNER, parameters);
      expect(page.list.count).toBe(page.list.inquiries.length);
      pages.push(page);
      query = page.next;
      await between?.();
      if (query) expect(query).toEqual({ before: page.list.inquiries.at(-1)?.id, limit });
    }
    expect(pages.flatMap(({ list }) => list.inquiries)).toEqual(listed);
    return pages;
  };

  it('loses no inquiry and repeats none while others are being added', async () => {
    const made = await make(['1', '2', '3', '4', '5']);
    await readPages(made, 2, () => made.inquiries.create(OWNER, INPUT, call));
    expect(made.rows).toHaveLength(8);
  });

  it.each([
    [1, 5],
    [2, 3],
    [5, 1],
  ])('of at most %i has five inquiries in %i pages', async (limit, count) => {
    const pages = await readPages(await make(['1', '2', '3', '4', '5']), limit);
    expect(pages).toHaveLength(count);
    expect(Math.max(...pages.map(({ list }) => list.count))).toBeLessThanOrEqual(limit);
  });

  it('without a limit holds inquiries of Lambda’s 6,291,556 bytes less 64 KB, to the byte', async () => {
    // One comma less than there are inquiries.
    const budget = LAMBDA_PAYLOAD_LIMIT - 64 * 1024 + 1;
    // With the comma that follows, without the quotes around.
    const sizeOf = (row: Inquiry | undefined): number =>
      Buffer.byteLength(JSON.stringify(JSON.stringify(row))) - 1;
    const bodies = Array.from(
      { length: 20 },
      (_, index) => `é€\u0001"\\\n${'x'.repeat(300_000 + index)}`,
    );
    const { rows } = await make([...bodies, '']);
    const rest = budget - rows.reduce((sum, row) => sum + sizeOf(row), 0);
    const countsWith = async (length: number) =>
      (await readPages(await make([...bodies, 'x'.repeat(length)]))).map(({ list }) => list.count);
    expect(await countsWith(rest)).toEqual([21]);
    expect(await countsWith(rest + 1)).toEqual([20, 1]);
  });

  it('reads no further page of the store than it needs, and passes over empty ones', async () => {
    let pages = 0;
    const { rows } = await make(['1', '2', '3', '4']);
    const store = createMemoryStore({
      async *list() {
        for (const page of [[], ...rows.map((row) => [row])]) {
          pages++;
          yield page;
        }
      },
    });
    const { list } = await readList(createInquiries(store), OWNER, { limit: '2' });
    expect(list.count).toBe(2);
    expect(pages).toBe(4);
  });
});
