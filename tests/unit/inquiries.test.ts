import { describe, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { EMAIL, list as readList, makeCall, SUB } from '../helpers/events.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';

const OWNER = { sub: SUB, email: EMAIL };
const INPUT = { subject: 'Hello', body: 'Is anyone there?' };
const call = makeCall();

const millisecondOf = (id: string): string =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString();

describe('create', () => {
  it('returns exactly the six fields of the stored inquiry', async () => {
    const store = createMemoryStore();
    const { inquiry } = await createInquiries(store).create(OWNER, INPUT, call);
    expect(Object.keys(inquiry)).toEqual(['id', 'cognito_sub', 'email', 'subject', 'body', 'created_at']);
    expect(inquiry).toMatchObject({ cognito_sub: SUB, email: EMAIL, ...INPUT });
    expect(store.rows).toEqual([inquiry]);
  });

  it('makes a UUID of version 7 whose millisecond is created_at and the time of the clock', async () => {
    const now = Date.UTC(2026, 10, 20, 5, 34, 0, 7);
    const { inquiry } = await createInquiries(createMemoryStore(), { now: () => now }).create(
      OWNER,
      INPUT,
      call,
    );
    expect(inquiry.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(inquiry.created_at).toBe('2026-11-20T05:34:00.007Z');
    expect(millisecondOf(inquiry.id)).toBe(inquiry.created_at);
  });

  it.each([
    ['stands still', () => 1_700_000_000_000],
    ['runs backwards by a millisecond a call', (index: number) => 1_700_000_000_000 - index],
    ['runs backwards by a day a call', (index: number) => 1_700_000_000_000 - index * 86_400_000],
    ['jumps to and fro', (index: number) => 1_700_000_000_000 + (index % 2 ? 3_600_000 : 0)],
  ])('makes ids that only increase, and created_at with them, when the clock %s', async (_, clock) => {
    let calls = 0;
    const inquiries = createInquiries(createMemoryStore(), { now: () => clock(calls++) });
    const made = [];
    for (let index = 0; index < 2000; index++)
      made.push((await inquiries.create(OWNER, INPUT, call)).inquiry);
    const ids = made.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(made.map(({ created_at }) => created_at)).toEqual(ids.map(millisecondOf));
  });

  it('answers 413 and stores nothing when the inquiry does not fit', async () => {
    const store = createMemoryStore();
    const tooLarge = createInquiries(store).create(OWNER, { subject: '', body: 'x'.repeat(101) }, call);
    await expect(tooLarge).rejects.toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
    expect(store.rows).toEqual([]);
  });

  it('rejects with what the store rejects with', async () => {
    const fault = new Error('down');
    const store = createMemoryStore({ put: () => Promise.reject(fault) });
    await expect(createInquiries(store).create(OWNER, INPUT, call)).rejects.toBe(fault);
  });
});

describe('list', () => {
  it('counts what the store lists, in its order', async () => {
    const inquiries = createInquiries(createMemoryStore());
    const first = await inquiries.create(OWNER, { subject: '1', body: '' }, call);
    const second = await inquiries.create(OWNER, { subject: '2', body: '' }, call);
    expect(await readList(inquiries, OWNER, undefined)).toEqual({
      list: { email: EMAIL, count: 2, inquiries: [second.inquiry, first.inquiry] },
      next: undefined,
    });
  });

  it('is empty for an owner without inquiries', async () => {
    const inquiries = createInquiries(createMemoryStore());
    expect(await readList(inquiries, OWNER, undefined)).toEqual({
      list: { email: EMAIL, count: 0, inquiries: [] },
      next: undefined,
    });
  });

  describe('in pages', () => {
    const make = async (bodies: string[], store = createMemoryStore({}, Infinity)) => {
      const inquiries = createInquiries(store);
      for (const body of bodies) await inquiries.create(OWNER, { subject: '', body }, call);
      return { inquiries, rows: store.rows };
    };
    const ids = (list: readonly Inquiry[]): string[] => list.map(({ id }) => id);

    it.each([
      [1, 5],
      [2, 3],
      [4, 2],
      [5, 1],
      [1000, 1],
    ])('of at most %i lists five inquiries in %i pages, each once', async (limit, pages) => {
      const { inquiries, rows } = await make(['1', '2', '3', '4', '5']);
      const seen: string[] = [];
      let parameters: Record<string, unknown> | undefined = { limit: String(limit) };
      for (let page = 1; parameters; page++) {
        const { list, next }: Awaited<ReturnType<typeof readList>> = await readList(
          inquiries,
          OWNER,
          parameters,
        );
        expect(list.count).toBe(list.inquiries.length);
        expect(list.count).toBeLessThanOrEqual(limit);
        seen.push(...ids(list.inquiries));
        expect(next).toEqual(page < pages ? { limit, before: list.inquiries.at(-1)?.id } : undefined);
        parameters = next && { limit: String(next.limit), before: next.before };
      }
      expect(seen).toEqual(ids(rows).toReversed());
    });

    it('without a limit end where Lambda’s response would be full, escapes and UTF-8 counted', async () => {
      for (const character of ['x', '"', '\\', '\u0001', 'é', '€', '😀']) {
        const body = character.repeat(300_000 / character.length);
        const { inquiries, rows } = await make(Array.from({ length: 24 }, () => body));
        let parameters: Record<string, unknown> | undefined = {};
        const seen: string[] = [];
        while (parameters) {
          const { list, next }: Awaited<ReturnType<typeof readList>> = await readList(
            inquiries,
            OWNER,
            parameters,
          );
          const size = Buffer.byteLength(JSON.stringify({ body: JSON.stringify(list) }));
          const one = Buffer.byteLength(JSON.stringify(JSON.stringify(rows[0])));
          expect(size).toBeLessThan(LAMBDA_PAYLOAD_LIMIT - 10_000);
          // Full, unless it is the last: one more would not have fitted.
          expect(next === undefined || size + one > LAMBDA_PAYLOAD_LIMIT - 70_000).toBe(true);
          expect(next?.limit).toBeUndefined();
          seen.push(...ids(list.inquiries));
          parameters = next;
        }
        expect(seen).toEqual(ids(rows).toReversed());
      }
    });

    it('hold inquiries of Lambda’s 6,291,556 bytes less 64 KB, to the byte', async () => {
      // One comma less than there are inquiries.
      const budget = LAMBDA_PAYLOAD_LIMIT - 64 * 1024 + 1;
      // With the comma that follows, without the quotes around.
      const sizeOf = (row: Inquiry | undefined): number =>
        Buffer.byteLength(JSON.stringify(JSON.stringify(row))) - 1;
      const bodies = Array.from({ length: 20 }, (_, index) => `é"\n${'x'.repeat(300_000 + index)}`);
      const { rows } = await make([...bodies, '']);
      const rest = budget - rows.reduce((sum, row) => sum + sizeOf(row), 0);
      const full = await make([...bodies, 'x'.repeat(rest)]);
      expect(await readList(full.inquiries, OWNER, {})).toMatchObject({
        list: { count: 21 },
        next: undefined,
      });
      const over = await make([...bodies, 'x'.repeat(rest + 1)]);
      expect(await readList(over.inquiries, OWNER, {})).toMatchObject({
        list: { count: 20 },
        next: { before: over.rows[1]?.id },
      });
    });

    it('read no further page of the store than they need', async () => {
      let pages = 0;
      const { rows } = await make(['1', '2', '3', '4']);
      const store = createMemoryStore({
        async *list() {
          for (const row of rows) {
            pages++;
            yield [row];
          }
        },
      });
      const { list } = await readList(createInquiries(store), OWNER, { limit: '2' });
      expect(list.count).toBe(2);
      expect(pages).toBe(3);
    });

    it('pass over empty pages of the store', async () => {
      const { rows } = await make(['1', '2']);
      const store = createMemoryStore({
        async *list() {
          yield [];
          yield rows;
          yield [];
        },
      });
      expect((await readList(createInquiries(store), OWNER, {})).list.count).toBe(2);
    });
  });
});
