import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  PutItemCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { TableDescription } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { engineNames, startEngine } from '../../local/database/engines.ts';
import type { Engine } from '../../local/database/engines.ts';
import { openTable, tableDefinition } from '../../local/database/table.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';

const OWNER = '1daae433-47cc-48ff-bf9b-73f530b9d7bc';

// An engine of its own, as the stack has one: DynamoDB Local does not always complete an index while another test
// creates a table.
describe.each(engineNames)('the table of the local stack on %s', (name) => {
  const isMissing = inject('engines')[name] === undefined;
  let engine: Engine;
  let url: string;
  let client: DynamoDBClient;
  beforeAll(async () => {
    if (isMissing) return;
    engine = await startEngine(name);
    ({ url } = engine);
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    client = new DynamoDBClient({ endpoint: url, region: 'local', credentials });
  });
  afterAll(async () => {
    if (!isMissing) await engine.close();
  });
  const describeTable = async (TableName: string): Promise<TableDescription | undefined> =>
    (await client.send(new DescribeTableCommand({ TableName }))).Table;
  const ids = async (table: string): Promise<string[]> => {
    const pages = await Array.fromAsync(createInbox(DynamoDBDocumentClient.from(client), table).list());
    return pages.flat().map(({ id }) => id);
  };

  /** Fills a table and returns its ids, newest first. */
  async function fill(table: string, count: number): Promise<string[]> {
    const written = Array.from({ length: count }, (_, index) => String(index).padStart(4, '0'));
    for (const id of written) {
      const inquiry = {
        id,
        cognito_sub: OWNER,
        email: 'a@b.c',
        subject: 's',
        body: 'b',
      };
      const { Item } = createInquiryEntity(table)
        .put({ ...inquiry, created_at: '2026-01-01T00:00:00.000Z' })
        .params<{ Item: Record<string, string> }>();
      const attributes = Object.fromEntries(Object.entries(Item).map(([key, S]) => [key, { S }]));
      await client.send(new PutItemCommand({ TableName: table, Item: attributes }));
    }
    return written.toReversed();
  }

  /** The table as it was before it had an index. */
  async function createOldTable(): Promise<string> {
    const TableName = `inquiries-${randomUUID()}`;
    const { GlobalSecondaryIndexes: _, AttributeDefinitions, ...old } = tableDefinition;
    const keys = AttributeDefinitions.filter(({ AttributeName: key }) => key === 'pk' || key === 'sk');
    await client.send(new CreateTableCommand({ TableName, ...old, AttributeDefinitions: keys }));
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.1 }, { TableName });
    return TableName;
  }

  it.skipIf(isMissing)(
    'has index, stream and TTL where the engine has them, and is opened again as it is',
    async () => {
      const table = `inquiries-${randomUUID()}`;
      const arn = await openTable({ name, url }, table);
      const written = await fill(table, 3);
      expect(await openTable({ name, url }, table)).toBe(arn);
      expect(await ids(table)).toEqual(written);
      const description = await describeTable(table);
      expect(description?.LatestStreamArn).toBe(arn);
      const { TimeToLiveDescription: ttl } = await client
        .send(new DescribeTimeToLiveCommand({ TableName: table }))
        .catch(() => ({ TimeToLiveDescription: undefined }));
      const has = {
        stream: description?.StreamSpecification?.StreamViewType,
        ttl: ttl?.TimeToLiveStatus === 'ENABLED' ? ttl.AttributeName : undefined,
      };
      const none = { stream: undefined, ttl: undefined };
      const both = { stream: 'NEW_AND_OLD_IMAGES', ttl: 'expires_at' };
      expect(has).toEqual(name === 'dynalite' ? none : both);
    },
  );

  it.skipIf(isMissing || name === 'dynalite')('that an earlier version created gets them', async () => {
    const table = await createOldTable();
    const written = await fill(table, 3);
    const arn = await openTable({ name, url }, table);
    expect(await ids(table)).toEqual(written);
    expect((await describeTable(table))?.LatestStreamArn).toBe(arn);
  });

  it.skipIf(name !== 'dynalite')('that an earlier version created is refused', async () => {
    const table = await createOldTable();
    await expect(openTable({ name, url }, table)).rejects.toThrow(/earlier version; start with --reset/);
  });
});
