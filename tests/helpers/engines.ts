import { describe, inject } from 'vitest';
import { engineNames, type EngineName } from '../../local/database/engines.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { installLineOf } from '../../lib/terminal/programs.ts';
import { unless } from './needs.ts';
import { createOwnTable } from './own-table.ts';

export const whyNoDynamoDbLocal: string | undefined =
  inject('engines')['dynamodb-local'] === undefined
    ? `DynamoDB Local needs a JDK 17 or newer (${installLineOf('java', process.env)})`
    : undefined;

export const { DYNAMODB_ENDPOINT } = process.env;

/** Without Java, tests on DynamoDB Local are skipped. */
export function describeOnEngines(
  title: string,
  suite: (endpoint: string, engine: string) => void,
  engines: readonly EngineName[] = engineNames,
): void {
  const endpoints = inject('engines');
  for (const engine of engines) {
    const { [engine]: endpoint = '' } = endpoints;
    const obstacle = endpoint === '' ? whyNoDynamoDbLocal : undefined;
    const name = engine === 'dynalite' ? engine : (DYNAMODB_ENDPOINT ?? engine);
    describe(`${title} on ${name}`, unless(obstacle), () => {
      suite(endpoint, name);
    });
  }
}

export const describeOnDynamoDbLocal = (
  title: string,
  suite: (endpoint: string, engine: string) => void,
): void => describeOnEngines(title, suite, ['dynamodb-local']);

export async function createOwnStore(endpoint?: string) {
  const own = await createOwnTable(endpoint);
  Object.assign(process.env, own.environment());
  const storeClient = createDynamoDbClient();
  return { ...own, storeClient, store: createInquiryStore(storeClient, own.name) };
}
