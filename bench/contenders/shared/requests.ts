/** What the contenders share that has no package: the parsing of requests, responses, and a plain handler. */
import type {
  APIGatewayProxyEventV2WithJWTAuthorizer,
  APIGatewayProxyStructuredResultV2,
} from 'aws-lambda';
import { LAMBDA_PAYLOAD_LIMIT } from '../../../src/limits.ts';

export interface Owner {
  readonly cognito_sub: string;
  readonly email: string;
}

export interface ListQuery {
  readonly limit?: number | undefined;
  readonly before?: string | undefined;
}

/** Bytes that a list may take of Lambda's response, in which the body is an escaped string. */
export const LIST_BUDGET = LAMBDA_PAYLOAD_LIMIT - 64 * 1024;

const CORS_ORIGIN = process.env['CORS_ORIGIN'] ?? '';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The owner whom the claims name, or undefined where one is missing or malformed. */
export function parseOwner({ email, sub }: Readonly<Record<string, unknown>> = {}):
  | Owner
  | undefined {
  if (typeof email !== 'string' || email === '' || typeof sub !== 'string' || !UUID.test(sub)) {
    return undefined;
  }
  return { cognito_sub: sub.toLowerCase(), email };
}

/** The query parameters; undefined where one is malformed. */
export function parseListQuery(query: Partial<Record<string, string>> = {}): ListQuery | undefined {
  const { limit, before } = query;
  if (before !== undefined && !UUID.test(before)) return undefined;
  if (limit === undefined) return { before };
  return /^([1-9]\d{0,2}|1000)$/.test(limit) ? { limit: Number(limit), before } : undefined;
}

/** The fields of the body, or undefined where one is missing or no string. @throws SyntaxError when it is not JSON. */
export function parseRequest(text: string): { subject: string; body: string } | undefined {
  const { subject, body } = (JSON.parse(text) ?? {}) as { subject?: unknown; body?: unknown };
  return typeof subject === 'string' && typeof body === 'string' ? { subject, body } : undefined;
}

/** The headers of a list that ends before the owner's last inquiry. */
export function linkTo(before: string, limit: number | undefined): Record<string, string> {
  return { Link: `<?before=${before}${limit === undefined ? '' : `&limit=${limit}`}>; rel="next"` };
}

/** Whether DynamoDB refused an item because of its size. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Item size has exceeded');
}

/** A response; the body is JSON already where it is a string. */
export function respond(
  statusCode: number,
  body: object | string,
  headers: Record<string, string> = {},
): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode,
    headers: {
      'Content-Type': 'application/json',
      'Access-Control-Allow-Origin': CORS_ORIGIN,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** Responses to requests that the contract refuses; {@link respondToError} has those to errors. */
export const refusals = {
  unauthorized: () => refuse(401, 'Unauthorized'),
  badRequest: () => refuse(400, 'BAD_REQUEST'),
  methodNotAllowed: () => refuse(405, 'METHOD_NOT_ALLOWED', { Allow: 'GET, POST' }),
};

export const refuse = (status: number, error: string, headers?: Record<string, string>) =>
  respond(status, { error, message: `refused: ${error}` }, headers);

export const respondToError = (error: unknown) =>
  isTooLarge(error) ? refuse(413, 'PAYLOAD_TOO_LARGE') : refuse(500, 'INTERNAL_SERVER_ERROR');

/** A handler without a framework. `list` resolves to the body of the response, as an object or as JSON. */
export function createHandler(
  list: (
    owner: Owner,
    query: ListQuery,
  ) => Promise<{ body: object | string; headers: Record<string, string> }>,
  create: (owner: Owner, request: { subject: string; body: string }) => Promise<object>,
) {
  const respondTo = async (event: APIGatewayProxyEventV2WithJWTAuthorizer) => {
    const { method } = event.requestContext.http;
    if (method !== 'GET' && method !== 'POST') return refusals.methodNotAllowed();
    const owner = parseOwner(event.requestContext.authorizer?.jwt?.claims);
    if (!owner) return refusals.unauthorized();
    if (method === 'GET') {
      const query = parseListQuery(event.queryStringParameters);
      if (!query) return refusals.badRequest();
      const { body, headers } = await list(owner, query);
      return respond(200, body, headers);
    }
    if (event.body === undefined) return refusals.badRequest();
    const text = event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body;
    const request = parseRequest(text);
    if (!request) return refusals.badRequest();
    return respond(201, { inquiry: await create(owner, request) });
  };
  return async (event: APIGatewayProxyEventV2WithJWTAuthorizer) => {
    try {
      return await respondTo(event);
    } catch (error) {
      console.error(error instanceof Error ? error.name : 'Error');
      return respondToError(error);
    }
  };
}
