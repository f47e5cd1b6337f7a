/**
 * What the service relies on, as AWS does it (docs/adr/0018). Where an engine is known to be wrong, the test must fail
 * there.
 */
import { randomUUID } from 'node:crypto';
import {
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  type AttributeValue,
  type TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, it } from 'vitest';
import { PARTITION_KEY_LIMIT } from '../../src/limits.ts';
import { describeOnEngines } from '../helpers/engines.ts';
import { createOwnTable, type OwnTable } from '../helpers/own-table.ts';

const makeRow = (sk: string, more?: Record<string, AttributeValue>) => ({
  pk: { S: 'p' },
  sk: { S: sk },
  ...more,
});

describeOnEngines('an engine', (endpoint, engine) => {
  let table: OwnTable;
  beforeAll(async () => {
    table = await createOwnTable(endpoint);
  });
  const wrongOn = (...engines: string[]) => ({ fails: engines.includes(engine) });
  const put = (Item: Record<string, AttributeValue>) =>
    table.client.send(new PutItemCommand({ TableName: table.name, Item }));
  const query = (pk: string, more: object) =>
    table.client.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: pk } },
        ReturnConsumedCapacity: 'TOTAL',
        ...more,
      }),
    );
  const write = (TransactItems: TransactWriteItem[], ClientRequestToken: string = randomUUID()) =>
    table.client.send(new TransactWriteItemsCommand({ TransactItems, ClientRequestToken }));
  const putNew = (sk: string): TransactWriteItem => ({
    Put: {
      TableName: table.name,
      Item: makeRow(sk),
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  });

  it('accepts a transaction again under its token, and no other', wrongOn('dynalite'), async () => {
    const token = randomUUID();
    await write([putNew('a')], token);
    await expect(write([putNew('a')], token)).resolves.toBeDefined();
    await expect(write([putNew('b')], token)).rejects.toMatchObject({
      name: 'IdempotentParameterMismatchException',
    });
  });

  it(
    'gives a reason for each write, with the row, and stores nothing',
    wrongOn('dynalite'),
    async () => {
      await write([putNew('c')]);
      await expect(write([putNew('d'), putNew('c')])).rejects.toMatchObject({
        CancellationReasons: [
          { Code: 'None' },
          { Code: 'ConditionalCheckFailed', Item: makeRow('c') },
        ],
      });
      const { Items } = await query('p', { ConsistentRead: true });
      expect(Items).not.toContainEqual(makeRow('d'));
    },
  );

  it('counts the bytes of a key, not its characters', wrongOn('dynalite'), async () => {
    const longest = 'é'.repeat(PARTITION_KEY_LIMIT / 2);
    await put({ ...makeRow('a'), pk: { S: longest } });
    await expect(put({ ...makeRow('a'), pk: { S: `${longest}é` } })).rejects.toThrow(/bytes/);
  });

  it('refuses an empty key of the index', wrongOn('dynalite'), () =>
    expect(put(makeRow('e', { inbox: { S: '' }, id: { S: '1' } }))).rejects.toThrow(/index key/),
  );

  it('charges for a query that finds nothing', wrongOn('dynalite', 'dynamodb-local'), async () => {
    const units = async (ConsistentRead: boolean) =>
      (await query('nobody', { ConsistentRead })).ConsumedCapacity?.CapacityUnits;
    expect([await units(false), await units(true)]).toEqual([0.5, 1]);
  });

  it('has an entry in the index right after the write, which AWS need not have', async () => {
    await put(makeRow('f', { inbox: { S: 'open-f' }, id: { S: '1' } }));
    const { Count } = await query('', {
      IndexName: 'by-state',
      KeyConditionExpression: 'inbox = :inbox',
      ExpressionAttributeValues: { ':inbox': { S: 'open-f' } },
    });
    expect(Count).toBe(1);
  });

  it('refuses no transaction for a conflict, which AWS does', wrongOn('dynalite'), async () => {
    const add = () =>
      write([
        {
          Update: {
            TableName: table.name,
            Key: makeRow('count'),
            UpdateExpression: 'ADD inquiries :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        },
      ]);
    await expect(Promise.all(Array.from({ length: 20 }, add))).resolves.toHaveLength(20);
  });
});
