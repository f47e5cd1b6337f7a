/** What the contenders with Middy have in common: Powertools' logger and metrics, and zod for claims and body. */
import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { z } from 'zod';
import { listInquiries, type createInquiry } from './inquiries.ts';
import { refusals as refused, refuse, respond, respondToError, type Owner } from './requests.ts';

type Inquiry = Awaited<ReturnType<typeof createInquiry>>;

/** Stores an inquiry. The key is the value of the header Idempotency-Key. */
export type Create = (
  owner: Owner,
  request: { subject: string; body: string },
  call: { readonly key: string | undefined; readonly context: Context },
) => Promise<Inquiry>;

/** Status and code of a response by the name of the error. */
type Refusals = Readonly<Record<string, readonly [status: number, code: string]>>;

const logger = new Logger({ serviceName: 'inquiries' });
const metrics = new Metrics({ namespace: 'inquiries', serviceName: 'inquiries' });

const claimsSchema = z.object({ email: z.string().min(1), sub: z.guid().toLowerCase() });
const querySchema = z
  .object({ limit: z.coerce.number().int().min(1).max(1_000).optional(), before: z.uuid({ version: 'v7' }).optional() })
  .prefault({});
const requestSchema = z.object({ subject: z.string(), body: z.string() });

const createLambdaHandler =
  (create: Create) =>
  async (
    event: APIGatewayProxyEventV2WithJWTAuthorizer,
    context: Context,
  ): Promise<APIGatewayProxyStructuredResultV2> => {
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
    const inquiry = await create(owner, request.data, { key: event.headers['idempotency-key'], context });
    metrics.addMetric('inquiriesCreated', MetricUnit.Count, 1);
    return respond(201, { inquiry });
  };

const errorHandler = (
  refusals: Refusals,
): middy.MiddlewareObj<APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyStructuredResultV2> => ({
  onError: (request) => {
    const { error } = request;
    const [status, code] = refusals[error?.name ?? ''] ?? [];
    if (status === undefined) logger.error('request failed', { errorName: error?.name });
    request.response = status === undefined ? respondToError(error) : refuse(status, code ?? '');
  },
});

/** @param refusals - Responses to errors of `create`. */
export const createMiddyHandler = (create: Create, refusals: Refusals = {}) =>
  middy(createLambdaHandler(create))
    .use(injectLambdaContext(logger))
    .use(logMetrics(metrics, { captureColdStartMetric: true }))
    .use(errorHandler(refusals));
