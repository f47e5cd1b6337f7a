import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoDbClient } from './client.ts';

/** For all but the request function. */
export interface Table {
  client: DynamoDBDocumentClient;
  name: string;
}

/** @param config - Of a client of its own; absent: the functions' client. */
export function openTable(name: string, config?: DynamoDBClientConfig): Table {
  const client = config ? new DynamoDBClient(config) : createDynamoDbClient();
  return { name, client: DynamoDBDocumentClient.from(client) };
}
