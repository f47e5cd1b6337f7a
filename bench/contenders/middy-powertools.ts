/**
 * Middy with Powertools and zod. Idempotency wraps the function that stores, not the handler, so that a malformed
 * request's response is not stored under the key. It shares the client and its connection.
 */
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type {
  APIGatewayProxyEventV2WithJWTAuthorizer,
  APIGatewayProxyStructuredResultV2,
  Context,
} from 'aws-lambda';
import { z } from 'zod';
import { baseClient, createInquiry, listInquiries } from './shared/inquiries.ts';
import { Refusal, respond, respondToError, type Message, type Owner } from './shared/requests.ts';

interface Keyed {
  key: string;
  owner: Owner;
  message: Message;
}

const logger = new Logger({ serviceName: 'inquiries' });
const metrics = new Metrics({ namespace: 'inquiries', serviceName: 'inquiries' });
const config = new IdempotencyConfig({
  eventKeyJmesPath: '[key, owner]',
  payloadValidationJmesPath: 'message',
  expiresAfterSeconds: 24 * 60 * 60,
});
const createOnce = makeIdempotent(({ owner, message }: Keyed) => createInquiry(owner, message), {
  persistenceStore: new DynamoDBPersistenceLayer({
    tableName: process.env['IDEMPOTENCY_TABLE_NAME'] ?? '',
    awsSdkV3Client: baseClient,
  }),
  config,
});

const claimsSchema = z.object({ email: z.string().min(1), sub: z.guid().toLowerCase() });
const querySchema = z
  .object({
    limit: z.coerce.number().int().min(1).max(1_000).optional(),
    before: z.uuid({ version: 'v7' }).optional(),
  })
  .prefault({});
const messageSchema = z.object({ subject: z.string(), body: z.string() });

async function handle(
  event: APIGatewayProxyEventV2WithJWTAuthorizer,
  context: Context,
): Promise<APIGatewayProxyStructuredResultV2> {
  const claims = claimsSchema.safeParse(event.requestContext.authorizer?.jwt?.claims);
  if (!claims.success) throw new Refusal(401, 'Unauthorized');
  const { sub: cognito_sub, email } = claims.data;
  const owner = { cognito_sub, email };
  const { method } = event.requestContext.http;
  if (method === 'GET') {
    const query = querySchema.parse(event.queryStringParameters);
    const { inquiries, headers } = await listInquiries(owner, query);
    metrics.addMetric('inquiriesListed', MetricUnit.Count, inquiries.length);
    return respond(200, { email, count: inquiries.length, inquiries }, headers);
  }
  if (method !== 'POST') throw new Refusal(405, 'METHOD_NOT_ALLOWED');
  const message = messageSchema.parse(JSON.parse(event.body ?? '{}'));
  const key = event.headers['idempotency-key'];
  if (key !== undefined) config.registerLambdaContext(context);
  const inquiry = await (key === undefined
    ? createInquiry(owner, message)
    : createOnce({ key, owner, message }));
  metrics.addMetric('inquiriesCreated', MetricUnit.Count, 1);
  return respond(201, { inquiry });
}

const REFUSALS: Record<string, Refusal> = {
  ZodError: new Refusal(400, 'BAD_REQUEST'),
  IdempotencyValidationError: new Refusal(422, 'IDEMPOTENCY_KEY_REUSED'),
};
const errorHandler: middy.MiddlewareObj<
  APIGatewayProxyEventV2WithJWTAuthorizer,
  APIGatewayProxyStructuredResultV2
> = {
  onError: (request) => {
    const error = request.error ?? new Error();
    request.response = respondToError(REFUSALS[error.name] ?? error);
  },
};

export const handler = middy(handle)
  .use(injectLambdaContext(logger))
  .use(logMetrics(metrics, { captureColdStartMetric: true }))
  .use(errorHandler);
