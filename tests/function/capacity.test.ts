/** What the index costs, as docs/operations.md says. dynalite does not report it. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { measurePost } from '../../bench/capacity-model.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { writeInquiries } from '../helpers/inquiries.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY, makeCall } from '../helpers/events.ts';
import { createOwnTable, type OwnTable } from '../helpers/own-table.ts';

interface Consumed {
  readonly TableName: string;
  readonly CapacityUnits: number;
}

/** What the requests of a client consume from now on. */
function count({
  client,
}: {
  readonly client: Pick<DynamoDBClient, 'middlewareStack'>;
}): Consumed[] {
  const consumed: Consumed[] = [];
  client.middlewareStack.add(
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
  });
  afterAll(() => own.close());

  const reply = { respondent: 'ana', reply_at: INQUIRY.created_at };
  it.each<[string, object, number]>([
    ['an inquiry of 1 KB', {}, 1],
    ['a long reply', { ...reply, reply: 'x'.repeat(390_000) }, 382],
  ])('of %s: the index takes one, whatever the table takes', async (_, more, units) => {
    const input = createInquiryEntity(own.name)
      .put({ ...INQUIRY, id: crypto.randomUUID(), ...more })
      .params<{ TableName: string; Item: Record<string, string> }>();
    const consumed = count(own);
    await own.client.send(new PutCommand(input));
    expect(consumed).toMatchObject([
      {
        Table: { CapacityUnits: units },
        GlobalSecondaryIndexes: { 'by-state': { CapacityUnits: 1 } },
      },
    ]);
  });

  it.each([
    ['POST', 1, 2, undefined, undefined],
    ['POST with a new key', 1, 6, 'key', undefined],
    ['POST with the limit', 1, 6, undefined, 5],
    // AWS takes 2 for the count here, too: 8.
    ['POST with the limit and a new key', 1, 6, 'key-2', 5],
  ])(
    'of a %s: %i requests and %i units, which a transaction doubles',
    async (_, requests, units, key, most) => {
      Object.assign(process.env, own.environment());
      const client = createDynamoDbClient({ region: 'local' });
      const consumed = count({ client });
      const inquiries = createInquiries(createInquiryStore(client, own.name), {
        inquiriesPerHour: most,
      });
      const call = makeCall();
      const owner = { sub: crypto.randomUUID(), email: INQUIRY.email };
      await inquiries.create(owner, { subject: 's', body: 'b' }, call, { key });
      expect([
        call.attempts,
        consumed.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0),
      ]).toEqual([requests, units]);
      if (most !== undefined) return;
      const { plain, transaction } = measurePost(1, 2);
      const { table, index } = key === undefined ? plain : transaction;
      expect(table + index).toBe(units);
    },
  );

  it('of an answer: the index takes two, to delete an entry and to make one', async () => {
    const [{ id } = INQUIRY] = await writeInquiries(own, 1, {
      isAnswered: () => false,
    });
    const consumed = count(own);
    await createInbox(own.client, own.name).answer(id, { respondent: 'R', reply: 'Yes.' });
    expect(consumed.at(-1)).toMatchObject({
      Table: { CapacityUnits: 1 },
      GlobalSecondaryIndexes: { 'by-state': { CapacityUnits: 2 } },
    });
  });

  it('of the one unanswered inquiry among 2,000: at most half a unit for each of 16 queries', async () => {
    const crowded = await createOwnTable(engine);
    const rows = await writeInquiries(crowded, 2_000, {
      isAnswered: (at) => at !== 7,
    });
    const consumed = count(crowded);
    const listed = await Array.fromAsync(
      createInbox(crowded.client, crowded.name).list({ isAnswered: false }),
    );
    expect(listed.flat()).toMatchObject([{ id: rows.at(-8)?.id }]);
    expect(consumed).toHaveLength(16);
    // AWS takes half a unit for a query that finds nothing, too.
    expect(Math.max(...consumed.map(({ CapacityUnits }) => CapacityUnits))).toBe(0.5);
    crowded.close();
  });
});
