/** API Gateway's own responses and limits. docs/adr/0017 */
import { LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';

export interface Reply {
  status: number;
  message: string;
}

export const replies = {
  badRequest: { status: 400, message: 'Bad Request' },
  unauthorized: { status: 401, message: 'Unauthorized' },
  notFound: { status: 404, message: 'Not Found' },
  payloadTooLarge: { status: 413, message: 'Request Entity Too Large' },
  tooManyRequests: { status: 429, message: 'Too Many Requests' },
  headersTooLarge: { status: 431, message: 'Request Header Fields Too Large' },
  internalError: { status: 500, message: 'Internal Server Error' },
  unavailable: { status: 503, message: 'Service Unavailable' },
} as const satisfies Record<string, Reply>;

/** Source: API Gateway quotas for HTTP APIs, Lambda quotas. */
export const limits = {
  headers: 10_240,
  /** Bytes. */
  body: 10 * 1024 * 1024,
  /** Bytes of event or result, as JSON. */
  lambdaPayload: LAMBDA_PAYLOAD_LIMIT,
  timeout: 30_000,
} as const;
