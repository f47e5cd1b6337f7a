/** The costs in docs/operations.md. dynalite reports none, and DynamoDB Local others than AWS. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, it } from 'vitest';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeCall } from '../helpers/events.ts';
import { writeInquiries } from './test-inquiries.ts';
import { createOwnTable, type OwnTable } from '../helpers/own-table.ts';

interface Reported {
  CapacityUnits: number;
}
type Consumed = Reported & { bytes: number };
const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);
/** This is not within a minute of a full hour. */
const now = (): number => Date.UTC(2030, 0, 1, 12, 30);

function count({ middlewareStack }: Pick<DynamoDBClient, 'middlewareStack'>): Consumed[] {
  const consumed: Consumed[] = [];
  middlewareStack.add(
    (next) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'INDEXES' });
      const result = await next(args);
      const { ConsumedCapacity } = result.output as { ConsumedCapacity: Reported | Reported[] };
      const bytes = Buffer.byteLength(JSON.stringify(args.input));
      consumed.push(...[ConsumedCapacity].flat().map((one) => Object.assign(one, { bytes })));
      return result;
    },
    { step: 'initialize', name: 'count', override: true },
  );
  return consumed;
}

describeOnDynamoDbLocal('capacity units', (engine, name) => {
  /**
   * DynamoDB Local takes nothing for a read that finds nothing, and doubles the index's unit in a transaction. AWS does
   * not.
   */
  const isLocal = name === 'dynamodb-local';
  let own: OwnTable;
  beforeAll(async () => {
    own = await createOwnTable(engine);
    Object.assign(process.env, own.environment());
  });

  const open = (most?: number) => {
    const client = createDynamoDbClient();
    const consumed = count(client);
    const store = createInquiryStore(client, own.name, { now });
    const inquiries = createInquiries(store, { inquiriesPerHour: most, now });
    const owner = { sub: crypto.randomUUID(), email: 'ana@example.com' };
    const post = async (body: string, key?: string) =>
      inquiries.create(owner, { subject: 's', body }, makeCall(), { key });
    return { post, consumed, units: () => consumed.map(({ CapacityUnits }) => CapacityUnits) };
  };

  it.each<[string, string | undefined, number | undefined, number[], number[]]>([
    ['POST', undefined, undefined, [2], [2]],
    ['POST with a new key', 'key', undefined, [5], [6]],
    ['POST with the limit', undefined, 5, [0.5, 5], [0, 6]],
    ['POST with the limit and a new key', 'key-2', 5, [0.5, 7], [0, 6]],
  ])(
    'of a %s, with key %s and limit %s: %j, on DynamoDB Local %j',
    async (_, key, most, ...all) => {
      const { post, units } = open(most);
      await post('b', key);
      expect(units()).toEqual(all[isLocal ? 1 : 0]);
    },
  );

  it.each([1, 16, 390])(
    'of a POST of %i KB beyond the limit: one read unit, and no text is sent',
    async (size) => {
      const { post, consumed, units } = open(1);
      await post('b', 'stored');
      for (const [key, expected] of [
        [undefined, [0.5]],
        ['new', [0.5, isLocal ? 0 : 0.5]],
      ] as const) {
        consumed.length = 0;
        const refused = post('x'.repeat(size * 1_024), key);
        await expect(refused).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
        expect(units()).toEqual(expected);
        expect(sum(consumed.map(({ bytes }) => bytes))).toBeLessThan(1_000);
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
    expect(Math.max(...consumed.map(({ CapacityUnits }) => CapacityUnits))).toBe(0.5);
  });
});
