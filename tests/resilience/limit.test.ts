/** INQUIRIES_PER_HOUR limits one person and no others, however many requests come at once. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, makePost } from '../helpers/events.ts';
import { readPartition, type OwnTable } from '../helpers/own-table.ts';
import { isHard, select } from './selection.ts';

const TIME = Date.UTC(2030, 0, 1, 12, 30);
const LIMIT = 10;
/** Milliseconds, as on AWS. */
const TRANSACTION = 10;

/**
 * As on AWS, a transaction is refused while another one holds the counter, except if that one's condition failed.
 * DynamoDB Local runs transactions one after the other.
 */
function createConflictingClient(): DynamoDBClient {
  const client = new DynamoDBClient();
  let [stored, isHeld] = [0, false];
  const cancel = (Code: string): Error =>
    Object.assign(new Error(Code), { CancellationReasons: [{ Code }, { Code: 'None' }] });
  client.send = async ({ input }: { input: object }) => {
    // A read of the count may be stale.
    if (!('TransactItems' in input)) return { Items: [] };
    await sleep(TRANSACTION / 2);
    if (stored >= LIMIT) throw cancel('ConditionalCheckFailed');
    if (isHeld) throw cancel('TransactionConflict');
    isHeld = true;
    await sleep(TRANSACTION);
    isHeld = false;
    stored++;
    return { ConsumedCapacity: [] };
  };
  return client;
}

describeOnDynamoDbLocal('a limit of inquiries per person and hour', (engine) => {
  let table: OwnTable;
  beforeAll(async () => {
    table = await createOwnStore(engine);
  });

  /** Acts as an execution environment, with its own ids and connections. */
  const createInstance = (client = createDynamoDbClient()) => {
    const now = () => TIME;
    const store = createInquiryStore(client, table.name, { now });
    const inquiries = createInquiries(store, { inquiriesPerHour: LIMIT, now });
    const app = createApp({ inquiries, corsOrigin: '*' });
    return async (sub: string, email = EMAIL): Promise<number> =>
      (await app(makePost({ subject: 's', body: 'b' }, { sub, email }))).statusCode;
  };
  const expectFull = (statuses: number[]): void => {
    const refused = Array<number>(statuses.length - LIMIT).fill(429);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([
      ...Array<number>(LIMIT).fill(201),
      ...refused,
    ]);
  };

  const requests = isHard ? 500 : 100;
  it.each(select([1, 5, 10, 50], 3))(
    'holds at %i requests at a time, whatever the email, and others are served',
    async (concurrency) => {
      const [eve, other] = [randomUUID(), randomUUID()];
      const emails = [EMAIL, 'eve@example.com'];
      const flood = Array.from({ length: concurrency }, async () => {
        const post = createInstance();
        return Array.fromAsync({ length: requests / concurrency }, (_, at) =>
          post(eve, emails[at % 2]),
        );
      });
      const post = createInstance();
      const others = Array.from({ length: LIMIT }, () => post(other));
      expectFull((await Promise.all(flood)).flat());
      expectFull(await Promise.all(others));
      const rows = emails.map((email) => readPartition(table, { sub: eve, email }));
      expect((await Promise.all(rows)).flat()).toHaveLength(LIMIT);
    },
  );

  it('holds for 200 requests at once that conflict as on AWS, and is used up', async () => {
    const post = createInstance(createConflictingClient());
    expectFull(await Promise.all(Array.from({ length: 200 }, () => post(randomUUID()))));
  });
});
