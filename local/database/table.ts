import {
  CreateTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
  type CreateTableCommandInput,
} from '@aws-sdk/client-dynamodb';
import { LOCAL } from '../../lib/running-stack.ts';
import { INQUIRY_MODEL } from '../../src/entities/inquiry.ts';

const { byOwner, byState } = INQUIRY_MODEL.indexes;
const toKeys = ({ pk, sk }: Record<'pk' | 'sk', { field: string }>) => [
  { AttributeName: pk.field, KeyType: 'HASH' as const },
  { AttributeName: sk.field, KeyType: 'RANGE' as const },
];

export const tableDefinition = {
  KeySchema: toKeys(byOwner),
  AttributeDefinitions: [...toKeys(byOwner), ...toKeys(byState)].map(({ AttributeName }) => ({
    AttributeName,
    AttributeType: 'S',
  })),
  GlobalSecondaryIndexes: [
    {
      IndexName: byState.index,
      KeySchema: toKeys(byState),
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

export const WITH_STREAM = {
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
} as const;

export const createClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({ endpoint, ...LOCAL });

/** @returns The stream's ARN, if any. */
export async function createTable(
  endpoint: string,
  TableName: string,
  changes: Partial<CreateTableCommandInput> = {},
): Promise<string | undefined> {
  const client = createClient(endpoint);
  const input = { TableName, ...tableDefinition, ...changes };
  await client.send(new CreateTableCommand(input)).catch((error: Error) => {
    if (error.name !== 'ResourceInUseException') throw error;
  });
  const waiter = { client, maxWaitTime: 10, minDelay: 0.1 };
  const { final } = await waitUntilTableExists(waiter, { TableName });
  client.destroy();
  return final?.Table?.LatestStreamArn;
}
