/** Hono with its adapter for Lambda. */
import { Hono } from 'hono';
import { handle, type ApiGatewayRequestContextV2 } from 'hono/aws-lambda';
import { createInquiry, listInquiries } from './shared/inquiries.ts';
import {
  isTooLarge,
  parseListQuery,
  parseOwner,
  parseRequest,
  type Owner,
} from './shared/requests.ts';

interface Environment {
  Bindings: { requestContext: ApiGatewayRequestContextV2 };
  Variables: { owner: Owner };
}

const describe = (error: string) => ({ error, message: `refused: ${error}` });

const app = new Hono<Environment>();

app.use(async (context, next) => {
  await next();
  context.res.headers.set('Access-Control-Allow-Origin', process.env['CORS_ORIGIN'] ?? '');
  context.res.headers.set('Content-Type', 'application/json');
});

app.on(['GET', 'POST'], '/inquiries', async (context, next) => {
  const owner = parseOwner(context.env.requestContext.authorizer?.jwt?.claims);
  if (!owner) return context.json(describe('Unauthorized'), 401);
  context.set('owner', owner);
  return next();
});

app.get('/inquiries', async (context) => {
  const owner = context.get('owner');
  const query = parseListQuery(context.req.query());
  if (query === undefined) return context.json(describe('BAD_REQUEST'), 400);
  const { inquiries, headers } = await listInquiries(owner, query);
  return context.json({ email: owner.email, count: inquiries.length, inquiries }, 200, {
    ...headers,
  });
});

app.post('/inquiries', async (context) => {
  const text = await context.req.text();
  const request = text === '' ? undefined : parseRequest(text);
  if (!request) return context.json(describe('BAD_REQUEST'), 400);
  return context.json({ inquiry: await createInquiry(context.get('owner'), request) }, 201);
});

app.all('/inquiries', (context) =>
  context.json(describe('METHOD_NOT_ALLOWED'), 405, { Allow: 'GET, POST' }),
);

app.onError((error, context) => {
  if (isTooLarge(error)) return context.json(describe('PAYLOAD_TOO_LARGE'), 413);
  console.error(error.name);
  return context.json(describe('INTERNAL_SERVER_ERROR'), 500);
});

export const handler = handle(app);
