/**
 * Checks in a few requests that a deployed stage, or the local stack, keeps its contract. It leaves two inquiries of users
 * with an address under inquiries.invalid behind, since the API deletes nothing: nobody is mailed of them, `npm run inbox`
 * does not show them, and they expire after a day. SMOKE_TOKEN is the token of such a user.
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
import { DATA_FOLDER } from '../lib/paths.ts';
import { readRunningStack } from '../lib/running-stack.ts';
import { CORS } from '../lib/stages.ts';
import { parseStage, readStageAccount } from './account.ts';
import { createAlarmChecks } from './alarms.ts';
import { runChecks, Undecided, type Check } from './checks.ts';
import { readForm, type Form } from './form.ts';
import { readStateOutputs, type StageOutputs } from './outputs.ts';
import { signInOnce } from './smoke-user.ts';
import { createStageChecks, sendBounce } from './stage-checks.ts';

const USAGE = `
Usage: npm run smoke [-- STAGE | -- --url URL] [options]

  STAGE           develop, main or release: its API, form, mailer, logs and sign-in
  --url URL       any other service, without /inquiries (default: the running local stack)
  --data FOLDER   the data folder of the local stack
  --mail          with STAGE: also send a mail that bounces
  --check-alarms  with STAGE: only list alarms without data; a quarter of an hour after a request
  --ring ALARM    with --check-alarms: raise this alarm once

SMOKE_TOKEN is an ID token (default: that of a new user of the stage's pool).
`;
const REQUEST_TIMEOUT_MS = 35_000; // the gateway gives up after 30 s
/** Above what Lambda takes, below what the gateway takes (docs/operations.md, "Quotas"). */
const TOO_LARGE = 6_500_000;
const OTHER_ORIGIN = 'https://elsewhere.invalid';

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

/** Asks whether the page of an origin may POST. @returns The origin, methods and headers that are allowed. */
async function askPreflight(target: Target, origin: string): Promise<readonly string[]> {
  const request = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': CORS.allow_headers.join(),
  };
  const { status, headers } = await send(target, { method: 'OPTIONS' }, request);
  assert([200, 204].includes(status), `answered ${status}, not 204`);
  const found = ['origin', 'methods', 'headers'].map(
    (name) => headers.get(`access-control-allow-${name}`) ?? '',
  );
  return found.join().toLowerCase().split(/, ?/);
}

async function checkPreflights(target: Target): Promise<void> {
  const allowed = await askPreflight(target, target.origin);
  const missing = [target.origin, 'post', ...CORS.allow_headers].filter(
    (each) => !allowed.includes(each),
  );
  assert(missing.length === 0, `it does not allow ${missing.join(', ')}`);
  const [elsewhere = ''] = await askPreflight(target, OTHER_ORIGIN);
  assert(!['*', OTHER_ORIGIN].includes(elsewhere), `it allows ${elsewhere}`);
}

/** The checks of an API in the order in which they must run: some take what those before have found. */
function createApiChecks(target: Target): Check[] {
  const { signIn, key } = target;
  const ofContract = createContractChecks((request) => sendWithToken(target, request));
  const refuse = async (headers?: Record<string, string>): Promise<void> =>
    assertStatus(await send(target, { method: 'GET' }, headers), 401);
  const signInOfUser = async (): Promise<void> => {
    target.token = await signInOnce(signIn?.user_pool_id, signIn?.client_id);
  };
  /** Checks that take what may not have been found before them. */
  const need = (what: 'token' | 'origin' | 'key', checks: readonly Check[]): Check[] =>
    checks.map(([title, run]) => [
      title,
      async () => {
        if (target[what] === '') throw new Undecided('skipped', `no ${what}`);
        return run();
      },
    ]);
  const ofStage = Object.entries({
    '405 for PATCH and for HEAD': async () => {
      assertError(await sendWithToken(target, { method: 'PATCH' }), 405, 'METHOD_NOT_ALLOWED');
      assertStatus(await sendWithToken(target, { method: 'HEAD' }), 405);
    },
    '413 for a body of 6.5 MB': async () => {
      const body = JSON.stringify({ subject: '', body: 'x'.repeat(TOO_LARGE) });
      assertStatus(await sendWithToken(target, { method: 'POST', body }), 413);
    },
    '500 for a body that is not JSON': async () => {
      const response = await sendWithToken(target, { method: 'POST', body: 'no JSON' });
      assertError(response, 500, 'INTERNAL_SERVER_ERROR');
    },
  });
  return [
    ['401 without a token', () => refuse()],
    ['401 with a malformed token', () => refuse({ authorization: 'Bearer nonsense' })],
    ...(signIn && target.token === ''
      ? ([['a new user of the pool signs in', signInOfUser]] as const)
      : []),
    ...need('token', [...ofContract.contract, ...ofStage]),
    ...need(key === '' ? 'key' : 'token', ofContract.key),
    ...need('origin', [['preflights allow the origin alone', () => checkPreflights(target)]]),
  ];
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

/** Runs the checks of an API and further ones. @returns Whether none failed. */
async function test(target: Target, more: readonly Check[], io: Io): Promise<boolean> {
  const checks = [...createApiChecks(target), ...more];
  const { passed, failed, pending, skipped } = await runChecks(checks, io, target.interruption);
  const lack = target.token === '' ? '; set SMOKE_TOKEN for what a signed-in user gets' : '';
  io.stdout.write(
    `smoke: ${passed} passed, ${failed} failed, ${pending} pending, ${skipped} skipped${lack}\n`,
  );
  return failed === 0;
}

/**
 * The smoke test of a stage. What Terraform has tested of its function before the apply is not repeated.
 *
 * @param form - What should be served; undefined without a form.
 * @param options - `wait`: seconds that a new API, and CloudFront, may take; `mail`: whether a mail is sent, which bounces.
 * @returns Whether all checks passed.
 */
export async function testStage(
  outputs: StageOutputs,
  form: Form | undefined,
  io: Io,
  interruption: AbortSignal,
  { wait = 60, mail = false } = {},
): Promise<boolean> {
  const target: Target = {
    url: outputs.api_url,
    origin: outputs.cors_origin,
    token: io.env['SMOKE_TOKEN'] ?? '',
    key: crypto.randomUUID(),
    signIn: outputs.smoke_sign_in,
    interruption,
  };
  await awaitApi(target, wait);
  const ofStage = createStageChecks(outputs, form, wait, io.env, interruption);
  if (mail) ofStage.push(['a mail bounces', () => sendBounce(outputs)]);
  return test(target, ofStage, io);
}

/** What the options name of a service that is not a stage: the local stack, or a URL. */
async function findService(url: string | undefined, data: string | undefined) {
  if (url !== undefined) {
    if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return { url, hasKeys: true };
    throw new UsageError(`--url must be an http or https URL, not '${url}'`);
  }
  const { gateway, keysFile, issuer, mailbox } = readRunningStack(data ?? DATA_FOLDER);
  const token = await signToken(await readKey(keysFile), issuer);
  // dynalite has neither mailbox nor transactions.
  return { url: gateway, token, hasKeys: mailbox !== undefined };
}

export const main: Main = async (args, io) => {
  const { values, positionals } = parseCommandLine(
    USAGE,
    {
      url: { type: 'string' },
      data: { type: 'string' },
      mail: { type: 'boolean', default: false },
      'check-alarms': { type: 'boolean', default: false },
      ring: { type: 'string' },
    },
    { args },
  );
  const interruption = new AbortController().signal;
  const { mail, 'check-alarms': alarms, ring } = values;
  if (positionals.length === 0) {
    if (mail || alarms) throw new UsageError('--mail and --check-alarms need a stage.');
    const found = await findService(values.url, values.data);
    const target: Target = {
      url: found.url.replace(/\/+$/, ''),
      origin: '',
      token: found.token ?? io.env['SMOKE_TOKEN'] ?? '',
      key: found.hasKeys ? crypto.randomUUID() : '',
      interruption,
    };
    return (await test(target, [], io)) ? 0 : 1;
  }
  const stage = parseStage(positionals.join(' '));
  await readStageAccount(stage);
  const outputs = await readStateOutputs(stage);
  if (alarms) {
    const { failed } = await runChecks(await createAlarmChecks(outputs, ring), io, interruption);
    return failed === 0 ? 0 : 1;
  }
  const form = outputs.form_config && readForm(outputs.form_config, outputs.connect_origins ?? []);
  const options = { wait: 0, mail };
  return (await testStage(outputs, form ?? undefined, io, interruption, options)) ? 0 : 1;
};

if (import.meta.main) await runCommand(main);
