import { idempotencyKeySchema, requiredFields, type ListQuery } from './contract.ts';
import { ApiError, badRequest, bodyTooLarge, unparsableJson } from './errors.ts';
import { parseLanguage, type Language } from '../text/languages.ts';

/** The parts of a payload 2.0 event that the app reads, unchecked. */
export interface GatewayEvent {
  requestContext?: {
    http?: { method?: unknown };
    authorizer?: { jwt?: { claims?: unknown } };
  };
  /** In lower case; repeated headers are joined by commas. */
  headers?: unknown;
  /** Decoded; repeated parameters are joined by commas. */
  queryStringParameters?: unknown;
  body?: unknown;
  isBase64Encoded?: unknown;
}

export interface GatewayResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

/** Keeps the byte order mark, which JSON.parse rejects. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** UTF-16 units. docs/adr/0062 */
const LENGTH_LIMIT = 2_600_000;
/** UTF-16 units. The structure of a shorter body is not checked. */
const ANY_STRUCTURE_LIMIT = 256 * 1024;
const STRUCTURE_LIMIT = 10_000;

/**
 * Parses the body, which is text or base64.
 *
 * @throws ApiError 400 without a body, 413 when it is too large for any inquiry, 500 when it is not JSON or not UTF-8.
 */
export function readJson({ body, isBase64Encoded }: GatewayEvent): unknown {
  if (typeof body !== 'string') {
    throw badRequest(`The request has no body; the fields ${requiredFields} are missing.`);
  }
  try {
    const text = isBase64Encoded === true ? utf8.decode(Buffer.from(body, 'base64')) : body;
    if (exceedsLimits(text)) throw bodyTooLarge();
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof ApiError ? error : unparsableJson(error);
  }
}

/** Whether parsing could exceed the function's memory. */
function exceedsLimits(text: string): boolean {
  if (text.length <= ANY_STRUCTURE_LIMIT) return false;
  if (text.length > LENGTH_LIMIT) return true;
  let count = 0;
  let inString = false;
  for (let index = 0; index < text.length && count <= STRUCTURE_LIMIT; index++) {
    const character = text[index] ?? '';
    if (character === '"') inString = !inString;
    else if (inString && character === '\\') index++;
    else if (!inString && '{}[],:'.includes(character)) count++;
  }
  return count > STRUCTURE_LIMIT;
}

const IDEMPOTENCY_KEY = new RegExp(idempotencyKeySchema.pattern);

/** `"abc"` and `abc` are the same key. docs/adr/0090 @throws ApiError 400 when it is malformed, empty or repeated. */
export function readIdempotencyKey(event: GatewayEvent): string | undefined {
  const header = headerOf(event, 'idempotency-key');
  if (header === undefined) return undefined;
  const [, quoted, bare] = (typeof header === 'string' && IDEMPOTENCY_KEY.exec(header)) || [];
  const key = bare ?? quoted?.replaceAll(/\\(.)/g, '$1');
  if (key !== undefined) return key;
  throw badRequest(
    'The header `Idempotency-Key` must be one key of 1 to 255 visible ASCII characters.',
  );
}

/** The language of mails to the owner. docs/adr/0080 */
export const readLanguage = (event: GatewayEvent): Language | undefined =>
  parseLanguage(headerOf(event, 'accept-language'));

const headerOf = ({ headers }: GatewayEvent, name: string): unknown =>
  ((headers ?? {}) as Partial<Record<string, unknown>>)[name];

export function createResponse(
  statusCode: number,
  json: string,
  corsOrigin: string,
  headers: Record<string, string> = {},
): GatewayResponse {
  return {
    statusCode,
    headers: {
      'Content-Type': 'application/json',
      'Access-Control-Allow-Origin': corsOrigin,
      ...headers,
    },
    body: json,
  };
}

/** RFC 8288. A reference that is only a query works under any base path. docs/adr/0015 */
export function toLinkHeader({ before, ...others }: ListQuery): Record<string, string> {
  const parameters = Object.entries({ before, ...others });
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`);
  return { Link: `<?${query.join('&')}>; rel="next"` };
}
