/**
 * Random requests, faults, kills and moves of the clock. In any order:
 *
 * - A key of an owner has at most one inquiry in 24 hours from the beginning of its second; without a key, a request
 *   stores at most one. What was not answered (500, kill) is stored or not, and the next request with its key finds
 *   out.
 * - Every 201 is the stored inquiry, byte for byte; `Idempotency-Replayed` if another request stored it.
 * - 422 only if another payload is stored, 409 only after a conflict, 429 only if the limit is stored, and never for
 *   what is stored; 500 only after a fault. No more than the limit is stored.
 * - Each key has one marker, which names its newest inquiry, and no marker is without one.
 *
 * A late write, after its sender has given up, is stored only within these rules.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import { toInquiry, type Inquiry, type InquiryListResponse } from '../../src/contract.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import type { GatewayResponse } from '../../src/http.ts';
import type { Identity } from '../../src/identity.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeEvent, makeKeyedPost } from '../helpers/events.ts';
import { readPartition, readTable, type OwnTable } from '../helpers/own-table.ts';
import { isHard } from '../helpers/selection.ts';

const DAY = 24 * HOUR;
/** Operations of a lane, which has its own clients and owners. */
const OPERATIONS = isHard ? 5_200 : 300;
const LANES = isHard ? 4 : 2;
const CLIENTS = [0, 1, 2];
/** Milliseconds until AWS refuses a signature, so that nothing arrives any more. */
const SIGNATURE_LIFE = 900_000;

interface Reply {
  statusCode: number;
  body: string;
}
/** Lets the engine do a request. */
type Forward = () => Promise<Reply>;
/**
 * In the network's place; tests/resilience/faults.test.ts has all kinds.
 *
 * @param late - Requests that arrive long after their sender has given up.
 */
type Fault = (forward: Forward, late: Forward[]) => Promise<Reply>;

const reset = async (): Promise<never> => {
  throw Object.assign(new Error('The connection was reset.'), { code: 'ECONNRESET' });
};
const respond =
  (statusCode: number, type: string, more: object = {}): Fault =>
  async () => ({ statusCode, body: JSON.stringify({ __type: type, ...more }) });
const afterwards =
  (then: Fault): Fault =>
  async (forward, late) => {
    await forward();
    return then(forward, late);
  };
const hold: Fault = async (forward, late) => {
  late.push(forward);
  return reset();
};
/** As while another transaction has the item; DynamoDB Local has no such answer. */
const CancellationReasons = ['TransactionConflict', 'None'].map((Code) => ({ Code }));
const FAULTS: Record<string, Fault> = {
  throttled: respond(400, 'ProvisionedThroughputExceededException'),
  'reset before the write': reset,
  'reset after the write': afterwards(reset),
  '500 after the write': afterwards(respond(500, 'InternalServerError')),
  'an empty success, nothing done': respond(200, ''),
  'an empty success after the write': afterwards(respond(200, '')),
  late: hold,
  'a conflict': respond(400, 'TransactionCanceledException', { CancellationReasons }),
};

interface Choice {
  owner: number;
  key: string | undefined;
  body: string;
  fault: string | undefined;
  /** Otherwise of the first attempt only. */
  isForEver: boolean;
  /** Otherwise of writes only. */
  meetsReads: boolean;
  /** The instance ends before it answers. */
  isKilled: boolean;
}
interface Request extends Choice {
  /** The key without quotes, or a unique text. */
  subject: string;
  time: number;
}
interface Sent extends Request {
  /** Undefined after a kill. */
  answer: GatewayResponse | undefined;
}

/** An execution environment. */
function createClient({ engine, name }: OwnTable, limit: number, late: Forward[]) {
  let time = 0;
  let request: Request | undefined;
  let met = 0;
  const now = () => time;

  const handle = async ({ headers, body }: { headers: Record<string, string>; body: string }) => {
    const { fault = '', isForEver, meetsReads } = request ?? {};
    const isRead = headers['x-amz-target']?.endsWith('.Query');
    // There are no conflicts of reads, and one conflict ends.
    const isConflict = fault === 'a conflict';
    const isMet = (meetsReads && !isConflict) || !isRead;
    const isFaulty = isMet && (met++ === 0 || (isForEver && !isConflict));
    const forward = async () => {
      const response = await fetch(engine, { method: 'POST', headers, body });
      return { statusCode: response.status, body: await response.text() };
    };
    const reply = await ((isFaulty && FAULTS[fault]?.(forward, late)) || forward());
    return { response: { ...reply, headers: {}, body: Readable.from([reply.body]) } };
  };
  const start = () => {
    const store = createInquiryStore(createDynamoDbClient({ handle }), name, { now });
    const inquiriesPerHour = limit < Infinity ? limit : undefined;
    const inquiries = createInquiries(store, { inquiriesPerHour, now });
    return createApp({ inquiries, corsOrigin: '*' });
  };
  let app = start();
  return {
    async list(claims: Identity, at: number): Promise<string[]> {
      [time, request] = [at, undefined];
      const { statusCode, body } = await app(makeEvent({ claims }));
      expect(statusCode).toBe(200);
      return (JSON.parse(body) as InquiryListResponse).inquiries.map(({ id }) => id);
    },
    async post(owner: Identity, asked: Request): Promise<GatewayResponse | undefined> {
      [time, request, met] = [asked.time, asked, 0];
      const { key, subject, body, isKilled } = asked;
      const answered = await app(makeKeyedPost(key, { subject, body }, owner));
      if (isKilled) app = start();
      return isKilled ? undefined : answered;
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
      [201, 500].includes(answer?.statusCode ?? 500);
    expect(requests.some(isSender), `who stored ${row.subject} ${row.body}`).toBe(true);
    expect(findCurrent(before, row.subject, now), `what ${row.subject} had`).toBe(undefined);
  }
  expect(new Set(added.map(({ subject }) => subject)).size, 'added').toBe(added.length);
  const firsts = requests.filter(({ answer }) => answer?.statusCode === 201 && !isReplay(answer));
  expect(new Set(firsts.map(({ subject }) => subject)).size, 'firsts').toBe(firsts.length);
}

const isReplay = ({ headers }: GatewayResponse): boolean =>
  headers['Idempotency-Replayed'] === 'true';

function expectAnswer({ before, after, counted, isAlone, limit }: Around, request: Sent): void {
  const { key, subject, body, fault, answer, time } = request;
  if (answer === undefined) return;
  const { statusCode: status, headers, body: text } = answer;
  const isConflict = fault === 'a conflict' && key !== undefined;
  const known = findCurrent(before, subject, time);
  if (known !== undefined || isAlone) {
    const expected = known ? (known.body === body ? 201 : 422) : counted >= limit ? 429 : 201;
    expect([expected, fault !== undefined && (isConflict ? 409 : 500)]).toContain(status);
  }
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
  const table = await createOwnStore(endpoint);
  const held: Forward[] = [];
  const clients = CLIENTS.map(() => createClient(table, limit, held));
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
        if (request.answer?.statusCode === 429) expect(countOf(at), 'stored at a 429').toBe(limit);
      }
    }
  }

  const moveTo = (moment: number): void => {
    time = moment;
    if (late.every((sent) => time - sent.time < SIGNATURE_LIFE)) return;
    late = [];
    held.length = 0;
  };

  async function arrive(): Promise<void> {
    const missing = late.filter((sent) => !isStored(sent));
    await Promise.all(held.splice(0).map(async (forward) => forward()));
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
    late.push(...requests.filter(({ fault }) => fault === 'late'));
    for (const request of requests) {
      const { answer } = request;
      const flag = answer?.statusCode === 500 ? isStored(request) : answer && isReplay(answer);
      outcomes.add(answer ? `${answer.statusCode} ${flag}` : 'killed');
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
      const rows = await readTable(table.client, table.name);
      const inquiries = rows.filter(({ id }) => id !== undefined);
      expect(inquiries, 'nothing else is stored').toHaveLength(total);
    },
  };
}

const anyChoice: fc.Arbitrary<Choice> = fc.record({
  owner: fc.constantFrom(0, 0, 0, 0, 1, 2),
  key: fc.constantFrom('k', 'k', '"k"', 'K', undefined, undefined),
  body: fc.constantFrom('a', 'a', 'b'),
  fault: fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...Object.keys(FAULTS)) },
  ),
  isForEver: fc.boolean(),
  meetsReads: fc.boolean(),
  isKilled: fc.nat(49).map((dice) => dice === 0),
});
/** To the moment when an inquiry stops counting or its key is free, and just before. */
const anyTime = fc.constantFrom(1, 999, 1_000, 60_000, HOUR / 2, HOUR - 1, HOUR, DAY - 1, DAY);
const several = { minLength: 2, maxLength: CLIENTS.length };
const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 80, arbitrary: fc.record({ send: fc.tuple(anyChoice) }) },
  { weight: 20, arbitrary: fc.record({ send: fc.array(anyChoice, several) }) },
  { weight: 40, arbitrary: fc.record({ advance: anyTime }) },
  { weight: 13, arbitrary: fc.constant<Operation>('arrive') },
  { weight: 6, arbitrary: fc.record({ list: fc.nat(2), by: fc.constantFrom(...CLIENTS) }) },
  { weight: 4, arbitrary: fc.constant<Operation>('start again') },
);

describeOnDynamoDbLocal('exactly once', (endpoint) => {
  it.concurrent.each(
    Array.from({ length: LANES }, (_, lane) => [lane % 2 === 0 ? Infinity : 2, lane]),
  )(
    'whatever the order of requests, faults, kills and times, with a limit of %s (%i)',
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

  it('every kind of outcome has occurred', () => {
    expect([...outcomes].toSorted()).toEqual(OUTCOMES);
  });
});
