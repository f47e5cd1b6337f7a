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
/** How many are 201, 429 and 500. */
const countAll = (statuses: readonly number[]): number[] =>
  [201, 429, 500].map((status) => statuses.filter((one) => one === status).length);

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
  type Post = ReturnType<typeof createInstance>;
  const postAll = async (count: number, post: Post, ...of: Parameters<Post>): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, async () => post(...of)));

  const tally = createTally('9a a flood of one owner: answered 201 or 429');
  const requests = isHard ? 500 : 100;
  it.each(select([1, 5, 10, 50], 3))(
    'holds at %i requests at a time, and others are served',
    async (concurrency) => {
      const [owner, other] = [makeOwner(), makeOwner()];
      const flood = Array.from({ length: concurrency }, async () => {
        const post = createInstance(10);
        return Array.fromAsync({ length: requests / concurrency }, async () => post(owner));
      });
      const others = postAll(10, createInstance(10), other);
      const statuses = (await Promise.all(flood)).flat();
      expect(await table.rows(owner.sub)).toHaveLength(10);
      expect(countAll(statuses)).toEqual([10, statuses.length - 10, 0]);
      expect(countAll(await others)).toEqual([10, 0, 0]);
      for (const _ of statuses) tally();
    },
  );

  it('answers no 429 to a second attempt while the first one holds the last place', async () => {
    const hold = faults.createHold();
    const [owner, post] = [makeOwner(), createInstance(1)];
    const isHeld = Promise.withResolvers<void>();
    proxy.plan = faults.always(async (exchange) => {
      await hold.fault(exchange);
      isHeld.resolve();
    });
    const first = post(owner, 'k');
    await isHeld.promise;
    proxy.plan = faults.never;
    const second = await post(owner, 'k');
    await hold.release();
    await first;
    expect([second, (await table.rows(owner.sub)).length]).toEqual([201, 1]);
  });

  it('loses no place to inquiries that were certainly not stored', async () => {
    const [owner, post] = [makeOwner(), createInstance(5)];
    proxy.plan = faults.always(faults.refuse(500, 'InternalServerError'));
    expect(countAll(await postAll(5, post, owner))).toEqual([0, 0, 5]);
    proxy.plan = faults.never;
    expect(countAll(await postAll(6, post, owner))).toEqual([5, 1, 0]);
  });

  it('gains no place by replays whose answers are lost', async () => {
    const [owner, post] = [makeOwner(), createInstance(5)];
    expect(await post(owner, 'k')).toBe(201);
    proxy.plan = faults.always(faults.RESET);
    await postAll(10, post, owner, 'k');
    await proxy.settled();
    proxy.plan = faults.never;
    await postAll(20, post, owner);
    expect(await table.rows(owner.sub)).toHaveLength(5);
  });

  it('has a place for a new inquiry beside forty replays', async () => {
    const [owner, post] = [makeOwner(), createInstance(10)];
    expect(await post(owner, 'k')).toBe(201);
    const replays = postAll(40, post, owner, 'k');
    expect(await post(owner, 'new')).toBe(201);
    expect(countAll(await replays)[1]).toBe(0);
  });

  it.each([10, 600])(
    'holds for 600 requests at once that conflict as on AWS, with a limit of %i',
    async (limit) => {
      const { client, state } = createConflictingClient();
      const statuses = await postAll(600, createInstance(limit, client), makeOwner());
      const [stored = 0, refused, failed] = countAll(statuses);
      process.stdout.write(
        `600 at once, limit ${limit}: ${stored} × 201, ${refused} × 429 with ${state.requests} requests\n`,
      );
      expect([stored, failed]).toEqual([state.stored, 0]);
      expect(stored).toBeLessThanOrEqual(limit);
      if (limit === 10) expect([stored, refused]).toEqual([10, 590]);
    },
  );
});
