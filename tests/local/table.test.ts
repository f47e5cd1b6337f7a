import { DescribeTableCommand, DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { openTable } from '../../local/database/open-table.ts';
import { createClient } from '../../local/database/table.ts';
import { createEarlierTable, writeInquiries } from '../helpers/earlier-table.ts';
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

  it('gets the index, with all inquiries in it, if it is of an earlier version', async () => {
    const own = await createOwnTable(url, createEarlierTable(name === 'dynamodb-local'));
    onTestFinished(() => own.close());
    const rows = await writeInquiries(own, 90);
    const arn = await openTable({ name, url }, own.name);
    expect(await openTable({ name, url }, own.name)).toBe(arn);
    const { Table } = await own.client.send(new DescribeTableCommand({ TableName: own.name }));
    expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName)).toEqual(['by-state']);
    const inbox = createInbox(own.client, own.name);
    expect((await Array.fromAsync(inbox.listInFull())).flat()).toEqual(rows);
    expect((await Array.fromAsync(inbox.list({ isAnswered: true }))).flat()).toHaveLength(30);
  });
});
