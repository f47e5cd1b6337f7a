/** Middy with Powertools' logger and metrics, and zod for claims and body. */
import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { z } from 'zod';
import { createInquiry, listInquiries } from './shared/inquiries.ts';
import { isTooLarge, respond } from './shared/requests.ts';

const logger = new Logger({ serviceName: 'inquiries' });
const metrics = new Metrics({ namespace: 'inquiries', serviceName: 'inquiries' });

const claimsSchema = z.object({
  email: z.string().min(1),
  sub: z.guid().toLowerCase(),
});
const querySchema = z
  .object({
    limit: z.coerce.number().int().min(1).max(1_000).optional(),
    before: z.uuid({ version: 'v7' }).optional(),
  })
  .prefault({});
const requestSchema = z.object({ subject: z.string(), body: z.string() });

const lambdaHandler = async (
  event: APIGatewayProxyEventV2WithJWTAuthorizer,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const { method } = event.requestContext.http;
  if (method !== 'GET' && method !== 'POST') {
    const error = { error: 'METHOD_NOT_ALLOWED', message: 'Allowed: GET, POST' };
    return respond(405, error, { Allow: 'GET, POST' });
  }
  const claims = claimsSchema.safeParse(event.requestContext.authorizer?.jwt?.claims);
  if (!claims.success) {
    return respond(401, { error: 'Unauthorized', message: 'Invalid or missing required JWT claims' });
  }
  const owner = { cognito_sub: claims.data.sub, email: claims.data.email };

  if (method === 'GET') {
    const query = querySchema.safeParse(event.queryStringParameters);
    if (!query.success) return respond(400, { error: 'BAD_REQUEST', message: z.prettifyError(query.error) });
    const { inquiries, headers } = await listInquiries(owner, query.data);
    metrics.addMetric('inquiriesListed', MetricUnit.Count, inquiries.length);
    return respond(200, { email: owner.email, count: inquiries.length, inquiries }, headers);
  }

  if (event.body === undefined) return respond(400, { error: 'BAD_REQUEST', message: 'No body' });
  const text = event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body;
  const request = requestSchema.safeParse(JSON.parse(text));
  if (!request.success)
    return respond(400, { error: 'BAD_REQUEST', message: z.prettifyError(request.error) });
  const inquiry = await createInquiry(owner, request.data);
  metrics.addMetric('inquiriesCreated', MetricUnit.Count, 1);
  return respond(201, { inquiry });
};

const errorHandler = (): middy.MiddlewareObj<
  APIGatewayProxyEventV2WithJWTAuthorizer,
  APIGatewayProxyStructuredResultV2
> => ({
  onError: (request) => {
    const { error } = request;
    if (isTooLarge(error)) {
      request.response = respond(413, { error: 'PAYLOAD_TOO_LARGE', message: 'Inquiry too large' });
    } else {
      logger.error('request failed', { errorName: error?.name });
      request.response = respond(500, { error: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' });
    }
  },
});

export const handler = middy(lambdaHandler)
  .use(injectLambdaContext(logger))
  .use(logMetrics(metrics, { captureColdStartMetric: true }))
  .use(errorHandler());
