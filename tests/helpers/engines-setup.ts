/** Starts the engines once for all integration tests and says which one is missing and why. */
import type { TestProject } from 'vitest/node';
import { startEngine, dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Endpoints; DynamoDB Local is undefined where Java does not allow it. */
    engines: { dynalite: string; 'dynamodb-local': string | undefined };
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const obstacle = dynamoDbLocalUnavailableReason();
  if (obstacle !== undefined) {
    process.stdout.write(
      `\nSKIPPED: every integration suite on DynamoDB Local, because ${obstacle}.\n`,
    );
  }
  const dynalite = await startEngine('dynalite');
  const dynamodbLocal = obstacle === undefined ? await startEngine('dynamodb-local') : undefined;
  project.provide('engines', { dynalite: dynalite.url, 'dynamodb-local': dynamodbLocal?.url });
  return async () => {
    await dynalite.close();
    await dynamodbLocal?.close();
  };
}
