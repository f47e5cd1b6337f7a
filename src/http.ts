import { createInquiryRequestSchema } from './contract.ts';
import type { ErrorResponseBody, ListQuery } from './contract.ts';
import { badRequest, unparsableJson } from './errors.ts';
import type { ApiError } from './errors.ts';
import { parseJson } from './json.ts';

/**
 * The paths of a payload 2.0 event that are read, and no others. All are optional and unknown, because a direct
 * invocation may send anything. Source: spec, "Gateway event read by the function".
 */
export interface GatewayEvent {
  readonly requestContext?: {
    readonly http?: { readonly method?: unknown };
    readonly authorizer?: { readonly jwt?: { readonly claims?: unknown } };
  };
  /** Decoded; repeated values are joined by commas. */
  readonly queryStringParameters?: unknown;
  readonly body?: unknown;
  readonly isBase64Encoded?: unknown;
}

/** The proxy response form. Source: spec, "Function response shape". */
export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  /** Serialized JSON. */
  readonly body: string;
}

/** `ignoreBOM` keeps a byte order mark, so that both spellings of a body are answered alike: it is not JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses the body of an event as JSON; base64 (what the gateway sends for content types that are not text) is
 * decoded first. Of duplicate keys the last wins. Of a long body only the fields of a request are kept.
 * docs/adr/0004, docs/adr/0005, docs/adr/0014, docs/adr/0062
 *
 * @throws ApiError 400 when there is no body at all, 500 when it is not JSON or not UTF-8.
 */
export function readJson(event: GatewayEvent): unknown {
  const { body, isBase64Encoded } = event;
  if (typeof body !== 'string') {
    throw badRequest('The request has no body; the fields `subject` and `body` are missing.');
  }
  try {
    const text = isBase64Encoded === true ? utf8.decode(Buffer.from(body, 'base64')) : body;
    return parseJson(text, createInquiryRequestSchema.required);
  } catch (error) {
    throw unparsableJson(error);
  }
}

/** A response with the two headers that every response carries, and with more where an error asks for them. */
export function toResponse(
  statusCode: number,
  body: unknown,
  corsOrigin: string,
  headers: Readonly<Record<string, string>> = {},
): GatewayResponse {
  return {
    statusCode,
    headers: { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': corsOrigin, ...headers },
    body: JSON.stringify(body),
  };
}

/**
 * The Link header (RFC 8288) to the rest of a list. It is a query-only reference, which holds under any base path.
 * docs/adr/0016
 */
export function toLinkHeader({ before, limit }: ListQuery): Record<string, string> {
  return { Link: `<?before=${before}${limit === undefined ? '' : `&limit=${limit}`}>; rel="next"` };
}

/** The response of an error: `{error, message}`. */
export function toErrorResponse(error: ApiError, corsOrigin: string): GatewayResponse {
  const body: ErrorResponseBody = { error: error.code, message: error.message };
  return toResponse(error.status, body, corsOrigin, error.headers);
}
