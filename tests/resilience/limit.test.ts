/**
 * INQUIRIES_PER_HOUR bounds what one person stores, whatever happens to the requests: no more is stored, and nobody gets a
 * 429 while there is a place, or for what is stored. tests/resilience/exactly-once.test.ts has the faults in any order.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, type TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import type { Identity } from '../../src/identity.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeKeyedPost, makePost } from '../helpers/events.ts';
import * as faults from '../helpers/fault-proxy.ts';
import { createOwnTable, type OwnTable } from '../helpers/own-table.ts';
import { createTally, isHard, select } from '../helpers/tally.ts';

const TEXT = { subject: 's', body: 'b' };
const makeOwner = (): Identity => ({ sub: randomUUID(), email: 'ana@example.com' });
const countOf = (statuses: readonly number[], status: number): number =>
  statuses.filter((one) => one === status).length;

/** Milliseconds of a transaction on AWS, about. */
const TRANSACTION = 10;

/**
 * A database in which a transaction is refused while another one has the counter, as on AWS; one whose condition fails
 * holds nothing. DynamoDB Local runs transactions one after the other.
 */
function createConflictingClient() {
  const client = new DynamoDBClient();
  const state = { stored: 0, requests: 0, isHeld: false };
  const cancel = (Code: string): Error =>
    Object.assign(new Error(Code), { CancellationReasons: [{ Code }, { Code: 'None' }] });
  client.send = async ({ input }: TransactWriteItemsCommand) => {
    state.requests++;
    const [{ Update } = {}] = input.TransactItems ?? [];
    const most = Number(Update?.ExpressionAttributeValues?.[':inquiries0']?.N);
    await sleep(TRANSACTION / 2);
    if (state.stored >= most) throw cancel('ConditionalCheckFailed');
    if (state.isHeld) throw cancel('TransactionConflict');
    state.isHeld = true;
    await sleep(TRANSACTION);
    state.isHeld = false;
    state.stored++;
    return { $metadata: { attempts: 1 }, ConsumedCapacity: [] };
  };
  return { client, state };
}

describeOnDynamoDbLocal('a limit of inquiries per person and hour', (engine) => {
  let table: OwnTable;
  let proxy: faults.FaultProxy;
  beforeAll(async () => {
    table = await createOwnTable(engine);
    proxy = await faults.startFaultProxy(engine);
    Object.assign(process.env, table.environment(proxy.url));
  });
  afterAll(async () => {
    await proxy.close();
    table.close();
  });

  const TIME = Date.UTC(2030, 0, 1, 12, 30);
  /** One execution environment: ids and connections of its own. */
  const createInstance = (
    inquiriesPerHour: number,
    client = createDynamoDbClient({ region: 'local' }),
  ) => {
    const store = createInquiryStore(client, table.name, { now: () => TIME });
    const inquiries = createInquiries(store, { inquiriesPerHour, now: () => TIME });
    const app = createApp({ inquiries, corsOrigin: 'https://www.example.com' });
    return async (owner: Identity, key?: string): Promise<number> => {
      const event = key === undefined ? makePost(TEXT, owner) : makeKeyedPost(key, TEXT, owner);
      return (await app(event, { getRemainingTimeInMillis: () => 30_000 })).statusCode;
    };
  };
  const postAll = async (count: number, post: () => Promise<number>): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, post));

  const tally = createTally('9a a flood of one owner: answered 201 or 429');
  const requests = isHard ? 500 : 100;
  it.each(select([1, 5, 10, 50], 3))(
    'holds at %i requests at a time, and others are served',
    async (concurrency) => {
      proxy.plan = faults.never;
      const [owner, other] = [makeOwner(), makeOwner()];
      const statuses: number[] = [];
      const work = async (): Promise<void> => {
        const post = createInstance(10);
        for (let count = 0; count < requests / concurrency; count++) {
          statuses.push(await post(owner));
          tally();
        }
      };
      const others = createInstance(10);
      await Promise.all([
        ...Array.from({ length: concurrency }, work),
        ...Array.from({ length: 10 }, async () => expect(await others(other)).toBe(201)),
      ]);
      expect(await table.rows(owner.sub)).toHaveLength(10);
      expect(countOf(statuses, 201)).toBe(10);
      expect(countOf(statuses, 429)).toBe(statuses.length - 10);
    },
  );

  it('answers no 429 to a second attempt while the first one holds the last place', async () => {
    const hold = faults.createHold();
    const [owner, post] = [makeOwner(), createInstance(1)];
    const { promise: isHeld, resolve } = Promise.withResolvers<void>();
    const holdWrite: faults.Fault = async (exchange) => {
      await hold.fault(exchange);
      resolve();
    };
    proxy.plan = (_, operation) => (operation === 'TransactWriteItems' ? holdWrite : undefined);
    const first = post(owner, 'k');
    await isHeld;
    proxy.plan = faults.never;
    const second = await post(owner, 'k');
    await hold.release();
    await first;
    expect([second, (await table.rows(owner.sub)).length]).toEqual([201, 1]);
  });

  it('loses no place to inquiries that were certainly not stored', async () => {
    const [owner, post] = [makeOwner(), createInstance(5)];
    proxy.plan = (_, operation) =>
      ['TransactWriteItems', 'PutItem'].includes(operation)
        ? faults.refuse(500, 'InternalServerError')
        : undefined;
    expect(countOf(await postAll(5, async () => post(owner)), 500)).toBe(5);
    proxy.plan = faults.never;
    const statuses = await postAll(6, async () => post(owner));
    expect([countOf(statuses, 201), countOf(statuses, 429)]).toEqual([5, 1]);
  });

  it('gains no place by replays whose answers are lost', async () => {
    const [owner, post] = [makeOwner(), createInstance(5)];
    proxy.plan = faults.never;
    expect(await post(owner, 'k')).toBe(201);
    proxy.plan = faults.always(faults.cutConnection('after', 'reset'));
    await postAll(10, async () => post(owner, 'k'));
    await proxy.settled();
    proxy.plan = faults.never;
    await postAll(20, async () => post(owner));
    expect(await table.rows(owner.sub)).toHaveLength(5);
  });

  it('has a place for a new inquiry beside forty replays', async () => {
    const [owner, post] = [makeOwner(), createInstance(10)];
    proxy.plan = faults.never;
    expect(await post(owner, 'k')).toBe(201);
    const replays = postAll(40, async () => post(owner, 'k'));
    expect(await post(owner, 'new')).toBe(201);
    expect(countOf(await replays, 429)).toBe(0);
  });

  it.each([10, 600])(
    'holds for 600 requests at once that conflict as on AWS, with a limit of %i',
    async (limit) => {
      const { client, state } = createConflictingClient();
      const [owner, post] = [makeOwner(), createInstance(limit, client)];
      const started = performance.now();
      const statuses = await postAll(600, async () => post(owner));
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      const [stored, refused, failed] = [201, 429, 500].map((status) => countOf(statuses, status));
      process.stdout.write(
        `600 at once, limit ${limit}: ${stored} × 201, ${refused} × 429, ${failed} × 500 in ${seconds} s, ${state.requests} requests\n`,
      );
      expect(stored).toBe(state.stored);
      expect(stored).toBeLessThanOrEqual(limit);
      expect(failed).toBe(0);
      if (limit === 10) expect([stored, refused]).toEqual([10, 590]);
    },
  );
});
