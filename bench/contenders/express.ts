/** Express behind serverless-http. */
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';
import express from 'express';
import type { ErrorRequestHandler, Request } from 'express';
import serverless from 'serverless-http';
import { createInquiry, isTooLarge, listInquiries, parseListQuery, parseSub } from './shared/inquiries.ts';
import type { Owner } from './shared/inquiries.ts';

type LambdaRequest = Request & { event?: APIGatewayProxyEventV2WithJWTAuthorizer };

const app = express();
app.disable('x-powered-by');

app.use((_request, response, next) => {
  response.set({
    'Access-Control-Allow-Origin': process.env['CORS_ORIGIN'] ?? '',
    'Content-Type': 'application/json',
  });
  next();
});
app.use(express.json({ limit: '6mb', strict: false, type: () => true }));

app
  .route('/inquiries')
  .all((request: LambdaRequest, response, next) => {
    if (request.method !== 'GET' && request.method !== 'POST') return next();
    const claims = request.event?.requestContext.authorizer?.jwt?.claims ?? {};
    const email = claims['email'];
    const cognito_sub = parseSub(claims['sub']);
    if (typeof email !== 'string' || email === '' || cognito_sub === undefined) {
      response.status(401).json({ error: 'Unauthorized', message: 'Invalid or missing required JWT claims' });
      return;
    }
    response.locals['owner'] = { cognito_sub, email };
    next();
  })
  .get(async (request, response) => {
    const owner = response.locals['owner'] as Owner;
    const query = parseListQuery(request.query as Partial<Record<string, string>>);
    if (query === undefined) {
      response.status(400).json({ error: 'BAD_REQUEST', message: 'Bad limit or before' });
      return;
    }
    const { inquiries, headers } = await listInquiries(owner, query);
    response.set(headers).json({ email: owner.email, count: inquiries.length, inquiries });
  })
  .post(async (request, response) => {
    const { subject, body } = (request.body ?? {}) as { subject?: unknown; body?: unknown };
    if (typeof subject !== 'string' || typeof body !== 'string') {
      response.status(400).json({ error: 'BAD_REQUEST', message: 'subject and body must be strings' });
      return;
    }
    const inquiry = await createInquiry(response.locals['owner'] as Owner, { subject, body });
    response.status(201).json({ inquiry });
  })
  .all((_request, response) => {
    response
      .status(405)
      .set('Allow', 'GET, POST')
      .json({ error: 'METHOD_NOT_ALLOWED', message: 'Allowed: GET, POST' });
  });

const onError: ErrorRequestHandler = (error: Error, _request, response, _next) => {
  if (isTooLarge(error)) {
    response.status(413).json({ error: 'PAYLOAD_TOO_LARGE', message: 'Inquiry too large' });
    return;
  }
  console.error(error.name);
  response.status(500).json({ error: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' });
};
app.use(onError);

export const handler = serverless(app, {
  request(request: LambdaRequest, event: APIGatewayProxyEventV2WithJWTAuthorizer) {
    request.event = event;
  },
});
