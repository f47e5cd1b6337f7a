/**
 * The deployed functions: their published versions, the alias `live`, which is what is invoked (infra/terraform/live.tf),
 * and invocations with the events that they get from AWS.
 */
import {
  Lambda,
  paginateListVersionsByFunction,
  PreconditionFailedException,
} from '@aws-sdk/client-lambda';
import { NETWORK } from '../lib/aws.ts';
import { parseObject, UsageError } from '../lib/command-line.ts';
import {
  assertError,
  createContractChecks,
  parseBody,
  type ServiceRequest,
  type ServiceResponse,
} from '../lib/contract-checks.ts';
import type { Check } from './checks.ts';

/** The function itself ends after 30 s. */
const TIMEOUT_MS = 35_000;
const Name = 'live';
export const liveOf = (functionName: string): string => `${functionName}:${Name}`;

const lambda = new Lambda({
  ...NETWORK,
  requestHandler: {
    ...NETWORK.requestHandler,
    requestTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  },
});

/** The alias. @throws ResourceNotFoundException when there is no such function, or when it has no alias `live`. */
export async function readLive(FunctionName: string) {
  const alias = await lambda.getAlias({ FunctionName, Name });
  return { version: alias.FunctionVersion ?? '', RevisionId: alias.RevisionId };
}

/** Which versions are live, as AWS says now: a sentence for each function. */
export const describeLive = (functions: string[]): Promise<string[]> =>
  Promise.all(
    functions.map((name) =>
      readLive(name).then(
        ({ version }) => `Version ${version} of ${name} is live.`,
        ({ message }: Error) => `No live version of ${name} could be read: ${message}.`,
      ),
    ),
  );

/** The published versions, newest first; not `$LATEST`. */
export async function listVersions(FunctionName: string) {
  const pages = await Array.fromAsync(
    paginateListVersionsByFunction({ client: lambda }, { FunctionName }),
  );
  return pages
    .flatMap(({ Versions = [] }) => Versions)
    .map(({ Version, LastModified }) => ({ version: Number(Version), date: LastModified }))
    .filter(({ version }) => version > 0)
    .toSorted((a, b) => b.version - a.version);
}

/**
 * Makes the alias name another version.
 *
 * @throws UsageError when another command has changed the alias since it was read.
 */
export async function switchAlias(
  FunctionName: string,
  FunctionVersion: string,
  { RevisionId }: Awaited<ReturnType<typeof readLive>>,
): Promise<void> {
  try {
    await lambda.updateAlias({ FunctionName, Name, FunctionVersion, RevisionId });
  } catch (error) {
    if (!(error instanceof PreconditionFailedException)) throw error;
    // It may be this change: the SDK sends it again when the first response is lost.
    const { version } = await readLive(FunctionName);
    if (version === FunctionVersion) return;
    throw new UsageError(
      `Version ${version} of ${FunctionName} was made live by another command at the same time; nothing was switched.`,
      { cause: error },
    );
  }
}

/** Invokes a function; the name ends with a version or an alias: `inquiries-develop:live`. */
export type Invoke = (event: object) => Promise<{
  /** The result, if it is an object. */
  result: Record<string, unknown>;
  /** The end of the invocation's log: lines of JSON. */
  log: Record<string, unknown>[];
}>;

/** @throws Of the function: Error when the invocation fails; the error of the SDK when Lambda does not run it. */
export const createInvoke =
  (FunctionName: string): Invoke =>
  async (event) => {
    const request = { FunctionName, LogType: 'Tail', Payload: JSON.stringify(event) } as const;
    const found = await lambda.invoke(request);
    const text = found.Payload?.transformToString() ?? '';
    if (found.FunctionError !== undefined) throw new Error(`${FunctionName} failed: ${text}`);
    const lines = String(Buffer.from(found.LogResult ?? '', 'base64')).split('\n');
    return {
      result: parseObject(text) ?? {},
      log: lines.map(parseObject).filter((line) => line !== undefined),
    };
  };

/** Payload 2.0, as far as the function reads it; without claims, that of a request that no authorizer has passed. */
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
      http: { method, path },
      requestId: crypto.randomUUID(),
    },
    ...(body !== undefined && { body }),
    isBase64Encoded: false,
  };
}

/**
 * The checks of a function without its gateway, as a caller without claims and as a user whose address nobody has. They
 * leave one inquiry behind, which expires after a day.
 */
export function createInvocationChecks(invoke: Invoke): Check[] {
  const call = async (event: object): Promise<ServiceResponse> => {
    const { statusCode, headers, body } = (await invoke(event)).result;
    return {
      status: Number(statusCode),
      headers: new Headers(headers as Record<string, string>),
      body: parseBody(String(body)),
    };
  };
  const sub = crypto.randomUUID();
  const claims = { sub, email: `test-${sub}@inquiries.invalid` };
  const { contract } = createContractChecks((each) => call(toEvent(each, claims)));
  const refuse = async (): Promise<void> =>
    assertError(await call(toEvent({ method: 'GET' })), 401, 'Unauthorized');
  return [['401 without claims', refuse], ...contract];
}
