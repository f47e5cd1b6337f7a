import {
  Lambda,
  LambdaServiceException,
  paginateListVersionsByFunction,
  PreconditionFailedException,
} from '@aws-sdk/client-lambda';
import { marshall } from '@aws-sdk/util-dynamodb';
import { NETWORK } from '../lib/aws/aws.ts';
import { parseObject, UsageError } from '../lib/terminal/command-line.ts';
import {
  assert,
  assertError,
  assertHeader,
  createContractChecks,
  parseBody,
  toEvent,
  type ServiceResponse,
} from '../lib/contract/contract-checks.ts';
import { Pending, type Check } from './checks.ts';

/** The function itself ends after 30 s. */
const TIMEOUT_MS = 35_000;
export const LIVE = 'live';
export const liveOf = (functionName: string): string => `${functionName}:${LIVE}`;

const lambda = new Lambda({
  ...NETWORK,
  requestHandler: {
    ...NETWORK.requestHandler,
    requestTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  },
});

/** @throws ResourceNotFoundException without the function or its alias. */
export async function readLive(FunctionName: string) {
  const alias = await lambda.getAlias({ FunctionName, Name: LIVE });
  return { version: alias.FunctionVersion ?? '', RevisionId: alias.RevisionId };
}

/** The code and settings of a version or an alias. */
export async function readVersion(FunctionName: string, Qualifier: string) {
  const { CodeSha256 = '', Environment } = await lambda.getFunctionConfiguration({
    FunctionName,
    Qualifier,
  });
  return { hash: CodeSha256, environment: Environment?.Variables ?? {} };
}

/** The alias's version until one has passed its checks. */
export const NONE = '$LATEST';

/** A sentence for each function. */
export const describeLive = (functions: string[]): Promise<string[]> =>
  Promise.all(
    functions.map((name) =>
      readLive(name).then(
        ({ version }) =>
          `${version === NONE ? 'No version' : `Version ${version}`} of ${name} is live.`,
        ({ message }: Error) => `No live version of ${name} could be read: ${message}.`,
      ),
    ),
  );

/**
 * Without changes, Lambda answers with the last version.
 *
 * @param CodeSha256 - Lambda refuses to publish another package.
 */
export async function publish(FunctionName: string, CodeSha256: string): Promise<string> {
  const { Version = '' } = await lambda.publishVersion({ FunctionName, CodeSha256 });
  return Version;
}

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
 * @param withdrawn - The version replaced for a fault, which the next apply checks again (infra/terraform/live.tf).
 * @throws UsageError if another command has changed the alias meanwhile.
 */
export async function switchAlias(
  FunctionName: string,
  FunctionVersion: string,
  { RevisionId }: Awaited<ReturnType<typeof readLive>>,
  withdrawn?: string,
): Promise<void> {
  const Description = withdrawn && `${withdrawn} withdrawn at ${new Date().toISOString()}`;
  try {
    await lambda.updateAlias({
      FunctionName,
      Name: LIVE,
      FunctionVersion,
      RevisionId,
      Description,
    });
  } catch (error) {
    if (!(error instanceof PreconditionFailedException)) throw error;
    // Perhaps this change, sent again by the SDK after a lost response.
    const { version } = await readLive(FunctionName);
    if (version === FunctionVersion) return;
    throw new UsageError(
      `Version ${version} of ${FunctionName} was made live by another command at the same time; nothing was switched.`,
      { cause: error },
    );
  }
}

/** Invokes a version or an alias. */
export type Invoke = (event: object) => Promise<{
  /** The result, if it is an object. */
  result: Record<string, unknown>;
  /** The end of the invocation's log: lines of JSON. */
  log: Record<string, unknown>[];
}>;

/** AWS or the function has failed, so that the check may pass later. */
export class Unavailable extends Error {}

/** @throws {@link Unavailable} when the invocation fails, or Lambda does not run it. */
export const createInvoke =
  (FunctionName: string): Invoke =>
  async (event) => {
    const request = { FunctionName, LogType: 'Tail', Payload: JSON.stringify(event) } as const;
    const found = await lambda.invoke(request).catch((error: Error) => {
      // A version that was idle for weeks is 409 at first; permissions take effect after seconds.
      const isOfAws = error instanceof LambdaServiceException || error.name === 'TimeoutError';
      throw isOfAws ? new Unavailable(`${error.name}: ${error.message}`, { cause: error }) : error;
    });
    const text = found.Payload?.transformToString() ?? '';
    if (found.FunctionError !== undefined) throw new Unavailable(`${FunctionName} failed: ${text}`);
    const lines = String(Buffer.from(found.LogResult ?? '', 'base64')).split('\n');
    return {
      result: parseObject(text) ?? {},
      log: lines.map(parseObject).filter((line) => line !== undefined),
    };
  };

/** After which memory that is never freed shows. */
const INVOCATIONS = 30;
/** Above them, the alarm function-memory is raised. */
const MOST_MEMORY_MB = 115;

/** A line of a function's log. */
interface Line {
  record?: { metrics?: { maxMemoryUsedMB?: number; initDurationMs?: number } };
}

/** Lambda's measurements in the log of invocations. @throws {@link Pending} if it has none. */
export function readMetrics(log: Line[]) {
  const metrics = log.flatMap(({ record }) => record?.metrics ?? []);
  if (metrics.length > 0) return metrics;
  throw new Pending('the log of an invocation ends without platform.report');
}

/** @throws Error if instances of the function used more than they should. @returns Most megabytes. */
export function checkMemory(log: Line[]): number {
  const memory = Math.max(...readMetrics(log).map(({ maxMemoryUsedMB = 0 }) => maxMemoryUsedMB));
  assert(memory <= MOST_MEMORY_MB, `${memory} of 128 MB: docs/runbook.md, "function-memory"`);
  return memory;
}

/**
 * Checks as a caller without claims and as a user whose address nobody has. They leave one inquiry, which expires after
 * a day.
 *
 * @param origin - What the responses allow.
 */
function createRequestChecks(invoke: Invoke, origin = ''): Check[] {
  const call = async (event: object): Promise<ServiceResponse> => {
    const { statusCode, headers, body } = (await invoke(event)).result;
    const response = {
      status: Number(statusCode),
      headers: new Headers(headers as Record<string, string>),
      body: parseBody(String(body)),
    };
    if (response.status >= 500) {
      throw new Unavailable(`answered ${response.status}: ${String(body)}`);
    }
    assertHeader(response, 'Access-Control-Allow-Origin', origin);
    return response;
  };
  const sub = crypto.randomUUID();
  const claims = { sub, email: `test-${sub}@inquiries.invalid` };
  const { contract } = createContractChecks((each) => call(toEvent(each, claims)));
  const expect401 = async (): Promise<void> =>
    assertError(await call(toEvent({ method: 'GET' })), 401, 'Unauthorized');
  const useMemory = async (): Promise<string> => {
    const log: Line[] = [];
    for (let count = 0; count < INVOCATIONS; count++) {
      log.push(...(await invoke(toEvent({ method: 'GET' }, claims))).log);
    }
    return `${checkMemory(log)} MB after ${INVOCATIONS} requests`;
  };
  return [['401 without claims', expect401], ...contract, ['it frees memory', useMemory]];
}

/** A new inquiry, or a reply. */
function toStreamEvent(email: string, isReply: boolean) {
  const time = new Date().toISOString();
  const inquiry = {
    __edb_e__: 'inquiry',
    __edb_v__: '1',
    id: '019aa0c8-6f77-70a2-a975-366ad3f1860a',
    cognito_sub: crypto.randomUUID(),
    email,
    subject: 'Test',
    body: 'Left by a deployment.',
    created_at: time,
  };
  const reply = { reply: 'Test', respondent: 'deployment', reply_at: time };
  const record = {
    eventID: '1',
    eventName: isReply ? 'MODIFY' : 'INSERT',
    eventSource: 'aws:dynamodb',
    dynamodb: {
      SequenceNumber: '1',
      NewImage: marshall({ ...inquiry, ...(isReply && reply) }),
      ...(isReply && { OldImage: marshall(inquiry) }),
    },
  };
  return { Records: [record] };
}
const toQueueEvent = (body: string) => ({
  Records: [{ eventSource: 'aws:sqs', messageId: 'trial', body }],
});

/** The recipients of the mails that a trial would have sent. */
async function expectMail(invoke: Invoke, event: object): Promise<string> {
  const { result } = await invoke({ ...event, trial: true });
  const { mails } = result;
  assert(
    Array.isArray(mails) && mails.length === 1,
    `it would send no mail: ${JSON.stringify(result)}`,
  );
  return `would be sent to ${mails.join()}`;
}

/** To an address that no inquiry has: the receiver passes it to the team. */
const toReceiptEvent = (domain: string) =>
  toQueueEvent(
    JSON.stringify({
      mail: { messageId: 'trial', source: 'test@trial.invalid' },
      receipt: {
        recipients: [`r2601-019aa0c86f7770a2a975366ad3f1860a${'0'.repeat(24)}@${domain}`],
        ...Object.fromEntries(
          ['dmarc', 'spam', 'virus'].map((name) => [`${name}Verdict`, { status: 'PASS' }]),
        ),
      },
    }),
  );

/** In a trial (mail/trial.ts) the function does everything but send; other events concern no mail. */
function createMailerChecks(invoke: Invoke): Check[] {
  const expectResult = async (event: object, expected: object): Promise<void> => {
    const found = JSON.stringify((await invoke(event)).result);
    assert(found === JSON.stringify(expected), `it answered ${found}`);
  };
  const bounce = {
    bounce: { feedbackId: crypto.randomUUID(), bounceType: 'Permanent', bouncedRecipients: [] },
    mail: { destination: ['test@trial.invalid'], tags: {} },
  };
  const checks = [false, true].flatMap((isReply): Check[] => [
    [
      `a record of ${isReply ? 'a reply' : 'an inquiry'} becomes a mail`,
      () => expectMail(invoke, toStreamEvent('test@trial.invalid', isReply)),
    ],
    [
      `a record of ${isReply ? 'a reply to a test' : 'a test'} is handled`,
      () =>
        expectResult(toStreamEvent('test@inquiries.invalid', isReply), { batchItemFailures: [] }),
    ],
  ]);
  return [
    ...checks,
    ['a bounce becomes a mail', () => expectMail(invoke, toQueueEvent(JSON.stringify(bounce)))],
    ['a text of SES is handled', () => expectResult(toQueueEvent('Test'), { outcomes: ['idle'] })],
    [
      'the timer is handled',
      async () => {
        const { result } = await invoke({ digest: true, trial: true });
        const answered = JSON.stringify(result['result']);
        const isRight = /^{"digest":"(idle|sent)","daily":"(idle|sent)"}$/.test(answered);
        assert(isRight, `it answered ${answered}`);
      },
    ],
  ];
}

/** A version has to pass them before users get it, also at a rollback. */
export async function createVersionChecks(name: string, version: string): Promise<Check[]> {
  const invoke = createInvoke(`${name}:${version}`);
  const { environment } = await readVersion(name, version);
  if (environment['INBOX_TO'] === undefined) {
    return createRequestChecks(invoke, environment['CORS_ORIGIN']);
  }
  if (environment['MAIL_BUCKET'] === undefined) return createMailerChecks(invoke);
  const event = toReceiptEvent(environment['REPLY_DOMAIN'] ?? '');
  return [['a received mail becomes one to the team', () => expectMail(invoke, event)]];
}
