import type { TestProject } from 'vitest/node';
import { startEngine, dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Endpoints; DynamoDB Local's is undefined without Java. */
    engines: { dynalite: string; 'dynamodb-local': string | undefined };
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dynalite = await startEngine('dynalite');
  const hasJava = dynamoDbLocalUnavailableReason() === undefined;
  const dynamodbLocal = hasJava ? await startEngine('dynamodb-local') : undefined;
  project.provide('engines', { dynalite: dynalite.url, 'dynamodb-local': dynamodbLocal?.url });
  return async () => {
    await dynalite.close();
    await dynamodbLocal?.close();
  };
}
