/** Calls deployed functions directly, with the events that they get from AWS. */
import { Lambda } from '@aws-sdk/client-lambda';
import { NETWORK } from '../lib/aws.ts';
import { parseObject } from '../lib/command-line.ts';
import {
  createContractChecks,
  createFunctionChecks,
  parseBody,
  type ServiceRequest,
  type ServiceResponse,
} from '../lib/contract-checks.ts';

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

/** Invokes a function; the name ends with a version or an alias: `inquiries-develop:live`. */
export type Invoke = (event: object) => Promise<{
  /** The result, if it is an object. */
  readonly result: Record<string, unknown>;
  /** The end of the invocation's log: lines of JSON. */
  readonly log: readonly Record<string, unknown>[];
}>;

/** @throws Of the function: Error when the invocation fails; the error of the SDK when Lambda does not run it. */
export const createInvoke =
  (FunctionName: string, abortSignal: AbortSignal): Invoke =>
  async (event) => {
    const request = { FunctionName, LogType: 'Tail', Payload: JSON.stringify(event) } as const;
    const found = await lambda.invoke(request, { abortSignal });
    const text = found.Payload?.transformToString() ?? '';
    if (found.FunctionError !== undefined) throw new Error(`${FunctionName} failed: ${text}`);
    const lines = Buffer.from(found.LogResult ?? '', 'base64')
      .toString()
      .split('\n');
    return {
      result: parseObject(text) ?? {},
      log: lines.map(parseObject).filter((line) => line !== undefined),
    };
  };

/** Payload 2.0; without claims, that of a request that no authorizer has passed. */
export function toEvent({ method, query = '', body }: ServiceRequest, claims?: object) {
  const path = '/inquiries';
  const routeKey = `${method} ${path}`;
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(query !== '' && { queryStringParameters: Object.fromEntries(new URLSearchParams(query)) }),
    headers: { 'content-type': 'application/json' },
    requestContext: {
      ...(claims && { authorizer: { jwt: { claims, scopes: null } } }),
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'smoke' },
      requestId: crypto.randomUUID(),
      routeKey,
      stage: '$default',
      timeEpoch: Date.now(),
    },
    ...(body !== undefined && { body }),
    isBase64Encoded: false,
  };
}

async function call(invoke: Invoke, event: object): Promise<ServiceResponse> {
  const { statusCode: status, headers, body } = (await invoke(event)).result;
  if (typeof status !== 'number' || typeof body !== 'string' || !headers) {
    throw new Error('the function returned something other than statusCode, headers and body');
  }
  return { status, headers: new Headers(headers), body: parseBody(body) };
}

/**
 * The checks of a function without its gateway, as a caller without claims and as a user whose address nobody has. They
 * leave one inquiry behind, which expires after a day.
 */
export function createInvocationChecks(invoke: Invoke) {
  const sub = crypto.randomUUID();
  const claims = { sub, email: `test-${sub}@inquiries.invalid` };
  const { contract } = createContractChecks((each) => call(invoke, toEvent(each, claims)));
  const anonymous = createFunctionChecks((method) => call(invoke, toEvent({ method })));
  return [...anonymous, ...contract];
}
