/** The costs in docs/operations.md. dynalite does not report them. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, it } from 'vitest';
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

  const open = (most?: number) => {
    const client = createDynamoDbClient();
    const consumed = count(client);
    const inquiries = createInquiries(createInquiryStore(client, own.name), {
      inquiriesPerHour: most,
    });
    const owner = { sub: crypto.randomUUID(), email: 'ana@example.com' };
    const post = async (body: string, key?: string) =>
      inquiries.create(owner, { subject: 's', body }, makeCall(), { key });
    return { post, consumed, units: () => consumed.map(({ CapacityUnits }) => CapacityUnits) };
  };

  it.each<[string, number[], string | undefined, number | undefined]>([
    ['POST', [2], undefined, undefined],
    ['POST with a new key', [6], 'key', undefined],
    // AWS takes 0.5 for a read that finds nothing, and with key and limit 2 for the count, too: 8.
    ['POST with the limit', [0, 6], undefined, 5],
    ['POST with the limit and a new key', [0, 6], 'key-2', 5],
  ])('of a %s: %j, which a transaction doubles', async (_, expected, key, most) => {
    const { post, units } = open(most);
    await post('b', key);
    expect(units()).toEqual(expected);
  });

  it.each([1, 16, 390])(
    'of a POST of %i KB beyond the limit: at most 1.5 read units',
    async (size) => {
      const { post, consumed, units } = open(1);
      await post('b');
      for (const [key, expected] of [
        [undefined, [0.5]],
        // On AWS 1 for the missing key.
        ['new', [0.5, 0]],
      ] as const) {
        consumed.length = 0;
        const refused = post('x'.repeat(size * 1_024), key);
        await expect(refused).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
        expect(units()).toEqual(expected);
      }
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
    // On AWS also half a unit for a query that finds nothing.
    expect(Math.max(...consumed.map(({ CapacityUnits }) => CapacityUnits))).toBe(0.5);
  });
});
