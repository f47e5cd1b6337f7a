/** Many requests with few keys: at once, and while the engine is killed. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startEngine } from '../../local/database/engines.ts';
import { startFunction } from '../../local/lambda/function.ts';
import type { CreateInquiryResponse } from '../../src/contract.ts';
import type { GatewayResponse } from '../../src/http.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeKeyedPost } from '../helpers/events.ts';
import { answerAfter, refuseAsConflict, startFaultProxy } from '../helpers/fault-proxy.ts';
import type { Fault, Plan } from '../helpers/fault-proxy.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import type { Stored } from '../helpers/own-table.ts';
import { BUILT } from '../helpers/sandbox.ts';
import { createTally, isHard } from '../helpers/tally.ts';

/** One invocation is under way in each. */
const SANDBOXES = isHard ? 8 : 4;

/** The built function, its table, and a user; all of them reach the engine through a proxy. */
async function openScene(engine: string) {
  const proxy = await startFaultProxy(engine);
  const table = await createOwnTable(proxy.url);
  const lambda = await startFunction({
    module: BUILT,
    environment: { ...table.environment(), CORS_ORIGIN: 'https://www.example.com' },
    timeout: 60_000,
    concurrency: SANDBOXES,
  });
  onTestFinished(async () => {
    await lambda.close();
    await proxy.close();
    table.close();
  });
  const claims = { sub: randomUUID(), email: 'ana@example.com' };
  return {
    proxy,
    async post(key: string): Promise<GatewayResponse> {
      const event = JSON.stringify(makeKeyedPost(key, { subject: key, body: 'b' }, claims));
      return JSON.parse(await lambda.invoke(event, randomUUID())) as GatewayResponse;
    },
    /** What is stored, read past the service. */
    stored: async () => ({
      inquiries: await table.rows(claims.sub),
      keys: await table.countKeys(claims.sub),
    }),
  };
}

const isReplay = ({ headers }: GatewayResponse): boolean => headers['Idempotency-Replayed'] === 'true';
const idOf = (body: string): string => (JSON.parse(body) as CreateInquiryResponse).inquiry.id;
const subjectsOf = (rows: readonly Stored[]): string[] => rows.map(({ subject }) => subject).toSorted();
const makeKeys = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `key-${String(index).padStart(4, '0')}`);

/**
 * Refuses a transaction while another one with the same item runs, as DynamoDB does. The first one runs until another is
 * refused. A retry, which has the token of what it repeats, is not another one.
 */
function conflictAsDynamoDb(): Plan {
  const running = new Map<string, string>();
  const { promise: isRefused, resolve } = Promise.withResolvers<void>();
  const pass = answerAfter(() => ({}));
  const fault: Fault = async (exchange): Promise<void> => {
    const { TransactItems, ClientRequestToken: token } = JSON.parse(String(await exchange.receive())) as {
      TransactItems: [{ Put: { Item: Record<'pk' | 'sk', { S: string }> } }];
      ClientRequestToken: string;
    };
    const { pk, sk } = TransactItems[0].Put.Item;
    const item = JSON.stringify([pk.S, sk.S]);
    if ((running.get(item) ?? token) !== token) {
      resolve();
      await refuseAsConflict(exchange);
      return;
    }
    running.set(item, token);
    await isRefused;
    try {
      await pass(exchange);
    } finally {
      running.delete(item);
    }
  };
  return (_, operation) => (operation === 'TransactWriteItems' ? fault : undefined);
}

describeOnDynamoDbLocal('with an Idempotency-Key', (endpoint) => {
  const burst = createTally('8k exactly once: requests with one key at once');
  const AT_ONCE = isHard ? 1_000 : 100;
  it(`${AT_ONCE} requests with one key at once store one inquiry; after a retry of the 409s all of them got it`, async () => {
    const { proxy, post, stored } = await openScene(endpoint);
    // Starts all sandboxes: the first transaction is held until a second sandbox sends one, and may take 3 s.
    await Promise.all(Array.from({ length: SANDBOXES }, async () => post('malformed,')));
    proxy.plan = conflictAsDynamoDb();
    const created: GatewayResponse[] = [];
    const statuses = new Set<number>();
    for (let waiting = AT_ONCE; waiting > 0; waiting = AT_ONCE - created.length) {
      const answers = await Promise.all(Array.from({ length: waiting }, async () => post('key')));
      for (const answer of answers) {
        statuses.add(answer.statusCode);
        await burst(async () => expect([201, 409]).toContain(answer.statusCode));
      }
      created.push(...answers.filter(({ statusCode }) => statusCode === 201));
      expect((await stored()).inquiries).toHaveLength(1);
    }
    expect(statuses).toEqual(new Set([201, 409]));
    expect(new Set(created.map(({ body }) => body)).size).toBe(1);
    expect(created.filter((answer) => !isReplay(answer))).toHaveLength(1);
    const { inquiries, keys } = await stored();
    expect(inquiries.map(({ id }) => id)).toEqual([idOf(created[0]?.body ?? '')]);
    expect(keys).toBe(1);
  });

  const killed = createTally('8l exactly once: requests while the engine was killed and restarted');
  const KILLS = isHard ? 5 : 1;
  const KEYS = isHard ? 30 : 10;
  const PER_KEY = isHard ? 10 : 3;
  it(`of ${KEYS} keys each has one inquiry after the engine was killed (${KILLS})`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inquiries-killed-'));
    let engine = await startEngine('dynamodb-local', folder);
    onTestFinished(async () => {
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const { proxy, post, stored } = await openScene(engine.url);

    let restarted: Promise<void> | undefined;
    let kills = 0;
    const restart = async (): Promise<void> => {
      await engine.failed;
      engine = await startEngine('dynamodb-local', folder);
      proxy.engine = engine.url;
      restarted = undefined;
    };
    const kill = (): void => {
      process.kill(engine.pid ?? 0, 'SIGKILL');
      kills++;
      restarted = restart();
    };
    const ways: Fault[] = [
      async ({ forward, socket }) => {
        await forward();
        kill();
        socket.destroy();
      },
      async ({ receive, forward }) => {
        await receive();
        const reply = forward();
        await sleep(Math.random() * 5);
        kill();
        await reply;
      },
      async ({ socket }) => {
        kill();
        socket.destroy();
      },
    ];
    const keys = makeKeys(KEYS);
    const queue = Array.from({ length: PER_KEY }, () => keys).flat();
    const bodies = new Map(keys.map((key) => [key, new Set<string>()]));
    // The first kill is early enough that it meets keys that are new.
    const every = Math.floor(queue.length / (KILLS + 1) / 2);
    let writes = 0;
    proxy.plan = (_, operation) => {
      if (operation !== 'TransactWriteItems' || restarted !== undefined || kills === KILLS) return undefined;
      return ++writes % every === 0 ? ways[kills % ways.length] : undefined;
    };
    const send = async (key: string): Promise<number> => {
      const { statusCode, body } = await post(key);
      await killed(async () => expect([201, 500]).toContain(statusCode));
      if (statusCode === 201) bodies.get(key)?.add(body);
      return statusCode;
    };
    const work = async (): Promise<void> => {
      for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
        if ((await send(key)) === 500) await restarted;
      }
    };
    await Promise.all(Array.from({ length: SANDBOXES }, work));
    expect(kills).toBe(KILLS);

    await restarted;
    await proxy.settled();
    const { inquiries } = await stored();
    expect(new Set(subjectsOf(inquiries)).size).toBe(inquiries.length);
    const acknowledged = keys.filter((key) => bodies.get(key)?.size !== 0);
    expect(subjectsOf(inquiries)).toEqual(expect.arrayContaining(acknowledged));
    for (const key of keys) expect(await send(key)).toBe(201);
    const all = await stored();
    expect(subjectsOf(all.inquiries)).toEqual(keys);
    expect(all.keys).toBe(keys.length);
    for (const { id, subject } of all.inquiries) {
      expect([...(bodies.get(subject) ?? [])].map(idOf)).toEqual([id]);
    }
  });
});
