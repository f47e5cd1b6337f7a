/**
 * The table's definition for everything that creates a table locally: the stack, the tests, the benchmark.
 * Its keys are those of the entity (src/entities/inquiry.ts); a test compares them.
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
  ],
  BillingMode: 'PAY_PER_REQUEST',
} satisfies Omit<CreateTableCommandInput, 'TableName'>;

/** Creates the table on a local engine and waits until it is usable; an existing table is left as it is. */
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
