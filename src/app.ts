import type { Context } from 'aws-lambda';
import { replayedHeader, type ErrorResponseBody } from './contract.ts';
import { ApiError, internalError, methodNotAllowed } from './errors.ts';
import {
  readIdempotencyKey,
  readJson,
  readLanguage,
  toLinkHeader,
  createResponse,
} from './http.ts';
import type { GatewayEvent, GatewayResponse } from './http.ts';
import { isEmailVerified, parseIdentity, type Identity } from './identity.ts';
import type { Inquiries, StoreCall } from './inquiries.ts';
import type { CompletedRequest } from './log.ts';

/** Direct calls have none of these. */
type InvocationContext = Partial<
  Pick<Context, 'awsRequestId' | 'functionName' | 'getRemainingTimeInMillis'>
>;

/** Milliseconds for an invocation's requests to the store. docs/adr/0012 */
const STORE_BUDGET = 9_500;
const RESPONSE_RESERVE = 1_500;

interface Request {
  inquiries: Inquiries;
  owner: Identity;
  event: GatewayEvent;
  call: StoreCall;
}

type Operation = (request: Request) => Promise<{
  status: number;
  json: string;
  headers?: Record<string, string>;
}>;

const list: Operation = async ({ inquiries, owner, event, call }) => {
  const { json, next } = await inquiries.list(owner, event.queryStringParameters, call);
  return { status: 200, json, ...(next && { headers: toLinkHeader(next) }) };
};

const create: Operation = async ({ inquiries, owner, event, call }) => {
  const { isReplay, ...response } = await inquiries.create(owner, readJson(event), call, {
    key: readIdempotencyKey(event),
    language: readLanguage(event),
    isEmailVerified: isEmailVerified(claimsOf(event)),
  });
  const json = JSON.stringify(response);
  return { status: 201, json, ...(isReplay && { headers: { [replayedHeader]: 'true' } }) };
};

const claimsOf = ({ requestContext }: GatewayEvent): unknown =>
  requestContext?.authorizer?.jwt?.claims;

/** A plain object would also have `constructor` as a method. */
export const operations: ReadonlyMap<unknown, Operation> = new Map([
  ['GET', list],
  ['POST', create],
]);

export const allowedMethods = [...operations.keys()].join(', ');

/** Turns an event into a response. Never rejects. */
export function createApp({
  inquiries,
  corsOrigin,
  log,
}: {
  inquiries: Inquiries;
  corsOrigin: string;
  log?: (request: CompletedRequest) => void;
}) {
  return async (event: GatewayEvent, context?: InvocationContext): Promise<GatewayResponse> => {
    // performance.now() makes Node load a module in every cold start.
    const started = process.hrtime.bigint();
    const method = event?.requestContext?.http?.method;
    const remaining = context?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY;
    const budget = Math.max(0, Math.floor(Math.min(STORE_BUDGET, remaining - RESPONSE_RESERVE)));
    const call = { signal: AbortSignal.timeout(budget), attempts: 0 };
    let error: unknown;
    let response: GatewayResponse;
    try {
      // The contract checks the method before the claims (docs/contract.md).
      const operation = operations.get(method);
      if (operation === undefined) throw methodNotAllowed(allowedMethods);
      const owner = parseIdentity(claimsOf(event));
      const { status, json, headers } = await operation({ inquiries, owner, event, call });
      response = createResponse(status, json, corsOrigin, headers);
    } catch (thrown) {
      error = thrown;
      const { status, code, message, headers } =
        thrown instanceof ApiError ? thrown : internalError();
      const body: ErrorResponseBody = { error: code, message };
      response = createResponse(status, JSON.stringify(body), corsOrigin, headers);
    }
    log?.({
      requestId: context?.awsRequestId,
      functionName: context?.functionName,
      method,
      status: response.statusCode,
      milliseconds: Number(process.hrtime.bigint() - started) / 1e6,
      attempts: call.attempts,
      error,
    });
    return response;
  };
}
