/** The error responses of the page's API (inbox/server.ts): all statuses of it that are not shared with the public API. */
import { ApiError } from '../src/errors.ts';
import { TOO_LARGE } from './store.ts';

/** The body is the result, not an error. */
export const ALREADY_ANSWERED = 409;

export const wrongAddress = (): ApiError =>
  new ApiError(403, 'WRONG_ADDRESS', 'The secret in the address is wrong.');

export const wrongOrigin = (): ApiError =>
  new ApiError(403, 'WRONG_ORIGIN', 'The request is from another page.');

export const unknownPath = (): ApiError => new ApiError(404, 'NOT_FOUND', 'There is nothing at this path.');

export const unknownInquiry = (): ApiError =>
  new ApiError(404, 'NOT_FOUND', 'There is no such inquiry: it has expired, was erased or never existed.');

export const replyTooLarge = (): ApiError => new ApiError(413, 'TOO_LARGE', TOO_LARGE);

export const unsupportedMediaType = (): ApiError =>
  new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The content type must be application/json.');

/** DynamoDB or AWS failed. */
export const tableError = (message: string): ApiError => new ApiError(502, 'TABLE_ERROR', message);
