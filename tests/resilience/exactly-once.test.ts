/**
 * Random requests, faults, crashes and moves of the clock against a model. It demands, of any order of them:
 *
 * - One key of one owner has at most one inquiry in 24 hours, which count from the beginning of its second; a request
 *   without a key stores one inquiry at most. What was not answered (500, a crash) is stored or not, and the next request with its
 *   key finds out which.
 * - Every 201 has the inquiry that is stored, byte for byte; `Idempotency-Replayed` if another request stored it.
 * - 422 only when another payload is stored, 409 only after a conflict, 429 only when the limit of the person and hour is
 *   stored, and never for what is stored; 500 only after a fault. No more than the limit is stored.
 * - Each key has one marker, which names its newest inquiry, and no marker is without one.
 *
 * A write that comes late, after its sender has given it up, is stored only where it keeps these rules.
 */
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type { AsyncCommand } from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import type { Identity } from '../../src/identity.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeEvent, makeKeyedPost, makePost } from '../helpers/events.ts';
import * as faults from '../helpers/fault-proxy.ts';
import { createOwnTable, readPartition, type OwnTable } from '../helpers/own-table.ts';
import { BUILT, startSandbox, type Answer } from '../helpers/sandbox.ts';
import { createTally, isHard } from '../helpers/tally.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LIMIT = 2;
/** Operations of each lane; a lane has a model and clients of its own. */
const OPERATIONS = isHard ? 5_200 : 150;
const LANES = isHard ? 4 : 2;
const CLIENTS = 3;
const THROTTLED = faults.refuse(400, 'ProvisionedThroughputExceededException');
/** Milliseconds that a function has for the database when there is a fault. */
const SHORT_BUDGET = 250;
/** What src/app.ts keeps back for the response. */
const RESERVE = 1_500;
/** Milliseconds after which AWS refuses what was signed, and nothing late arrives any more. */
const SIGNATURE_LIFE = 900_000;

/** The built handler, with a clock that the event sets. */
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

/** A function behind a connection to the database that can fail. It starts again after a crash. */
async function startClient(table: OwnTable, limit: number | undefined) {
  const proxy = await faults.startFaultProxy(table.engine);
  const hold = faults.createHold();
  const environment = {
    ...table.environment(proxy.url),
    ...(limit !== undefined && { INQUIRIES_PER_HOUR: String(limit) }),
  };
  const start = async () => startSandbox(environment, { module: MODULE });
  let sandbox = await start();
  const run = async () => {
    if (!sandbox.isRunning()) sandbox = await start();
    return sandbox;
  };
  const invoke = async (event: object, time: number, remaining?: number): Promise<Answer> =>
    (await run()).invoke({ ...event, time }, remaining);
  return {
    hold,
    crash: async () => sandbox.close(),
    async list({ sub, email }: Identity, time: number): Promise<string[]> {
      const got = await invoke(makeEvent({ claims: { sub, email } }), time);
      expect(got.status).toBe(200);
      return (got.json as InquiryListResponse).inquiries.map(({ id }) => id);
    },
    /** @returns Undefined when the process has ended. */
    async post(
      { owner, key, subject, body, fault }: Request,
      time: number,
    ): Promise<Answer | undefined> {
      const event =
        key === undefined
          ? makePost({ subject, body }, owner)
          : makeKeyedPost(key, { subject, body }, owner);
      // A crash may come when the function has given its request up, and must not end the next process.
      const { close } = await run();
      proxy.plan = fault === undefined ? faults.never : makePlans(hold.fault, close)[fault];
      const isCrash = fault?.startsWith('a crash') ?? false;
      try {
        const isSlow = fault !== undefined && fault !== 'a conflict';
        return await invoke(event, time, isSlow ? RESERVE + SHORT_BUDGET : undefined);
      } catch (error) {
        expect([isCrash, String(error)]).toEqual([true, expect.stringMatching('SIGKILL')]);
        return undefined;
      } finally {
        proxy.plan = faults.never;
        // What the function has sent arrives before what it sends next.
        if (isCrash) await close();
        else if (fault !== undefined) await this.list(owner, time);
        await proxy.settled();
      }
    },
    async close(): Promise<void> {
      await sandbox.close();
      await proxy.close();
    },
  };
}
type Client = Awaited<ReturnType<typeof startClient>>;

/** The n-th write meets the n-th fault, those after the last one meet the last one; queries pass. */
function ofWrites(...inTurn: (faults.Fault | undefined)[]): faults.Plan {
  let count = 0;
  return (attempt, operation) => {
    if (attempt === 0) count = 0;
    return operation === 'Query' ? undefined : inTurn[Math.min(count++, inTurn.length - 1)];
  };
}

/** What can happen to the requests of a function, by name. */
const makePlans = (hold: faults.Fault, crash: () => Promise<void>) =>
  ({
    'a throttle': faults.first(1, THROTTLED),
    throttles: faults.always(THROTTLED),
    'errors of the database': faults.always(faults.refuse(500, 'InternalServerError')),
    'a 500 after the write': faults.first(
      1,
      faults.answerAfter(() => ({ status: 500 })),
    ),
    'a reset before the write': faults.first(1, faults.cutConnection('before', 'reset')),
    'a reset after the write': faults.first(1, faults.cutConnection('after', 'reset')),
    'resets after the write': faults.always(faults.cutConnection('after', 'reset')),
    'cut answers': faults.always(faults.breakOff('cut', 1)),
    'empty answers': faults.always(faults.answerAfter(() => ({ body: Buffer.alloc(0) }))),
    'no answer': faults.always(faults.hang),
    'no answer after the write': faults.always(faults.hangAfter),
    'a late write': ofWrites(hold),
    'a late write after its retry': ofWrites(async (exchange) => {
      await hold(exchange);
      exchange.socket.resetAndDestroy();
    }, undefined),
    'a conflict': ofWrites(faults.refuseAsConflict, undefined),
    'a crash before the write': ofWrites(crash),
    'a crash after the write': ofWrites(async ({ forward }) => {
      await forward();
      await crash();
    }),
    'a crash and a late write': ofWrites(async (exchange) => {
      await hold(exchange);
      await crash();
    }),
  }) satisfies Record<string, faults.Plan>;
type FaultName = keyof ReturnType<typeof makePlans>;
const NAMES = Object.keys(makePlans(faults.hang, async () => undefined)) as FaultName[];
const [CRASHES, FAULTS] = [true, false].map((isCrash) =>
  NAMES.filter((name) => name.startsWith('a crash') === isCrash),
) as [FaultName[], FaultName[]];

interface Request {
  readonly owner: Identity;
  /** As the header has it. */
  readonly key: string | undefined;
  /** The key without quotes, or a text that is used once. */
  readonly subject: string;
  readonly body: string;
  readonly fault: FaultName | undefined;
}
interface Sent extends Request {
  readonly time: number;
  readonly answer: Answer | undefined;
}
interface Marker {
  readonly inquiry: string;
  readonly expires_at: number;
}

interface Model {
  time: number;
  readonly limit: number | undefined;
  readonly owners: readonly Identity[];
  /** What each owner has stored, oldest first. */
  readonly stored: Map<Identity, readonly Inquiry[]>;
  /** Requests whose write may still arrive. */
  late: Sent[];
  count: number;
}

const toHour = (sub: string, time: number): string => `${sub} ${Math.floor(time / HOUR)}`;

const timeOf = ({ created_at }: Inquiry): number => Date.parse(created_at);
/** Seconds since the epoch. */
const expiryOf = (inquiry: Inquiry): number => Math.floor(timeOf(inquiry) / 1_000) + DAY / 1_000;
const newestOf = (rows: readonly Inquiry[], key: string): Inquiry | undefined =>
  rows.findLast(({ subject }) => subject === key);
/** The inquiry that has the key of a request. Without a key, the subject is used once. */
const currentOf = (
  rows: readonly Inquiry[],
  { subject }: { subject: string },
  time: number,
): Inquiry | undefined => {
  const row = newestOf(rows, subject);
  return row && time < expiryOf(row) * 1_000 ? row : undefined;
};
/** How many inquiries a person has stored in this hour, with any email. */
const countOf = ({ stored, time }: Model, sub: string): number =>
  [...stored.values()]
    .flat()
    .filter((row) => row.cognito_sub === sub && toHour(sub, timeOf(row)) === toHour(sub, time))
    .length;

/**
 * Judges requests sent at the same time by what was stored before and after, and takes that into the model. Of late
 * ones the answers were judged when they were sent.
 */
async function judge(
  model: Model,
  real: Real,
  requests: readonly Sent[],
  areLate = false,
): Promise<void> {
  const { limit = Number.POSITIVE_INFINITY } = model;
  const counts = new Map(requests.map(({ owner: { sub } }) => [sub, countOf(model, sub)]));
  const owners = [...new Set(requests.map((request) => request.owner))];
  const earlier = new Map(model.stored);
  const found = await Promise.all(owners.map(async (owner) => readOwner(real.table, owner)));
  for (const [at, owner] of owners.entries()) model.stored.set(owner, found[at]?.rows ?? []);
  for (const [at, owner] of owners.entries()) {
    const own = requests.filter((request) => request.owner === owner);
    const before = earlier.get(owner) ?? [];
    const { rows: after, markers } = found[at] ?? { rows: [], markers: [] };
    expectRows(model, before, after, own);
    expectMarkers(after, markers);
    if (areLate) continue;
    const others = requests.filter(({ owner: { sub } }) => sub === owner.sub).length - 1;
    const counted = counts.get(owner.sub) ?? 0;
    for (const request of own) expectAnswer(model, { before, after, counted, others }, request);
    for (const key of new Set(own.map(({ subject }) => subject))) {
      const firsts = own.filter(({ subject, answer }) => subject === key && isFirst(answer));
      expect(firsts.length, `requests told to be the first with ${key}`).toBeLessThanOrEqual(1);
    }
  }
  for (const sub of counts.keys()) {
    expect(countOf(model, sub), 'stored within the limit').toBeLessThanOrEqual(limit);
  }
}

const isFirst = (answer: Answer | undefined): boolean =>
  answer?.status === 201 && answer.headers['Idempotency-Replayed'] === undefined;

/** Nothing is gone, and what was added is what one of the requests asked for, with a key that was free. */
function expectRows(
  { time: now }: Model,
  before: readonly Inquiry[],
  after: readonly Inquiry[],
  requests: readonly Sent[],
): void {
  const known = new Set(before.map(({ id }) => id));
  expect(after.filter(({ id }) => known.has(id))).toEqual(before);
  const added = after.filter(({ id }) => !known.has(id));
  for (const row of added) {
    const senders = requests.filter(
      ({ owner, subject, body, time, answer }) =>
        owner.sub === row.cognito_sub &&
        owner.email === row.email &&
        subject === row.subject &&
        body === row.body &&
        time === timeOf(row) &&
        (answer === undefined || answer.status === 201 || answer.status === 500),
    );
    expect(senders, `who stored ${row.subject} ${row.body}`).not.toEqual([]);
    expect(currentOf(before, row, now), `the inquiry that ${row.subject} had`).toBe(undefined);
  }
  expect(new Set(added.map(({ subject }) => subject)).size, 'subjects that were added').toBe(
    added.length,
  );
}

function expectMarkers(rows: readonly Inquiry[], markers: readonly Marker[]): void {
  const keys = new Set(
    rows.map(({ subject }) => subject).filter((subject) => !subject.startsWith('#')),
  );
  const newest = [...keys].flatMap((key) => newestOf(rows, key) ?? []);
  expect(
    markers.map(({ inquiry, expires_at }) => `${inquiry} ${expires_at}`).toSorted(),
    'markers',
  ).toEqual(newest.map((row) => `${row.id} ${expiryOf(row)}`).toSorted());
}

/** What an owner has stored before and after a request. */
interface Around {
  readonly before: readonly Inquiry[];
  readonly after: readonly Inquiry[];
  /** What the person had stored in this hour before. */
  readonly counted: number;
  /** Other requests of the person at the same time. */
  readonly others: number;
}

function expectAnswer(
  model: Model,
  { before, after, counted, others }: Around,
  request: Sent,
): void {
  const { key, subject, body, fault, answer, time } = request;
  const { status = 500, headers = {}, text } = answer ?? {};
  const isConflict = fault === 'a conflict' && key !== undefined;
  const known = currentOf(before, request, time);
  const isAlone = others === 0;
  const { limit = Number.POSITIVE_INFINITY } = model;
  if (known !== undefined || isAlone) {
    const expected = known ? (known.body === body ? 201 : 422) : counted >= limit ? 429 : 201;
    const failures = fault === undefined ? [] : isConflict ? [409] : [500];
    expect([expected, ...failures]).toContain(status);
  }
  if (answer === undefined) return;
  const { 'Retry-After': retryAfter, 'Idempotency-Replayed': replayed } = headers;
  const row = currentOf(after, request, time);
  if (status === 201) {
    expect(text).toBe(JSON.stringify({ inquiry: row }));
    expect([row?.subject, row?.body]).toEqual([subject, body]);
    if (known !== undefined) expect(replayed).toBe('true');
    else if (isAlone) expect(replayed).toBe(undefined);
  } else if (status === 422) {
    expect(row?.body).not.toBe(body);
    expect(row).toBeDefined();
  } else if (status === 409) {
    expect([isConflict, retryAfter]).toEqual([true, '1']);
  } else if (status === 429) {
    expect(countOf(model, request.owner.sub)).toBe(limit);
    expect(row, 'what 429 was answered for').toBeUndefined();
    expect(retryAfter).toBe(String(Math.ceil((HOUR - (time % HOUR)) / 1_000)));
  } else {
    expect([status, isConflict, fault]).toEqual([500, false, expect.anything()]);
  }
}

interface Real {
  readonly table: OwnTable;
  readonly clients: readonly Client[];
}

/** Everything in the partition of an owner, read past the service. */
async function readOwner(table: OwnTable, owner: Identity) {
  const items = await readPartition(table, owner);
  const isInquiry = (item: object): boolean => 'id' in item;
  return {
    rows: items.filter(isInquiry).map((item): Inquiry => {
      const { id, cognito_sub, email, subject, body, created_at } = item as unknown as Inquiry;
      return { id, cognito_sub, email, subject, body, created_at };
    }),
    markers: items.filter((item) => !isInquiry(item)) as unknown as Marker[],
  };
}

const unlimited = createTally(
  '8a exactly once: operations on the built function, against the model',
);
const limited = createTally('9b the same with a limit: operations, against the model');
const tally = ({ limit }: Model): void => (limit === undefined ? unlimited : limited)();
const OUTCOMES = [
  '201, first',
  '201, replayed',
  '409',
  '422',
  '429',
  '500 or no answer, stored',
  '500 or no answer, not stored',
  'a late write, stored',
  'a late write, refused',
  'killed in the middle of a request',
];
const met = new Set<string>();

const isStored = ({ stored }: Model, { owner, subject, body, time }: Sent): boolean =>
  stored
    .get(owner)
    ?.some((row) => row.subject === subject && row.body === body && timeOf(row) === time) ?? false;

type Command = AsyncCommand<Model, Real>;
const command = (name: string, run: Command['run']): Command => ({
  check: () => true,
  run: async (model, real) => {
    model.count++;
    await run(model, real);
    tally(model);
  },
  toString: () => name,
});

type Choice = Pick<Request, 'key' | 'body' | 'fault'> & { readonly owner: number };
/** Requests at the same time, each by a client of its own. */
const send = (choices: readonly Choice[]): Command => {
  const names = choices.map(
    ({ owner, key = 'no key', body, fault }) =>
      `owner ${owner}, ${key}, ${body}${fault ? `, ${fault}` : ''}`,
  );
  return command(`send(${names.join(' | ')})`, async (model, { table, clients }) => {
    const { time } = model;
    const requests = await Promise.all(
      choices.map(async ({ owner, ...choice }, index): Promise<Sent> => {
        const subject = choice.key?.replaceAll('"', '') ?? `#${model.count}-${index}`;
        const request = { ...choice, subject, owner: model.owners[owner] as Identity };
        return { ...request, time, answer: await (clients[index] as Client).post(request, time) };
      }),
    );
    model.count += requests.length - 1;
    for (const _ of requests.slice(1)) tally(model);
    await judge(model, { table, clients }, requests);
    model.late.push(...requests.filter(({ fault }) => fault?.includes('late')));
    for (const request of requests) {
      const { status = 500, headers = {} } = request.answer ?? {};
      if (request.answer === undefined) met.add('killed in the middle of a request');
      if (status === 201) {
        met.add(headers['Idempotency-Replayed'] ? '201, replayed' : '201, first');
      } else if (status === 500) {
        met.add(`500 or no answer, ${isStored(model, request) ? 'stored' : 'not stored'}`);
      } else {
        met.add(String(status));
      }
    }
  });
};

const moveTo = (model: Model, clients: readonly Client[], time: number): void => {
  model.time = time;
  if (model.late.every((sent) => time - sent.time < SIGNATURE_LIFE)) return;
  model.late = [];
  for (const { hold } of clients) hold.drop();
};

const advance = (milliseconds: number): Command =>
  command(`advance(${milliseconds})`, async (model, { clients }) =>
    moveTo(model, clients, model.time + milliseconds),
  );

/** To the next moment at which a key is free again or an inquiry does not count any more, or just before it. */
const approach = (offset: number): Command =>
  command(`approach(${offset})`, async (model, { clients }) => {
    const moments = [...model.stored.values()]
      .flat()
      .flatMap((row) => [
        (Math.floor(timeOf(row) / HOUR) + 1) * HOUR + offset,
        expiryOf(row) * 1_000 + offset,
      ])
      .filter((moment) => moment > model.time);
    if (moments.length > 0) moveTo(model, clients, Math.min(...moments));
  });

/** What was kept back reaches the database now. */
const arrive = command('late writes arrive', async (model, real) => {
  const late = model.late.filter((sent) => !isStored(model, sent));
  for (const { hold } of real.clients) await hold.release();
  await judge(model, real, model.late, true);
  model.late = [];
  for (const sent of late) met.add(`a late write, ${isStored(model, sent) ? 'stored' : 'refused'}`);
});

const crash = (client: number): Command =>
  command(`crash(${client})`, async (_, { clients }) => clients[client]?.crash());

const list = (owner: number, client: number): Command =>
  command(`list(${owner})`, async ({ owners, stored, time }, { clients }) => {
    const identity = owners[owner] as Identity;
    const ids = (stored.get(identity) ?? []).map(({ id }) => id);
    expect(await clients[client]?.list(identity, time)).toEqual(ids.toReversed());
  });

const anyFault = fc.oneof(
  { weight: 60, arbitrary: fc.constant(undefined) },
  { weight: 29, arbitrary: fc.constantFrom(...FAULTS) },
  { weight: 10, arbitrary: fc.constantFrom('a conflict' as const, 'a late write' as const) },
  { weight: 1, arbitrary: fc.constantFrom(...CRASHES) },
);
const anyClient = fc.nat(CLIENTS - 1);
const choice = (fault: fc.Arbitrary<FaultName | undefined>): fc.Arbitrary<Choice> =>
  fc.record({
    owner: fc.constantFrom(0, 0, 0, 0, 1, 2),
    key: fc.constantFrom('k', 'k', '"k"', 'K', undefined, undefined),
    body: fc.constantFrom('a', 'a', 'b'),
    fault,
  });
const commands = fc.commands(
  [
    choice(fc.constant(undefined)).map((one) => send([one])),
    choice(fc.constant(undefined)).map((one) => send([one])),
    choice(anyFault).map((one) => send([one])),
    choice(anyFault).map((one) => send([one])),
    fc.array(choice(anyFault), { minLength: 2, maxLength: CLIENTS }).map(send),
    fc.constantFrom(-1, 0).map(approach),
    fc.constantFrom(1, 999, 1_000, 60_000, HOUR / 2, HOUR, DAY).map(advance),
    fc.oneof(
      { weight: 20, arbitrary: fc.constant(arrive) },
      { weight: 10, arbitrary: fc.tuple(fc.nat(2), anyClient).map((args) => list(...args)) },
      { weight: 1, arbitrary: anyClient.map(crash) },
    ),
  ],
  { maxCommands: 80, size: 'max' },
);

describeOnDynamoDbLocal('exactly once', (endpoint) => {
  let table: OwnTable;
  let stored = 0;
  beforeAll(async () => {
    table = await createOwnTable(endpoint);
  });
  afterAll(() => table.close());

  it.concurrent.each(
    Array.from({ length: LANES }, (_, lane) => [lane % 2 === 0 ? undefined : LIMIT, lane]),
  )(
    'whatever the order of requests, faults, crashes and times, with a limit of %s (%i)',
    async (limit, lane) => {
      const clients = await Promise.all(
        Array.from({ length: CLIENTS }, async () => startClient(table, limit)),
      );
      const real = { table, clients };
      let count = 0;
      let hasFailed = false;
      let time = Date.UTC(2030, 0);
      const property = fc.asyncProperty(commands, async (chosen) => {
        // After a failure, the runs look for the shortest one that fails.
        if (count >= OPERATIONS && !hasFailed) return;
        for (const { hold } of clients) hold.drop();
        const [one, two] = [randomUUID(), randomUUID()];
        const model: Model = {
          // The clock of the clients does not run backwards from one run to the next.
          time: (time = Math.ceil(time / DAY + 1) * DAY),
          limit,
          owners: [
            { sub: one, email: 'ana@example.com' },
            { sub: one, email: 'bo@example.com' },
            { sub: two, email: 'ana@example.com' },
          ],
          stored: new Map(),
          late: [],
          count: 0,
        };
        try {
          await fc.asyncModelRun(() => ({ model, real }), chosen);
          await arrive.run(model, real);
        } catch (error) {
          hasFailed = true;
          throw error;
        } finally {
          time = model.time;
          count += model.count;
          for (const rows of model.stored.values()) stored += rows.length;
        }
      });
      // Of a fast selection every run is the same.
      await fc.assert(property, { numRuns: OPERATIONS / 5, ...(!isHard && { seed: lane }) });
      await Promise.all(clients.map(async (client) => client.close()));
      expect(count).toBeGreaterThanOrEqual(OPERATIONS);
    },
  );

  it('every kind of outcome has occurred in full counts, and nothing else is stored', async () => {
    if (isHard) expect([...met].toSorted()).toEqual(OUTCOMES.toSorted());
    expect(await table.rows()).toHaveLength(stored);
  });
});
