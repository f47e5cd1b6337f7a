/** What verbs cannot show: paging, races, faults. */
import { expect, it } from 'vitest';
import { sendAll } from '../../src/entities/batches.ts';
import { findInquiry } from '../../inbox/arguments.ts';
import { parseReply } from '../../inbox/record-answer.ts';
import type { InquiryFilter, StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import { toFirstId, toShard } from '../../src/entities/keys.ts';
import { EMAIL, SUB } from '../helpers/events.ts';
import {
  always,
  answer,
  answerAfter,
  first,
  pass,
  refuse,
  RESET,
  type Fault,
} from '../resilience/fault-proxy.ts';
import { writeIdempotencyKey } from './idempotency.ts';
import { beforehand, openInbox } from './test-inbox.ts';
import { writeInquiries } from '../function/test-inquiries.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const reply_at = new Date(NOW).toISOString();
const REPLY = { reply: 'Yes.', respondent: 'R' };

const open = (pageSize = 1_000) => openInbox({ pageSize, now: () => NOW });
const readAll = async <Value>(pages: AsyncIterable<Value[]>) =>
  (await Array.fromAsync(pages)).flat();

it('lists by filters over all owners and pages, without idempotency keys', async () => {
  const { client, name, inbox, add, remove } = await open(2);
  const rows = [
    await add(1_000, { respondent: 'R', reply_at }),
    await add(2_000, { email: 'b@example.com', cognito_sub: 'sub-b' }),
    await add(3_000, { email: 'Ana@example.com', respondent: 'R', reply_at }),
    await add(4_000),
  ] as const;
  // These are older, and of other owners.
  const others = await writeInquiries({ client, name }, 36, () => false);
  await writeIdempotencyKey({ client, table: name }, rows[3]);
  const since = NOW - 4_000;
  for (const [filter, ...expected] of [
    [{ isAnswered: false, since }, 1, 3],
    [{ email: 'Ana@example.com' }, 2],
    [{ sub: SUB, withExpired: true }, 0, 2, 3],
    // Times are inclusive, ids exclusive.
    [{ since: NOW - 3_000 }, 0, 1, 2],
    [{ since: NOW - 2_999 }, 0, 1],
    [{ before: rows[1].id, since }, 2, 3],
    [{ before: rows[2].id, since: NOW }],
    [{ order: 'oldest', after: rows[3].id }, 2, 1, 0],
    [{ since, before: rows[0].id, isAnswered: false, email: 'b@example.com' }, 1],
    [{ sub: SUB, email: EMAIL, isAnswered: true }, 0],
  ] as [InquiryFilter, ...number[]][]) {
    const found = await readAll(inbox.list(filter));
    expect([filter, found.map(({ id }) => id)]).toEqual([filter, expected.map((n) => rows[n]?.id)]);
  }
  const pages = await Array.fromAsync(inbox.list());
  expect(pages.length).toBeGreaterThan(1);
  const indexed = [...rows, ...others].map(({ subject: _subject, body: _body, ...row }) => row);
  expect(pages.flat()).toEqual(indexed);
  await remove(rows[3]);
  expect(await inbox.answer(rows[3], REPLY)).toEqual({ status: 'not-found' });
});

const nothing = answer(200, '{"Responses":{},"UnprocessedKeys":{},"Items":[],"Count":0}');

it.each(['newest', 'oldest'] as const)(
  'lists each inquiry once, %s first, before whatever request one is answered',
  async (order) => {
    const { inbox, add, meet } = await open(1);
    // All ids have one last digit, so they are in one pair of partitions.
    const ages = [1_000, 2_000, 3_000];
    const ids = ages.map((age) => `${toFirstId(NOW - age)}-7000-8000-000000000000`);
    const expected = order === 'newest' ? ids : ids.toReversed();
    for (const moved of ages.keys()) {
      let isMet = true;
      for (let at = 0; isMet; at++) {
        const rows = await Promise.all(ages.map((age, n) => add(age, { id: ids[n] ?? '' })));
        isMet = false;
        let requests = 0;
        const answerBefore: Fault = async (exchange) => {
          const isTheirs = /(open|answered)-0/.test(String(await exchange.receive()));
          if (!isTheirs) return nothing(exchange);
          if (requests++ === at) {
            isMet = true;
            await inbox.answer(rows[moved] as StoredInquiry, REPLY);
          }
          return pass(exchange);
        };
        meet(always(answerBefore), 'Query');
        const listed = await readAll(inbox.list({ order }));
        expect([moved, at, listed.map(({ id }) => id)]).toEqual([moved, at, expected]);
      }
    }
  },
);

/** A stale replica: only strongly consistent reads find something. */
const lag: Fault = async (exchange) => {
  const isConsistent = String(await exchange.receive()).includes('"ConsistentRead":true');
  await (isConsistent ? pass : nothing)(exchange);
};

it('reads an inquiry, texts and all of the table as they are stored now', async () => {
  const { inbox, add, meet } = await open();
  const row = await add(1);
  meet(always(lag), 'GetItem', 'BatchGetItem', 'Scan');
  expect(await inbox.get(row.id)).toEqual(row);
  expect(await readAll(inbox.listInFull())).toEqual([row]);
  expect(await readAll(inbox.scan())).toEqual([row]);
});

it.each([
  ['an id', 2, ({ id }: StoredInquiry) => id],
  ['a reference', 32, ({ id }: StoredInquiry) => id.slice(0, 13)],
])('looks twice for %s that the index does not have', async (_, requests, toNamed) => {
  const { inbox, add, meet, remove } = await open();
  const row = await add(1);
  meet(first(requests, nothing), 'Query');
  expect(await findInquiry(inbox, toNamed(row))).toEqual(row);
  await remove(row);
  await expect(findInquiry(inbox, toNamed(row))).rejects.toThrow('There is no inquiry');
});

it('reads texts in the order of the list, and asks again for unprocessed keys', async () => {
  const { name, client, inbox, meet, remove } = await open();
  const rows = await writeInquiries({ client, name }, 90, () => false);
  const portions = await Array.fromAsync(inbox.listInFull());
  expect(portions.map(({ length }) => length)).toEqual([40, 40, 10]);
  expect(portions.flat()).toEqual(rows);
  // The first two responses have one row each.
  const keepFirst = answerAfter(({ body }) => {
    const { Responses } = JSON.parse(body.toString()) as {
      Responses: Record<string, Record<'pk' | 'sk', unknown>[]>;
    };
    const [kept, ...others] = Responses[name] ?? [];
    const Keys = others.map(({ pk, sk }) => ({ pk, sk }));
    const left = { Responses: { [name]: [kept] }, UnprocessedKeys: { [name]: { Keys } } };
    return { body: Buffer.from(JSON.stringify(left)) };
  });
  meet(first(2, keepFirst), 'BatchGetItem');
  expect(await readAll(inbox.listInFull())).toEqual(rows);
  const [newest, ...others] = rows;
  meet(() => newest && beforehand(() => remove(newest)), 'BatchGetItem');
  expect(await readAll(inbox.listInFull())).toEqual(others);
});

it('waits longer while nothing of a batch is processed, and gives it up', async () => {
  const sent: string[] = [];
  const waits: number[] = [];
  const left = ['bc', 'bc', 'bc', 'c'];
  const send = async (keys: string[]) => Array.from(left[sent.push(keys.join('')) - 1] ?? 'c');
  const sleep = async (milliseconds: number) => waits.push(milliseconds);
  const name = 'ThrottlingException';
  await expect(sendAll(['a', 'b', 'c'], 3, send, sleep)).rejects.toMatchObject({ name });
  expect(sent.slice(0, 5)).toEqual(['abc', 'bc', 'bc', 'bc', 'c']);
  expect(waits).toEqual([50, 100, 200, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400]);
});

it('an answer sets the three columns and the place in the index, and nothing else', async () => {
  const { inbox, add, scan } = await open();
  const row = await add(1_000, { expires_at: NOW / 1_000 + 60 });
  const [before] = await scan();
  expect(await inbox.answer(row, REPLY)).toEqual({ status: 'answered', reply_at });
  expect(await scan()).toEqual([{ ...before, ...REPLY, reply_at, inbox: toShard(row.id, true) }]);
});

it('an expired inquiry is neither answered nor reopened', async () => {
  const { inbox, add, scan } = await open();
  const { respondent } = REPLY;
  const row = await add(1_000);
  const dismissed = await add(1_001);
  await inbox.answer(dismissed, { respondent });
  const before = await scan();
  const expires_at = NOW / 1_000 - 1;
  expect(await inbox.answer({ ...row, expires_at }, REPLY)).toEqual({ status: 'not-found' });
  expect(await inbox.reopen({ ...dismissed, expires_at }, reply_at)).toBe(false);
  expect(await scan()).toEqual(before);
});

it('one answer is given when twenty people answer at the same millisecond', async () => {
  const { inbox, add } = await open();
  const row = await add(1);
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) => inbox.answer(row, { ...REPLY, reply: `reply ${n}` })),
  );
  const winner = results.findIndex(({ status }) => status === 'answered');
  expect(results.filter(({ status }) => status === 'already-answered')).toHaveLength(19);
  expect((await inbox.get(row.id))?.reply).toBe(`reply ${winner}`);
});

it('an answer whose response was lost is given, unless another one came before the retry', async () => {
  const { inbox, add, meet } = await open();
  for (const given of [REPLY, { respondent: 'R' }]) {
    const row = await add(1);
    let updates = 0;
    meet(() => (updates++ === 0 ? RESET : undefined), 'UpdateItem');
    expect(await inbox.answer(row, given)).toEqual({ status: 'answered', reply_at });
    expect(updates).toBe(2);
    expect(await inbox.get(row.id)).toMatchObject(given);
  }
  const row = await add(1);
  const other = { ...REPLY, reply: 'Other.' };
  const answerAndCut = beforehand(
    () => inbox.answer(row, other),
    ({ socket }) => void socket.resetAndDestroy(),
  );
  meet(first(1, answerAndCut), 'UpdateItem');
  expect(await inbox.answer(row, REPLY)).toMatchObject({ status: 'already-answered' });
  expect(await inbox.get(row.id)).toMatchObject(other);
});

it('an answer creates no row for what is deleted at the same time, and other errors pass', async () => {
  const { inbox, add, meet, remove, scan } = await open();
  const row = await add(1);
  const name = 'AccessDeniedException';
  meet(always(refuse(400, name)), 'UpdateItem');
  await expect(inbox.answer(row, REPLY)).rejects.toMatchObject({ name });
  meet(always(beforehand(() => remove(row))), 'UpdateItem');
  expect(await inbox.answer(row, REPLY)).toEqual({ status: 'not-found' });
  expect(await scan()).toEqual([]);
});

it('a reply has LF between lines, no white space at its end and no lone surrogate', () => {
  expect(parseReply('  a\r\nb\rc\n\n\ud800 \t\n\n')).toBe('  a\nb\nc\n\n\uFFFD');
});
