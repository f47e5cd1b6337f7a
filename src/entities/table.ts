import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoDbClient } from './client.ts';

/** A table, for all but the request function, which has no document client. */
export interface Table {
  client: DynamoDBDocumentClient;
  name: string;
}

/** Opens a table. @param config - Of a client of its own; absent: the client of the functions, with their time limits. */
export function openTable(name: string, config?: DynamoDBClientConfig): Table {
  const client = config ? new DynamoDBClient(config) : createDynamoDbClient();
  return { name, client: DynamoDBDocumentClient.from(client) };
}
