/** The packages of the function (SDK, ElectroDB, uuidv7) in one plain module. */
import type { APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { createInquiry, isTooLarge, listInquiries, parseListQuery, parseSub } from './shared/inquiries.ts';

export const handler = async (
  event: APIGatewayProxyEventV2WithJWTAuthorizer,
): Promise<APIGatewayProxyStructuredResultV2> => {
  try {
    const { method } = event.requestContext.http;
    if (method !== 'GET' && method !== 'POST') {
      return respond(
        405,
        { error: 'METHOD_NOT_ALLOWED', message: 'Allowed: GET, POST' },
        { Allow: 'GET, POST' },
      );
    }
    const claims = event.requestContext.authorizer?.jwt?.claims ?? {};
    const email = claims['email'];
    const cognito_sub = parseSub(claims['sub']);
    if (typeof email !== 'string' || email === '' || cognito_sub === undefined) {
      return respond(401, { error: 'Unauthorized', message: 'Invalid or missing required JWT claims' });
    }
    const owner = { cognito_sub, email };

    if (method === 'GET') {
      const query = parseListQuery(event.queryStringParameters);
      if (query === undefined) return respond(400, { error: 'BAD_REQUEST', message: 'Bad limit or before' });
      const { inquiries, headers } = await listInquiries(owner, query);
      return respond(200, { email, count: inquiries.length, inquiries }, headers);
    }

    if (event.body === undefined) return respond(400, { error: 'BAD_REQUEST', message: 'No body' });
    const text = event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body;
    const request = JSON.parse(text) as { subject?: unknown; body?: unknown } | null;
    const { subject, body } = request ?? {};
    if (typeof subject !== 'string' || typeof body !== 'string') {
      return respond(400, { error: 'BAD_REQUEST', message: 'subject and body must be strings' });
    }
    return respond(201, { inquiry: await createInquiry(owner, { subject, body }) });
  } catch (error) {
    if (isTooLarge(error)) return respond(413, { error: 'PAYLOAD_TOO_LARGE', message: 'Inquiry too large' });
    console.error(error instanceof Error ? error.name : 'Error');
    return respond(500, { error: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' });
  }
};

function respond(
  statusCode: number,
  body: unknown,
  headers: Record<string, string> = {},
): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode,
    headers: {
      'Content-Type': 'application/json',
      'Access-Control-Allow-Origin': process.env['CORS_ORIGIN'] ?? '',
      ...headers,
    },
    body: JSON.stringify(body),
  };
}
