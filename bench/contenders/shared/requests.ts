import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { LAMBDA_PAYLOAD_LIMIT } from '../../../src/limits.ts';

export interface Owner {
  cognito_sub: string;
  email: string;
}

export interface ListQuery {
  limit?: number | undefined;
  before?: string | undefined;
}

export interface Message {
  subject: string;
  body: string;
}

/** Bytes of a list in Lambda's response, in which the body is an escaped string. */
export const LIST_BUDGET = LAMBDA_PAYLOAD_LIMIT - 64 * 1024;

const CORS_ORIGIN = process.env['CORS_ORIGIN'] ?? '';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Its message is the error's code. */
export class Refusal extends Error {
  status: number;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

/** @throws Refusal for a missing or malformed claim. */
export function parseOwner({ email, sub }: Record<string, unknown> = {}): Owner {
  if (typeof email !== 'string' || email === '' || typeof sub !== 'string' || !UUID.test(sub)) {
    throw new Refusal(401, 'Unauthorized');
  }
  return { cognito_sub: sub.toLowerCase(), email };
}

/** @throws Refusal for a malformed parameter. */
export function parseListQuery(query: Partial<Record<string, string>> = {}): ListQuery {
  const { limit, before } = query;
  const isValid =
    (limit === undefined || /^([1-9]\d{0,2}|1000)$/.test(limit)) &&
    (before === undefined || UUID.test(before));
  if (!isValid) throw new Refusal(400, 'BAD_REQUEST');
  return { limit: limit === undefined ? limit : Number(limit), before };
}

/** @throws SyntaxError unless it is JSON; Refusal for a missing or wrong field. */
export function parseRequest(text = '{}'): Message {
  const { subject, body } = (JSON.parse(text) ?? {}) as Partial<Record<string, unknown>>;
  if (typeof subject !== 'string' || typeof body !== 'string') {
    throw new Refusal(400, 'BAD_REQUEST');
  }
  return { subject, body };
}

export function linkTo(before: string, limit: number | undefined): Record<string, string> {
  return { Link: `<?before=${before}${limit === undefined ? '' : `&limit=${limit}`}>; rel="next"` };
}

/** A string as body is JSON already. */
export function respond(
  statusCode: number,
  body: object | string,
  headers: Record<string, string> = {},
) {
  return {
    statusCode,
    headers: {
      'Content-Type': 'application/json',
      'Access-Control-Allow-Origin': CORS_ORIGIN,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  } satisfies APIGatewayProxyStructuredResultV2;
}

export function respondToError(error: Error) {
  const isRefusal = error instanceof Refusal;
  const [status, code] = isRefusal ? [error.status, error.message] : [500, 'INTERNAL_SERVER_ERROR'];
  if (status === 500) console.error(error.name);
  const headers = status === 405 ? { Allow: 'GET, POST' } : {};
  return respond(status, { error: code, message: `refused: ${code}` }, headers);
}
