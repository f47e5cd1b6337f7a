/**
 * The handler with Middy and Powertools, and Powertools' idempotency around the function that stores an inquiry. It
 * wraps that function, not the handler, so that the response to a malformed request is not stored under the key. It
 * uses the client that the function has, so that there is one connection.
 */
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { baseClient, createInquiry } from './shared/inquiries.ts';
import { createMiddyHandler } from './shared/middy-handler.ts';
import type { Owner } from './shared/requests.ts';

interface Keyed {
  readonly key: string;
  readonly owner: Owner;
  readonly request: { subject: string; body: string };
}

const config = new IdempotencyConfig({
  eventKeyJmesPath: '[key, owner]',
  payloadValidationJmesPath: 'request',
  expiresAfterSeconds: 24 * 60 * 60,
});
const createOnce = makeIdempotent(async ({ owner, request }: Keyed) => createInquiry(owner, request), {
  persistenceStore: new DynamoDBPersistenceLayer({
    tableName: process.env['IDEMPOTENCY_TABLE_NAME'] ?? '',
    awsSdkV3Client: baseClient,
  }),
  config,
});

export const handler = createMiddyHandler(
  async (owner, request, { key, context }) => {
    if (key === undefined) return createInquiry(owner, request);
    config.registerLambdaContext(context);
    return createOnce({ key, owner, request });
  },
  {
    IdempotencyValidationError: [422, 'IDEMPOTENCY_KEY_REUSED'],
    IdempotencyAlreadyInProgressError: [409, 'IDEMPOTENCY_CONFLICT'],
  },
);
