import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createClient, openTable, tableDefinition } from '../../local/database/table.ts';
import { describeOnEngines } from '../helpers/engines.ts';

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

  it('without the index is refused', async () => {
    const { GlobalSecondaryIndexes: _, AttributeDefinitions, ...keys } = tableDefinition;
    const TableName = `inquiries-${crypto.randomUUID()}`;
    const client = createClient(url);
    const definition = { ...keys, AttributeDefinitions: AttributeDefinitions.slice(0, 2) };
    await client.send(new CreateTableCommand({ ...definition, TableName }));
    await expect(openTable({ name, url }, TableName)).rejects.toThrow('start with --reset');
  });
});
