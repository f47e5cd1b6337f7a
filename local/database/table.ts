/**
 * The table's definition for the stack, the tests and the benchmark.
 * A test compares its keys with the entity's (src/entities/inquiry.ts).
 */
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
  type CreateTableCommandInput,
  type StreamSpecification,
} from '@aws-sdk/client-dynamodb';
import { UsageError } from '../../lib/command-line.ts';
import type { Engine } from './engines.ts';

const byState = {
  IndexName: 'by-state',
  KeySchema: [
    { AttributeName: 'inbox', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
  ],
  Projection: {
    ProjectionType: 'INCLUDE',
    NonKeyAttributes: [
      'cognito_sub',
      'email',
      'created_at',
      'reply_at',
      'respondent',
      'expires_at',
    ],
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
    { AttributeName: 'inbox', AttributeType: 'S' },
    { AttributeName: 'id', AttributeType: 'S' },
  ],
  GlobalSecondaryIndexes: [byState],
  BillingMode: 'PAY_PER_REQUEST',
} satisfies Omit<CreateTableCommandInput, 'TableName'>;

const STREAM: StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' };

/** A client of a local engine. */
export const createClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
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
  changes: Partial<CreateTableCommandInput> = {},
): Promise<void> {
  const client = createClient(endpoint);
  const input = { TableName, ...tableDefinition, ...changes };
  try {
    await client.send(new CreateTableCommand(input)).catch((error: Error) => {
      if (error.name !== 'ResourceInUseException') throw error;
    });
    await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.1 }, { TableName });
  } finally {
    client.destroy();
  }
}

/**
 * Opens the table of the local stack, or creates it.
 *
 * @returns The ARN of the table's stream; undefined for dynalite, which has neither streams nor TTL.
 * @throws UsageError for a table without the index, or, on DynamoDB Local, without the stream.
 */
export async function openTable(
  { name, url }: Pick<Engine, 'name' | 'url'>,
  TableName: string,
): Promise<string | undefined> {
  const hasStreams = name === 'dynamodb-local';
  await createTable(url, TableName, hasStreams ? { StreamSpecification: STREAM } : {});
  const client = createClient(url);
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const { GlobalSecondaryIndexes, LatestStreamArn } = Table ?? {};
    const hasIndex = GlobalSecondaryIndexes?.some(
      ({ IndexName }) => IndexName === byState.IndexName,
    );
    if (hasIndex !== true || (hasStreams && LatestStreamArn === undefined)) {
      throw new UsageError(
        'The table in the data folder is of another version; start with --reset.',
      );
    }
    if (!hasStreams) return undefined;
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
