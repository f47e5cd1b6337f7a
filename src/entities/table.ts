import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoDbClient } from './client.ts';

/** Every program except the request function opens the table so. */
export interface Table {
  client: DynamoDBDocumentClient;
  name: string;
}

/** @param config - Configures a client. Default: the functions' client. */
export function openTable(name: string, config?: DynamoDBClientConfig): Table {
  const client = config ? new DynamoDBClient(config) : createDynamoDbClient();
  return { name, client: DynamoDBDocumentClient.from(client) };
}
