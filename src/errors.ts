import { ITEM_LIMIT } from './limits.ts';

/**
 * A response other than success. Thrown anywhere below `app.ts`, which turns it into a response; anything else that
 * is thrown becomes {@link internalError}. Of src/, only this file has the status numbers of errors.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status. */
  readonly status: number;
  /** `error` of the response body. */
  readonly code: string;
  /** Response headers this error needs besides the two of every response. */
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

/** JSON that is not what the operation expects; the message names the field. docs/contract.md */
export const badRequest = (message: string): ApiError => new ApiError(400, 'BAD_REQUEST', message);

/** Spec, "Errors": claims missing, `email` empty or `sub` not a UUID. The message does not tell which. */
export const unauthorized = (): ApiError =>
  new ApiError(401, 'Unauthorized', 'Invalid or missing required JWT claims');

/** RFC 9110 section 15.5.6: a 405 names the methods that are allowed. docs/contract.md */
export const methodNotAllowed = (allow: string): ApiError =>
  new ApiError(405, 'METHOD_NOT_ALLOWED', `Allowed methods: ${allow}.`, { Allow: allow });

/** Nothing is stored. docs/contract.md, docs/adr/0062 */
const payloadTooLarge = (message: string): ApiError =>
  new ApiError(413, 'PAYLOAD_TOO_LARGE', message);

export const bodyTooLarge = (): ApiError =>
  payloadTooLarge('The request body is larger than any inquiry that can be stored.');

/** Errors by why the store has refused an inquiry; nothing is stored. */
export const refusals = {
  email: () =>
    payloadTooLarge('The `email` claim is too long for an inquiry to be stored under it.'),
  inquiry: () =>
    payloadTooLarge(`The inquiry is larger than the ${ITEM_LIMIT / 1024} KB that can be stored.`),
  /** The key names an inquiry with another text. docs/adr/0090 */
  reused: () =>
    new ApiError(
      422,
      'IDEMPOTENCY_KEY_REUSED',
      'The Idempotency-Key was used for an inquiry with another text.',
    ),
  /** A request with the same key is being processed. docs/adr/0090 */
  'in use': () =>
    new ApiError(
      409,
      'IDEMPOTENCY_CONFLICT',
      'A request with this Idempotency-Key is being processed. Please send it again.',
      { 'Retry-After': '1' },
    ),
  /** Other requests of the owner are being counted. docs/adr/0091 */
  busy: () =>
    new ApiError(429, 'TOO_MANY_AT_ONCE', 'There are too many requests at once.', {
      'Retry-After': '1',
    }),
  /** The owner has reached the limit of the stage, for so many seconds. docs/adr/0091 */
  limit: (perHour: number, seconds: number) =>
    new ApiError(
      429,
      'TOO_MANY_REQUESTS',
      `The limit of inquiries per hour (${perHour}) is reached.`,
      { 'Retry-After': String(seconds) },
    ),
};

/** The spec's 500 for a body that is not JSON; the message tells the client what to correct. docs/contract.md */
export const unparsableJson = (cause: unknown): ApiError =>
  internalError('The request body could not be parsed as JSON.', { cause });

/** Any internal error: one fixed message that reveals nothing of the cause. docs/contract.md */
export const internalError = (
  message = 'The request could not be processed. Please try again later.',
  options?: ErrorOptions,
): ApiError => new ApiError(500, 'INTERNAL_SERVER_ERROR', message, {}, options);
