import { DescribeTableCommand, DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { startEngine } from '../../local/database/engines.ts';
import { createClient, createTable, openTable } from '../../local/database/table.ts';
import { writeInquiries } from '../helpers/inquiries.ts';
import { describeOnEngines } from '../helpers/engines.ts';
import { createOwnTable } from '../helpers/own-table.ts';

describeOnEngines('the table of the local stack', (url, name) => {
  it('has index, stream and TTL where the engine has them, and is opened again as it is', async () => {
    const TableName = `inquiries-${crypto.randomUUID()}`;
    const arn = await openTable({ name, url }, TableName);
    expect(await openTable({ name, url }, TableName)).toBe(arn);
    const client = createClient(url);
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    expect(Table?.LatestStreamArn).toBe(arn);
    expect(Table?.GlobalSecondaryIndexes).toHaveLength(1);
    const hasStreams = name === 'dynamodb-local';
    const { TimeToLiveDescription: ttl } = hasStreams
      ? await client.send(new DescribeTimeToLiveCommand({ TableName }))
      : {};
    const has = [arn !== undefined, Table?.StreamSpecification?.StreamViewType, ttl?.AttributeName];
    const none = [false, undefined, undefined];
    expect(has).toEqual(hasStreams ? [true, 'NEW_AND_OLD_IMAGES', 'expires_at'] : none);
  });

  it.skipIf(name === 'dynalite')(
    'of an earlier version gets the index and its inquiries into it',
    async () => {
      // Of its own: DynamoDB Local changes indexes in the background, where other tests hold them up.
      const engine = await startEngine('dynamodb-local');
      onTestFinished(() => engine.close());
      const own = await createOwnTable(engine.url, (endpoint, table) =>
        createTable(endpoint, table, {
          AttributeDefinitions: ['pk', 'sk', '__edb_e__'].map((AttributeName) => {
            return { AttributeName, AttributeType: 'S' };
          }),
          GlobalSecondaryIndexes: [
            {
              IndexName: 'by-time',
              KeySchema: [{ AttributeName: '__edb_e__', KeyType: 'HASH' }],
              Projection: { ProjectionType: 'ALL' },
            },
          ],
          StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
        }),
      );
      onTestFinished(() => own.close());
      const rows = await writeInquiries(own, 90);
      const arn = await openTable(engine, own.name);
      expect(await openTable(engine, own.name)).toBe(arn);
      const { Table } = await own.client.send(new DescribeTableCommand({ TableName: own.name }));
      expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName)).toEqual([
        'by-state',
      ]);
      const pages = await Array.fromAsync(createInbox(own.client, own.name).listInFull());
      expect(pages.flat()).toEqual(rows);
    },
  );
});
