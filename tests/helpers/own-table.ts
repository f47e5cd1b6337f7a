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

/** The best engine there is: DynamoDB Local where Java allows it. */
export const bestEngine = (): string =>
  inject('engines')['dynamodb-local'] ?? inject('engines').dynalite;

/** What tells inquiries and their owners apart; bodies may be large. */
const FIELDS = ['id', 'cognito_sub', 'email', 'subject'] as const;
type Stored = Pick<Inquiry, (typeof FIELDS)[number]>;

export type OwnTable = Awaited<ReturnType<typeof createOwnTable>>;

/** Deletes the row of an inquiry. */
export async function removeRow(
  client: DynamoDBDocumentClient,
  table: string,
  keys: Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>,
): Promise<void> {
  await client.send(new DeleteCommand(createInquiryEntity(table).get(keys).params()));
}

/** All rows of a table. */
export async function readTable(client: DynamoDBDocumentClient, TableName: string, input?: object) {
  const all = { TableName, ConsistentRead: true, ...input };
  const pages = await Array.fromAsync(paginateScan({ client }, all));
  return pages.flatMap(({ Items = [] }) => Items);
}

/** All rows of an owner's partition. */
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

/** The environment of a function or an operator, with a local engine instead of DynamoDB. */
export const toEnvironment = (endpoint: string): Record<string, string> => ({
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
});

/** A table of the caller's own. Its client is not closed: idle connections keep no process alive. */
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
    /** Environment of a function that uses this table. */
    environment: (endpoint = engine) => ({ ...toEnvironment(endpoint), TABLE_NAME: name }),
    /** The inquiries stored under a `sub`, or by everybody, read past the service. */
    async rows(sub?: string): Promise<Stored[]> {
      const of = sub === undefined ? undefined : { ':sub': sub };
      const rows = await readTable(client, name, {
        ProjectionExpression: FIELDS.join(),
        FilterExpression: `attribute_exists(id)${of ? ' AND cognito_sub = :sub' : ''}`,
        ...(of && { ExpressionAttributeValues: of }),
      });
      return rows as Stored[];
    },
  };
}
