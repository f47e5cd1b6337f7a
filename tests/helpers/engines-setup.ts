/** `DYNAMODB_ENDPOINT`, of any engine with DynamoDB's API, replaces DynamoDB Local. */
import type { TestProject } from 'vitest/node';
import {
  dynamoDbLocalUnavailableReason,
  startEngine,
  type EngineUrl,
} from '../../local/database/engines.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Endpoints. DynamoDB Local's is undefined without Java. */
    engines: { dynalite: string; 'dynamodb-local': string | undefined };
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dynalite = await startEngine('dynalite');
  const given = process.env['DYNAMODB_ENDPOINT'] as EngineUrl | undefined;
  const canRun = given !== undefined || dynamoDbLocalUnavailableReason() === undefined;
  const dynamodbLocal = canRun ? await startEngine(given ?? 'dynamodb-local') : undefined;
  project.provide('engines', { dynalite: dynalite.url, 'dynamodb-local': dynamodbLocal?.url });
  return async () => {
    await dynalite.close();
    await dynamodbLocal?.close();
  };
}
