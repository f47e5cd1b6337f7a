/** The inbox behind the command and the page, on both engines and under faults. */
import { UUID } from 'uuidv7';
import { describe, expect, it } from 'vitest';
import { sendAll } from '../../inbox/batches.ts';
import { parseReply, type InquiryFilter } from '../../inbox/store.ts';
import { toShard } from '../../src/entities/keys.ts';
import { EMAIL, INQUIRY, SUB } from '../helpers/events.ts';
import { answerAfter, cutConnection, refuse, type Fault } from '../helpers/fault-proxy.ts';
import { writeIdempotencyKey } from '../helpers/idempotency.ts';
import { beforehand, onRequest, openInbox } from '../helpers/inbox.ts';

type Row = Record<'pk' | 'sk', unknown>;

const NOW = Date.parse('2026-11-21T12:00:00.000Z');

/** An id of the given millisecond. */
const idAt = (milliseconds: number): string => UUID.fromFieldsV7(milliseconds, 1, 2, 3).toString();

/** An inbox on a table of its own, at a fixed time. */
async function open(pageSize = 1_000) {
  const table = await openInbox({ pageSize, now: () => NOW });
  const listIds = async (filter?: InquiryFilter): Promise<string[]> =>
    (await Array.fromAsync(table.inbox.list(filter))).flat().map(({ id }) => id);
  const readAll = async () => (await Array.fromAsync(table.inbox.listInFull())).flat();
  return { ...table, listIds, readAll };
}

describe('list', () => {
  it('filters and orders over all owners and pages, with what the index holds', async () => {
    const { inbox, add, listIds } = await open(2);
    const answered = { respondent: 'R', reply_at: new Date(NOW).toISOString() };
    const rows = [
      await add(1_000, answered),
      await add(2_000, { email: 'b@example.com', cognito_sub: 'sub-b' }),
      await add(3_000, { email: 'Ana@example.com', ...answered }),
      await add(4_000),
    ];
    for (let n = 5; n <= 40; n++) {
      rows.push(await add(n * 1_000, { email: 'c@d.e', cognito_sub: `${n}` }));
    }
    const since = NOW - 4_000;
    const cases: [string, InquiryFilter, number[]][] = [
      ['all of them, newest first', {}, [...rows.keys()]],
      ['what is unanswered', { isAnswered: false, since }, [1, 3]],
      ['an email, byte for byte', { email: 'Ana@example.com' }, [2]],
      ['a sub under all its emails', { sub: SUB }, [0, 2, 3]],
      ['since a millisecond, inclusive', { since: NOW - 3_000 }, [0, 1, 2]],
      ['since the next millisecond', { since: NOW - 2_999 }, [0, 1]],
      ['before an id', { before: idAt(NOW - 2_500), since }, [2, 3]],
      ['an empty range', { before: idAt(NOW - 3_000), since: NOW }, []],
      ['the oldest after an id', { order: 'oldest', after: rows[3]?.id }, [2, 1, 0]],
      ['all at once', { since, before: idAt(NOW), isAnswered: false, email: 'b@example.com' }, [1]],
    ];
    for (const [name, filter, expected] of cases) {
      expect([name, await listIds(filter)]).toEqual([name, expected.map((n) => rows[n]?.id)]);
    }
    const pages = await Array.fromAsync(inbox.list());
    expect(pages.length).toBeGreaterThan(1);
    const { subject: _, body: _body, ...indexed } = rows[0] ?? INQUIRY;
    expect(pages.flat()[0]).toEqual(indexed);
  });

  it('has no idempotency keys, nor is one found by the id of its inquiry', async () => {
    const { client, name: table, inbox, add, listIds, readAll, remove } = await open(2);
    const row = await add(1_000);
    await writeIdempotencyKey({ client, table }, row);
    expect(await listIds({ withExpired: true, sub: SUB, email: EMAIL })).toEqual([row.id]);
    expect(await readAll()).toEqual([row]);
    await remove(row);
    expect(await inbox.get(row.id)).toBe(undefined);
    expect(await inbox.answer(row.id, { respondent: 'R' })).toEqual({ status: 'not-found' });
  });
});

/** A replica that has not got the latest writes: only strongly consistent reads find something. */
const lag: Fault = async ({ receive, forward, response }) => {
  const isConsistent = String(await receive()).includes('"ConsistentRead":true');
  const reply = isConsistent ? await forward() : undefined;
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(reply?.body ?? '{"Responses":{},"UnprocessedKeys":{},"Items":[],"Count":0}');
};

it('an inquiry, its texts and all of the table are read as they are stored now', async () => {
  const { inbox, add, meet, readAll } = await open();
  const row = await add(1);
  meet(onRequest(['GetItem', 'BatchGetItem', 'Scan'], () => lag));
  expect(await inbox.get(row.id)).toEqual(row);
  expect(await readAll()).toEqual([row]);
  expect((await Array.fromAsync(inbox.scan())).flat()).toEqual([row]);
});

describe('listInFull', () => {
  it('has all columns, in the order of the list, over many portions', async () => {
    const { inbox, add } = await open();
    const answer = { reply: 'r', reply_at: 't', respondent: 'R' };
    const rows = await Promise.all(
      Array.from({ length: 90 }, (_, n) => add(n, n % 2 ? {} : answer)),
    );
    const portions = await Array.fromAsync(inbox.listInFull());
    expect(portions.map(({ length }) => length)).toEqual([40, 40, 10]);
    expect(portions.flat()).toEqual(rows);
  });

  it('asks again for keys that DynamoDB has not processed, and leaves out a row that is deleted', async () => {
    const { name, readAll, add, meet, remove } = await open();
    const rows = [await add(3), await add(2), await add(1)];
    // The first two responses have one row each.
    const keepFirst = answerAfter(({ body }) => {
      const { Responses } = JSON.parse(body.toString()) as { Responses: Record<string, Row[]> };
      const [kept, ...others] = Responses[name] ?? [];
      const UnprocessedKeys = { [name]: { Keys: others.map(({ pk, sk }) => ({ pk, sk })) } };
      return {
        body: Buffer.from(JSON.stringify({ Responses: { [name]: [kept] }, UnprocessedKeys })),
      };
    });
    meet(onRequest('BatchGetItem', (get) => (get < 2 ? keepFirst : undefined)));
    expect(await readAll()).toEqual(rows.toReversed());
    const [old, ...left] = rows;
    meet(onRequest('BatchGetItem', () => old && beforehand(() => remove(old))));
    expect(await readAll()).toEqual(left.toReversed());
  });
});

describe('answer', () => {
  const REPLY = { reply: 'Yes.', respondent: 'R' };
  const reply_at = new Date(NOW).toISOString();

  it('sets the three columns and the place in the index, and nothing else', async () => {
    const { inbox, add, scan } = await open();
    const row = await add(1_000, { expires_at: NOW / 1_000 + 60 });
    const [before] = await scan();
    expect(await inbox.answer(row.id, REPLY)).toEqual({ status: 'answered', reply_at });
    expect(await scan()).toEqual([{ ...before, ...REPLY, reply_at, inbox: toShard(row.id, true) }]);
  });

  it('is given once when twenty people answer at the same millisecond', async () => {
    const { inbox, add } = await open();
    const { id } = await add(1);
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        inbox.answer(id, { reply: `reply ${n}`, respondent: 'R' }),
      ),
    );
    const winner = results.findIndex(({ status }) => status === 'answered');
    expect(results.filter(({ status }) => status === 'already-answered')).toHaveLength(19);
    expect((await inbox.get(id))?.reply).toBe(`reply ${winner}`);
  });

  it('is reported as given when its response was lost, but not when another one was stored before a retry', async () => {
    const { inbox, add, meet } = await open();
    for (const answer of [REPLY, { respondent: 'R' }]) {
      const { id } = await add(1);
      let updates = 0;
      const cut = cutConnection('after', 'reset');
      meet(onRequest('UpdateItem', (update) => ((updates = update + 1) === 1 ? cut : undefined)));
      expect(await inbox.answer(id, answer)).toEqual({ status: 'answered', reply_at });
      expect(updates).toBe(2);
      expect(await inbox.get(id)).toMatchObject(answer);
    }
    const row = await add(1);
    const answerAndCut: Fault = async (exchange) => {
      await inbox.answer(row.id, { reply: 'Other.', respondent: 'R' });
      await cutConnection('before', 'reset')(exchange);
    };
    meet(onRequest('UpdateItem', (update) => (update === 0 ? answerAndCut : undefined)));
    expect(await inbox.answer(row.id, REPLY)).toMatchObject({ status: 'already-answered' });
    expect((await inbox.get(row.id))?.reply).toBe('Other.');
  });

  it('creates no row: neither for an unknown id, nor for one that is deleted at the same time; other errors pass', async () => {
    const { inbox, add, meet, remove, scan } = await open();
    expect(await inbox.answer(idAt(NOW), REPLY)).toEqual({ status: 'not-found' });
    const row = await add(1);
    const name = 'AccessDeniedException';
    meet(onRequest('UpdateItem', () => refuse(400, name)));
    await expect(inbox.answer(row.id, REPLY)).rejects.toMatchObject({ name });
    meet(onRequest('UpdateItem', () => beforehand(() => remove(row))));
    expect(await inbox.answer(row.id, REPLY)).toEqual({ status: 'not-found' });
    expect(await scan()).toEqual([]);
  });
});

describe('a batch', () => {
  const toKeys = (pk: string) => ({ pk, sk: pk });

  it('is sent again with what is left, waits longer while nothing is processed, and is given up', async () => {
    const sent: string[][] = [];
    const waits: number[] = [];
    const left = [['b', 'c'], ['b', 'c'], ['b', 'c'], ['c']];
    const send = async (keys: string[]) => ({
      unprocessed: (left[sent.push(keys) - 1] ?? keys).map(toKeys),
    });
    const sleep = async (milliseconds: number) => waits.push(milliseconds);
    const name = 'ThrottlingException';
    await expect(sendAll(['a', 'b', 'c'], toKeys, send, sleep)).rejects.toMatchObject({ name });
    const [first, second] = [
      ['a', 'b', 'c'],
      ['b', 'c'],
    ];
    expect(sent.slice(0, 5)).toEqual([first, second, second, second, ['c']]);
    expect(waits).toEqual([50, 100, 200, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400]);
  });
});

it.each([
  ['a\r\nb\rc\n\nd \t\n\n', 'a\nb\nc\n\nd'],
  ['  indented', '  indented'],
  ['\ud800x', '\uFFFDx'],
])('the text of a reply %j becomes %j', (text, expected) => {
  expect(parseReply(text)).toBe(expected);
});
