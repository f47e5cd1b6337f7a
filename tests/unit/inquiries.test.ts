import { describe, expect, it } from 'vitest';
import { createInquiries } from '../../src/inquiries.ts';
import { EMAIL, SUB } from '../helpers/events.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';

const OWNER = { sub: SUB, email: EMAIL };
const INPUT = { subject: 'Hello', body: 'Is anyone there?' };
const signal = new AbortController().signal;

const millisecondOf = (id: string): string =>
  new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString();

describe('create', () => {
  it('returns exactly the six fields of the stored inquiry', async () => {
    const store = createMemoryStore();
    const { inquiry } = await createInquiries(store).create(OWNER, INPUT, signal);
    expect(Object.keys(inquiry)).toEqual(['id', 'cognito_sub', 'email', 'subject', 'body', 'created_at']);
    expect(inquiry).toMatchObject({ cognito_sub: SUB, email: EMAIL, ...INPUT });
    expect(store.rows).toEqual([inquiry]);
  });

  it('makes a UUID of version 7 whose millisecond is created_at and the time of the clock', async () => {
    const now = Date.UTC(2026, 10, 20, 5, 34, 0, 7);
    const { inquiry } = await createInquiries(createMemoryStore(), () => now).create(OWNER, INPUT, signal);
    expect(inquiry.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(inquiry.created_at).toBe('2026-11-20T05:34:00.007Z');
    expect(millisecondOf(inquiry.id)).toBe(inquiry.created_at);
  });

  it.each([
    ['stands still', () => 1_700_000_000_000],
    ['runs backwards by a millisecond a call', (call: number) => 1_700_000_000_000 - call],
    ['runs backwards by a day a call', (call: number) => 1_700_000_000_000 - call * 86_400_000],
    ['jumps to and fro', (call: number) => 1_700_000_000_000 + (call % 2 ? 3_600_000 : 0)],
  ])('makes ids that only increase, and created_at with them, when the clock %s', async (_, clock) => {
    let call = 0;
    const inquiries = createInquiries(createMemoryStore(), () => clock(call++));
    const made = [];
    for (let index = 0; index < 2000; index++)
      made.push((await inquiries.create(OWNER, INPUT, signal)).inquiry);
    const ids = made.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    expect(made.map(({ created_at }) => created_at)).toEqual(ids.map(millisecondOf));
  });

  it('answers 413 and stores nothing when the inquiry does not fit', async () => {
    const store = createMemoryStore();
    const tooLarge = createInquiries(store).create(OWNER, { subject: '', body: 'x'.repeat(101) }, signal);
    await expect(tooLarge).rejects.toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
    expect(store.rows).toEqual([]);
  });

  it('rejects with what the store rejects with', async () => {
    const fault = new Error('down');
    const store = createMemoryStore({ put: () => Promise.reject(fault) });
    await expect(createInquiries(store).create(OWNER, INPUT, signal)).rejects.toBe(fault);
  });
});

describe('list', () => {
  it('counts what the store lists, in its order', async () => {
    const inquiries = createInquiries(createMemoryStore());
    const first = await inquiries.create(OWNER, { subject: '1', body: '' }, signal);
    const second = await inquiries.create(OWNER, { subject: '2', body: '' }, signal);
    expect(await inquiries.list(OWNER, signal)).toEqual({
      email: EMAIL,
      count: 2,
      inquiries: [second.inquiry, first.inquiry],
    });
  });

  it('is empty for an owner without inquiries', async () => {
    const inquiries = createInquiries(createMemoryStore());
    expect(await inquiries.list(OWNER, signal)).toEqual({ email: EMAIL, count: 0, inquiries: [] });
  });
});
