import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteTableCommand,
  DescribeTableCommand,
  paginateScan,
  PutItemCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient, StreamSpecification } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { UsageError } from '../../lib/command-line.ts';
import { reindex } from '../../lib/reindex.ts';
import type { Engine } from './engines.ts';
import { createClient, createTable, tableDefinition } from './table.ts';

const STREAM: StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' };

/**
 * Opens the table of the local stack, or creates it. A table of an earlier version gets the index.
 *
 * @returns The ARN of the table's stream; undefined for dynalite, which has neither streams nor TTL.
 * @throws UsageError for a table without the stream.
 */
export async function openTable(
  { name, url }: Pick<Engine, 'name' | 'url'>,
  TableName: string,
): Promise<string | undefined> {
  const hasStreams = name === 'dynamodb-local';
  await createTable(url, TableName, hasStreams ? { StreamSpecification: STREAM } : {});
  const client = createClient(url);
  try {
    await upgradeTable(client, { name, url }, TableName);
    if (!hasStreams) return undefined;
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const { LatestStreamArn } = Table ?? {};
    if (LatestStreamArn === undefined) {
      throw new UsageError('The table in the data folder is of another version; start with --reset.');
    }
    const TimeToLiveSpecification = { AttributeName: 'expires_at', Enabled: true };
    await client
      .send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
      .catch((error: Error) => {
        if (error.message !== 'TimeToLive is already enabled') throw error;
      });
    return LatestStreamArn;
  } finally {
    client.destroy();
  }
}

/** The names of a table's indexes, and whether all of them can be used; undefined: there is no such table. */
async function describeIndexes(client: DynamoDBClient, TableName: string) {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const indexes = Table?.GlobalSecondaryIndexes ?? [];
    return {
      names: indexes.map(({ IndexName }) => IndexName),
      areReady: indexes.every(({ IndexStatus }) => IndexStatus === 'ACTIVE'),
    };
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

/** Gives the index to a table of an earlier version. What is interrupted is done again at the next start. */
async function upgradeTable(
  client: DynamoDBClient,
  engine: Pick<Engine, 'name' | 'url'>,
  TableName: string,
): Promise<void> {
  const { GlobalSecondaryIndexes: indexes, AttributeDefinitions } = tableDefinition;
  const { names = [] } = (await describeIndexes(client, TableName)) ?? {};
  const isCurrent = indexes.every(({ IndexName }) => names.includes(IndexName));
  // Before there is an index: a table that has it is complete.
  if (!isCurrent) for await (const _ of reindex(DynamoDBDocumentClient.from(client), TableName));
  if (engine.name === 'dynalite') {
    await replaceTable(client, engine.url, TableName, isCurrent);
    return;
  }
  if (isCurrent) return;
  const deletions = names.map((IndexName) => ({ Delete: { IndexName } }));
  for (const change of [...deletions, ...indexes.map((Create) => ({ Create }))]) {
    const GlobalSecondaryIndexUpdates = [change];
    await client.send(
      new UpdateTableCommand({ TableName, AttributeDefinitions, GlobalSecondaryIndexUpdates }),
    );
    while ((await describeIndexes(client, TableName))?.areReady === false) await sleep(100);
  }
}

/** dynalite adds no index to a table, so its rows are copied to another table, and from there to a new one. */
async function replaceTable(
  client: DynamoDBClient,
  url: string,
  TableName: string,
  isCurrent: boolean,
): Promise<void> {
  const copy = `${TableName}-copy`;
  const drop = async (name: string): Promise<void> => {
    if ((await describeIndexes(client, name)) === undefined) return;
    await client.send(new DeleteTableCommand({ TableName: name }));
    await waitUntilTableNotExists({ client, maxWaitTime: 10, minDelay: 0.1 }, { TableName: name });
  };
  const copyRows = async (from: string, to: string): Promise<void> => {
    await createTable(url, to);
    for await (const { Items = [] } of paginateScan({ client }, { TableName: from })) {
      for (const Item of Items) await client.send(new PutItemCommand({ TableName: to, Item }));
    }
  };
  if (!isCurrent) {
    await drop(copy);
    await copyRows(TableName, copy);
    await drop(TableName);
  }
  if ((await describeIndexes(client, copy)) === undefined) return;
  await copyRows(copy, TableName);
  await drop(copy);
}
