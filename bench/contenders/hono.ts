import { Hono } from 'hono';
import { handle, type ApiGatewayRequestContextV2 } from 'hono/aws-lambda';
import { createInquiry, listInquiries } from './shared/inquiries.ts';
import {
  parseListQuery,
  parseOwner,
  parseRequest,
  Refusal,
  respondToError,
  type Owner,
} from './shared/requests.ts';

interface Environment {
  Bindings: { requestContext: ApiGatewayRequestContextV2 };
  Variables: { owner: Owner };
}

const app = new Hono<Environment>();

app.use(async (context, next) => {
  context.set('owner', parseOwner(context.env.requestContext.authorizer?.jwt?.claims));
  await next();
  context.header('Access-Control-Allow-Origin', process.env['CORS_ORIGIN'] ?? '');
});

app.get('/inquiries', async (context) => {
  const owner = context.get('owner');
  const { inquiries, headers } = await listInquiries(owner, parseListQuery(context.req.query()));
  return context.json({ email: owner.email, count: inquiries.length, inquiries }, 200, headers);
});

app.post('/inquiries', async (context) => {
  const message = parseRequest((await context.req.text()) || undefined);
  return context.json({ inquiry: await createInquiry(context.get('owner'), message) }, 201);
});

app.all('/inquiries', () => {
  throw new Refusal(405, 'METHOD_NOT_ALLOWED');
});

app.onError((error) => {
  const { statusCode, headers, body } = respondToError(error);
  return new Response(body, { status: statusCode, headers });
});

export const handler = handle(app);
