/**
 * Random requests, faults, crashes and moves of the clock. In any order:
 *
 * - A key of an owner has at most one inquiry in 24 hours from the beginning of its second; without a key, a request
 *   stores at most one. What was not answered (500, crash) is stored or not, and the next request with its key finds
 *   out.
 * - Every 201 is the stored inquiry, byte for byte; `Idempotency-Replayed` if another request stored it.
 * - 422 only if another payload is stored, 409 only after a conflict, 429 only if the limit is stored, and never for
 *   what is stored; 500 only after a fault. No more than the limit is stored.
 * - Each key has one marker, which names its newest inquiry, and no marker is without one.
 *
 * A late write, after its sender has given up, is stored only within these rules.
 */
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { toInquiry, type Inquiry, type InquiryListResponse } from '../../src/contract.ts';
import type { Identity } from '../../src/identity.ts';
import { HOUR } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeEvent, makeKeyedPost } from '../helpers/events.ts';
import * as faults from '../helpers/fault-proxy.ts';
import { createHold, hangAfter, PLANS } from './database-faults.ts';
import { createOwnTable, readPartition, type OwnTable } from '../helpers/own-table.ts';
import { BUILT, startSandbox, type Answer } from '../helpers/sandbox.ts';
import { isHard } from '../helpers/selection.ts';

const DAY = 24 * HOUR;
/** Operations of a lane, which has its own clients and owners. */
const OPERATIONS = isHard ? 5_200 : 150;
const LANES = isHard ? 4 : 2;
const CLIENTS = [0, 1, 2];
/** Milliseconds left after a fault: a quarter of a second for the database (src/app.ts). */
const SHORT = 1_750;
/** Milliseconds until AWS refuses a signature, so that nothing arrives any more. */
const SIGNATURE_LIFE = 900_000;

/** The built handler, whose clock the event sets. */
const MODULE = `data:text/javascript,
  const { now } = Date;
  let time;
  Date.now = () => time ?? now();
  const { handler: built } = await import(${JSON.stringify(BUILT)});
  export const handler = async (event, context) => {
    const remaining = context.getRemainingTimeInMillis();
    try {
      time = event.time;
      return await built(event, { ...context, getRemainingTimeInMillis: () => remaining });
    } finally {
      time = undefined;
    }
  };`;

const inTurn =
  (before: faults.Fault, then: faults.Fault): faults.Fault =>
  async (exchange) => {
    await before(exchange);
    await then(exchange);
  };
type Plans = Record<string, (hold: faults.Fault, crash: faults.Fault) => faults.Plan>;
const LATE_OR_CONFLICT: Plans = {
  'a late write': (hold) => faults.always(hold),
  'a late write after its retry': (hold) =>
    faults.first(
      1,
      inTurn(hold, ({ socket }) => socket.resetAndDestroy()),
    ),
  'a conflict': () => faults.first(1, faults.refuseAsConflict),
};
const CRASHES: Plans = {
  'a crash before the write': (_, crash) => faults.always(crash),
  'a crash after the write': (_, crash) => faults.always(inTurn(hangAfter, crash)),
  'a crash and a late write': (hold, crash) => faults.always(inTurn(hold, crash)),
};
const FAULTS: Plans = Object.fromEntries(PLANS.map(([name, plan]) => [name, () => plan]));
const ALL = { ...FAULTS, ...LATE_OR_CONFLICT, ...CRASHES };

interface Choice {
  owner: number;
  key: string | undefined;
  body: string;
  fault: string | undefined;
  /** False: the fault meets writes only. */
  meetsReads: boolean;
}
interface Request extends Choice {
  /** The key without quotes, or a unique text. */
  subject: string;
  time: number;
}
interface Sent extends Request {
  /** Undefined after a kill. */
  answer: Answer | undefined;
}

async function startClient(table: OwnTable, limit: number, hold: faults.Fault) {
  const proxy = await faults.startFaultProxy(table.engine);
  const environment = {
    ...table.environment(proxy.url),
    ...(limit < Infinity && { INQUIRIES_PER_HOUR: String(limit) }),
  };
  const start = async () => startSandbox(environment, { module: MODULE });
  let sandbox = await start();
  const getSandbox = async () => (sandbox = sandbox.isRunning() ? sandbox : await start());
  const list = async (claims: Identity, time: number): Promise<string[]> => {
    const { status, json } = await (await getSandbox()).invoke({ ...makeEvent({ claims }), time });
    expect(status).toBe(200);
    return (json as InquiryListResponse).inquiries.map(({ id }) => id);
  };
  return {
    list,
    async post(owner: Identity, { key, subject, body, fault = '', meetsReads, time }: Request) {
      const event = makeKeyedPost(key, { subject, body }, owner);
      // A crash may follow a request that the function has given up, and must not end the next process.
      const { invoke, close } = await getSandbox();
      const plan = ALL[fault]?.(hold, close) ?? faults.never;
      // There are no conflicts of reads.
      const spared = fault === 'a conflict' || !meetsReads ? 'Query' : undefined;
      let met = 0;
      proxy.plan = (_, operation) => (operation === spared ? undefined : plan(met++, operation));
      const isCrash = fault in CRASHES;
      try {
        const isShort = fault !== '' && fault !== 'a conflict';
        return await invoke({ ...event, time }, isShort ? SHORT : undefined);
      } catch (error) {
        if (!isCrash || !String(error).includes('SIGKILL')) throw error;
        return undefined;
      } finally {
        proxy.plan = faults.never;
        if (isCrash) await close();
        else if (fault !== '') await list(owner, time);
        await proxy.settled();
      }
    },
    async close(): Promise<void> {
      await sandbox.close();
      await proxy.close();
    },
  };
}

const timeOf = ({ created_at }: Inquiry): number => Date.parse(created_at);
const expiryOf = (inquiry: Inquiry): number => Math.floor(timeOf(inquiry) / 1_000) + DAY / 1_000;
function findCurrent(rows: Inquiry[], subject: string, time: number): Inquiry | undefined {
  const row = rows.findLast((one) => one.subject === subject);
  return row && time < expiryOf(row) * 1_000 ? row : undefined;
}

async function readOwner(table: OwnTable, owner: Identity) {
  const items = await readPartition(table, owner);
  return {
    rows: items.flatMap((item) => toInquiry((field) => item[field]) ?? []),
    markers: items.filter((item) => item['id'] === undefined),
  };
}

function expectMarkers(rows: Inquiry[], markers: Record<string, unknown>[]): void {
  const keyed = rows.filter(({ subject }) => !subject.startsWith('#'));
  const newest = new Map(keyed.map((row) => [row.subject, `${row.id} ${expiryOf(row)}`]));
  const found = markers.map(({ inquiry, expires_at }) => [inquiry, expires_at].join(' '));
  expect(found.toSorted(), 'markers').toEqual([...newest.values()].toSorted());
}

interface Around {
  before: Inquiry[];
  after: Inquiry[];
  counted: number;
  /** No other request of the person was under way. */
  isAlone: boolean;
  limit: number;
}

/** Nothing is gone; added is what one of the requests asked for, with a free key. */
function expectRows({ before, after }: Around, now: number, requests: Sent[]): void {
  const isOld = ({ id }: Inquiry): boolean => before.some((row) => row.id === id);
  expect(after.filter(isOld)).toEqual(before);
  const added = after.filter((row) => !isOld(row));
  for (const row of added) {
    const isSender = ({ subject, body, time, answer }: Sent): boolean =>
      subject === row.subject &&
      body === row.body &&
      time === timeOf(row) &&
      [201, 500].includes(answer?.status ?? 500);
    expect(requests.some(isSender), `who stored ${row.subject} ${row.body}`).toBe(true);
    expect(findCurrent(before, row.subject, now), `what ${row.subject} had`).toBe(undefined);
  }
  expect(new Set(added.map(({ subject }) => subject)).size, 'added').toBe(added.length);
  const firsts = requests.filter(({ answer }) => answer?.status === 201 && !isReplay(answer));
  expect(new Set(firsts.map(({ subject }) => subject)).size, 'firsts').toBe(firsts.length);
}

const isReplay = ({ headers }: Answer): boolean => headers['Idempotency-Replayed'] === 'true';

function expectAnswer({ before, after, counted, isAlone, limit }: Around, request: Sent): void {
  const { key, subject, body, fault, answer, time } = request;
  const { status = 500, headers = {}, text } = answer ?? {};
  const isConflict = fault === 'a conflict' && key !== undefined;
  const known = findCurrent(before, subject, time);
  if (known !== undefined || isAlone) {
    const expected = known ? (known.body === body ? 201 : 422) : counted >= limit ? 429 : 201;
    expect([expected, fault !== undefined && (isConflict ? 409 : 500)]).toContain(status);
  }
  if (answer === undefined) return;
  const row = findCurrent(after, subject, time);
  if (status === 201) {
    expect(text).toBe(JSON.stringify({ inquiry: row }));
    expect(row).toMatchObject({ subject, body });
    if (known !== undefined || isAlone) expect(isReplay(answer)).toBe(known !== undefined);
  } else if (status === 422) {
    expect([undefined, body]).not.toContain(row?.body);
  } else if (status === 409) {
    expect([isConflict, headers['Retry-After']]).toEqual([true, '1']);
  } else if (status === 429) {
    expect(row, 'what 429 was answered for').toBe(undefined);
    expect(headers['Retry-After']).toBe(String(Math.ceil((HOUR - (time % HOUR)) / 1_000)));
  } else {
    expect([status, isConflict, fault]).toEqual([500, false, expect.anything()]);
  }
}

type Operation =
  | { send: Choice[] }
  /** Milliseconds. */
  | { advance: number }
  | 'arrive'
  | 'start again'
  | { list: number; by: number };

const OUTCOMES = [
  '201 false',
  '201 true',
  '409 false',
  '422 false',
  '429 false',
  '500 false',
  '500 true',
  'killed',
  'late false',
  'late true',
];
const outcomes = new Set<string>();

async function createLane(endpoint: string, limit: number) {
  const table = await createOwnTable(endpoint);
  const hold = createHold();
  const clients = await Promise.all(CLIENTS.map(async () => startClient(table, limit, hold.fault)));
  let owners: Identity[] = [];
  let stored: Inquiry[][] = [];
  let late: Sent[] = [];
  let time = Date.UTC(2030, 0);
  let count = 0;
  let total = 0;

  const countOf = (owner: number): number =>
    stored
      .flat()
      .filter(
        (row) =>
          row.cognito_sub === owners[owner]?.sub &&
          Math.floor(timeOf(row) / HOUR) === Math.floor(time / HOUR),
      ).length;
  const isStored = ({ owner, subject, body, time: sentAt }: Sent): boolean =>
    (stored[owner] ?? []).some(
      (row) => row.subject === subject && row.body === body && timeOf(row) === sentAt,
    );

  /** Judges simultaneous requests; late ones' answers were judged before. */
  async function judge(requests: Sent[], areLate = false): Promise<void> {
    const earlier = stored;
    const counts = owners.map((_, owner) => countOf(owner));
    const found = await Promise.all(owners.map(async (owner) => readOwner(table, owner)));
    stored = found.map(({ rows }) => rows);
    for (const [at, { rows: after, markers }] of found.entries()) {
      const before = earlier[at] ?? [];
      const own = requests.filter(({ owner }) => owner === at);
      const { sub } = owners[at] ?? {};
      const isAlone = requests.filter(({ owner }) => owners[owner]?.sub === sub).length === 1;
      const around = { before, after, counted: counts[at] ?? 0, isAlone, limit };
      expectRows(around, time, own);
      expectMarkers(after, markers);
      expect(countOf(at), 'stored within the limit').toBeLessThanOrEqual(limit);
      if (areLate) continue;
      for (const request of own) {
        expectAnswer(around, request);
        if (request.answer?.status === 429) expect(countOf(at), 'stored at a 429').toBe(limit);
      }
    }
  }

  const moveTo = (moment: number): void => {
    time = moment;
    if (late.every((sent) => time - sent.time < SIGNATURE_LIFE)) return;
    late = [];
    hold.drop();
  };

  async function arrive(): Promise<void> {
    const missing = late.filter((sent) => !isStored(sent));
    await hold.release();
    await judge(late, true);
    late = [];
    for (const sent of missing) outcomes.add(`late ${isStored(sent)}`);
  }

  async function startAgain(): Promise<void> {
    await arrive();
    total += stored.flat().length;
    const [one, two] = [randomUUID(), randomUUID()];
    const [ana, bo] = ['ana@example.com', 'bo@example.com'];
    owners = [
      { sub: one, email: ana },
      { sub: one, email: bo },
      { sub: two, email: ana },
    ];
    stored = [[], [], []];
    moveTo(Math.ceil(time / DAY + 1) * DAY);
  }

  async function send(choices: Choice[]): Promise<void> {
    const requests = await Promise.all(
      choices.map(async (choice, index): Promise<Sent> => {
        const subject = choice.key?.replaceAll('"', '') ?? `#${count}-${index}`;
        const request = { ...choice, subject, time };
        const owner = owners[choice.owner] as Identity;
        return { ...request, answer: await clients[index]?.post(owner, request) };
      }),
    );
    await judge(requests);
    late.push(...requests.filter(({ fault }) => fault?.includes('late')));
    for (const request of requests) {
      const { answer } = request;
      const flag = answer?.status === 500 ? isStored(request) : answer && isReplay(answer);
      outcomes.add(answer ? `${answer.status} ${flag}` : 'killed');
    }
  }

  await startAgain();
  return {
    async perform(operation: Operation): Promise<void> {
      count++;
      if (operation === 'arrive') return arrive();
      if (operation === 'start again') return startAgain();
      if ('send' in operation) return send(operation.send);
      if ('advance' in operation) return moveTo(time + operation.advance);
      const listed = await clients[operation.by]?.list(owners[operation.list] as Identity, time);
      return expect(listed).toEqual(stored[operation.list]?.map(({ id }) => id).toReversed());
    },
    async end(): Promise<void> {
      await startAgain();
      await Promise.all(clients.map(async (client) => client.close()));
      expect(await table.rows(), 'nothing else is stored').toHaveLength(total);
    },
  };
}

const noFault = fc.constant(undefined);
const anyFault = fc.oneof(
  { weight: 60, arbitrary: noFault },
  { weight: 29, arbitrary: fc.constantFrom(...Object.keys(FAULTS)) },
  { weight: 10, arbitrary: fc.constantFrom(...Object.keys(LATE_OR_CONFLICT)) },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(CRASHES)) },
);
const choose = (fault: fc.Arbitrary<string | undefined>): fc.Arbitrary<Choice> =>
  fc.record({
    owner: fc.constantFrom(0, 0, 0, 0, 1, 2),
    key: fc.constantFrom('k', 'k', '"k"', 'K', undefined, undefined),
    body: fc.constantFrom('a', 'a', 'b'),
    fault,
    meetsReads: fc.boolean(),
  });
/** To the moment when an inquiry stops counting or its key is free, and just before. */
const anyTime = fc.constantFrom(1, 999, 1_000, 60_000, HOUR / 2, HOUR - 1, HOUR, DAY - 1, DAY);
const several = { minLength: 2, maxLength: CLIENTS.length };
const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 40, arbitrary: fc.record({ send: fc.tuple(choose(noFault)) }) },
  { weight: 40, arbitrary: fc.record({ send: fc.tuple(choose(anyFault)) }) },
  { weight: 20, arbitrary: fc.record({ send: fc.array(choose(anyFault), several) }) },
  { weight: 40, arbitrary: fc.record({ advance: anyTime }) },
  { weight: 13, arbitrary: fc.constant<Operation>('arrive') },
  { weight: 6, arbitrary: fc.record({ list: fc.nat(2), by: fc.constantFrom(...CLIENTS) }) },
  { weight: 4, arbitrary: fc.constant<Operation>('start again') },
);

describeOnDynamoDbLocal('exactly once', (endpoint) => {
  it.concurrent.each(
    Array.from({ length: LANES }, (_, lane) => [lane % 2 === 0 ? Infinity : 2, lane]),
  )(
    'whatever the order of requests, faults, crashes and times, with a limit of %s (%i)',
    async (limit, lane) => {
      const { perform, end } = await createLane(endpoint, limit);
      // The selection is the same in each run.
      const seed = isHard ? Date.now() + lane : lane;
      const done: Operation[] = [];
      for (const operation of fc.sample(anyOperation, { seed, numRuns: OPERATIONS })) {
        if (operation === 'start again') done.length = 0;
        done.push(operation);
        try {
          await perform(operation);
        } catch (error) {
          throw new Error(`Seed ${seed}: ${JSON.stringify(done)}`, { cause: error });
        }
      }
      await end();
    },
  );

  it.runIf(isHard)('every kind of outcome has occurred in full counts', () => {
    expect([...outcomes].toSorted()).toEqual(OUTCOMES);
  });
});
