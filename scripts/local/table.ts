/**
 * The table's definition for the stack, the tests and the benchmark.
 * A test compares its keys with the entity's (src/entities/inquiry.ts).
 */
import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';

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
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by-time',
      KeySchema: [
        { AttributeName: '__edb_e__', KeyType: 'HASH' },
        { AttributeName: 'id', KeyType: 'RANGE' },
      ],
      Projection: {
        ProjectionType: 'INCLUDE',
        NonKeyAttributes: ['cognito_sub', 'email', 'created_at', 'reply_at', 'respondent', 'expires_at'],
      },
    },
  ],
  BillingMode: 'PAY_PER_REQUEST',
} satisfies Omit<CreateTableCommandInput, 'TableName'>;

/** Creates the table on a local engine, if it does not exist, and waits until it is active. */
export async function createTable(endpoint: string, tableName: string): Promise<void> {
  const client = new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  try {
    await client
      .send(new CreateTableCommand({ TableName: tableName, ...tableDefinition }))
      .catch((error: Error) => {
        if (error.name !== 'ResourceInUseException') throw error;
      });
    await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.1 }, { TableName: tableName });
  } finally {
    client.destroy();
  }
}
