/**
 * Checks in a few requests that a deployed stage keeps its contract. The function itself: 401 and 405 without a gateway.
 * Through the API: 401, 405, list, create, list again, send again with the same key, preflight. It leaves one inquiry
 * behind, since the API deletes nothing. Of a user with an address under inquiries.invalid, as --user-pool makes one, nobody
 * is mailed of it, `npm run inbox` does not show it, and it expires after a day: use the token of such a user.
 *
 * Usage: see below. Exit codes: 0 all checks passed, 1 a check failed, 2 bad use.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseOptions, runCommand, UsageError, type Io } from '../lib/command-line.ts';
import {
  assert,
  assertHeader,
  assertStatus,
  createContractChecks,
  createFunctionChecks,
  parseBody,
} from '../lib/contract-checks.ts';
import type { ServiceRequest, ServiceResponse } from '../lib/contract-checks.ts';
import { readKey } from '../lib/issuer-keys.ts';
import { signToken } from '../lib/issuer-tokens.ts';
import { findDataFolder, readRunningStack } from '../lib/running-stack.ts';
import { CORS } from '../lib/stages.ts';
import { invokeFunction, invokeMailer } from './invoke.ts';
import { signInOnce } from './smoke-user.ts';

const USAGE = `
Usage: npm run smoke -- [--url URL] [--function NAME] [options]

  --url URL       base URL of the stage, without /inquiries; may be left out with --function
                  (default: the running local stack, with a token of its issuer)
  --data FOLDER   the data folder of the local stack (default: that of the stack on .data or in memory)
  --function NAME function to invoke directly, with an alias: inquiries-develop:live; it must answer without a token,
                  so a function that fails is found without one
  --mailer NAME   the function that sends mail, invoked with nothing to send
  --token TOKEN   an ID token that the stage accepts (default: SMOKE_TOKEN); without one, checks that need it are skipped
  --user-pool ID  without a token: create a user in this Cognito user pool, sign in, and delete the user at once
  --client ID     app client of that pool, with ALLOW_ADMIN_USER_PASSWORD_AUTH, whose id the stage accepts
  --origin ORIGIN the stage's allowed origin, for the preflight (default: the one in its responses)
  --wait SECONDS  how long to wait for the first response, right after a deployment (default: 0)
  --no-key        skip the checks of Idempotency-Key, which the local stack ignores with dynalite

--function and --user-pool use the AWS credentials and region of the environment.
`;
const REQUEST_TIMEOUT_MS = 35_000; // the gateway gives up after 30 s

/** What is checked, and with what; an empty text is what was not given. */
type Target = Awaited<ReturnType<typeof readTarget>>;

async function readTarget(args: string[], env: NodeJS.ProcessEnv, interruption?: AbortSignal) {
  const given = parseOptions(
    USAGE,
    {
      url: { type: 'string' },
      function: { type: 'string', default: '' },
      mailer: { type: 'string', default: '' },
      token: { type: 'string' },
      'user-pool': { type: 'string', default: '' },
      client: { type: 'string', default: '' },
      origin: { type: 'string', default: '' },
      wait: { type: 'string', default: '0' },
      'no-key': { type: 'boolean', default: false },
      data: { type: 'string' },
    },
    args,
  );
  const isLocal = given.url === undefined && given.function === '';
  if (!isLocal && given.data !== undefined) throw new UsageError('--data is for the local stack.');
  if (given.url !== undefined && !/^https?:$/.test(URL.parse(given.url)?.protocol ?? '')) {
    throw new UsageError(`--url must be an http or https URL, not '${given.url}'`);
  }
  if ((given['user-pool'] === '') !== (given.client === '')) {
    throw new UsageError('--user-pool and --client belong together (see --help)');
  }
  if (!/^\d{1,4}$/.test(given.wait)) {
    throw new UsageError(`--wait must be a number of seconds, not '${given.wait}'`);
  }
  const local = isLocal ? readRunningStack(given.data ?? findDataFolder()) : undefined;
  const signed = local && (await signToken(await readKey(local.keysFile), local.issuer));
  const token = (given.token ?? signed ?? env['SMOKE_TOKEN'] ?? '').trim().replace(/^Bearer /i, '');
  // dynalite has neither mailbox nor transactions.
  const hasKeys = !given['no-key'] && (local === undefined || local.mailbox !== undefined);
  return {
    url: (given.url ?? local?.gateway ?? '').replace(/\/+$/, ''),
    function: given.function,
    mailer: given.mailer,
    userPool: token === '' ? given['user-pool'] : '',
    client: given.client,
    wait: Number(given.wait),
    /** The Idempotency-Key of the POST. */
    key: hasKeys ? crypto.randomUUID() : '',
    token,
    origin: given.origin,
    /** Ends the requests and the waiting. */
    interruption,
  };
}

async function send(
  { url, interruption }: Target,
  { method, query = '', body }: ServiceRequest,
  headers: Record<string, string> = {},
): Promise<ServiceResponse> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const response = await fetch(`${url}/inquiries${query && `?${query}`}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
    redirect: 'manual',
    signal: interruption ? AbortSignal.any([timeout, interruption]) : timeout,
  });
  return {
    status: response.status,
    headers: response.headers,
    body: parseBody(await response.text()),
  };
}

async function invoke(target: Target, method: string): Promise<ServiceResponse> {
  const response = await invokeFunction(target.function, method, target.interruption);
  checkOrigin(target, response);
  assert(target.origin !== '', 'Access-Control-Allow-Origin is missing');
  return response;
}

/** Takes the stage's origin from the first response that has one; the others must have the same. */
function checkOrigin(target: Target, response: ServiceResponse): void {
  target.origin ||= response.headers.get('access-control-allow-origin') ?? '';
  assert(target.origin !== '*', 'Access-Control-Allow-Origin is *');
  if (target.origin !== '') assertHeader(response, 'Access-Control-Allow-Origin', target.origin);
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
  checkOrigin(target, response);
  if (response.status < 300) assertHeader(response, 'Cache-Control', 'no-store');
  return response;
}

function sendPreflight(target: Target, origin: string): Promise<ServiceResponse> {
  const names = 'authorization,content-type,idempotency-key';
  return send(
    target,
    { method: 'OPTIONS' },
    { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': names },
  );
}

/** Waits until the stage answers; right after a deployment its name, route, alias or role may be missing. */
async function awaitStage(target: Target): Promise<void> {
  const deadline = performance.now() + target.wait * 1000;
  const { function: name, mailer, interruption } = target;
  const isThere = async (): Promise<boolean> => {
    if (name !== '' && !(await canBeInvoked(() => invoke(target, 'GET')))) return false;
    if (mailer !== '' && !(await canBeInvoked(() => invokeMailer(mailer, interruption)))) {
      return false;
    }
    if (target.url === '') return true;
    const response = await send(target, { method: 'GET' }).catch(() => undefined);
    return response !== undefined && response.status < 500 && ![403, 404].includes(response.status);
  };
  while (performance.now() < deadline && !(await isThere())) {
    await sleep(1_000, undefined, { signal: interruption });
  }
}

/** False while the function, its alias or its role is being made. Any other failure is left to the checks. */
async function canBeInvoked(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    const { name, message } = error as Error;
    const isNew =
      ['ResourceNotFoundException', 'ResourceConflictException'].includes(name) ||
      message.includes('cannot be assumed by Lambda');
    return !isNew;
  }
}

type Need = 'url' | 'function' | 'token' | 'origin' | 'key';
type Check = readonly [title: string, needs: readonly Need[], run: () => Promise<void>];

/** The checks in the order in which they must run: some take what those before have found. */
function createChecks(target: Target): Check[] {
  const { contract, key } = createContractChecks((request) => sendWithToken(target, request));
  const signIn = async () => void (target.token = await signInOnce(target.userPool, target.client));
  const mailer: Check = [
    'the mailer runs',
    [],
    () => invokeMailer(target.mailer, target.interruption),
  ];
  const needing =
    (...needs: Need[]) =>
    ([title, run]: readonly [string, () => Promise<void>]): Check => [title, needs, run];
  return [
    ...createFunctionChecks((method) => invoke(target, method)).map(needing('function')),
    ...(target.mailer === '' ? [] : [mailer]),
    ['401 without a token', ['url'], () => checkRefused(target)],
    [
      '401 with a malformed token',
      ['url'],
      () => checkRefused(target, { authorization: 'Bearer nonsense' }),
    ],
    ...(target.userPool === ''
      ? []
      : [['a new user of the pool signs in', ['url'], signIn] satisfies Check]),
    ...contract.map(needing('url', 'token')),
    ...key.map(needing('url', 'token', 'key')),
    ['preflight allows the origin', ['url', 'origin'], () => checkPreflight(target)],
    ['preflight allows no other origin', ['url'], () => checkOtherPreflight(target)],
  ];
}

async function checkRefused(target: Target, headers: Record<string, string> = {}): Promise<void> {
  assertStatus(await send(target, { method: 'GET' }, headers), 401);
}

async function checkPreflight(target: Target): Promise<void> {
  const response = await sendPreflight(target, target.origin);
  assert([200, 204].includes(response.status), `answered ${response.status}, not 204`);
  assertHeader(response, 'Access-Control-Allow-Origin', target.origin);
  for (const [name, values] of [
    ['Access-Control-Allow-Methods', ['post']],
    ['Access-Control-Allow-Headers', CORS.allow_headers],
  ] as const) {
    const allowed = (response.headers.get(name) ?? '').toLowerCase();
    const isComplete = values.every((value) => allowed.split(/, ?/).includes(value));
    assert(isComplete, `${name} is ${allowed}`);
  }
}

async function checkOtherPreflight(target: Target): Promise<void> {
  const { headers } = await sendPreflight(target, 'https://elsewhere.invalid');
  const origin = headers.get('access-control-allow-origin');
  assert(
    origin !== '*' && origin !== 'https://elsewhere.invalid',
    `Access-Control-Allow-Origin is ${origin}`,
  );
}

/** One line for an error; some messages of the SDK have further lines. */
function describeError(error: unknown): string {
  const cause =
    error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line + cause;
}

/** @param interruption - Ends it; the promise is then rejected with its reason. */
export async function main(
  args: string[],
  { stdout, env }: Io,
  interruption?: AbortSignal,
): Promise<number> {
  const target = await readTarget(args, env, interruption);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  await awaitStage(target);
  for (const [title, needs, run] of createChecks(target)) {
    interruption?.throwIfAborted();
    const started = performance.now();
    const print = (result: keyof typeof counts, detail: string): void => {
      counts[result] += 1;
      stdout.write(`${result.padEnd(8)} ${title.padEnd(48)} ${detail}\n`);
    };
    const missing = needs.find((name) => target[name] === '');
    if (missing === undefined) {
      await run().then(
        () => print('passed', `${Math.round(performance.now() - started)} ms`),
        (error: unknown) => print('failed', describeError(error)),
      );
    } else {
      print('skipped', `no ${missing}`);
    }
  }
  interruption?.throwIfAborted();

  const { passed, failed, skipped } = counts;
  stdout.write(`smoke: ${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  if (target.url === '') {
    stdout.write('Only the function was checked, without the API; --url URL checks both.\n');
  } else if (target.token === '') {
    stdout.write(
      target.function === ''
        ? 'The function was not reached, so it may be failing; --function NAME or a token checks it.\n'
        : 'What a signed-in user gets was not checked; a token, or --user-pool and --client, check it.\n',
    );
  }
  return failed > 0 ? 1 : 0;
}

if (import.meta.main) await runCommand(main);
