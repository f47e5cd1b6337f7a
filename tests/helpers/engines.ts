import { describe, inject } from 'vitest';
import { engineNames, type EngineName } from '../../local/database/engines.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createOwnTable } from './own-table.ts';

/** Runs one suite on each engine; on DynamoDB Local it is skipped, visibly, where Java does not allow it. */
export function describeOnEngines(
  title: string,
  suite: (endpoint: string, engine: EngineName) => void,
  engines: readonly EngineName[] = engineNames,
): void {
  const endpoints = inject('engines');
  for (const engine of engines) {
    const { [engine]: endpoint = '' } = endpoints;
    describe.skipIf(endpoint === '')(`${title} on ${engine}`, () => {
      suite(endpoint, engine);
    });
  }
}

/** Runs a suite on DynamoDB Local, or skips it; tests/helpers/engines-setup.ts says why. */
export const describeOnDynamoDbLocal = (title: string, suite: (endpoint: string) => void): void =>
  describeOnEngines(title, suite, ['dynamodb-local']);

/** The real store, with its client, on a table of its own. */
export async function createOwnStore(endpoint?: string) {
  const own = await createOwnTable(endpoint);
  Object.assign(process.env, own.environment());
  const storeClient = createDynamoDbClient();
  return { ...own, storeClient, store: createInquiryStore(storeClient, own.name) };
}
