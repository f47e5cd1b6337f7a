import { idempotencyKeySchema, requiredFields, type ListQuery } from './contract.ts';
import { ApiError, badRequest, bodyTooLarge, unparsableJson } from './errors.ts';
import { parseLanguage, type Language } from './text/languages.ts';

/**
 * The paths of a payload 2.0 event that are read. All are optional and unknown, because a direct invocation may send
 * anything. Source: spec, "Gateway event read by the function".
 */
export interface GatewayEvent {
  requestContext?: {
    http?: { method?: unknown };
    authorizer?: { jwt?: { claims?: unknown } };
  };
  /** Names in lower case; the values of a repeated header are joined by commas. */
  headers?: unknown;
  /** Decoded; the values of a repeated parameter are joined by commas. */
  queryStringParameters?: unknown;
  body?: unknown;
  isBase64Encoded?: unknown;
}

/** The proxy response form. Source: spec, "Function response shape". */
export interface GatewayResponse {
  statusCode: number;
  headers: Record<string, string>;
  /** Serialized JSON. */
  body: string;
}

/** `ignoreBOM` keeps the byte order mark, so that JSON.parse rejects it, as in a body that is not base64. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** UTF-16 units of the longest body that is parsed: an item of 400 KB with every byte escaped, and room for space. */
const LENGTH_LIMIT = 2_600_000;
/** UTF-16 units up to which a body may have any structure. */
const ANY_STRUCTURE_LIMIT = 256 * 1024;
/** Structural characters of a longer body. */
const STRUCTURE_LIMIT = 10_000;

/**
 * Parses the body of an event as JSON; base64 (the gateway's form for content types that are not text) is decoded
 * first. Of duplicate keys the last wins. docs/contract.md, docs/adr/0062
 *
 * @throws ApiError 400 when there is no body at all, 413 when no storable inquiry can need it, 500 when it is not
 * JSON or not UTF-8.
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

/**
 * Whether JSON.parse could take more memory than the function has: it builds some 50 bytes for each character of a
 * body such as `[[[[…`. Counts `{}[],:` outside strings. docs/adr/0062
 */
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

/**
 * Reads the header Idempotency-Key. `"abc"` and `abc` are one key. docs/adr/0090
 *
 * @returns The key without quotes, or undefined when there is no header.
 * @throws ApiError 400 when it is malformed, empty or repeated.
 */
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

/** The language in which an answer is expected, from the header Accept-Language. docs/adr/0080 */
export const readLanguage = (event: GatewayEvent): Language | undefined =>
  parseLanguage(headerOf(event, 'accept-language'));

const headerOf = ({ headers }: GatewayEvent, name: string): unknown =>
  ((headers ?? {}) as Partial<Record<string, unknown>>)[name];

/**
 * A response with the two headers that every response carries.
 *
 * @param json - The body.
 * @param headers - Further headers.
 */
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

/**
 * The Link header (RFC 8288) to the rest of a list, with the other parameters of the request. A query-only reference is
 * valid under any base path. docs/adr/0015
 */
export function toLinkHeader({ before, ...others }: ListQuery): Record<string, string> {
  const parameters = Object.entries({ before, ...others });
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`);
  return { Link: `<?${query.join('&')}>; rel="next"` };
}
