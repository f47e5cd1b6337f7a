/**
 * An answer other than success. Thrown anywhere below `app.ts`, which turns it into a response; everything
 * else that is thrown becomes {@link internalError}. Status numbers are known in this file alone.
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
    { headers = {}, cause }: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** JSON that is not what the operation asks for; the message names the field. docs/adr/0005 */
export const badRequest = (message: string): ApiError => new ApiError(400, 'BAD_REQUEST', message);

/** Spec, "Errors": claims missing, `email` empty or `sub` not a UUID. One sentence for all, so nothing is probed. */
export const unauthorized = (): ApiError =>
  new ApiError(401, 'Unauthorized', 'Invalid or missing required JWT claims');

/** RFC 9110 section 15.5.6: a 405 names the methods that are allowed. docs/adr/0003 */
export const methodNotAllowed = (allow: string): ApiError =>
  new ApiError(405, 'METHOD_NOT_ALLOWED', `Allowed methods: ${allow}.`, { headers: { Allow: allow } });

/** An inquiry that does not fit into one item of the store. docs/adr/0006 */
export const payloadTooLarge = (): ApiError =>
  new ApiError(413, 'PAYLOAD_TOO_LARGE', 'The inquiry is larger than the 400 KB that can be stored.');

/** The spec answers 500 where the request body is not JSON; the sentence lets the client act on it. docs/adr/0004 */
export const unparsableJson = (cause: unknown): ApiError =>
  new ApiError(500, 'INTERNAL_SERVER_ERROR', 'The request body could not be parsed as JSON.', { cause });

/** Any fault of ours: one fixed sentence, nothing of the cause. docs/adr/0004 */
export const internalError = (): ApiError =>
  new ApiError(500, 'INTERNAL_SERVER_ERROR', 'The request could not be processed. Please try again later.');
