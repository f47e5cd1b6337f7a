import { countAttempts } from './attempts.ts';
import { ApiError, internalError, methodNotAllowed } from './errors.ts';
import { readJson, toErrorResponse, toLinkHeader, toResponse } from './http.ts';
import type { GatewayEvent, GatewayResponse } from './http.ts';
import { parseIdentity } from './identity.ts';
import type { Identity } from './identity.ts';
import type { Inquiries } from './inquiries.ts';
import type { CompletedRequest } from './log.ts';

/** What is read of Lambda's invocation context. Lambda always gives all; a direct call may give none. */
export interface InvocationContext {
  readonly awsRequestId?: string;
  readonly functionName?: string;
  getRemainingTimeInMillis?(): number;
}

export interface AppDependencies {
  readonly inquiries: Inquiries;
  /** Value of Access-Control-Allow-Origin. */
  readonly corsOrigin: string;
  /** Is told about each request when it is answered. */
  readonly log?: (request: CompletedRequest) => void;
}

/** Milliseconds that the store may take in all, retries and pages included: 10 s less the time to say so. docs/adr/0012 */
const STORE_BUDGET = 9_500;
/** Milliseconds kept back to answer before Lambda's own timeout ends the function without an answer. */
const ANSWER_RESERVE = 1_500;

/** One method of the one path: what it does for its owner, and how it answers when that is done. */
interface Operation {
  /** Status of success. */
  readonly status: number;
  run(
    call: { readonly inquiries: Inquiries; readonly owner: Identity; readonly event: GatewayEvent },
    signal: AbortSignal,
  ): Promise<{ readonly body: unknown; readonly headers?: Record<string, string> | undefined }>;
}

/** The operations by method. A Map, so that no method is found on a prototype; the document is generated from it. */
export const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  [
    'GET',
    {
      status: 200,
      async run({ inquiries, owner, event }, signal) {
        const { list, next } = await inquiries.list(owner, event.queryStringParameters, signal);
        return { body: list, headers: next && toLinkHeader(next) };
      },
    },
  ],
  [
    'POST',
    {
      status: 201,
      run: async ({ inquiries, owner, event }, signal) => ({
        body: await inquiries.create(owner, readJson(event), signal),
      }),
    },
  ],
]);

/** Value of Allow. */
export const allowedMethods = [...operations.keys()].join(', ');

/**
 * Creates the function: event in, response out. It never rejects: whatever is thrown below becomes a response
 * here and nowhere else.
 */
export function createApp({
  inquiries,
  corsOrigin,
  log,
}: AppDependencies): (event: GatewayEvent, context?: InvocationContext) => Promise<GatewayResponse> {
  return async (event, context) => {
    const started = performance.now();
    const method = event?.requestContext?.http?.method;
    let signal: AbortSignal | undefined;
    let error: unknown;
    let response: GatewayResponse;
    try {
      // The method is looked at first: any other is a 405 whatever the claims. docs/adr/0003
      const operation = operations.get(method);
      if (operation === undefined) throw methodNotAllowed(allowedMethods);
      const owner = parseIdentity(event.requestContext?.authorizer?.jwt?.claims);
      const remaining = context?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY;
      // A timeout takes whole milliseconds only.
      const time = Math.max(0, Math.floor(Math.min(STORE_BUDGET, remaining - ANSWER_RESERVE)));
      signal = AbortSignal.timeout(time);
      const { body, headers } = await operation.run({ inquiries, owner, event }, signal);
      response = toResponse(operation.status, body, corsOrigin, headers);
    } catch (thrown) {
      error = thrown;
      response = toErrorResponse(thrown instanceof ApiError ? thrown : internalError(), corsOrigin);
    }
    log?.({
      requestId: context?.awsRequestId,
      functionName: context?.functionName,
      method,
      status: response.statusCode,
      milliseconds: performance.now() - started,
      attempts: signal === undefined ? 0 : countAttempts(signal),
      error,
    });
    return response;
  };
}
