import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createClient, openTable } from '../../local/database/table.ts';
import { describeOnEngines } from '../helpers/engines.ts';

describeOnEngines('the table of the local stack', (url, name) => {
  it('has the index, and a stream where the engine has them; it is opened again as it is', async () => {
    const TableName = `inquiries-${crypto.randomUUID()}`;
    const arn = await openTable({ name, url }, TableName);
    expect(await openTable({ name, url }, TableName)).toBe(arn);
    const { Table } = await createClient(url).send(new DescribeTableCommand({ TableName }));
    expect(Table?.GlobalSecondaryIndexes).toHaveLength(1);
    const images = name === 'dynalite' ? undefined : 'NEW_AND_OLD_IMAGES';
    expect(Table?.StreamSpecification?.StreamViewType).toBe(images);
  });
});
