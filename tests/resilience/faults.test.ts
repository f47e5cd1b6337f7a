/**
 * Under every fault of the database, the function answers in time and by the contract, stores nothing twice or in part,
 * and logs nothing of requests and errors.
 */
import { randomUUID } from 'node:crypto';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { generate } from 'selfsigned';
import { beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../lib/pages/loopback-server.ts';
import type { Inquiry } from '../../src/contract.ts';
import { whyNoDynamoDbLocal } from '../helpers/engines.ts';
import { makeEvent, makeKeyedPost } from '../helpers/events.ts';
import {
  always,
  answer,
  answerAfter,
  first,
  hang,
  never,
  pass,
  refuse,
  RESET,
  startFaultProxy,
  type Fault,
  type Plan,
} from './fault-proxy.ts';
import { createOwnTable, readPartition, type OwnTable } from '../helpers/own-table.ts';
import { startSandbox } from './sandbox.ts';
import { select } from './selection.ts';

const SUCCESS = { POST: 201, 'keyed POST': 201, GET: 200 };
type Method = keyof typeof SUCCESS;
/** Idempotency keys need transactions. */
const METHODS: Method[] =
  whyNoDynamoDbLocal === undefined ? ['POST', 'keyed POST', 'GET'] : ['POST', 'GET'];

const breakOff =
  (then: 'cut' | 'stall'): Fault =>
  async ({ response, socket, forward }) => {
    const { status, headers, body } = await forward();
    response.writeHead(status, { ...headers, 'content-length': String(body.length) });
    response.write(body.subarray(0, 1));
    await sleep(50);
    if (then === 'cut') socket.destroy();
  };
/** Sends a part every half second, so that the socket is never idle. */
const drip =
  (begin: string, part: string): Fault =>
  async ({ receive, socket }) => {
    await receive();
    socket.write(begin);
    while (!socket.destroyed) {
      socket.write(part);
      await sleep(500);
    }
  };
const delay =
  (milliseconds: number): Fault =>
  (exchange) =>
    sleep(milliseconds).then(() => pass(exchange));
const speakNonsense: Fault = async ({ receive, socket }) => {
  await receive();
  socket.end('\u0000\u0001 nonsense\r\n\r\n');
};

const halfClose: Fault = async ({ forward, socket }) => {
  await forward();
  socket.end();
};

const HTML = '<html><body><h1>Service Unavailable</h1></body></html>';
const HTML_TYPE = { 'content-type': 'text/html' };
const HEAD = 'HTTP/1.1 200 OK\r\n';
const TRUNCATED: Fault = answerAfter(({ body }) => ({ body: body.subarray(0, -1) }));
const IN_AN_HOUR = { 'retry-after': '3600', 'x-amz-retry-after': '3600000' };

/** With these, the next attempt succeeds. */
const transient: readonly [name: string, fault: Fault][] = [
  ['throttled', refuse(400, 'ProvisionedThroughputExceededException')],
  ['500 in JSON', refuse(500, 'InternalServerError')],
  ['500 in HTML', answer(500, HTML, HTML_TYPE)],
  ['500 after the write', answerAfter(() => ({ status: 500 }))],
  ['reset before the request', ({ socket }) => void socket.resetAndDestroy()],
  ['reset after the write', RESET],
  ['half-closed after the write', halfClose],
  ['a partial body', breakOff('cut')],
  ['no answer', hang],
  ['no answer after the write', async ({ forward }) => void (await forward())],
  ['a stalled body', breakOff('stall')],
  ['dripping headers', drip(HEAD, 'X-Drip: 1\r\n')],
];
/** With these, it may fail, too. */
const permanent: readonly [name: string, fault: Fault][] = [
  ['throttled, to be tried again in an hour', refuse(400, 'ThrottlingException')],
  ['503, to be tried again in an hour', answer(503, '', IN_AN_HOUR)],
  ['access denied', refuse(400, 'AccessDeniedException')],
  ['an error type of any name', refuse(400, '__proto__')],
  ['an error without a body', answer(400, '', {})],
  ['a redirect to elsewhere', answer(307, '', { location: 'http://127.0.0.1:9/' })],
  ['200 with an empty object, nothing done', answer(200, '{}')],
  ['200 with null', answer(200, 'null')],
  ['200 with an empty body after the write', answerAfter(() => ({ body: Buffer.alloc(0) }))],
  ['200 with truncated JSON', TRUNCATED],
  ['200 in HTML', answer(200, HTML, HTML_TYPE)],
  ['a dripping body', drip(`${HEAD}Content-Length: 1000\r\n\r\n`, ' ')],
  ['bytes that are no HTTP', speakNonsense],
  ['a header that is too long', answer(200, '{}', { 'x-long': 'x'.repeat(100_000) })],
];
const PLANS: [name: string, plan: Plan, works: boolean][] = [
  ...transient.flatMap(([name, fault]): typeof PLANS => [
    [`${name}, once`, first(1, fault), true],
    [`${name}, for ever`, always(fault), false],
  ]),
  ...permanent.map(([name, fault]): (typeof PLANS)[number] => [name, always(fault), false]),
  ['a throttle, a reset, then an answer', (n) => [transient[0]?.[1], RESET][n], true],
  ['an answer after 2 s', first(1, delay(2_000)), true],
];

let table: OwnTable;
beforeAll(async () => {
  table = await createOwnTable();
});

interface Asked {
  plan?: Plan;
  body?: string;
  /** Milliseconds that the invocation has left. */
  remaining?: number;
}

async function openScene({
  pageSize,
  environment = {},
}: { pageSize?: number; environment?: object } = {}) {
  const proxy = await startFaultProxy(table.engine, pageSize);
  const sandbox = await startSandbox({ ...table.environment(proxy.url), ...environment });
  const claims = { sub: randomUUID(), email: 'canary@example.com' };
  const readIds = async (): Promise<string[]> =>
    (await readPartition(table, claims)).flatMap(({ id = [] }) => id as string).toReversed();
  /**
   * Expects a POST to store one inquiry if it says so, otherwise at most one; a list to be whole; and any other answer
   * to be the contract's 500. @returns The status.
   */
  async function ask(
    method: Method,
    { plan = never, body = 'canary', remaining }: Asked = {},
  ): Promise<number> {
    const before = await readIds();
    const key = method === 'keyed POST' ? `canary-${randomUUID()}` : undefined;
    const post = makeKeyedPost(key, { subject: 'canary', body }, claims);
    proxy.plan = plan;
    const got = await sandbox.invoke(method === 'GET' ? makeEvent({ claims }) : post, remaining);
    const after = await readIds();
    const { inquiry, inquiries = [] } = got.json as { inquiry?: Inquiry; inquiries?: Inquiry[] };
    if (got.status < 400) {
      expect(after).toEqual(inquiry ? [inquiry.id, ...before] : inquiries.map(({ id }) => id));
      return got.status;
    }
    expect([after, after.slice(1)]).toContainEqual(before);
    expect(got).toMatchObject({
      status: 500,
      headers: {
        'Content-Type': 'application/json',
        'Access-Control-Allow-Origin': 'https://www.example.com',
      },
      json: {
        error: 'INTERNAL_SERVER_ERROR',
        message: 'The request could not be processed. Please try again later.',
      },
    });
    return 500;
  }
  return {
    proxy,
    sandbox,
    ask,
    readIds,
    async expectRecovery(): Promise<void> {
      for (const method of METHODS) expect(await ask(method)).toBe(SUCCESS[method]);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await sandbox.close();
      await proxy.close();
      expect(sandbox.lines.join('\n')).not.toMatch(/canary|secret/);
    },
  };
}

describe.concurrent('under a fault: in time, nothing twice, nothing in part, and the next request works', () => {
  it.each(select(PLANS, 2))('%s', async (_, plan, works) => {
    await using scene = await openScene();
    for (const method of METHODS) {
      // The body is large enough for a cut within it.
      const status = await scene.ask(method, { plan, body: 'x'.repeat(300_000) });
      expect(status).toBe(works ? SUCCESS[method] : 500);
      await scene.expectRecovery();
    }
    // There are neither warnings nor unhandled rejections.
    expect(scene.sandbox.lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  });
});

describe.concurrent('without a connection: the contract’s 500 in time', () => {
  const http = (port: number) => `http://127.0.0.1:${port}`;
  const https = (port: number) => `https://127.0.0.1:${port}`;
  const obstacles: [name: string, toUrl: (port: number) => string, act?: (s: Socket) => unknown][] =
    [
      ['refused', () => http(9)],
      ['an unknown host', () => 'http://no-such-host.invalid'],
      ['accepted and reset', http, (socket) => socket.resetAndDestroy()],
      ['accepted and never read', http],
      ['TLS where plain HTTP is spoken', https, (socket) => socket.end('HTTP/1.1 400 \r\n\r\n')],
      ['TLS with a handshake that never answers', https],
    ];
  it.each(select(obstacles, 2))('%s', async (_, toUrl, act) => {
    await using resources = new AsyncDisposableStack();
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      resources.defer(() => void socket.on('error', () => undefined).destroy());
      act?.(socket);
    });
    const environment = table.environment(toUrl(await listen(server, 0)));
    resources.defer(() => void server.close());
    await using scene = await openScene({ environment });
    for (const method of METHODS) expect(await scene.ask(method)).toBe(500);
    expect(await scene.readIds()).toEqual([]);
  });

  it('an impostor: nothing is sent to a server with an untrusted certificate', async () => {
    let received = 0;
    const names = [{ name: 'commonName', value: 'localhost' }];
    const { cert, private: key } = await generate(names, { algorithm: 'sha256' });
    await using server = createHttpsServer({ cert, key }, (_, response) => {
      received++;
      response.end('{}');
    });
    const environment = table.environment(`https://localhost:${await listen(server, 0)}`);
    const post = async (more: object) => {
      await using scene = await openScene({ environment: { ...environment, ...more } });
      expect(await scene.ask('POST')).toBe(500);
    };
    await post({});
    expect(received).toBe(0);
    // Without verification, requests arrive.
    await post({ NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect(received).toBeGreaterThan(0);
  });
});

it.concurrent.each([2_000, 0])(
  'with %i ms of an invocation left at its start, the contract’s 500 comes without a retry',
  async (remaining) => {
    await using scene = await openScene();
    for (const method of METHODS) {
      expect(await scene.ask(method, { plan: always(hang), remaining })).toBe(500);
      expect(scene.proxy.attempts).toBeLessThanOrEqual(1);
    }
    await scene.expectRecovery();
  },
);

describe.concurrent('a list of several pages is whole or a 500', () => {
  const THROTTLED = refuse(400, 'ThrottlingException');
  it.each<[string, number, Plan]>([
    ['page two throttled once', 200, (n) => [undefined, THROTTLED][n]],
    ['page two without items', 500, (n) => (n === 0 ? undefined : answer(200, '{}'))],
    ['every page slow: one budget for all', 500, always(delay(4_500))],
  ])('%s', async (_, status, plan) => {
    await using scene = await openScene({ pageSize: 2 });
    for (let count = 0; count < 7; count++) await scene.ask('POST');
    expect(await scene.ask('GET')).toBe(200);
    expect(scene.proxy.attempts).toBe(4);
    expect(await scene.ask('GET', { plan })).toBe(status);
    await scene.expectRecovery();
  });
});

describe.concurrent('a sandbox that was frozen while its idle connection went answers as if nothing had been', () => {
  const MOMENT = 300;

  const ways = (['close', 'reset', 'black hole'] as const).flatMap((how) =>
    METHODS.flatMap((method) =>
      (['after', 'before'] as const).map((asked) => [how, method, asked] as const),
    ),
  );
  it.each(select(ways, 3))('%s, then %s asked for %s it has thawed', async (how, method, asked) => {
    await using scene = await openScene();
    await scene.expectRecovery();
    scene.sandbox.freeze();
    scene.proxy.cut(how);
    await sleep(MOMENT);
    // On Lambda, an event waits when a sandbox thaws.
    const early = asked === 'before' ? scene.ask(method) : undefined;
    await sleep(MOMENT);
    scene.sandbox.thaw();
    if (asked === 'after') await sleep(MOMENT);
    expect(await (early ?? scene.ask(method))).toBe(SUCCESS[method]);
    await scene.expectRecovery();
  });

  it('for longer than the time of an invocation: old timers end nothing new', async () => {
    await using scene = await openScene();
    expect(await scene.ask('POST', { remaining: 3_000 })).toBe(201);
    scene.sandbox.freeze();
    const answered = scene.ask('POST');
    await sleep(3_000);
    scene.sandbox.thaw();
    expect(await answered).toBe(201);
  });
});
