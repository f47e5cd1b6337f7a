/**
 * The table's definition for the stack, the tests and the benchmark.
 * A test compares its keys with the entity's (src/entities/inquiry.ts).
 */
import * as dynamodb from '@aws-sdk/client-dynamodb';
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
} satisfies NonNullable<dynamodb.CreateTableCommandInput['GlobalSecondaryIndexes']>[number];

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
} satisfies Omit<dynamodb.CreateTableCommandInput, 'TableName'>;

const STREAM: dynamodb.StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' };

/** A client of a local engine. */
export const createClient = (endpoint: string): dynamodb.DynamoDBClient =>
  new dynamodb.DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

/**
 * Creates the table on a local engine, if it does not exist, and waits until it is active.
 *
 * @param changes - Replace parts of the definition.
 */
export async function createTable(
  endpoint: string,
  TableName: string,
  changes: Partial<dynamodb.CreateTableCommandInput> = {},
): Promise<void> {
  const client = createClient(endpoint);
  const input = { TableName, ...tableDefinition, ...changes };
  try {
    await client.send(new dynamodb.CreateTableCommand(input)).catch((error: Error) => {
      if (error.name !== 'ResourceInUseException') throw error;
    });
    await dynamodb.waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.1 }, { TableName });
  } finally {
    client.destroy();
  }
}

/**
 * Opens the table of the local stack, or creates it.
 *
 * @returns The ARN of the table's stream; undefined for dynalite, which has neither streams nor TTL.
 * @throws UsageError for a table without the index or the stream.
 */
export async function openTable(
  { name, url }: Pick<Engine, 'name' | 'url'>,
  TableName: string,
): Promise<string | undefined> {
  const hasStreams = name === 'dynamodb-local';
  await createTable(url, TableName, hasStreams ? { StreamSpecification: STREAM } : {});
  const client = createClient(url);
  try {
    const { Table } = await client.send(new dynamodb.DescribeTableCommand({ TableName }));
    const { GlobalSecondaryIndexes, LatestStreamArn } = Table ?? {};
    if (GlobalSecondaryIndexes === undefined || (hasStreams && LatestStreamArn === undefined)) {
      throw new UsageError('The table in the data folder is of another version; start with --reset.');
    }
    if (!hasStreams) return undefined;
    const TimeToLiveSpecification = { AttributeName: 'expires_at', Enabled: true };
    await client
      .send(new dynamodb.UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
      .catch((error: Error) => {
        if (error.message !== 'TimeToLive is already enabled') throw error;
      });
    return LatestStreamArn;
  } finally {
    client.destroy();
  }
}
