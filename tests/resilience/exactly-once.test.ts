/**
 * Random requests of one owner, faults, and moves of the clock. In any order:
 *
 * - A key has at most one inquiry in 24 hours from the beginning of its second; without a key, a request stores at most
 *   one. What got a 500 is stored or not, and the next request with its key finds out.
 * - Every 201 is the stored inquiry, byte for byte; `Idempotency-Replayed` if another request stored it.
 * - 422 only if another payload is stored, 429 only if the limit is stored, and never for what is stored; 500 only after
 *   a fault. No more than the limit is stored.
 * - Each key has one marker, which names its newest inquiry, and no marker is without one.
 *
 * A late write, after its sender has given up, is stored only within these rules.
 */
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import { toInquiry, type Inquiry } from '../../src/contract.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import type { GatewayResponse } from '../../src/http.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeKeyedPost } from '../helpers/events.ts';
import { answer, answerAfter, refuse, RESET, startFaultProxy, type Fault } from './fault-proxy.ts';
import { createOwnTable, readPartition, type OwnTable } from '../helpers/own-table.ts';
import { isHard } from './selection.ts';

const DAY = 24 * HOUR;
/** Milliseconds until AWS refuses a signature, so that nothing arrives any more. */
const SIGNATURE_LIFE = 900_000;

/** The network's; tests/resilience/faults.test.ts has all kinds. */
const FAULTS: Record<string, Fault> = {
  throttled: refuse(400, 'ProvisionedThroughputExceededException'),
  'reset before the write': ({ socket }) => void socket.resetAndDestroy(),
  'reset after the write': RESET,
  '500 after the write': answerAfter(() => ({ status: 500 })),
  'an empty success, nothing done': answer(200, '{}'),
  'an empty success after the write': answerAfter(() => ({ body: Buffer.from('{}') })),
};

const anyRequest = fc.record({
  key: fc.constantFrom('k', 'k', '"k"', 'K', undefined, undefined),
  body: fc.constantFrom('a', 'a', 'b'),
  fault: fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    fc.constantFrom('late', 'late', ...Object.keys(FAULTS)),
  ),
  /** Which of its reads and writes meets the fault, and whether those after it do, too. */
  at: fc.nat(1),
  isForEver: fc.boolean(),
});
/** To the moment when an inquiry stops counting or its key is free, and just before. */
const anyTime = fc.constantFrom(1, 999, 1_000, 60_000, HOUR / 2, HOUR - 1, HOUR, DAY - 1, DAY);
const anyOperations = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.tuple(anyRequest) },
    { weight: 2, arbitrary: fc.array(anyRequest, { minLength: 2, maxLength: 3 }) },
    { weight: 4, arbitrary: fc.record({ advance: anyTime }) },
    { weight: 2, arbitrary: fc.constant('arrive' as const) },
  ),
  { maxLength: 60, size: 'max' },
);
type Values<Any> = Any extends fc.Arbitrary<infer Value> ? Value : never;

interface Request extends Values<typeof anyRequest> {
  /** The key without quotes, or a unique text. */
  subject: string;
  time: number;
}
interface Sent extends Request {
  answered: GatewayResponse;
}

const timeOf = ({ created_at }: Inquiry): number => Date.parse(created_at);
const hourOf = (time: number): number => Math.floor(time / HOUR);
const expiryOf = (inquiry: Inquiry): number => Math.floor(timeOf(inquiry) / 1_000) + DAY / 1_000;
function findCurrent(rows: Inquiry[], subject: string, time: number): Inquiry | undefined {
  const row = rows.findLast((one) => one.subject === subject);
  return row && time < expiryOf(row) * 1_000 ? row : undefined;
}
const isReplay = ({ headers }: GatewayResponse): boolean =>
  headers['Idempotency-Replayed'] === 'true';

function expectMarkers(rows: Inquiry[], markers: Record<string, unknown>[]): void {
  const keyed = rows.filter(({ subject }) => !subject.startsWith('#'));
  const newest = new Map(keyed.map((row) => [row.subject, `${row.id} ${expiryOf(row)}`]));
  const found = markers.map(({ inquiry, expires_at }) => [inquiry, expires_at].join(' '));
  expect(found.toSorted(), 'markers').toEqual([...newest.values()].toSorted());
}

/** Nothing is gone; added is what one of the requests asked for, with a free key. */
function expectRows(before: Inquiry[], after: Inquiry[], time: number, requests: Sent[]): void {
  const isOld = ({ id }: Inquiry): boolean => before.some((row) => row.id === id);
  expect(after.filter(isOld)).toEqual(before);
  const added = after.filter((row) => !isOld(row));
  for (const row of added) {
    const isSender = ({ subject, body, time: sentAt, answered }: Sent): boolean =>
      subject === row.subject &&
      body === row.body &&
      sentAt === timeOf(row) &&
      [201, 500].includes(answered.statusCode);
    expect(requests.some(isSender), `who stored ${row.subject} ${row.body}`).toBe(true);
    expect(findCurrent(before, row.subject, time), `what ${row.subject} had`).toBe(undefined);
  }
  expect(new Set(added.map(({ subject }) => subject)).size, 'added').toBe(added.length);
}

/** One owner's requests to a table, with the network's faults and the test's clock. */
function createPlay(table: OwnTable, limit = Infinity) {
  const owner = { sub: randomUUID(), email: 'ana@example.com' };
  let stored: Inquiry[] = [];
  let late: { sent: Sent[]; requests: (() => Promise<unknown>)[] } = { sent: [], requests: [] };
  let time = Date.UTC(2030, 0);
  let count = 0;

  const countHour = (rows: Inquiry[]): number =>
    rows.filter((row) => hourOf(timeOf(row)) === hourOf(time)).length;

  /** It arrives long after its sender has given up. */
  const hold: Fault = async ({ receive, forward, socket }) => {
    await receive();
    late.requests.push(forward);
    socket.resetAndDestroy();
  };

  /** In an execution environment of its own. */
  async function post({ key, subject, body, fault = '', at, isForEver }: Request) {
    const proxy = await startFaultProxy(table.engine);
    proxy.plan = (attempt) => {
      const isMet = isForEver || fault === 'late' ? attempt >= at : attempt === at;
      return isMet ? { ...FAULTS, late: hold }[fault] : undefined;
    };
    Object.assign(process.env, table.environment(proxy.url));
    const now = () => time;
    const store = createInquiryStore(createDynamoDbClient(), table.name, { now });
    const inquiriesPerHour = limit < Infinity ? limit : undefined;
    const inquiries = createInquiries(store, { inquiriesPerHour, now });
    const app = createApp({ inquiries, corsOrigin: '*' });
    const answered = await app(makeKeyedPost(key, { subject, body }, owner));
    await proxy.close();
    return answered;
  }

  async function readStored(requests: Sent[]) {
    const before = stored;
    const items = await readPartition(table, owner);
    stored = items.flatMap((item) => toInquiry((field) => item[field]) ?? []);
    expectRows(before, stored, time, requests);
    expectMarkers(
      stored,
      items.filter(({ id }) => id === undefined),
    );
    expect(countHour(stored), 'stored within the limit').toBeLessThanOrEqual(limit);
    return before;
  }

  function expectAnswer(before: Inquiry[], request: Sent, isAlone: boolean): void {
    const { subject, body, fault, answered } = request;
    const { statusCode: status, headers, body: text } = answered;
    const known = findCurrent(before, subject, time);
    const row = findCurrent(stored, subject, time);
    if (known !== undefined || isAlone) {
      const isFull = countHour(before) >= limit;
      const expected = known ? (known.body === body ? 201 : 422) : isFull ? 429 : 201;
      expect([expected, fault !== undefined && 500]).toContain(status);
      if (status === 201) expect(isReplay(answered)).toBe(known !== undefined);
    }
    if (status === 201) {
      expect(text).toBe(JSON.stringify({ inquiry: row }));
      expect(row).toMatchObject({ subject, body });
    } else if (status === 422) {
      expect([undefined, body]).not.toContain(row?.body);
    } else if (status === 429) {
      expect(row, 'what 429 was answered for').toBe(undefined);
      expect(countHour(stored), 'stored at a 429').toBe(limit);
      expect(headers['Retry-After']).toBe(String(Math.ceil((HOUR - (time % HOUR)) / 1_000)));
    } else {
      expect([status, fault]).toEqual([500, expect.anything()]);
    }
  }

  /** @returns The outcomes. */
  return async (operation: Values<typeof anyOperations>[number]): Promise<string[]> => {
    if (operation === 'arrive') {
      const { sent, requests } = late;
      late = { sent: [], requests: [] };
      await Promise.all(requests.map(async (forward) => forward()));
      const before = await readStored(sent);
      return [`late ${stored.length > before.length}`];
    }
    if ('advance' in operation) {
      time += operation.advance;
      if (late.sent.some((sent) => time - sent.time >= SIGNATURE_LIFE)) {
        late = { sent: [], requests: [] };
      }
      return [];
    }
    const sent = await Promise.all(
      operation.map(async (choice): Promise<Sent> => {
        const subject = choice.key?.replaceAll('"', '') ?? `#${count++}`;
        const request = { ...choice, subject, time };
        return { ...request, answered: await post(request) };
      }),
    );
    const before = await readStored(sent);
    for (const request of sent) expectAnswer(before, request, sent.length === 1);
    const firsts = sent.filter(
      ({ answered }) => answered.statusCode === 201 && !isReplay(answered),
    );
    expect(new Set(firsts.map(({ subject }) => subject)).size, 'firsts').toBe(firsts.length);
    late.sent.push(...sent.filter(({ fault }) => fault === 'late'));
    return sent.map(({ answered }) => `${answered.statusCode} ${isReplay(answered)}`);
  };
}

describeOnDynamoDbLocal('exactly once', (endpoint) => {
  let table: OwnTable;
  beforeAll(async () => {
    table = await createOwnTable(endpoint);
  });

  it.concurrent.each([[undefined], [2]])(
    'whatever the order of requests, faults and times, with a limit of %s',
    async (limit) => {
      const outcomes = new Set<string>();
      const keepsRules = fc.asyncProperty(anyOperations, async (operations) => {
        const play = createPlay(table, limit);
        for (const operation of operations) {
          for (const outcome of await play(operation)) outcomes.add(outcome);
        }
      });
      // The selection is the same in each run.
      await fc.assert(keepsRules, isHard ? { numRuns: 250 } : { numRuns: 12, seed: 1 });
      const expected = [
        '201 false',
        '201 true',
        '422 false',
        '500 false',
        'late false',
        'late true',
      ];
      expect([...outcomes].toSorted()).toEqual(
        [...expected, ...(limit === undefined ? [] : ['429 false'])].toSorted(),
      );
    },
  );
});
