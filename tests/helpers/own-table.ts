import { randomUUID } from 'node:crypto';
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  paginateScan,
  QueryCommand,
} from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import { createClient, createTable } from '../../local/database/table.ts';
import type { Inquiry } from '../../src/contract.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import type { Identity } from '../../src/identity.ts';

export const bestEngine = (): string =>
  inject('engines')['dynamodb-local'] ?? inject('engines').dynalite;

export type OwnTable = Awaited<ReturnType<typeof createOwnTable>>;

export async function removeRow(
  client: DynamoDBDocumentClient,
  table: string,
  keys: Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>,
): Promise<void> {
  await client.send(new DeleteCommand(createInquiryEntity(table).get(keys).params()));
}

export async function readTable(client: DynamoDBDocumentClient, TableName: string) {
  const pages = await Array.fromAsync(
    paginateScan({ client }, { TableName, ConsistentRead: true }),
  );
  return pages.flatMap(({ Items = [] }) => Items);
}

export async function readPartition(
  { client, name }: Pick<OwnTable, 'client' | 'name'>,
  { sub, email }: Identity,
): Promise<Record<string, unknown>[]> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: name,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': `$inquiries#cognito_sub_${sub}#email_${email}` },
    }),
  );
  return Items;
}

export const toEnvironment = (endpoint: string): Record<string, string> => ({
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
});

/** The client is not closed, because idle connections keep no process alive. */
export async function createOwnTable(
  engine = bestEngine(),
  changes?: Parameters<typeof createTable>[2],
) {
  const name = `inquiries-${randomUUID()}`;
  const streamArn = await createTable(engine, name, changes);
  const client = DynamoDBDocumentClient.from(createClient(engine));
  return {
    engine,
    name,
    streamArn,
    client,
    environment: (endpoint = engine) => ({ ...toEnvironment(endpoint), TABLE_NAME: name }),
  };
}
