import { expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { HOUR, LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { EMAIL, list, makeCall, SUB } from '../helpers/events.ts';

const OWNER = { sub: SUB, email: EMAIL };
const START = 472_222 * HOUR;

async function setUp(bodies: readonly string[], now?: () => number) {
  const rows: Inquiry[] = [];
  const store: InquiryStore = {
    put: async (inquiry) => ({ id: inquiry.id, added: rows.push(inquiry) }),
    async *list(_owner, { before = 'g' }) {
      yield rows.filter(({ id }) => id < before).toReversed();
    },
  };
  const inquiries = createInquiries(store, now && { now });
  for (const body of bodies) await inquiries.create(OWNER, { subject: '', body }, makeCall());
  return { inquiries, rows, store };
}

it.each([
  ['stands still', () => START + 7],
  ['runs backwards by a millisecond a call', (index: number) => START - index],
  ['runs backwards by a day a call', (index: number) => START - index * 24 * HOUR],
  ['jumps to and fro', (index: number) => START + (index % 2 ? HOUR : 0)],
])('ids only increase, and created_at is their time, when the clock %s', async (_, clock) => {
  let calls = 0;
  const { rows } = await setUp(Array(500).fill(''), () => clock(calls++));
  const ids = rows.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted());
  expect(rows[0]?.created_at).toBe(new Date(clock(0)).toISOString());
  for (const { id, created_at } of rows) {
    const digits = Date.parse(created_at).toString(16).padStart(12, '0');
    expect(id.replace('-', '').slice(0, 12)).toBe(digits);
  }
});

// docs/contract.md promises 1 to 3600.
it.each([
  [0, '3600'],
  [1, '3600'],
  [HOUR - 1_001, '2'],
  [HOUR - 1_000, '1'],
  [HOUR - 1, '1'],
])(
  'beyond the limit, %i ms into the hour, Retry-After is %s: rounded up',
  async (after, seconds) => {
    const limit = { most: 1, time: START + after };
    const put: InquiryStore['put'] = async () => ({ refusal: 'limit', limit });
    const inquiries = createInquiries({ put, async *list() {} });
    const created = inquiries.create(OWNER, { subject: '', body: '' }, makeCall());
    await expect(created).rejects.toMatchObject({
      status: 429,
      headers: { 'Retry-After': seconds },
    });
  },
);

it('a list without a limit fills Lambda’s 6,291,556 bytes less 64 KB, to the byte', async () => {
  const bodies = Array.from({ length: 20 }, (_, at) => `é€\u0001"\\\n${'x'.repeat(300_000 + at)}`);
  const sizesOfPages = async (length: number): Promise<number[]> => {
    const { inquiries, rows } = await setUp([...bodies, 'x'.repeat(length)]);
    const pages: Inquiry[][] = [];
    let before: string | undefined;
    do {
      const page = await list(inquiries, OWNER, { before });
      pages.push(page.list.inquiries);
      before = page.next?.before;
    } while (before !== undefined);
    expect(pages.flat()).toEqual(rows.toReversed());
    return pages.map((page) => page.length);
  };
  const { rows } = await setUp([...bodies, '']);
  // Counted with a comma and without quotes around; there is one comma less.
  const sizes = rows.map((row) => Buffer.byteLength(JSON.stringify(JSON.stringify(row))) - 1);
  const rest = LAMBDA_PAYLOAD_LIMIT - 64 * 1024 + 1 - sizes.reduce((sum, size) => sum + size);
  expect(await sizesOfPages(rest)).toEqual([21]);
  expect(await sizesOfPages(rest + 1)).toEqual([20, 1]);
});

it('a list is JSON whatever its texts and the email are', async () => {
  const hostile = '","email":"x\\\u2028\n';
  const { inquiries } = await setUp([hostile]);
  const listed = await list(inquiries, { sub: SUB, email: hostile });
  expect(listed.list).toMatchObject({ email: hostile, inquiries: [{ body: hostile }] });
});

it('a list reads no further page of the store than it needs, and passes over empty ones', async () => {
  const { rows, store } = await setUp(['1', '2', '3', '4']);
  let read = 0;
  store.list = async function* () {
    for (const page of [[], ...rows.map((row) => [row]), []]) {
      read++;
      yield page;
    }
  };
  const inquiries = createInquiries(store);
  const page = await list(inquiries, OWNER, { limit: '2' });
  expect([page.list.count, read]).toEqual([2, 4]);
  const rest = await list(inquiries, OWNER, { limit: '4' });
  expect([rest.list.count, rest.next]).toEqual([4, undefined]);
});
