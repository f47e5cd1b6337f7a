/**
 * Checks in a few requests that a deployed stage keeps its contract. The function itself: 401 and 405 without a gateway.
 * Through the API: 401, 405, list, create, list again, send again with the same key, preflight. It leaves one inquiry
 * behind, with a marker as its subject, since the API deletes nothing: use a test user's token.
 *
 * Usage: see below. Exit codes: 0 all checks passed, 1 a check failed, 2 bad use.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseOptions, runCommand, UsageError } from '../lib/command-line.ts';
import {
  assert,
  assertHeader,
  assertStatus,
  createContractChecks,
  createFunctionChecks,
  createKeyChecks,
  parseBody,
} from '../lib/contract-checks.ts';
import type { FirstPost, ServiceRequest, ServiceResponse } from '../lib/contract-checks.ts';
import { invokeFunction } from './invoke.ts';
import { signInOnce } from './smoke-user.ts';

const USAGE = `
Usage: npm run smoke -- [--url URL] [--function NAME] [options]

  --url URL       base URL of the stage, without /inquiries; may be left out with --function
  --function NAME function to invoke directly, with an alias: inquiries-develop:live; it must answer without a token,
                  so a function that fails is found without one
  --token TOKEN   an ID token that the stage accepts (default: SMOKE_TOKEN); without one, checks that need it are skipped
  --user-pool ID  without a token: create a user in this Cognito user pool, sign in, and delete the user at once
  --client ID     app client of that pool, with ALLOW_ADMIN_USER_PASSWORD_AUTH, whose id the stage accepts
  --origin ORIGIN the stage's allowed origin, for the preflight (default: the one in its responses)
  --wait SECONDS  how long to wait for the first response, right after a deployment (default: 0)
  --no-key        skip the checks of Idempotency-Key, which the local stack ignores with dynalite

--function and --user-pool use the AWS credentials and region of the environment.
`;
const REQUEST_TIMEOUT_MS = 35_000; // the gateway gives up after 30 s

const options = {
  url: '',
  function: '',
  token: '',
  userPool: '',
  client: '',
  origin: '',
  wait: 0,
  key: crypto.randomUUID() as string,
};
const counts = { passed: 0, failed: 0, skipped: 0 };

async function send(
  { method, query = '', body }: ServiceRequest,
  headers: Record<string, string> = {},
): Promise<ServiceResponse> {
  const response = await fetch(`${options.url}/inquiries${query && `?${query}`}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  return { status: response.status, headers: response.headers, body: parseBody(await response.text()) };
}

async function invoke(method: string): Promise<ServiceResponse> {
  const response = await invokeFunction(options.function, method);
  checkOrigin(response);
  assert(options.origin !== '', 'Access-Control-Allow-Origin is missing');
  return response;
}

/** Takes the stage's origin from the first response that has one; the others must have the same. */
function checkOrigin(response: ServiceResponse): void {
  options.origin ||= response.headers.get('access-control-allow-origin') ?? '';
  assert(options.origin !== '*', 'Access-Control-Allow-Origin is *');
  if (options.origin !== '') assertHeader(response, 'Access-Control-Allow-Origin', options.origin);
}

/**
 * Sends a request with the token and checks the headers that the stage decides. AWS's gateway may omit
 * Access-Control-Allow-Origin where the request has no Origin, so it is required only once the origin is known and sent.
 */
async function sendWithToken(request: ServiceRequest): Promise<ServiceResponse> {
  const response = await send(request, {
    'content-type': 'application/json',
    authorization: `Bearer ${options.token}`,
    ...(request.method === 'POST' && options.key !== '' && { 'idempotency-key': options.key }),
    ...(options.origin !== '' && { origin: options.origin }),
  });
  checkOrigin(response);
  if (response.status < 300) assertHeader(response, 'Cache-Control', 'no-store');
  return response;
}

function preflight(origin: string): Promise<ServiceResponse> {
  const names = 'authorization,content-type,idempotency-key';
  return send(
    { method: 'OPTIONS' },
    { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': names },
  );
}

async function check(
  title: string,
  needs: readonly ('url' | 'function' | 'token' | 'origin' | 'key')[],
  run: () => Promise<void>,
): Promise<void> {
  const started = performance.now();
  const print = (result: keyof typeof counts, detail: string): void => {
    counts[result] += 1;
    process.stdout.write(`${result.padEnd(8)} ${title.padEnd(48)} ${detail}\n`);
  };
  const missing = needs.find((name) => options[name] === '');
  if (missing !== undefined) return print('skipped', `no ${missing}`);
  try {
    await run();
    return print('passed', `${Math.round(performance.now() - started)} ms`);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    // Some messages of the SDK have further lines.
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return print('failed', `${line}${cause}`);
  }
}

/** Waits until the stage answers; right after a deployment its name, route, alias or role may be missing. */
async function awaitStage(): Promise<void> {
  const deadline = performance.now() + options.wait * 1000;
  const isThere = async (): Promise<boolean> => {
    if (options.function !== '' && !(await canBeInvoked())) return false;
    if (options.url === '') return true;
    const response = await send({ method: 'GET' }).catch(() => undefined);
    return response !== undefined && response.status < 500 && ![403, 404].includes(response.status);
  };
  while (performance.now() < deadline && !(await isThere())) await sleep(1_000);
}

/** False while the function, its alias or its role is being made. Any other failure is left to the checks. */
async function canBeInvoked(): Promise<boolean> {
  try {
    await invoke('GET');
    return true;
  } catch (error) {
    const { name, message } = error as Error;
    const isNew =
      ['ResourceNotFoundException', 'ResourceConflictException'].includes(name) ||
      message.includes('cannot be assumed by Lambda');
    return !isNew;
  }
}

async function checkStage(): Promise<void> {
  for (const [title, run] of createFunctionChecks(invoke)) await check(title, ['function'], run);
  await check('401 without a token', ['url'], async () => assertStatus(await send({ method: 'GET' }), 401));
  await check('401 with a token that is none', ['url'], async () =>
    assertStatus(await send({ method: 'GET' }, { authorization: 'Bearer nonsense' }), 401),
  );
  if (options.userPool !== '') {
    await check('a new user of the pool signs in', ['url'], async () => {
      options.token = await signInOnce(options.userPool, options.client);
    });
  }
  let first: FirstPost | undefined;
  const checks = createContractChecks(async (request) => {
    const response = await sendWithToken(request);
    if (request.method === 'POST' && response.status === 201) first = { request, response };
    return response;
  });
  for (const [title, run] of checks) await check(title, ['url', 'token'], run);
  for (const [title, run] of createKeyChecks(sendWithToken, () => first))
    await check(title, ['url', 'token', 'key'], run);
  await check('preflight allows the origin', ['url', 'origin'], async () => {
    const response = await preflight(options.origin);
    assert([200, 204].includes(response.status), `answered ${response.status}, not 204`);
    assertHeader(response, 'Access-Control-Allow-Origin', options.origin);
    for (const [name, values] of [
      ['Access-Control-Allow-Methods', ['post']],
      ['Access-Control-Allow-Headers', ['authorization', 'content-type', 'idempotency-key']],
    ] as const) {
      const allowed = (response.headers.get(name) ?? '').toLowerCase();
      const isComplete = values.every((value) => allowed.split(/, ?/).includes(value));
      assert(isComplete, `${name} is ${allowed}`);
    }
  });
  await check('preflight allows no other origin', ['url'], async () => {
    const { headers } = await preflight('https://elsewhere.invalid');
    const origin = headers.get('access-control-allow-origin');
    const isRefused = origin !== '*' && origin !== 'https://elsewhere.invalid';
    assert(isRefused, `Access-Control-Allow-Origin is ${origin}`);
  });
}

function readOptions(): void {
  const given = parseOptions(USAGE, {
    url: { type: 'string' },
    function: { type: 'string', default: '' },
    token: { type: 'string' },
    'user-pool': { type: 'string', default: '' },
    client: { type: 'string', default: '' },
    origin: { type: 'string' },
    wait: { type: 'string', default: '0' },
    'no-key': { type: 'boolean', default: false },
  });
  if (given.url === undefined && given.function === '') throw new UsageError('--url is missing (see --help)');
  if (given.url !== undefined && !/^https?:$/.test(URL.parse(given.url)?.protocol ?? '')) {
    throw new UsageError(`--url must be an http or https URL, not '${given.url}'`);
  }
  if ((given['user-pool'] === '') !== (given.client === '')) {
    throw new UsageError('--user-pool and --client belong together (see --help)');
  }
  if (!/^\d{1,4}$/.test(given.wait)) {
    throw new UsageError(`--wait must be a number of seconds, not '${given.wait}'`);
  }
  options.url = (given.url ?? '').replace(/\/+$/, '');
  options.function = given.function;
  options.token = (given.token ?? process.env['SMOKE_TOKEN'] ?? '').trim().replace(/^Bearer /i, '');
  if (options.token === '') [options.userPool, options.client] = [given['user-pool'], given.client];
  options.origin = given.origin ?? '';
  options.wait = Number(given.wait);
  if (given['no-key']) options.key = '';
}

await runCommand(async () => {
  readOptions();
  await awaitStage();
  await checkStage();
  const { passed, failed, skipped } = counts;
  process.stdout.write(`smoke: ${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  if (options.url === '') {
    process.stdout.write('Only the function was checked, without the API; --url URL checks both.\n');
  } else if (options.token === '') {
    process.stdout.write(
      options.function === ''
        ? 'The function was not reached, so it may be failing; --function NAME or a token checks it.\n'
        : 'What a signed-in user gets was not checked; a token, or --user-pool and --client, check it.\n',
    );
  }
  if (failed > 0) process.exitCode = 1;
});
