/** What the index of all inquiries costs, as docs/operations.md says. dynalite does not report it. */
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { PutCommandOutput } from '@aws-sdk/lib-dynamodb';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY, makeCall } from '../helpers/events.ts';
import { answerAfter, startFaultProxy } from '../helpers/fault-proxy.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import type { OwnTable } from '../helpers/own-table.ts';

const inquiry = { ...INQUIRY, subject: 'A question about an order', body: 'x'.repeat(400) };

const unitsOf = ({ ConsumedCapacity }: Pick<PutCommandOutput, 'ConsumedCapacity'>) => ({
  table: ConsumedCapacity?.Table?.CapacityUnits,
  index: ConsumedCapacity?.GlobalSecondaryIndexes?.['by-time']?.CapacityUnits,
});

describeOnDynamoDbLocal('write units', (engine) => {
  let own: OwnTable;
  beforeAll(async () => {
    own = await createOwnTable(engine);
  });
  afterAll(() => own.close());

  it.each<[string, object, { table: number; index: number }]>([
    ['1 KB: the index takes one unit more', {}, { table: 1, index: 1 }],
    ['a long body: it is not in the index', { body: 'x'.repeat(390_000) }, { table: 382, index: 1 }],
    ['a long subject: nor is that', { subject: 'x'.repeat(390_000) }, { table: 382, index: 1 }],
  ])('of a new inquiry of %s', async (_, more, units) => {
    const row = { ...inquiry, id: crypto.randomUUID(), ...more };
    const input = createInquiryEntity(own.name)
      .put(row)
      .params<{ TableName: string; Item: Record<string, string> }>();
    const output = await own.client.send(new PutCommand({ ...input, ReturnConsumedCapacity: 'INDEXES' }));
    expect(unitsOf(output)).toEqual(units);
  });

  it('of a new inquiry with a key: one more, not in the index, and a transaction takes twice as many, in one request', async () => {
    const proxy = await startFaultProxy(engine);
    onTestFinished(() => proxy.close());
    Object.assign(process.env, own.environment(proxy.url));
    const store = createInquiryStore(createDynamoDbClient({ region: 'local' }), own.name);
    const requests: { operation: string; units: unknown }[] = [];
    proxy.plan = (_, operation) =>
      answerAfter(({ body }) => {
        const { ConsumedCapacity } = JSON.parse(body.toString()) as { ConsumedCapacity: unknown };
        requests.push({ operation, units: ConsumedCapacity });
        return {};
      });
    const put = async (key?: string) => store.put({ ...inquiry, id: crypto.randomUUID() }, makeCall(), key);
    await put();
    await put('k');
    expect(requests).toMatchObject([
      { operation: 'PutItem', units: { CapacityUnits: 2 } },
      { operation: 'TransactWriteItems', units: [{ CapacityUnits: 2 * 3 }] },
    ]);
  });

  it('of a reply: the index takes one unit more, and the reply is not in it', async () => {
    const entity = createInquiryEntity(own.name);
    const input = entity.put(inquiry).params<{ TableName: string; Item: Record<string, string> }>();
    await own.client.send(new PutCommand(input));
    const keys = entity.get(inquiry).params<{ TableName: string; Key: Record<string, string> }>();
    const output = await own.client.send(
      new UpdateCommand({
        ...keys,
        UpdateExpression: 'SET reply = :reply, respondent = :respondent, reply_at = :reply_at',
        ExpressionAttributeValues: {
          ':reply': 'y'.repeat(5_000),
          ':respondent': 'ana',
          ':reply_at': inquiry.created_at,
        },
        ReturnConsumedCapacity: 'INDEXES',
      }),
    );
    expect(unitsOf(output)).toEqual({ table: 6, index: 1 });
  });
});
