/**
 * Checks in a few requests that a stage or the local stack keeps its contract. Leaves two inquiries under
 * inquiries.invalid, which are not mailed or shown and expire after a day. SMOKE_TOKEN is the token of such a user.
 *
 * Exit codes: 0 all checks passed, 1 a check failed, 2 bad use.
 */
import {
  parseCommandLine,
  runCommand,
  UsageError,
  type Io,
  type Main,
} from '../lib/terminal/command-line.ts';
import {
  assert,
  assertError,
  assertHeader,
  assertStatus,
  createContractChecks,
  parseBody,
  type ServiceRequest,
  type ServiceResponse,
} from '../lib/contract/contract-checks.ts';
import { readKey } from '../lib/issuer/issuer-keys.ts';
import { signToken } from '../lib/issuer/issuer-tokens.ts';
import { DATA_FOLDER } from '../lib/paths.ts';
import { readRunningStack } from '../lib/running-stack.ts';
import { CORS } from '../lib/aws/stages.ts';
import { Pending, repeat, runChecks, type Check, type Context } from './checks.ts';
import { readStageForm, type Form } from './form.ts';
import { signInOnce } from './smoke-user.ts';
import { createStageChecks, sendBounce } from './stage-checks.ts';
import { parseStage, readOutputs, readStageAccount, type StageOutputs } from './stage.ts';

const USAGE = `
Usage: npm run smoke [-- STAGE | -- --url URL] [options]

  STAGE           develop, main or release: its API, form, mailer, logs and sign-in
  --url URL       any other service, without /inquiries (default: the running local stack)
  --data FOLDER   the data folder of the local stack
  --mail          with STAGE: also send a mail that bounces

SMOKE_TOKEN is an ID token (default: that of a new user of the stage's pool).
`;
const REQUEST_TIMEOUT_MS = 35_000; // the gateway gives up after 30 s
/** More than Lambda takes, less than the gateway (docs/operations.md, "Quotas"). */
const TOO_LARGE = 6_500_000;
const ALLOWED_ORIGIN = 'Access-Control-Allow-Origin';
const OTHER_ORIGIN = 'https://elsewhere.invalid';

/** An empty text is unknown. */
interface Target {
  url: string;
  /** Allowed; by default that of the first response. */
  origin: string;
  /** An ID token. */
  token: string;
  /** Whether the service ignores Idempotency-Key. */
  ignoresKeys?: boolean;
}

async function send(
  { url }: Target,
  { method, query = '', body }: ServiceRequest,
  headers: Record<string, string> = {},
): Promise<ServiceResponse> {
  const response = await fetch(`${url}/inquiries?${query}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const { status, headers: received } = response;
  return { status, headers: received, body: parseBody(await response.text()) };
}

/** Whether a page of the allowed origin may POST, and no other. */
async function checkPreflights(target: Target): Promise<void> {
  if (target.origin === '') throw new Pending('the allowed origin is not known');
  const ask = (origin: string) => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': CORS.allow_headers.join(),
    };
    return send(target, { method: 'OPTIONS' }, headers);
  };
  const response = await ask(target.origin);
  assertStatus(response, 204);
  assertHeader(response, ALLOWED_ORIGIN, target.origin);
  const allowed = JSON.stringify([...response.headers]).toLowerCase();
  for (const name of ['post', ...CORS.allow_headers]) {
    assert(allowed.includes(name), `it does not allow ${name}`);
  }
  const { headers } = await ask(OTHER_ORIGIN);
  assert(headers.get(ALLOWED_ORIGIN) !== OTHER_ORIGIN, 'it allows any other origin, too');
}

/**
 * Some checks take what those before have found.
 *
 * @param wait - Seconds until a new API answers, whose name or routes may be missing at first.
 */
function createApiChecks(target: Target, context: Context, wait = 0): Check[] {
  const { ignoresKeys = false } = target;
  const key = crypto.randomUUID();
  /**
   * AWS's gateway may omit Access-Control-Allow-Origin for a request without an Origin, so it is required once the
   * origin is known and sent.
   */
  const sendWithToken = async (request: ServiceRequest): Promise<ServiceResponse> => {
    const { origin, token } = target;
    if (token === '') throw new Pending('set SMOKE_TOKEN for what a signed-in user gets');
    const response = await send(target, request, {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...(request.method === 'POST' && !ignoresKeys && { 'idempotency-key': key }),
      ...(origin !== '' && { origin }),
    });
    target.origin ||= response.headers.get(ALLOWED_ORIGIN) ?? '';
    if (target.origin !== '') assertHeader(response, ALLOWED_ORIGIN, target.origin);
    if (response.status < 300) assertHeader(response, 'Cache-Control', 'no-store');
    return response;
  };
  const expect401 = async (headers?: Record<string, string>): Promise<void> =>
    assertStatus(await send(target, { method: 'GET' }, headers), 401);
  const ofContract = createContractChecks(sendWithToken);
  return [
    ['401 without a token', () => repeat(expect401, wait, context)],
    ['401 with a malformed token', () => expect401({ authorization: 'Bearer nonsense' })],
    ...ofContract.contract,
    [
      '405 for PATCH and for HEAD',
      async () => {
        assertError(await sendWithToken({ method: 'PATCH' }), 405, 'METHOD_NOT_ALLOWED');
        assertStatus(await sendWithToken({ method: 'HEAD' }), 405);
      },
    ],
    [
      '413 for a body of 6.5 MB',
      async () => {
        const body = 'x'.repeat(TOO_LARGE);
        assertStatus(await sendWithToken({ method: 'POST', body }), 413);
      },
    ],
    ...(ignoresKeys ? [] : ofContract.key),
    ['preflights allow the origin alone', () => checkPreflights(target)],
  ];
}

/**
 * @param form - What should be served; undefined without a form.
 * @param options - `wait`: seconds that a new API, and CloudFront, may take; `mail`: whether a mail is sent, which
 *   bounces.
 * @returns Whether all checks passed.
 */
export function testStage(
  outputs: StageOutputs,
  form: Form | undefined,
  context: Context,
  { wait = 60, mail = false } = {},
): Promise<boolean> {
  const { api_url: url, cors_origin: origin, smoke_sign_in: signIn } = outputs;
  const target = { url, origin, token: context.io.env['SMOKE_TOKEN'] ?? '' };
  const checks: Check[] = [];
  if (signIn && target.token === '') {
    const signInOfUser = async () => void (target.token = await signInOnce(signIn));
    checks.push(['a new user of the pool signs in', signInOfUser]);
  }
  checks.push(
    ...createApiChecks(target, context, wait),
    ...createStageChecks(outputs, form, wait, context),
  );
  if (mail) checks.push(['a mail bounces', () => sendBounce(outputs)]);
  return runChecks(checks, context);
}

async function findStack(folder: string): Promise<Target> {
  const { gateway, keysFile, issuer, mailbox } = readRunningStack(folder);
  const token = await signToken(readKey(keysFile), issuer);
  // dynalite has neither mailbox nor transactions.
  return { url: gateway, origin: '', token, ignoresKeys: mailbox === undefined };
}

async function test(args: string[], io: Io): Promise<boolean> {
  const options = {
    url: { type: 'string' },
    data: { type: 'string', default: DATA_FOLDER },
    mail: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const { data, mail } = values;
  const context = { io, interruption: AbortSignal.any([]) };
  if (positionals.length === 0 && !mail) {
    const url = values.url?.replace(/\/+$/, '');
    if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw new UsageError(`--url must be an http or https URL, not '${url}'`);
    }
    const target = url
      ? { url, origin: '', token: io.env['SMOKE_TOKEN'] ?? '' }
      : await findStack(data);
    return runChecks(createApiChecks(target, context), context);
  }
  const stage = parseStage(positionals.join(' '));
  await readStageAccount(stage);
  const outputs = await readOutputs(stage);
  return testStage(outputs, readStageForm(outputs), context, { wait: 0, mail });
}

export const main: Main = async (args, io) => ((await test(args, io)) ? 0 : 1);

if (import.meta.main) await runCommand(main);
