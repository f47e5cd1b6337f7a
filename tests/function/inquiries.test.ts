import { describe, expect, it, vi } from 'vitest';
import { timeOf, type Inquiry, type ListQuery } from '../../src/contract.ts';
import { ApiError } from '../../src/errors.ts';
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
  /** The use case with a clock that the test sets, from START on. */
  function setUp(inquiriesPerHour: number | undefined, overrides: Partial<InquiryStore> = {}) {
    const store = createMemoryStore(overrides);
    let time = START;
    const inquiries = createInquiries(store, { inquiriesPerHour, now: () => time });
    /** @returns Retry-After of the 429, the status of another error, or undefined for an inquiry. */
    const sendAt = async (
      elapsed: number,
      key?: string,
      email = EMAIL,
      subject = INPUT.subject,
    ) => {
      time = START + elapsed;
      try {
        await inquiries.create({ ...OWNER, email }, { ...INPUT, subject }, call, { key });
        return undefined;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return error.status === 429 ? error.headers['Retry-After'] : error.status;
      }
    };
    return { sendAt, store };
  }

  it.each([1, 2, 60, 1_000])('lets a person send %i at once and not one more', async (limit) => {
    const { sendAt, store } = setUp(limit);
    for (let sent = 0; sent < limit; sent++) expect(await sendAt(0)).toBeUndefined();
    expect(await sendAt(0)).toBe('3600');
    expect(store.rows).toHaveLength(limit);
  });

  it('counts what one sub sends with any email', async () => {
    const { sendAt, store } = setUp(5);
    const answers: unknown[] = [];
    for (let index = 0; index < 12; index++) {
      answers.push(await sendAt(0, undefined, `${index}@example.com`));
    }
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(5);
    expect(store.rows).toHaveLength(5);
  });

  it.each([
    [0, '3600'],
    [999, '3600'],
    [1_000, '3599'],
    [HOUR - 1_001, '2'],
    [HOUR - 1, '1'],
    [HOUR, undefined],
    [-1, undefined],
  ])('begins again with the hour: %i ms later Retry-After is %j', async (elapsed, retryAfter) => {
    const { sendAt, store } = setUp(1);
    await sendAt(0);
    expect(await sendAt(elapsed)).toBe(retryAfter);
    expect(store.rows).toHaveLength(retryAfter === undefined ? 2 : 1);
  });

  it('locks nobody out after the clock was a year ahead for a moment', async () => {
    const { sendAt } = setUp(1);
    expect(await sendAt(365 * 24 * HOUR)).toBeUndefined();
    expect(await sendAt(0)).toBeUndefined();
    expect(await sendAt(0)).toBe('3600');
  });

  it('does not count what stores nothing: replays, reused keys and inquiries that are too large', async () => {
    const { sendAt, store } = setUp(2);
    expect(await sendAt(0, 'k')).toBeUndefined();
    for (let index = 0; index < 5; index++) {
      expect(await sendAt(0, 'k')).toBeUndefined();
      expect(await sendAt(0, 'k', EMAIL, 'another')).toBe(422);
      expect(await sendAt(0, 'l', EMAIL, 'x'.repeat(200))).toBe(413);
    }
    expect(await sendAt(0)).toBeUndefined();
    expect(await sendAt(0)).toBe('3600');
    expect(await sendAt(0, 'k')).toBeUndefined();
    expect(store.rows).toHaveLength(2);
  });

  it('asks the store for no limit without one', async () => {
    const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
    await setUp(7, { put }).sendAt(1);
    await setUp(undefined, { put }).sendAt(1);
    const limits = put.mock.calls.map(([, , options]) => options?.limit);
    expect(limits).toEqual([{ most: 7, time: START + 1 }, undefined]);
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
    [4, 2],
    [5, 1],
    [1000, 1],
  ])('of at most %i has five inquiries in %i pages', async (limit, count) => {
    const pages = await readPages(await make(['1', '2', '3', '4', '5']), limit);
    expect(pages).toHaveLength(count);
    expect(Math.max(...pages.map(({ list }) => list.count))).toBeLessThanOrEqual(limit);
  });

  // As many of each as take more than one response.
  it.each([
    ['x', 24],
    ['"', 8],
    ['\u0001', 4],
    ['é', 14],
    ['€', 9],
  ])(
    'without a limit ends where Lambda’s response would be full, escapes and UTF-8 counted: %j',
    async (character, count) => {
      const made = await make(Array.from({ length: count }, () => character.repeat(300_000)));
      const one = Buffer.byteLength(JSON.stringify(JSON.stringify(made.rows[0])));
      for (const { list, next } of await readPages(made)) {
        const size = Buffer.byteLength(JSON.stringify({ body: JSON.stringify(list) }));
        expect(size).toBeLessThan(LAMBDA_PAYLOAD_LIMIT - 10_000);
        // Full, unless it is the last: one more would not have fitted.
        expect(next === undefined || size + one > LAMBDA_PAYLOAD_LIMIT - 70_000).toBe(true);
      }
    },
  );

  it('holds inquiries of Lambda’s 6,291,556 bytes less 64 KB, to the byte', async () => {
    // One comma less than there are inquiries.
    const budget = LAMBDA_PAYLOAD_LIMIT - 64 * 1024 + 1;
    // With the comma that follows, without the quotes around.
    const sizeOf = (row: Inquiry | undefined): number =>
      Buffer.byteLength(JSON.stringify(JSON.stringify(row))) - 1;
    const bodies = Array.from({ length: 20 }, (_, index) => `é"\\\n${'x'.repeat(300_000 + index)}`);
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
