/**
 * Checks in a few requests that a deployed stage, or the local stack, keeps its contract. It leaves two inquiries of users
 * with an address under inquiries.invalid behind, since the API deletes nothing: nobody is mailed of them, `npm run inbox`
 * does not show them, and they expire after a day. With --token, use the token of such a user.
 *
 * Usage: see below. Exit codes: 0 all checks passed, 1 a check failed, 2 bad use.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  parseCommandLine,
  runCommand,
  UsageError,
  type Io,
  type Main,
} from '../lib/command-line.ts';
import {
  assert,
  assertError,
  assertHeader,
  assertStatus,
  createContractChecks,
  parseBody,
  type ServiceRequest,
  type ServiceResponse,
} from '../lib/contract-checks.ts';
import { readKey } from '../lib/issuer-keys.ts';
import { signToken } from '../lib/issuer-tokens.ts';
import { findDataFolder, readRunningStack } from '../lib/running-stack.ts';
import { CORS } from '../lib/stages.ts';
import { parseStage, readStageAccount } from './account.ts';
import { createAlarmChecks } from './alarms.ts';
import { runChecks, type Check } from './checks.ts';
import { readForm, type Form } from './form.ts';
import { createInvocationChecks, createInvoke } from './invoke.ts';
import { readStateOutputs, type StageOutputs } from './outputs.ts';
import { signInOnce } from './smoke-user.ts';
import { createFormChecks, createStageChecks, sendBounce } from './stage-checks.ts';
import { liveOf } from './versions.ts';

const USAGE = `
Usage: npm run smoke [-- STAGE | -- --url URL] [options]

  STAGE           develop, main or release: its API, function, form, mailer, logs and sign-in, as its state names them
  --url URL       base URL of any other service, without /inquiries
                  (default: the running local stack, with a token of its issuer)
  --data FOLDER   the data folder of the local stack (default: that of the stack on .data or in memory)
  --token TOKEN   an ID token that the service accepts (default: SMOKE_TOKEN; for a stage with a user pool, that of a user
                  who is created and deleted at once); without one, checks that need it are skipped
  --no-key        skip the checks of Idempotency-Key, which the local stack ignores with dynalite
  --mail          with STAGE: send a mail that bounces, of which the team gets a mail
  --check-alarms  with STAGE: only list alarms whose metrics had no data; a quarter of an hour after a request
  --ring ALARM    with --check-alarms: raise this alarm once, to see whether its mail arrives

With STAGE, the AWS credentials and region of the environment are used.
`;
const REQUEST_TIMEOUT_MS = 35_000; // the gateway gives up after 30 s
/** Above what Lambda takes, below what the gateway takes (docs/operations.md, "Quotas"). */
const TOO_LARGE = 6_500_000;

/** What is checked; an empty text is what is not known. */
interface Target {
  readonly url: string;
  /** The allowed origin; without one, that of the first response. */
  origin: string;
  /** An ID token. */
  token: string;
  /** The Idempotency-Key of the POST; empty for a service that ignores it. */
  readonly key: string;
  readonly signIn?: StageOutputs['smoke_sign_in'];
  /** Ends the requests and the waiting. */
  readonly interruption: AbortSignal;
}

async function send(
  { url, interruption }: Target,
  { method, query = '', body }: ServiceRequest,
  headers: Record<string, string> = {},
): Promise<ServiceResponse> {
  const response = await fetch(`${url}/inquiries${query && `?${query}`}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
    redirect: 'manual',
    signal: AbortSignal.any([AbortSignal.timeout(REQUEST_TIMEOUT_MS), interruption]),
  });
  const { status, headers: received } = response;
  return { status, headers: received, body: parseBody(await response.text()) };
}

/**
 * Sends a request with the token and checks the headers that the stage decides. AWS's gateway may omit
 * Access-Control-Allow-Origin where the request has no Origin, so it is required only once the origin is known and sent.
 */
async function sendWithToken(target: Target, request: ServiceRequest): Promise<ServiceResponse> {
  const { key, origin, token } = target;
  const response = await send(target, request, {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    ...(request.method === 'POST' && key !== '' && { 'idempotency-key': key }),
    ...(origin !== '' && { origin }),
  });
  target.origin ||= response.headers.get('access-control-allow-origin') ?? '';
  assert(target.origin !== '*', 'Access-Control-Allow-Origin is *');
  if (target.origin !== '') assertHeader(response, 'Access-Control-Allow-Origin', target.origin);
  if (response.status < 300) assertHeader(response, 'Cache-Control', 'no-store');
  return response;
}

const sendPreflight = (target: Target, origin: string): Promise<ServiceResponse> =>
  send(
    target,
    { method: 'OPTIONS' },
    {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': CORS.allow_headers.join(),
    },
  );

/** The checks of an API in the order in which they must run: some take what those before have found. */
function createApiChecks(target: Target): Check[] {
  const { signIn } = target;
  const { contract, key } = createContractChecks((request) => sendWithToken(target, request));
  const refuse = async (headers?: Record<string, string>): Promise<void> =>
    assertStatus(await send(target, { method: 'GET' }, headers), 401);
  const withToken = (title: string, run: () => Promise<void>): Check => ({
    title,
    run,
    get lacks() {
      return target.token === '' ? 'no token' : '';
    },
  });
  return [
    { title: '401 without a token', run: () => refuse() },
    {
      title: '401 with a malformed token',
      run: () => refuse({ authorization: 'Bearer nonsense' }),
    },
    ...(signIn && target.token === ''
      ? [
          {
            title: 'a new user of the pool signs in',
            run: async () =>
              void (target.token = await signInOnce(signIn.user_pool_id, signIn.client_id)),
          },
        ]
      : []),
    ...contract.map(([title, run]) => withToken(title, run)),
    withToken('405 for PATCH and for HEAD', async () => {
      assertError(await sendWithToken(target, { method: 'PATCH' }), 405, 'METHOD_NOT_ALLOWED');
      assertStatus(await sendWithToken(target, { method: 'HEAD' }), 405);
    }),
    withToken('413 for a body of 6.5 MB', async () => {
      const body = JSON.stringify({ subject: '', body: 'x'.repeat(TOO_LARGE) });
      assertStatus(await sendWithToken(target, { method: 'POST', body }), 413);
    }),
    withToken('500 for a body that is not JSON', async () =>
      assertError(
        await sendWithToken(target, { method: 'POST', body: 'no JSON' }),
        500,
        'INTERNAL_SERVER_ERROR',
      ),
    ),
    ...key.map(([title, run]) => {
      const check = withToken(title, run);
      return target.key === '' ? { title, run, lacks: 'no key' } : check;
    }),
    {
      title: 'preflight allows the origin',
      get lacks() {
        return target.origin === '' ? 'no origin' : '';
      },
      run: () => checkPreflight(target),
    },
    { title: 'preflight allows no other origin', run: () => checkOtherPreflight(target) },
  ];
}

async function checkPreflight(target: Target): Promise<void> {
  const response = await sendPreflight(target, target.origin);
  assert([200, 204].includes(response.status), `answered ${response.status}, not 204`);
  assertHeader(response, 'Access-Control-Allow-Origin', target.origin);
  const needed = {
    'Access-Control-Allow-Methods': ['post'],
    'Access-Control-Allow-Headers': CORS.allow_headers,
  };
  for (const [name, values] of Object.entries(needed)) {
    const allowed = (response.headers.get(name) ?? '').toLowerCase().split(/, ?/);
    assert(
      values.every((value) => allowed.includes(value)),
      `${name} is ${allowed.join()}`,
    );
  }
}

async function checkOtherPreflight(target: Target): Promise<void> {
  const elsewhere = 'https://elsewhere.invalid';
  const { headers } = await sendPreflight(target, elsewhere);
  const origin = headers.get('access-control-allow-origin') ?? '';
  assert(!['*', elsewhere].includes(origin), `Access-Control-Allow-Origin is ${origin}`);
}

/** Waits until the API answers: right after a first deployment its name or its routes may be missing. */
async function awaitApi(target: Target, seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (performance.now() < deadline) {
    const response = await send(target, { method: 'GET' }).catch(() => undefined);
    if (response && response.status < 500 && ![403, 404].includes(response.status)) return;
    await sleep(1_000, undefined, { signal: target.interruption });
  }
}

const toToken = (given: string | undefined, { SMOKE_TOKEN = '' }: NodeJS.ProcessEnv): string =>
  (given ?? SMOKE_TOKEN).trim().replace(/^Bearer /i, '');

interface TestOptions {
  readonly token?: string | undefined;
  /** Seconds that a new API, and CloudFront, may take. */
  readonly wait?: number;
  readonly mail?: boolean;
  /** Further checks, at the end. */
  readonly more?: readonly Check[];
}

/**
 * The smoke test of a stage.
 *
 * @param form - What should be served; undefined without a form.
 * @returns Whether all checks passed.
 */
export async function testStage(
  outputs: StageOutputs,
  form: Form | undefined,
  io: Io,
  interruption: AbortSignal,
  { token, wait = 60, mail = false, more = [] }: TestOptions = {},
): Promise<boolean> {
  const target: Target = {
    url: outputs.api_url,
    origin: outputs.cors_origin,
    token: toToken(token, io.env),
    key: crypto.randomUUID(),
    signIn: outputs.smoke_sign_in,
    interruption,
  };
  const invoke = createInvoke(liveOf(outputs.function.name), interruption);
  await awaitApi(target, wait);
  const counts = await runChecks(
    [
      ...createInvocationChecks(invoke).map(([title, run]) => ({
        title: title.startsWith('the function') ? title : `the function: ${title}`,
        run,
      })),
      ...createApiChecks(target),
      ...createStageChecks(outputs, invoke),
      ...(outputs.site ? createFormChecks(outputs.site, form, wait, io.env) : []),
      ...(mail ? [{ title: 'a mail bounces', run: () => sendBounce(outputs) }] : []),
      ...more,
    ],
    io,
    interruption,
  );
  return report(counts, target, io);
}

function report(
  { passed, failed, pending, skipped }: Awaited<ReturnType<typeof runChecks>>,
  { token }: Target,
  { stdout }: Io,
): boolean {
  const waiting = pending === 0 ? '' : `, ${pending} pending`;
  stdout.write(`smoke: ${passed} passed, ${failed} failed${waiting}, ${skipped} skipped\n`);
  if (token === '') {
    stdout.write(
      'What a signed-in user gets of the API was not checked: give a token (--token).\n',
    );
  }
  return failed === 0;
}

/** A service that is not a stage: the local stack, or what --url names. */
async function testService(
  given: { url?: string; data?: string; token?: string; 'no-key': boolean },
  io: Io,
  interruption: AbortSignal,
): Promise<boolean> {
  const { url, data } = given;
  if (url !== undefined && data !== undefined) {
    throw new UsageError('--data is for the local stack.');
  }
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new UsageError(`--url must be an http or https URL, not '${url}'`);
  }
  const local = url === undefined ? readRunningStack(data ?? findDataFolder()) : undefined;
  const signed = local && (await signToken(await readKey(local.keysFile), local.issuer));
  // dynalite has neither mailbox nor transactions.
  const hasKeys = !given['no-key'] && (local === undefined || local.mailbox !== undefined);
  const target: Target = {
    url: (url ?? local?.gateway ?? '').replace(/\/+$/, ''),
    origin: '',
    token: toToken(given.token ?? signed, io.env),
    key: hasKeys ? crypto.randomUUID() : '',
    interruption,
  };
  return report(await runChecks(createApiChecks(target), io, interruption), target, io);
}

export const main: Main = async (args, io) => {
  const { values, positionals } = parseCommandLine(
    USAGE,
    {
      url: { type: 'string' },
      data: { type: 'string' },
      token: { type: 'string' },
      'no-key': { type: 'boolean', default: false },
      mail: { type: 'boolean', default: false },
      'check-alarms': { type: 'boolean', default: false },
      ring: { type: 'string' },
    },
    { args },
  );
  const interruption = new AbortController().signal;
  const { token, mail, 'check-alarms': alarms, ring } = values;
  if (positionals.length === 0) {
    if (mail || alarms) throw new UsageError('--mail and --check-alarms need a stage.');
    return (await testService(values, io, interruption)) ? 0 : 1;
  }
  const stage = parseStage('smoke', positionals.join(' '));
  await readStageAccount(stage);
  const outputs = await readStateOutputs(stage);
  if (alarms) {
    const counts = await runChecks(await createAlarmChecks(outputs, ring), io, interruption);
    return counts.failed === 0 ? 0 : 1;
  }
  const form = outputs.form_config && readForm(outputs.form_config, outputs.connect_origins ?? []);
  const options = { token, wait: 0, mail };
  return (await testStage(outputs, form ?? undefined, io, interruption, options)) ? 0 : 1;
};

if (import.meta.main) await runCommand(main);
