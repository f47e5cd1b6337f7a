/** The database fails in every way it can: one answer of the contract in time, nothing twice, nothing in part. */
import { randomUUID } from 'node:crypto';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { close, listen } from '../../lib/loopback-server.ts';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import { makeEvent, makePost } from '../helpers/events.ts';
import { createOwnTable, type OwnTable, type Stored } from '../helpers/own-table.ts';
import {
  always,
  answer,
  answerAfter,
  breakOff,
  cutConnection,
  delay,
  drip,
  dripHeaders,
  first,
  garbage,
  hang,
  hangAfter,
  never,
  refuse,
  startFaultProxy,
  type Fault,
  type Plan,
} from '../helpers/fault-proxy.ts';
import { startSandbox, type Answer } from '../helpers/sandbox.ts';
import { createTally, select } from '../helpers/tally.ts';

const FAULT = {
  error: 'INTERNAL_SERVER_ERROR',
  message: 'The request could not be processed. Please try again later.',
};
const HEADERS = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': 'https://www.example.com',
};
/** Milliseconds: 10 s are promised, the rest is room for a busy machine. */
const IN_TIME = 10_000 + 2_000;

let table: OwnTable;
beforeAll(async () => {
  table = await createOwnTable();
});
afterAll(() => table.close());

type Scene = Awaited<ReturnType<typeof openScene>>;

/** A sandbox that reaches the engine through a proxy, and a user of its own. */
async function openScene(pageSize?: number) {
  const proxy = await startFaultProxy(table.engine, pageSize);
  const sandbox = await startSandbox(table.environment(proxy.url));
  const claims = { sub: randomUUID(), email: 'ana@example.com' };
  let slowest = 0;
  const invoke = async (event: object, remaining?: number): Promise<Answer> => {
    const got = await sandbox.invoke(event, remaining);
    slowest = Math.max(slowest, got.milliseconds);
    return got;
  };
  return {
    claims,
    proxy,
    sandbox,
    post: (body = 'b', remaining?: number) =>
      invoke(makePost({ subject: randomUUID(), body }, claims), remaining),
    get: (remaining?: number) => invoke(makeEvent({ claims }), remaining),
    /** Milliseconds of the slowest answer so far. */
    slowest: () => slowest,
    stored: async () => (await table.rows(claims.sub)).toSorted((a, b) => b.id.localeCompare(a.id)),
    async [Symbol.asyncDispose](): Promise<void> {
      await sandbox.close();
      await proxy.close();
      expect(sandbox.lines.join('\n')).not.toMatch(/ana@example\.com|secret/);
    },
  };
}

const idsOf = (rows: readonly Stored[]): string[] => rows.map(({ id }) => id);
const listedBy = ({ json }: Answer): string[] => idsOf((json as InquiryListResponse).inquiries);

function expectFault(got: Answer): void {
  expect(got).toMatchObject({ status: 500, json: FAULT, headers: HEADERS });
}

/** A POST under a fault: answered in time; stored zero times or once; 201 means stored. @returns The status. */
async function postUnder(
  { proxy, post, stored }: Scene,
  plan: Plan,
  body?: string,
): Promise<number> {
  const before = idsOf(await stored());
  proxy.plan = plan;
  const got = await post(body);
  proxy.plan = never;
  expect(got.milliseconds).toBeLessThan(IN_TIME);
  const added = idsOf(await stored()).filter((id) => !before.includes(id));
  if (got.status === 201) expect(added).toEqual([(got.json as { inquiry: Inquiry }).inquiry.id]);
  else expectFault(got);
  expect(added.length).toBeLessThanOrEqual(1);
  return got.status;
}

/** A GET under a fault: answered in time; the whole list or a 500. @returns The status. */
async function getUnder({ proxy, get, stored }: Scene, plan: Plan): Promise<number> {
  proxy.plan = plan;
  const got = await get();
  proxy.plan = never;
  expect(got.milliseconds).toBeLessThan(IN_TIME);
  if (got.status === 200) expect(listedBy(got)).toEqual(idsOf(await stored()));
  else expectFault(got);
  return got.status;
}

/** The next requests work, and show what is stored. */
async function expectRecovery({ post, get, stored }: Scene): Promise<void> {
  expect((await post()).status).toBe(201);
  const list = await get();
  expect(list.status).toBe(200);
  expect(listedBy(list)).toEqual(idsOf(await stored()));
}

const html = { 'content-type': 'text/html' };
const HTML = '<html><body><h1>Service Unavailable</h1></body></html>';
const BIG = 'x'.repeat(300_000);
const LATER = { 'retry-after': '3600', 'x-amz-retry-after': '3600000' };
const THROTTLED = refuse(400, 'ThrottlingException');
const RESET = cutConnection('after', 'reset');
const emptied: Fault = answerAfter(() => ({ status: 200, body: Buffer.alloc(0) }));
const failedAfter: Fault = answerAfter(() => ({ status: 500 }));
const truncated: Fault = answerAfter(({ body }) => ({ body: body.subarray(0, -1) }));

/** After one of these the next attempt succeeds; for ever they are a 500. */
const transient: [name: string, fault: Fault, body?: string][] = [
  ['throttled', refuse(400, 'ProvisionedThroughputExceededException')],
  ['500 in JSON', refuse(500, 'InternalServerError')],
  ['500 in HTML', answer(500, HTML, html)],
  ['500 after the write', failedAfter],
  ['reset before the request', cutConnection('before', 'reset')],
  ['reset during the request', cutConnection('during', 'reset'), BIG],
  ['reset after the write', cutConnection('after', 'reset')],
  ['half-closed before the request', cutConnection('before', 'close')],
  ['half-closed after the write', cutConnection('after', 'close')],
  ['a partial body', breakOff('cut', 1)],
  ['no answer', hang],
  ['no answer after the write', hangAfter],
  ['a stalled body', breakOff('stall', 1)],
  ['dripping headers', dripHeaders],
];
/** These are a 500. */
const permanent: [name: string, fault: Fault][] = [
  ['throttled, to be tried again in an hour', refuse(400, 'ThrottlingException', LATER)],
  ['503, to be tried again in an hour', answer(503, '', { 'retry-after': '3600' })],
  ['502 without a body', answer(502, '', {})],
  ['access denied', refuse(400, 'AccessDeniedException')],
  ['credentials expired', refuse(400, 'ExpiredTokenException')],
  ['validation', refuse(400, 'ValidationException')],
  ['an error type of any name', refuse(400, '__proto__')],
  ['an error without a body', answer(400, '', {})],
  ['a redirect to elsewhere', answer(307, '', { location: 'http://127.0.0.1:9/' })],
  ['200 with an empty body, nothing done', answer(200, '')],
  ['200 with an empty object, nothing done', answer(200, '{}')],
  ['200 with null', answer(200, 'null')],
  ['200 with an empty body after the write', emptied],
  ['204 after the write', answerAfter(() => ({ status: 204, body: Buffer.alloc(0) }))],
  ['200 with truncated JSON', truncated],
  ['200 in HTML', answer(200, HTML, html)],
  ['headers and no body, cut', breakOff('cut', 0)],
  ['a dripping body', drip],
  ['bytes that are no HTTP', garbage('\u0000\u0001 nonsense\r\n\r\n')],
  ['a header that is too long', answer(200, '{}', { 'x-long': 'x'.repeat(100_000) })],
];
const faults: [name: string, plan: Plan, works: boolean, body?: string | undefined][] = [
  ...transient.flatMap(([name, fault, body]): typeof faults => [
    [`${name}, once`, first(1, fault), true, body],
    [`${name}, for ever`, always(fault), false, body],
  ]),
  ...permanent.map(([name, fault]): (typeof faults)[number] => [name, always(fault), false]),
  ['an answer after 2 s', first(1, delay(2_000)), true],
  ['a throttle, a reset, then an answer', (n) => [THROTTLED, RESET][n], true],
];

const tally = createTally('1a faults of the database (POST, GET, recovery)');
describe.concurrent('under a fault: in time, nothing twice, nothing in part, and the next request works', () => {
  it.each(select(faults, 3))('%s', async (_, plan, works, body) => {
    await using scene = await openScene();
    expect(await postUnder(scene, plan, body)).toBe(works ? 201 : 500);
    await expectRecovery(scene);
    expect(await getUnder(scene, plan)).toBe(works ? 200 : 500);
    await expectRecovery(scene);
    tally(scene.slowest());
  });
});

describe.concurrent('without a connection: the contract’s 500 in time', () => {
  const connections = createTally('1b no connection to the database');
  /** Endpoint and what has to be closed; the servers listen on loopback. */
  type Obstacle = () => Promise<{ endpoint: string; dispose?: () => unknown }>;

  const onServer =
    (scheme: string, create: () => Server): Obstacle =>
    async () => {
      const server = create();
      const sockets = new Set<Socket>();
      server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
      const endpoint = `${scheme}://127.0.0.1:${await listen(server, 0)}`;
      const dispose = async (): Promise<void> => {
        for (const socket of sockets) socket.destroy();
        await close(server);
      };
      return { endpoint, dispose };
    };

  const obstacles: [name: string, obstacle: Obstacle][] = [
    // Nothing listens there.
    ['refused', async () => ({ endpoint: 'http://127.0.0.1:9' })],
    ['an unknown host', async () => ({ endpoint: 'http://no-such-host.invalid' })],
    ['accepted and closed', onServer('http', () => createTcpServer((socket) => socket.end()))],
    [
      'accepted and reset',
      onServer('http', () => createTcpServer((socket) => socket.resetAndDestroy())),
    ],
    ['accepted and never read', onServer('http', () => createTcpServer({ pauseOnConnect: true }))],
    [
      'TLS where plain HTTP is spoken',
      onServer('https', () =>
        createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      ),
    ],
    [
      'TLS with a handshake that never answers',
      onServer('https', () => createTcpServer({ pauseOnConnect: true })),
    ],
  ];

  it.each(select(obstacles, 2))('%s', async (_, obstacle) => {
    const { endpoint, dispose } = await obstacle();
    await using resources = new AsyncDisposableStack();
    resources.defer(async () => void (await dispose?.()));
    const sandbox = resources.use(await startSandbox(table.environment(endpoint)));
    const claims = { sub: randomUUID(), email: 'ana@example.com' };
    for (const event of [makePost({ subject: '', body: '' }, claims), makeEvent({ claims })]) {
      const got = await sandbox.invoke(event);
      expectFault(got);
      expect(got.milliseconds).toBeLessThan(IN_TIME);
    }
    expect(await table.rows(claims.sub)).toEqual([]);
    connections();
  });

  it('an impostor: nothing is sent to a server with an untrusted certificate', async () => {
    let received = 0;
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
      algorithm: 'sha256',
    });
    const server = createHttpsServer({ cert, key }, (_, response) => {
      received++;
      response.end('{}');
    });
    let secured = 0;
    server.on('secureConnection', () => secured++);
    const port = await listen(server, 0);
    const environment = table.environment(`https://localhost:${port}`);
    await using resources = new AsyncDisposableStack();
    resources.defer(() => close(server));
    // The certificate is a good one: with its name trusted, the same server is spoken to.
    const trusted = { ...environment, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const trusting = resources.use(await startSandbox(trusted));
    const wary = resources.use(await startSandbox(environment));
    await trusting.invoke(makePost({ subject: '', body: '' }));
    expect(received).toBeGreaterThan(0);
    received = 0;
    expectFault(await wary.invoke(makePost({ subject: '', body: '' })));
    expect(received).toBe(0);
    expect(secured).toBeGreaterThan(0);
    connections();
  });
});

describe.concurrent('with 2 s of remaining time at entry the answer still comes in time', () => {
  const short = createTally('1c two seconds left');
  it.each<[string, Plan]>([
    ['no answer', always(hang)],
    ['no answer after the write', always(hangAfter)],
    ['a stalled body', always(breakOff('stall', 1))],
    ['a dripping body', always(drip)],
    ['back-off asked for, which ends too', always(answer(503, '', LATER))],
    ['throttled for ever', always(refuse(400, 'ThrottlingException'))],
  ])('%s', async (_, plan) => {
    await using scene = await openScene();
    for (const send of [
      (left: number) => scene.post('b', left),
      (left: number) => scene.get(left),
    ]) {
      for (const left of [2_000, 1_000, 0, -1]) {
        scene.proxy.plan = plan;
        const got = await send(left);
        expectFault(got);
        expect(got.milliseconds).toBeLessThan(2_000);
      }
    }
    scene.proxy.plan = never;
    short(scene.slowest());
    await expectRecovery(scene);
  });
});

describe.concurrent('a list of several pages is whole or a 500', () => {
  const pages = createTally('1d a later page fails');
  const onPage =
    (page: number, fault: Fault): Plan =>
    (attempt) =>
      attempt >= page - 1 ? fault : undefined;

  it.each<[string, Plan, 200 | 500]>([
    [
      'page two throttled once',
      (n) => (n === 1 ? refuse(400, 'ThrottlingException') : undefined),
      200,
    ],
    ['page two denied', onPage(2, refuse(400, 'AccessDeniedException')), 500],
    ['page two without an answer', onPage(2, hang), 500],
    ['page two with an empty body', onPage(2, answer(200, '')), 500],
    ['page two without items', onPage(2, answer(200, '{}')), 500],
    ['page two truncated', onPage(2, truncated), 500],
    ['page two reset', onPage(2, cutConnection('after', 'reset')), 500],
    ['page two stalled', onPage(2, breakOff('stall', 1_000)), 500],
    ['page two cut', onPage(2, breakOff('cut', 1_000)), 500],
    ['page three failing', onPage(3, refuse(500, 'InternalServerError')), 500],
    ['every page failing once', (n) => [refuse(500, 'InternalServerError')][n % 2], 200],
    ['every page reset once', (n) => [RESET][n % 2], 200],
    ['every page slow: one budget for all', always(delay(4_500)), 500],
  ])('%s', async (_, plan, status) => {
    await using scene = await openScene(2);
    for (let index = 0; index < 7; index++) expect((await scene.post()).status).toBe(201);
    scene.proxy.plan = never;
    expect((await scene.get()).status).toBe(200);
    expect(scene.proxy.attempts).toBe(4);
    expect(await getUnder(scene, plan)).toBe(status);
    await expectRecovery(scene);
    pages(scene.slowest());
  });
});

describe.concurrent('a sandbox that was frozen while its idle connection went answers as if nothing had been', () => {
  const frozen = createTally('1e frozen sandboxes');
  const MOMENT = 300;

  const ways = (['close', 'reset', 'black hole'] as const).flatMap((how) =>
    (['POST', 'GET'] as const).flatMap((method) =>
      (['after', 'before'] as const).map((asked) => [how, method, asked] as const),
    ),
  );
  it.each(select(ways, 3))('%s, then %s asked for %s it has thawed', async (how, method, asked) => {
    await using scene = await openScene();
    const { proxy, sandbox, post, get, stored } = scene;
    expect((await post()).status).toBe(201);
    const send = method === 'POST' ? post : get;

    sandbox.freeze();
    proxy.cut(how);
    await sleep(MOMENT);
    // Lambda thaws a sandbox with the next event already waiting.
    const early = asked === 'before' ? send() : undefined;
    await sleep(MOMENT);
    sandbox.thaw();
    if (asked === 'after') await sleep(MOMENT);
    const got = await (early ?? send());

    expect(got.milliseconds).toBeLessThan(IN_TIME);
    expect(got.status).toBe(method === 'POST' ? 201 : 200);
    expect((await stored()).length).toBe(method === 'POST' ? 2 : 1);
    await expectRecovery(scene);
    frozen(scene.slowest());
  });

  it('for longer than the time of an invocation: old timers end nothing new', async () => {
    await using scene = await openScene();
    expect((await scene.post('b', 8_000)).status).toBe(201);
    scene.sandbox.freeze();
    await sleep(8_000);
    const early = scene.post();
    scene.sandbox.thaw();
    expect((await early).status).toBe(201);
    await expectRecovery(scene);
    frozen();
  });

  it('in the middle of a request, thawed after its time: an answer of the contract, and the next one works', async () => {
    await using scene = await openScene();
    scene.proxy.plan = always(delay(500));
    const running = scene.post('b', 3_000);
    await sleep(200);
    scene.sandbox.freeze();
    await sleep(4_000);
    scene.sandbox.thaw();
    const got = await running;
    scene.proxy.plan = never;
    const added = await scene.stored();
    if (got.status === 201) expect(added).toHaveLength(1);
    else expectFault(got);
    expect(added.length).toBeLessThanOrEqual(1);
    await expectRecovery(scene);
    frozen();
  });
});
