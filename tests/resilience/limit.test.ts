/**
 * INQUIRIES_PER_HOUR limits one person, not others, however many requests come at once;
 * tests/resilience/exactly-once.test.ts adds faults.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, type TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeKeyedPost } from '../helpers/events.ts';
import { readPartition, type OwnTable } from '../helpers/own-table.ts';
import { isHard, select } from '../helpers/selection.ts';

const TIME = Date.UTC(2030, 0, 1, 12, 30);
const countAll = (statuses: number[]): number[] =>
  [201, 429, 500].map((status) => statuses.filter((one) => one === status).length);
const repeat = async <Result>(count: number, run: () => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, run));

/** Milliseconds of a transaction on AWS. */
const TRANSACTION = 10;

/**
 * As on AWS, a transaction is refused while another has the counter, but not by one whose condition failed. DynamoDB
 * Local runs one after the other.
 */
function createConflictingClient() {
  const client = new DynamoDBClient();
  const state = { stored: 0, requests: 0, isHeld: false };
  const cancel = (Code: string): Error =>
    Object.assign(new Error(Code), { CancellationReasons: [{ Code }, { Code: 'None' }] });
  client.send = async ({ input }: TransactWriteItemsCommand) => {
    state.requests++;
    // The count, which may be stale.
    if (input.TransactItems === undefined) return { $metadata: { attempts: 1 }, Items: [] };
    const [{ Update } = {}] = input.TransactItems;
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
  beforeAll(async () => {
    table = await createOwnStore(engine);
  });

  /** A person and execution environments, each with its own ids and connections. */
  const createPerson = (inquiriesPerHour: number) => {
    const owner = { sub: randomUUID(), email: 'ana@example.com' };
    const createInstance = (client = createDynamoDbClient()) => {
      const store = createInquiryStore(client, table.name, { now: () => TIME });
      const inquiries = createInquiries(store, { inquiriesPerHour, now: () => TIME });
      const app = createApp({ inquiries, corsOrigin: '*' });
      return async (key?: string): Promise<number> =>
        (await app(makeKeyedPost(key, { subject: 's', body: 'b' }, owner))).statusCode;
    };
    return { owner, createInstance };
  };

  const requests = isHard ? 500 : 100;
  it.each(select([1, 5, 10, 50], 3))(
    'holds at %i requests at a time, and others are served',
    async (concurrency) => {
      const [eve, other] = [createPerson(10), createPerson(10)];
      const flood = repeat(concurrency, async () => {
        const post = eve.createInstance();
        return Array.fromAsync({ length: requests / concurrency }, async () => post());
      });
      const others = repeat(10, other.createInstance());
      const statuses = (await flood).flat();
      const rows = await readPartition(table, eve.owner);
      expect(rows.filter(({ id }) => id !== undefined)).toHaveLength(10);
      expect(countAll(statuses)).toEqual([10, statuses.length - 10, 0]);
      expect(countAll(await others)).toEqual([10, 0, 0]);
    },
  );

  it('has a place for a new inquiry beside forty replays', async () => {
    const post = createPerson(10).createInstance();
    expect(await post('k')).toBe(201);
    const replays = repeat(40, () => post('k'));
    expect(await post('new')).toBe(201);
    expect(countAll(await replays)[1]).toBe(0);
  });

  it.each([10, 600])(
    'holds for 200 requests at once that conflict as on AWS, with a limit of %i',
    async (limit) => {
      const { client, state } = createConflictingClient();
      const post = createPerson(limit).createInstance(client);
      const [stored = 0, refused, failed] = countAll(await repeat(200, () => post()));
      process.stdout.write(
        `200 at once, limit ${limit}: ${stored} × 201, ${refused} × 429 with ${state.requests} requests\n`,
      );
      expect([stored, failed]).toEqual([state.stored, 0]);
      expect(stored).toBeLessThanOrEqual(limit);
      if (limit === 10) expect([stored, refused]).toEqual([10, 190]);
    },
  );
});
