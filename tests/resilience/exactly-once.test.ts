/**
 * Random histories of one owner's requests, some of them concurrent, with network faults, AWS's conflicts, moves of the
 * clock, and a list after each step. Each must be linearizable by `step`: a key has one inquiry for 24 hours from the
 * beginning of its second, an hour stores no more than the limit, and a request with a 500 is stored later or never.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeEvent, makeKeyedPost } from '../helpers/events.ts';
import type { OwnTable } from '../helpers/own-table.ts';
import { isLinearizable } from './linearizable.ts';
import { isHard, SEED } from './selection.ts';

const DAY = 24 * HOUR;

type Handle = DynamoDBClient['config']['requestHandler']['handle'];
/** A fault answers instead of the network, which `send` asks. */
type Fault = (send: () => ReturnType<Handle>, body: string) => ReturnType<Handle>;

const reset = (): never => {
  throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
};
const answer = async (statusCode: number, body: object) =>
  ({ response: { statusCode, headers: {}, body: Readable.from([JSON.stringify(body)]) } }) as never;
const refuse = (type: string, more: object = {}) =>
  answer(400, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...more });
/** AWS also reports a conflict if another transaction only read the item. */
const conflict: Fault = async (send, body) => {
  const { TransactItems: [...items] = [] } = JSON.parse(body) as { TransactItems?: object[] };
  const reasons = items.map((_, at) => ({ Code: at === 0 ? 'TransactionConflict' : 'None' }));
  if (reasons.length === 0) return send();
  return refuse('TransactionCanceledException', { CancellationReasons: reasons });
};

/** Faults of the network. */
const FAULTS: Record<string, Fault> = {
  conflict,
  throttled: async () => refuse('ProvisionedThroughputExceededException'),
  'reset before the write': async () => reset(),
  'reset after the write': async (send) => (await send(), reset()),
  '500 after the write': async (send) => (await send(), answer(500, {})),
  'an empty success, nothing done': async () => answer(200, {}),
};

type Write = Record<'Put' | 'Update', { ConditionExpression?: string } | undefined>;
const changeWrites = (change: (write: Partial<Write>) => void) => (body: string) => {
  const input = JSON.parse(body) as { TransactItems?: Write[] };
  input.TransactItems?.forEach(change);
  return JSON.stringify(input);
};
/** Defects of the service, made by changing a request. */
const MUTANTS: Record<string, (body: string) => string> = {
  'a key that is stored without its condition': changeWrites(({ Put }) => {
    delete Put?.ConditionExpression;
  }),
  'a count that is stored without its condition': changeWrites(({ Update }) => {
    delete Update?.ConditionExpression;
  }),
  'a key that is free after an hour': (body) =>
    body.replace(/(?<=":expires_at0":\{"N":")\d+/, (now) => String(Number(now) + 23 * 3_600)),
  'a transaction without the inquiry': (body) => {
    const { TransactItems: [...items] = [], ...input } = JSON.parse(body) as {
      TransactItems?: Write[];
    };
    if (items.length === 0) return body;
    return JSON.stringify({ ...input, TransactItems: items.slice(0, -1) });
  },
};

const anyPost = fc.record({
  key: fc.constantFrom('k', 'k', '"k"', 'K', undefined),
  body: fc.constantFrom('a', 'a', 'b'),
  fault: fc.option(fc.constantFrom('late', 'late', ...Object.keys(FAULTS)), {
    freq: 2,
    nil: undefined,
  }),
  /** The request that meets the fault. All requests from a late one on are late. */
  at: fc.nat(1),
});
const anyStep = fc.record({
  posts: fc.array(anyPost, { minLength: 1, maxLength: 3 }),
  /** Up to and just before the moment when an inquiry stops counting or its key becomes free. */
  advance: fc.constantFrom(0, 0, 0, 1, 999, 1_000, HOUR / 2, HOUR - 1, HOUR, DAY - 1, DAY),
  /** Whether late requests arrive. */
  areArriving: fc.boolean(),
});
const anyHistory = fc.array(anyStep, { minLength: 15, maxLength: 25, size: 'max' });
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

interface Operation {
  begin: number;
  end: number;
  /** The clock's milliseconds. */
  time: number;
  /** Only a POST has `key`, without quotes, `body` and the id that it would store. */
  key?: string | undefined;
  body?: string;
  id?: string;
  status: number;
  /** The id of a 201; the ids of a list. */
  shown: string[];
}

interface State {
  stored: string[];
  hours: Record<number, number>;
  keys: Record<string, { id: string; body: string; until: number }>;
}

const createStep =
  (limit: number) =>
  ({ stored, hours, keys }: State, operation: Operation): State | undefined => {
    const { time, key = '', body = '', id, status, shown } = operation;
    const unchanged = { stored, hours, keys };
    if (id === undefined) return String(shown) === String(stored) ? unchanged : undefined;
    const isUnanswered = operation.end === Infinity;
    const hour = Math.floor(time / HOUR);
    const known = keys[key];
    if (known !== undefined && time < known.until) {
      const isReplay = known.body === body && status === 201 && shown[0] === known.id;
      const isReused = known.body !== body && status === 422;
      return isReplay || isReused || isUnanswered ? unchanged : undefined;
    }
    const count = hours[hour] ?? 0;
    if (count >= limit) return status === 429 || isUnanswered ? unchanged : undefined;
    if (!isUnanswered && !(status === 201 && shown[0] === id)) return undefined;
    const until = (Math.floor(time / 1_000) + DAY / 1_000) * 1_000;
    return {
      stored: [...stored, id].toSorted().toReversed(),
      hours: { ...hours, [hour]: count + 1 },
      keys: { ...keys, ...(key !== '' && { [key]: { id, body, until } }) },
    };
  };

/** @param change - Changes requests. @returns What was done, and whether it is linearizable. */
async function play(
  table: OwnTable,
  limit: number,
  history: Step[],
  change = (body: string) => body,
) {
  Object.assign(process.env, table.environment());
  const { requestHandler } = createDynamoDbClient().config;
  const claims = { sub: randomUUID(), email: 'ana@example.com' };
  const done: Operation[] = [];
  let late: (() => Promise<unknown>)[] = [];
  let [time, clock] = [Date.UTC(2030, 0), 0];

  /** Each app has an execution environment of its own. */
  function startApp(
    onPut: (inquiry: Inquiry) => void = () => undefined,
    plan?: Step['posts'][number],
  ) {
    let attempts = 0;
    const handle: Handle = async (request, options) => {
      const body = change(String(request.body));
      const send = async () => requestHandler.handle(Object.assign(request, { body }), options);
      const { fault = '', at = 0 } = plan ?? {};
      const isMet = fault === 'late' ? attempts >= at : attempts === at;
      attempts++;
      if (!isMet || fault === '') return send();
      if (fault !== 'late') return FAULTS[fault]?.(send, body) ?? reset();
      late.push(async () => send().catch(() => undefined));
      return reset();
    };
    const now = (): number => time;
    const client = createDynamoDbClient({ handle });
    const store = createInquiryStore(client, table.name, { now });
    const put: InquiryStore['put'] = async (inquiry, ...more) => {
      onPut(inquiry);
      return store.put(inquiry, ...more);
    };
    const inquiriesPerHour = limit < Infinity ? limit : undefined;
    const inquiries = createInquiries({ ...store, put }, { inquiriesPerHour, now });
    return createApp({ inquiries, corsOrigin: '*' });
  }

  async function post(one: Step['posts'][number]): Promise<void> {
    const operation = { begin: clock, time, key: one.key?.replaceAll('"', ''), body: one.body };
    let id = '';
    const app = startApp((inquiry) => ({ id } = inquiry), one);
    const { statusCode, body } = await app(
      makeKeyedPost(one.key, { subject: '', body: one.body }, claims),
    );
    const isConflict = one.fault === 'conflict' && /_CONFLICT|AT_ONCE/.test(body);
    if (isConflict) return;
    const { inquiry } = JSON.parse(body) as { inquiry?: Inquiry };
    const isAnswered = statusCode !== 500;
    if (!isAnswered) expect(one.fault, 'the fault of a 500').toBeDefined();
    const end = isAnswered ? clock : Infinity;
    done.push({ ...operation, end, id, status: statusCode, shown: [inquiry?.id ?? ''] });
  }

  async function list(): Promise<void> {
    const { body } = await startApp()(makeEvent({ claims }));
    const { inquiries } = JSON.parse(body) as { inquiries: Inquiry[] };
    const shown = inquiries.map(({ id }) => id);
    done.push({ begin: clock, end: clock, time, status: 200, shown });
  }

  for (const { posts, advance, areArriving } of history) {
    clock++;
    await Promise.all(posts.map(post));
    clock++;
    await list();
    time += advance;
    const arriving = areArriving ? late : [];
    // AWS refuses a signature after 15 minutes.
    if (areArriving || advance >= HOUR / 2) late = [];
    await Promise.all(arriving.map((send) => send()));
  }
  clock++;
  await list();
  const initial = { stored: [], hours: {}, keys: {} };
  return { done, isRight: isLinearizable(done, initial, createStep(limit)) };
}

describeOnDynamoDbLocal('exactly once', (endpoint) => {
  let table: OwnTable;
  beforeAll(async () => {
    table = await createOwnStore(endpoint);
  });

  it.concurrent.each([[Infinity], [2]])(
    'whatever the order of requests, faults and times, with a limit of %s',
    async (limit) => {
      const statuses = new Set<string>();
      let count = 0;
      const isRight = fc.asyncProperty(anyHistory, async (history) => {
        const played = await play(table, limit, history);
        for (const { status, id, shown } of played.done) {
          statuses.add(`${status}${status === 201 && shown[0] !== id ? ' replayed' : ''}`);
        }
        count += played.done.length;
        expect(played.isRight).toBe(true);
      });
      const numRuns = isHard ? 40 : 4;
      await fc.assert(isRight, { numRuns, seed: SEED, endOnFailure: true });
      process.stdout.write(
        `Limit ${limit}: ${numRuns} histories, ${count} operations, seed ${SEED}\n`,
      );
      expect(count).toBeGreaterThan(numRuns * 30);
      const expected = ['200', '201', '201 replayed', '422', '500'];
      expect([...statuses].toSorted()).toEqual(
        limit === 2 ? [...expected.slice(0, 4), '429', '500'] : expected,
      );
    },
  );

  it.each(Object.entries(MUTANTS))('finds %s', async (_, change) => {
    const isRight = fc.asyncProperty(
      anyHistory,
      async (history) => (await play(table, 2, history, change)).isRight,
    );
    const { failed } = await fc.check(isRight, { numRuns: 20, seed: 1, endOnFailure: true });
    expect(failed).toBe(true);
  });
});
