/**
 * Middy with Powertools' logger, metrics and idempotency, and zod for claims and body. Idempotency is around the function
 * that stores an inquiry, not around the handler, so that the response to a malformed request is not stored under the
 * key. It uses the client that the function has, so that there is one connection.
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
import {
  refusals as refused,
  refuse,
  respond,
  respondToError,
  type Owner,
} from './shared/requests.ts';

interface Keyed {
  readonly key: string;
  readonly owner: Owner;
  readonly request: { subject: string; body: string };
}

const logger = new Logger({ serviceName: 'inquiries' });
const metrics = new Metrics({ namespace: 'inquiries', serviceName: 'inquiries' });
const config = new IdempotencyConfig({
  eventKeyJmesPath: '[key, owner]',
  payloadValidationJmesPath: 'request',
  expiresAfterSeconds: 24 * 60 * 60,
});
const createOnce = makeIdempotent(({ owner, request }: Keyed) => createInquiry(owner, request), {
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
const requestSchema = z.object({ subject: z.string(), body: z.string() });

async function handle(
  event: APIGatewayProxyEventV2WithJWTAuthorizer,
  context: Context,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { method } = event.requestContext.http;
  if (method !== 'GET' && method !== 'POST') return refused.methodNotAllowed();
  const claims = claimsSchema.safeParse(event.requestContext.authorizer?.jwt?.claims);
  if (!claims.success) return refused.unauthorized();
  const owner = { cognito_sub: claims.data.sub, email: claims.data.email };

  if (method === 'GET') {
    const query = querySchema.safeParse(event.queryStringParameters);
    if (!query.success) return refused.badRequest();
    const { inquiries, headers } = await listInquiries(owner, query.data);
    metrics.addMetric('inquiriesListed', MetricUnit.Count, inquiries.length);
    return respond(200, { email: owner.email, count: inquiries.length, inquiries }, headers);
  }

  if (event.body === undefined) return refused.badRequest();
  const text = event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body;
  const request = requestSchema.safeParse(JSON.parse(text));
  if (!request.success) return refused.badRequest();
  const key = event.headers['idempotency-key'];
  if (key !== undefined) config.registerLambdaContext(context);
  const inquiry = await (key === undefined
    ? createInquiry(owner, request.data)
    : createOnce({ key, owner, request: request.data }));
  metrics.addMetric('inquiriesCreated', MetricUnit.Count, 1);
  return respond(201, { inquiry });
}

const refusals: Readonly<Record<string, readonly [status: number, code: string]>> = {
  IdempotencyValidationError: [422, 'IDEMPOTENCY_KEY_REUSED'],
  IdempotencyAlreadyInProgressError: [409, 'IDEMPOTENCY_CONFLICT'],
};
const errorHandler: middy.MiddlewareObj<
  APIGatewayProxyEventV2WithJWTAuthorizer,
  APIGatewayProxyStructuredResultV2
> = {
  onError: (request) => {
    const { error } = request;
    const [status, code] = refusals[error?.name ?? ''] ?? [];
    if (status === undefined) logger.error('request failed', { errorName: error?.name });
    request.response = status === undefined ? respondToError(error) : refuse(status, code ?? '');
  },
};

export const handler = middy(handle)
  .use(injectLambdaContext(logger))
  .use(logMetrics(metrics, { captureColdStartMetric: true }))
  .use(errorHandler);
