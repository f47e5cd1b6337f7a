import { ApiError, internalError, methodNotAllowed } from './errors.ts';
import { readJson, toErrorResponse, toLinkHeader, toResponse } from './http.ts';
import type { GatewayEvent, GatewayResponse } from './http.ts';
import { parseIdentity } from './identity.ts';
import type { Identity } from './identity.ts';
import type { Inquiries } from './inquiries.ts';
import { logFailure } from './log.ts';

/** What is read of Lambda's invocation context. Lambda always gives both; a direct call may give neither. */
export interface InvocationContext {
  readonly awsRequestId?: string;
  getRemainingTimeInMillis?(): number;
}

export interface AppDependencies {
  readonly inquiries: Inquiries;
  /** Value of Access-Control-Allow-Origin. */
  readonly corsOrigin: string;
}

/** Milliseconds that the store may take in all, retries and pages included: 10 s less the time to say so. docs/adr/0012 */
const STORE_BUDGET = 9_500;
/** Milliseconds kept back to answer before Lambda's own timeout ends the function without an answer. */
const ANSWER_RESERVE = 1_500;

/**
 * Creates the function: event in, response out. It never rejects: whatever is thrown below becomes a response
 * here and nowhere else.
 */
export function createApp({
  inquiries,
  corsOrigin,
}: AppDependencies): (event: GatewayEvent, context?: InvocationContext) => Promise<GatewayResponse> {
  type Operation = (owner: Identity, event: GatewayEvent, signal: AbortSignal) => Promise<GatewayResponse>;
  const operations = new Map<unknown, Operation>([
    [
      'GET',
      async (owner, event, signal) => {
        const { list, next } = await inquiries.list(owner, event.queryStringParameters, signal);
        return toResponse(200, list, corsOrigin, next && toLinkHeader(next));
      },
    ],
    [
      'POST',
      async (owner, event, signal) =>
        toResponse(201, await inquiries.create(owner, readJson(event), signal), corsOrigin),
    ],
  ]);

  return async (event, context) => {
    try {
      // The method is looked at first: any other is a 405 whatever the claims. docs/adr/0003
      const operation = operations.get(event?.requestContext?.http?.method);
      if (operation === undefined) throw methodNotAllowed([...operations.keys()].join(', '));
      const owner = parseIdentity(event.requestContext?.authorizer?.jwt?.claims);
      const remaining = context?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY;
      // A timeout takes whole milliseconds only.
      const time = Math.max(0, Math.floor(Math.min(STORE_BUDGET, remaining - ANSWER_RESERVE)));
      return await operation(owner, event, AbortSignal.timeout(time));
    } catch (error) {
      const answer = error instanceof ApiError ? error : internalError();
      if (answer.status >= 500) logFailure(context?.awsRequestId, error);
      return toErrorResponse(answer, corsOrigin);
    }
  };
}
