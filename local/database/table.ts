/**
 * The table's definition for the stack, the tests and the benchmark.
 * A test compares its keys with the entity's (src/entities/inquiry.ts).
 */
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
  type CreateTableCommandInput,
  type StreamSpecification,
} from '@aws-sdk/client-dynamodb';
import type { Engine } from './engines.ts';

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
  GlobalSecondaryIndexes: [
    {
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
    },
  ],
  BillingMode: 'PAY_PER_REQUEST',
} satisfies Omit<CreateTableCommandInput, 'TableName'>;

const STREAM: StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' };

/** What clients of a local engine have in common. */
export const LOCAL = {
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

/** A client of a local engine. */
export const createClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({ endpoint, ...LOCAL });

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
  await client.send(new CreateTableCommand(input)).catch((error: Error) => {
    if (error.name !== 'ResourceInUseException') throw error;
  });
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.1 }, { TableName });
  client.destroy();
}

/**
 * Opens the table of the local stack, or creates it.
 *
 * @returns The ARN of the table's stream; undefined for dynalite, which has no streams.
 */
export async function openTable(
  { name, url }: Pick<Engine, 'name' | 'url'>,
  TableName: string,
): Promise<string | undefined> {
  await createTable(url, TableName, name === 'dynalite' ? {} : { StreamSpecification: STREAM });
  const client = createClient(url);
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  client.destroy();
  return Table?.LatestStreamArn;
}
