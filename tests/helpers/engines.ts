import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, inject } from 'vitest';
import { engineNames } from '../../scripts/local/dynamodb.ts';
import type { EngineName } from '../../scripts/local/dynamodb.ts';
import { createTable } from '../../scripts/local/table.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';

/** Runs one suite on each engine; on DynamoDB Local it is skipped, visibly, where Java does not allow it. */
export function describeOnEngines(
  title: string,
  suite: (endpoint: string, engine: EngineName) => void,
): void {
  const engines = inject('engines');
  for (const engine of engineNames) {
    const { [engine]: endpoint = '' } = engines;
    describe.skipIf(endpoint === '')(`${title} on ${engine}`, () => {
      suite(endpoint, engine);
    });
  }
}

/** Creates a table of the caller's own. @returns Its name. */
async function createOwnTable(endpoint: string): Promise<string> {
  const tableName = `inquiries-${randomUUID()}`;
  await createTable(endpoint, tableName);
  return tableName;
}

/** Points the SDK's environment to a local engine. */
function useEngine(endpoint: string): void {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
}

/** The real store on a table of its own, with what tests need to look behind it. */
export async function createOwnStore(endpoint: string) {
  useEngine(endpoint);
  const table = await createOwnTable(endpoint);
  const client = DynamoDBDocumentClient.from(new DynamoDBClient());
  const entity = createInquiryEntity(table);
  const store = createInquiryStore(createDynamoDbClient({ region: 'local' }), entity);
  return { client, entity, store, table };
}
