/** Calls a deployed function directly. */
import { Lambda } from '@aws-sdk/client-lambda';
import { NETWORK } from '../lib/aws.ts';
import { parseObject } from '../lib/command-line.ts';
import { parseBody, type ServiceResponse } from '../lib/contract-checks.ts';

/** The function itself ends after 30 s. */
const TIMEOUT_MS = 35_000;

const lambda = new Lambda({
  ...NETWORK,
  requestHandler: {
    ...NETWORK.requestHandler,
    requestTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  },
});

/** @returns The result, if it is an object. @throws See {@link invokeFunction}. */
async function invoke(
  name: string,
  event: object,
  interruption?: AbortSignal,
): Promise<Record<string, unknown>> {
  const { FunctionError: failure, Payload: payload } = await lambda.invoke(
    { FunctionName: name, Payload: JSON.stringify(event) },
    interruption && { abortSignal: interruption },
  );
  const result = parseObject(payload?.transformToString() ?? '') ?? {};
  if (failure === undefined) return result;
  const { errorType = failure, errorMessage = '' } = result;
  throw new Error(`the function failed: ${String(errorType)}: ${String(errorMessage)}`);
}

/** Invokes the mailer with nothing to send. @throws See {@link invokeFunction}. */
export async function invokeMailer(name: string, interruption?: AbortSignal): Promise<void> {
  const { results } = await invoke(name, { ids: [] }, interruption);
  if (!Array.isArray(results)) throw new Error('the mailer returned no results');
}

/**
 * Invokes the function with the event of a request that no authorizer has passed: payload 2.0, without claims.
 *
 * @param name - With a version or an alias, if not the latest: `inquiries-develop:live`.
 * @param interruption - Ends the request.
 * @throws Error when the function throws, runs out of time or memory, or returns no response; the error of the SDK
 * when Lambda does not run it.
 */
export async function invokeFunction(
  name: string,
  method: string,
  interruption?: AbortSignal,
): Promise<ServiceResponse> {
  const [path, routeKey] = ['/inquiries', `${method} /inquiries`];
  const event = {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: '',
    headers: {},
    requestContext: {
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'smoke' },
      requestId: crypto.randomUUID(),
      routeKey,
      stage: '$default',
      timeEpoch: Date.now(),
    },
    isBase64Encoded: false,
  };
  const { statusCode: status, headers, body } = await invoke(name, event, interruption);
  if (
    typeof status !== 'number' ||
    typeof body !== 'string' ||
    typeof headers !== 'object' ||
    !headers
  ) {
    throw new Error('the function returned something other than statusCode, headers and body');
  }
  return { status, headers: new Headers({ ...headers }), body: parseBody(body) };
}
