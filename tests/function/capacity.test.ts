/** What requests cost, as docs/operations.md says. dynalite does not report it. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, it } from 'vitest';
import { measurePost } from '../../bench/capacity-model.ts';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeCall } from '../helpers/events.ts';
import { writeInquiries } from '../helpers/inquiries.ts';
import { createOwnTable, type OwnTable } from '../helpers/own-table.ts';

interface Consumed {
  CapacityUnits: number;
}

/** What the requests of a client consume from now on. */
function count({ middlewareStack }: Pick<DynamoDBClient, 'middlewareStack'>): Consumed[] {
  const consumed: Consumed[] = [];
  middlewareStack.add(
    (next) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'INDEXES' });
      const result = await next(args);
      const { ConsumedCapacity } = result.output as { ConsumedCapacity: Consumed | Consumed[] };
      consumed.push(...[ConsumedCapacity].flat());
      return result;
    },
    { step: 'initialize', name: 'count', override: true },
  );
  return consumed;
}

describeOnDynamoDbLocal('capacity units', (engine) => {
  let own: OwnTable;
  beforeAll(async () => {
    own = await createOwnTable(engine);
    Object.assign(process.env, own.environment());
  });

  it.each<[string, number, string | undefined, number | undefined]>([
    ['POST', 2, undefined, undefined],
    ['POST with a new key', 6, 'key', undefined],
    ['POST with the limit', 6, undefined, 5],
    // AWS takes 2 for the count here, too: 8.
    ['POST with the limit and a new key', 6, 'key-2', 5],
  ])(
    'of a %s: one request and %i units, which a transaction doubles',
    async (_, units, key, most) => {
      const client = createDynamoDbClient();
      const consumed = count(client);
      const store = createInquiryStore(client, own.name);
      const inquiries = createInquiries(store, { inquiriesPerHour: most });
      const call = makeCall();
      const owner = { sub: crypto.randomUUID(), email: 'ana@example.com' };
      await inquiries.create(owner, { subject: 's', body: 'b' }, call, { key });
      expect(call.attempts).toBe(1);
      expect(consumed).toMatchObject([{ CapacityUnits: units }]);
      const { plain, transaction } = measurePost(1, 2);
      const { table, index } = key === undefined && most === undefined ? plain : transaction;
      // The count of a limit takes as many units as a key.
      expect(table + index).toBe(units);
    },
  );

  it.each([
    ['an answer', 'Yes.', 1],
    ['a long answer', 'x'.repeat(390_000), 382],
  ])('of %s: the index takes two, to delete an entry and to make one', async (_, reply, units) => {
    const rows = await writeInquiries(own, 1, () => false);
    const consumed = count(own.client);
    const inbox = createStoredInquiries(own);
    for (const row of rows) await inbox.answer(row, { respondent: 'R', reply });
    expect(consumed.at(-1)).toMatchObject({
      Table: { CapacityUnits: units },
      GlobalSecondaryIndexes: { 'by-state': { CapacityUnits: 2 } },
    });
  });

  it('of the one unanswered inquiry among 2,000: at most half a unit for each of 16 queries', async () => {
    const crowded = await createOwnTable(engine);
    const rows = await writeInquiries(crowded, 2_000, (at) => at !== 7);
    const consumed = count(crowded.client);
    const inbox = createStoredInquiries(crowded);
    const listed = await Array.fromAsync(inbox.list({ isAnswered: false }));
    expect(listed.flat()).toMatchObject([{ id: rows.at(-8)?.id }]);
    expect(consumed).toHaveLength(16);
    // AWS takes half a unit for a query that finds nothing, too.
    expect(Math.max(...consumed.map(({ CapacityUnits }) => CapacityUnits))).toBe(0.5);
  });
});
