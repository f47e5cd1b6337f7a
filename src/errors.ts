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
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    options: ErrorOptions & { headers?: Record<string, string> } = {},
  ) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
  }
}

/** JSON that is not what the operation expects; the message names the field. docs/contract.md */
export const badRequest = (message: string): ApiError => new ApiError(400, 'BAD_REQUEST', message);

/** Spec, "Errors": claims missing, `email` empty or `sub` not a UUID. The message does not tell which. */
export const unauthorized = (): ApiError =>
  new ApiError(401, 'Unauthorized', 'Invalid or missing required JWT claims');

/** RFC 9110 section 15.5.6: a 405 names the methods that are allowed. docs/contract.md */
export const methodNotAllowed = (allow: string): ApiError =>
  new ApiError(405, 'METHOD_NOT_ALLOWED', `Allowed methods: ${allow}.`, {
    headers: { Allow: allow },
  });

/** Messages by what is too large. */
const TOO_LARGE = {
  request: 'The request body is larger than any inquiry that can be stored.',
  inquiry: `The inquiry is larger than the ${ITEM_LIMIT / 1024} KB that can be stored.`,
  email: 'The `email` claim is too long for an inquiry to be stored under it.',
};

/** Nothing is stored. docs/contract.md, docs/adr/0062 */
export const payloadTooLarge = (what: keyof typeof TOO_LARGE): ApiError =>
  new ApiError(413, 'PAYLOAD_TOO_LARGE', TOO_LARGE[what]);

/** The key names an inquiry with another subject or body. docs/adr/0090 */
export const keyReused = (): ApiError =>
  new ApiError(
    422,
    'IDEMPOTENCY_KEY_REUSED',
    'The Idempotency-Key was used for an inquiry with another subject or body.',
  );

/** A request with the same key is being processed. docs/adr/0090 */
export const keyConflict = (): ApiError =>
  new ApiError(
    409,
    'IDEMPOTENCY_CONFLICT',
    'A request with this Idempotency-Key is being processed. Please send it again.',
    { headers: { 'Retry-After': '1' } },
  );

/**
 * The owner has reached the limit of the stage. docs/adr/0091
 *
 * @param seconds - Until the owner may send the next inquiry.
 */
export const tooManyRequests = (perHour: number, seconds: number): ApiError =>
  new ApiError(
    429,
    'TOO_MANY_REQUESTS',
    `The limit of inquiries per hour (${perHour}) is reached.`,
    {
      headers: { 'Retry-After': String(seconds) },
    },
  );

/** Other requests of the owner are being counted; nothing is stored. docs/adr/0091 */
export const tooManyAtOnce = (): ApiError =>
  new ApiError(429, 'TOO_MANY_REQUESTS', 'There are too many requests at once.', {
    headers: { 'Retry-After': '1' },
  });

/** The spec's 500 for a body that is not JSON; the message tells the client what to correct. docs/contract.md */
export const unparsableJson = (cause: unknown): ApiError =>
  new ApiError(500, 'INTERNAL_SERVER_ERROR', 'The request body could not be parsed as JSON.', {
    cause,
  });

/** Any internal error: one fixed message that reveals nothing of the cause. docs/contract.md */
export const internalError = (): ApiError =>
  new ApiError(
    500,
    'INTERNAL_SERVER_ERROR',
    'The request could not be processed. Please try again later.',
  );
