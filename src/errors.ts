import { ITEM_LIMIT } from './limits.ts';

/** An error response. Anything else that is thrown becomes an {@link internalError}. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** Added to the headers of every response. */
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Record<string, string> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const badRequest = (message: string): ApiError => new ApiError(400, 'BAD_REQUEST', message);

/** The message does not tell which claim is wrong. */
export const unauthorized = (): ApiError =>
  new ApiError(401, 'Unauthorized', 'Invalid or missing required JWT claims');

/** RFC 9110, 15.5.6. */
export const methodNotAllowed = (allow: string): ApiError =>
  new ApiError(405, 'METHOD_NOT_ALLOWED', `Allowed methods: ${allow}.`, { Allow: allow });

/** docs/contract.md, docs/adr/0062 */
const payloadTooLarge = (message: string): ApiError =>
  new ApiError(413, 'PAYLOAD_TOO_LARGE', message);

export const bodyTooLarge = (): ApiError =>
  payloadTooLarge('The request body is larger than any inquiry that can be stored.');

export const refusals = {
  email: () =>
    payloadTooLarge('The `email` claim is too long for an inquiry to be stored under it.'),
  inquiry: () =>
    payloadTooLarge(`The inquiry is larger than the ${ITEM_LIMIT / 1024} KB that can be stored.`),
  /** docs/adr/0090 */
  reused: () =>
    new ApiError(
      422,
      'IDEMPOTENCY_KEY_REUSED',
      'The Idempotency-Key was used for an inquiry with another text.',
    ),
  'in use': () =>
    new ApiError(
      409,
      'IDEMPOTENCY_CONFLICT',
      'A request with this Idempotency-Key is being processed. Please send it again.',
      { 'Retry-After': '1' },
    ),
  /** docs/adr/0091 */
  busy: () =>
    new ApiError(429, 'TOO_MANY_AT_ONCE', 'There are too many requests at once.', {
      'Retry-After': '1',
    }),
  limit: (perHour: number, seconds: number) =>
    new ApiError(
      429,
      'TOO_MANY_REQUESTS',
      `The limit of inquiries per hour (${perHour}) is reached.`,
      { 'Retry-After': String(seconds) },
    ),
};

/** The specification asks for 500, although the mistake is the client's. docs/contract.md */
export const unparsableJson = (cause: unknown): ApiError =>
  internalError('The request body could not be parsed as JSON.', { cause });

export const internalError = (
  message = 'The request could not be processed. Please try again later.',
  options?: ErrorOptions,
): ApiError => new ApiError(500, 'INTERNAL_SERVER_ERROR', message, {}, options);
