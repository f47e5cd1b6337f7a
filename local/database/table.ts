/**
 * The table's definition for the stack, the tests and the benchmark.
 * A test compares its keys with the entity's (src/entities/inquiry.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type {
  CreateTableCommandInput,
  StreamSpecification,
  TableDescription,
} from '@aws-sdk/client-dynamodb';
import { UsageError } from '../../lib/command-line.ts';
import type { Engine } from './engines.ts';

const byTime = {
  IndexName: 'by-time',
  KeySchema: [
    { AttributeName: '__edb_e__', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
  ],
  Projection: {
    ProjectionType: 'INCLUDE',
    NonKeyAttributes: ['cognito_sub', 'email', 'created_at', 'reply_at', 'respondent', 'expires_at'],
  },
} satisfies NonNullable<CreateTableCommandInput['GlobalSecondaryIndexes']>[number];

export const tableDefinition = {
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: '__edb_e__', AttributeType: 'S' },
    { AttributeName: 'id', AttributeType: 'S' },
  ],
  GlobalSecondaryIndexes: [byTime],
  BillingMode: 'PAY_PER_REQUEST',
} satisfies Omit<CreateTableCommandInput, 'TableName'>;

const STREAM: StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' };

/** Milliseconds. */
const INDEX_TIMEOUT = 60_000;

/** A client of a local engine. */
export const createClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

/** Creates the table on a local engine, if it does not exist, and waits until it is active. */
export async function createTable(endpoint: string, tableName: string): Promise<void> {
  const client = createClient(endpoint);
  try {
    await create(client, tableName);
  } finally {
    client.destroy();
  }
}

/**
 * Opens the table of the local stack: creates it, or completes one that an earlier version created. No row is lost.
 *
 * @returns The ARN of the table's stream; undefined for dynalite, which has neither streams nor TTL.
 * @throws UsageError for dynalite's table of an earlier version.
 */
export async function openTable(
  { name, url }: Pick<Engine, 'name' | 'url'>,
  tableName: string,
): Promise<string | undefined> {
  const client = createClient(url);
  try {
    if (name === 'dynamodb-local') {
      await create(client, tableName, STREAM);
      return await completeTable(client, tableName);
    }
    await create(client, tableName);
    // dynalite cannot add an index to a table.
    if ((await describe(client, tableName))?.GlobalSecondaryIndexes !== undefined) return undefined;
    throw new UsageError('The table that dynalite keeps is of an earlier version; start with --reset.');
  } finally {
    client.destroy();
  }
}

async function create(
  client: DynamoDBClient,
  TableName: string,
  stream?: StreamSpecification,
): Promise<void> {
  await client
    .send(
      new CreateTableCommand({
        TableName,
        ...tableDefinition,
        ...(stream && { StreamSpecification: stream }),
      }),
    )
    .catch((error: Error) => {
      if (error.name !== 'ResourceInUseException') throw error;
    });
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.1 }, { TableName });
}

async function describe(client: DynamoDBClient, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** Adds what is missing: index, stream, TTL. The stream comes last: rows that exist are not in it. */
async function completeTable(client: DynamoDBClient, TableName: string): Promise<string | undefined> {
  let table = await describe(client, TableName);
  if (table?.GlobalSecondaryIndexes === undefined) {
    const { AttributeDefinitions } = tableDefinition;
    const GlobalSecondaryIndexUpdates = [{ Create: byTime }];
    await client.send(
      new UpdateTableCommand({ TableName, AttributeDefinitions, GlobalSecondaryIndexUpdates }),
    );
  }
  const deadline = Date.now() + INDEX_TIMEOUT;
  while (table?.GlobalSecondaryIndexes?.[0]?.IndexStatus !== 'ACTIVE') {
    // The engine's index job can fail silently while another table is created. It runs again on the next start.
    if (Date.now() > deadline)
      throw new Error(`The index of table ${TableName} was not created in time; start again.`);
    await sleep(100);
    table = await describe(client, TableName);
  }
  const { TimeToLiveDescription: ttl } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  if (ttl?.TimeToLiveStatus === 'DISABLED') {
    const TimeToLiveSpecification = { AttributeName: 'expires_at', Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }
  if (table.StreamSpecification?.StreamEnabled !== true) {
    await client.send(new UpdateTableCommand({ TableName, StreamSpecification: STREAM }));
    table = await describe(client, TableName);
  }
  return table?.LatestStreamArn;
}
