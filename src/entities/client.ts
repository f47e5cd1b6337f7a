import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * Creates the DynamoDB client: the only place that constructs an AWS client. Region, credentials and endpoint
 * come from the `AWS_*` environment.
 *
 * The SDK's defaults wait for ever. Here an attempt ends after 1 s without a connection, or after 3 s without a
 * response or without a byte; three attempts at most. The caller's signal bounds the whole. docs/adr/0012
 */
export function createDynamoDbClient(): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(
    new DynamoDBClient({
      maxAttempts: 3,
      retryMode: 'standard',
      requestHandler: {
        connectionTimeout: 1_000,
        requestTimeout: 3_000,
        throwOnRequestTimeout: true,
        socketTimeout: 3_000,
      },
    }),
  );
}
