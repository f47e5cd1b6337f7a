/** Under every fault of the database: one answer of the contract in time, nothing twice or in part. */
import { randomUUID } from 'node:crypto';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { generate } from 'selfsigned';
import { beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../lib/loopback-server.ts';
import type { Inquiry } from '../../src/contract.ts';
import { makeEvent, makePost } from '../helpers/events.ts';
import {
  always,
  answer,
  first,
  hang,
  never,
  refuse,
  RESET,
  startFaultProxy,
  type Fault,
  type Plan,
} from '../helpers/fault-proxy.ts';
import { createOwnTable, readPartition, type OwnTable } from '../helpers/own-table.ts';
import { BUILT, startSandbox, type Answer } from '../helpers/sandbox.ts';
import { isHard, select } from '../helpers/selection.ts';
import {
  breakOff,
  delay,
  drip,
  hangAfter,
  LATER,
  PLANS,
  sometimes,
  TRUNCATED,
} from './database-faults.ts';

const METHODS = ['POST', 'GET'] as const;
type Method = (typeof METHODS)[number];
const SUCCESS = { POST: 201, GET: 200 };

let table: OwnTable;
beforeAll(async () => {
  table = await createOwnTable();
});

type Scene = Awaited<ReturnType<typeof openScene>>;

async function openScene({
  pageSize,
  module = BUILT,
  environment = {},
}: { pageSize?: number; module?: string; environment?: object } = {}) {
  const proxy = await startFaultProxy(table.engine, pageSize);
  const sandbox = await startSandbox(
    { ...table.environment(proxy.url), ...environment },
    { module },
  );
  const claims = { sub: randomUUID(), email: 'ana@example.com' };
  return {
    proxy,
    sandbox,
    ask: async (method: Method, remaining?: number, body = 'b') =>
      sandbox.invoke(
        method === 'GET'
          ? makeEvent({ claims })
          : makePost({ subject: randomUUID(), body }, claims),
        remaining,
      ),
    stored: async (): Promise<string[]> =>
      (await readPartition(table, claims)).map(({ id }) => String(id)).toReversed(),
    async [Symbol.asyncDispose](): Promise<void> {
      await sandbox.close();
      await proxy.close();
      expect(sandbox.lines.join('\n')).not.toMatch(/ana@example\.com|secret/);
    },
  };
}

function expectFault(got: Answer): void {
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
}

/** In time; a POST stores zero or one, one if it says so; a list is whole. @returns The status. */
async function expectKept({ stored }: Scene, run: () => Promise<Answer>): Promise<number> {
  const before = await stored();
  const got = await run();
  const after = await stored();
  const { inquiry, inquiries = [] } = got.json as { inquiry?: Inquiry; inquiries?: Inquiry[] };
  if (got.status >= 400) {
    expectFault(got);
    expect([after, after.slice(1)]).toContainEqual(before);
  } else {
    expect(after).toEqual(inquiry ? [inquiry.id, ...before] : inquiries.map(({ id }) => id));
  }
  return got.status;
}

const askUnder = async (scene: Scene, plan: Plan, method: Method, body?: string): Promise<number> =>
  expectKept(scene, async () => {
    scene.proxy.plan = plan;
    const got = await scene.ask(method, undefined, body);
    scene.proxy.plan = never;
    return got;
  });

/** The next requests work, and show what is stored. */
async function expectRecovery(scene: Scene): Promise<void> {
  for (const method of METHODS) expect(await askUnder(scene, never, method)).toBe(SUCCESS[method]);
}

const slow: (typeof PLANS)[number] = ['an answer after 2 s', first(1, delay(2_000)), true];
describe.concurrent('under a fault: in time, nothing twice, nothing in part, and the next request works', () => {
  it.each(select([...PLANS, slow], 3))('%s', async (_, plan, works) => {
    await using scene = await openScene();
    for (const method of METHODS) {
      // Large enough for a cut within it.
      const status = await askUnder(scene, plan, method, 'x'.repeat(300_000));
      expect(status).toBe(works ? SUCCESS[method] : 500);
      await expectRecovery(scene);
    }
  });
});

/** Reports its heap after a collection, for an event that asks. */
const MODULE = `data:text/javascript,
  import { handler as built } from ${JSON.stringify(BUILT)};
  const heap = () => (gc(), { body: String(process.memoryUsage().heapUsed) });
  export const handler = (event, context) => (event.heap ? heap() : built(event, context));`;

it.concurrent('nothing is leaked by requests that meet any of the faults', async () => {
  await using scene = await openScene({ module: MODULE });
  const work = async (count: number): Promise<number> => {
    scene.proxy.plan = sometimes;
    for (let done = 0; done < count; done++) {
      await scene.ask(done % 8 === 0 ? 'GET' : 'POST');
    }
    return Number((await scene.sandbox.invoke({ heap: true })).text);
  };
  const heap = await work(isHard ? 500 : 50);
  expect((await work(isHard ? 2_000 : 100)) - heap).toBeLessThan(8 * 1024 * 1024);
  expect(heap).toBeGreaterThan(0);
  await scene.proxy.settled();
  await expectRecovery(scene);
  // An unhandled rejection would have ended the process; it wrote no warning either.
  expect(scene.sandbox.lines.filter((line) => !line.startsWith('{'))).toEqual([]);
});

describe.concurrent('without a connection: the contract’s 500 in time', () => {
  const http = (port: number) => `http://127.0.0.1:${port}`;
  const https = (port: number) => `https://127.0.0.1:${port}`;
  const obstacles: [name: string, toUrl: (port: number) => string, act?: (s: Socket) => unknown][] =
    [
      ['refused', () => http(9)],
      ['an unknown host', () => 'http://no-such-host.invalid'],
      ['accepted and closed', http, (socket) => socket.end()],
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
    for (const method of METHODS) expectFault(await scene.ask(method));
    expect(await scene.stored()).toEqual([]);
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
      return await scene.ask('POST');
    };
    // With its name trusted, the certificate is good.
    await post({ NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    const trusted = received;
    expect(trusted).toBeGreaterThan(0);
    expectFault(await post({}));
    expect(received).toBe(trusted);
  });
});

describe.concurrent('with 2 s of remaining time at entry the answer still comes in time', () => {
  it.each<[string, Fault]>([
    ['no answer', hang],
    ['no answer after the write', hangAfter],
    ['a stalled body', breakOff('stall', 1)],
    ['a dripping body', drip],
    ['back-off asked for, which ends too', LATER],
    ['throttled for ever', refuse(400, 'ThrottlingException')],
  ])('%s', async (_, fault) => {
    await using scene = await openScene();
    scene.proxy.plan = always(fault);
    for (const method of METHODS) {
      for (const remaining of [2_000, 1_000, 0, -1]) {
        expectFault(await scene.ask(method, remaining));
      }
    }
    await expectRecovery(scene);
  });
});

describe.concurrent('a list of several pages is whole or a 500', () => {
  const from =
    (page: number, fault: Fault): Plan =>
    (attempt) =>
      attempt >= page - 1 ? fault : undefined;
  const FAILURE = refuse(500, 'InternalServerError');

  it.each<[string, Plan, number?]>([
    ['page two throttled once', (n) => [undefined, refuse(400, 'ThrottlingException')][n], 200],
    ['page two denied', from(2, refuse(400, 'AccessDeniedException'))],
    ['page two without an answer', from(2, hang)],
    ['page two with an empty body', from(2, answer(200, ''))],
    ['page two without items', from(2, answer(200, '{}'))],
    ['page two truncated', from(2, TRUNCATED)],
    ['page two reset', from(2, RESET)],
    ['page two stalled', from(2, breakOff('stall', 1_000))],
    ['page two cut', from(2, breakOff('cut', 1_000))],
    ['page three failing', from(3, FAILURE)],
    ['every page failing once', (n) => [FAILURE][n % 2], 200],
    ['every page reset once', (n) => [RESET][n % 2], 200],
    ['every page slow: one budget for all', always(delay(4_500))],
  ])('%s', async (_, plan, status = 500) => {
    await using scene = await openScene({ pageSize: 2 });
    for (let count = 0; count < 7; count++) await scene.ask('POST');
    scene.proxy.plan = never;
    expect((await scene.ask('GET')).status).toBe(200);
    expect(scene.proxy.attempts).toBe(4);
    expect(await askUnder(scene, plan, 'GET')).toBe(status);
    await expectRecovery(scene);
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
    await expectRecovery(scene);
    scene.sandbox.freeze();
    scene.proxy.cut(how);
    await sleep(MOMENT);
    const status = await expectKept(scene, async () => {
      // Lambda thaws a sandbox with the next event waiting.
      const early = asked === 'before' ? scene.ask(method) : undefined;
      await sleep(MOMENT);
      scene.sandbox.thaw();
      if (asked === 'after') await sleep(MOMENT);
      return early ?? scene.ask(method);
    });
    expect(status).toBe(SUCCESS[method]);
    await expectRecovery(scene);
  });

  it.each([
    ['for longer than the time of an invocation: old timers end nothing new', 0, 8_000],
    ['in the middle of a request, thawed after its time: an answer of the contract', 200, 4_000],
  ])('%s, and the next one works', async (_, begun, time) => {
    await using scene = await openScene();
    expect((await scene.ask('POST', time)).status).toBe(201);
    const status = await expectKept(scene, async () => {
      scene.proxy.plan = always(delay(begun * 2.5));
      const early = begun > 0 ? scene.ask('POST', 3_000) : undefined;
      await sleep(begun);
      scene.sandbox.freeze();
      await sleep(time);
      const running = early ?? scene.ask('POST');
      scene.sandbox.thaw();
      return running;
    });
    if (begun === 0) expect(status).toBe(201);
    await expectRecovery(scene);
  });
});
