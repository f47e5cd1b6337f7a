/**
 * Checks in a few requests that a deployed stage keeps its contract: preflight, 401, 405, list, create, list again. It leaves
 * one inquiry behind, with a marker as its subject, since the API deletes nothing: give it a token of a user made for this.
 *
 * Usage: see below. Exit codes: 0 all checks passed, 1 a check failed, 2 bad use.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseOptions, runCommand, UsageError } from './cli.ts';

const USAGE = `
Usage: npm run smoke -- --url URL [--token TOKEN] [--origin ORIGIN] [--wait SECONDS]

  --url URL       base URL of the stage, without /inquiries
  --token TOKEN   an ID token the stage accepts (default: SMOKE_TOKEN); without one, what needs a token is skipped
  --origin ORIGIN the stage's allowed origin, for the preflight (default: the one its answers name)
  --wait SECONDS  how long the stage may take to answer at all, right after a deployment (default: 0)
`;
const REQUEST_TIMEOUT_MS = 35_000; // the gateway gives up after 30 s

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** What is wrong with an answer; reported, never fatal to the checks that follow. */
class Finding extends Error {
  override readonly name = 'Finding';
}

const options = { url: '', token: '', origin: '', wait: 0 };
const counts = { passed: 0, failed: 0, skipped: 0 };

async function send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${options.url}${path}`, {
    ...init,
    method,
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const text = await response.text();
  let body: unknown;
  try {
    body = text === '' ? undefined : JSON.parse(text);
  } catch {
    body = text;
  }
  return { status: response.status, headers: response.headers, body };
}

const withToken = (init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: {
    'content-type': 'application/json',
    authorization: `Bearer ${options.token}`,
    ...(options.origin === '' ? {} : { origin: options.origin }),
  },
});

function assert(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Finding(otherwise);
}

const keysOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? Object.keys(value).toSorted().join(',') : typeof value;

/**
 * Status, JSON, the allowed origin and no cache for inquiries. AWS's gateway may keep Access-Control-Allow-Origin from
 * clients that send no Origin, so it is asked for only once the origin is known and sent.
 */
function assertResponse({ status, headers, body }: Answer, expected: number): void {
  assert(status === expected, `answered ${status}, not ${expected}`);
  const type = headers.get('content-type');
  assert(type === 'application/json', `Content-Type is ${type ?? 'missing'}, not application/json`);
  const origin = headers.get('access-control-allow-origin');
  if (options.origin === '') options.origin = origin ?? '';
  assert(origin !== '*', 'Access-Control-Allow-Origin is *');
  assert(
    options.origin === '' || origin === options.origin,
    `Access-Control-Allow-Origin is ${origin ?? 'missing'}, not ${options.origin}`,
  );
  const cache = headers.get('cache-control');
  assert(expected >= 300 || cache === 'no-store', `Cache-Control is ${cache ?? 'missing'}, not no-store`);
  assert(typeof body === 'object' && body !== null, 'the body is not a JSON object');
}

const INQUIRY = 'body,cognito_sub,created_at,email,id,subject';
interface Inquiry {
  readonly id: string;
  readonly email: string;
  readonly subject: string;
  readonly created_at: string;
}

function assertInquiry(value: unknown): asserts value is Inquiry {
  assert(keysOf(value) === INQUIRY, `an inquiry has the fields ${keysOf(value)}, not ${INQUIRY}`);
}

/** The list of an answer to GET, held against the contract. */
function assertList(answer: Answer): Inquiry[] {
  assertResponse(answer, 200);
  assert(keysOf(answer.body) === 'count,email,inquiries', `the body has the fields ${keysOf(answer.body)}`);
  const { count, email, inquiries } = answer.body as { count: number; email: string; inquiries: Inquiry[] };
  assert(
    Array.isArray(inquiries) && count === inquiries.length,
    `count is ${count} and does not match the list`,
  );
  for (const inquiry of inquiries) {
    assertInquiry(inquiry);
    assert(inquiry.email === email, 'the list holds an inquiry of another e-mail address');
  }
  const times = inquiries.map((inquiry) => Date.parse(inquiry.created_at));
  const newestFirst = times.every((time, index) => index === 0 || time <= (times[index - 1] ?? 0));
  assert(newestFirst, 'the list is not ordered newest first');
  return inquiries;
}

async function check(
  title: string,
  needs: 'token' | 'origin' | undefined,
  run: () => Promise<void>,
): Promise<void> {
  const started = performance.now();
  const line = (result: keyof typeof counts, detail: string): void => {
    counts[result] += 1;
    process.stdout.write(`${result.padEnd(8)} ${title.padEnd(48)} ${detail}\n`);
  };
  if (needs !== undefined && options[needs] === '') {
    line('skipped', `no ${needs}`);
    return;
  }
  try {
    await run();
    line('passed', `${Math.round(performance.now() - started)} ms`);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    line('failed', error instanceof Error ? `${error.message}${cause}` : String(error));
  }
}

/** Waits until the stage answers; a new one has no name, no route or no function for a moment. */
async function awaitStage(): Promise<void> {
  const deadline = performance.now() + options.wait * 1000;
  while (performance.now() < deadline) {
    const answer = await send('GET', '/inquiries').catch(() => undefined);
    if (answer !== undefined && answer.status < 500 && answer.status !== 403 && answer.status !== 404) return;
    await sleep(1_000);
  }
}

async function checkStage(): Promise<void> {
  const marker = `smoke ${new Date().toISOString()} ${crypto.randomUUID()}`;
  let created: Inquiry | undefined;

  await check('401 without a token', undefined, async () => {
    const { status } = await send('GET', '/inquiries');
    assert(status === 401, `answered ${status}, not 401`);
  });
  await check('401 with a token that is none', undefined, async () => {
    const { status } = await send('GET', '/inquiries', { headers: { authorization: 'Bearer nonsense' } });
    assert(status === 401, `answered ${status}, not 401`);
  });
  await check('405 for PUT, with the methods that are allowed', 'token', async () => {
    const answer = await send('PUT', '/inquiries', withToken({ body: '{}' }));
    assertResponse(answer, 405);
    assert(keysOf(answer.body) === 'error,message', `the body has the fields ${keysOf(answer.body)}`);
    const allow = answer.headers.get('allow');
    assert(allow === 'GET, POST', `Allow is ${allow ?? 'missing'}, not GET, POST`);
  });
  await check('GET lists the inquiries of the caller', 'token', async () => {
    assertList(await send('GET', '/inquiries', withToken()));
  });
  await check('POST creates an inquiry', 'token', async () => {
    const body = JSON.stringify({ subject: marker, body: 'Left by the smoke test of a deployment.' });
    const answer = await send('POST', '/inquiries', withToken({ body }));
    assertResponse(answer, 201);
    assert(keysOf(answer.body) === 'inquiry', `the body has the fields ${keysOf(answer.body)}`);
    const { inquiry } = answer.body as { inquiry: unknown };
    assertInquiry(inquiry);
    assert(inquiry.subject === marker, 'the inquiry does not have the subject that was sent');
    created = inquiry;
  });
  await check('GET sees it', 'token', async () => {
    assert(created !== undefined, 'there is nothing to see, since POST failed');
    const { id } = created;
    const inquiries = assertList(await send('GET', '/inquiries?limit=20', withToken()));
    assert(
      inquiries.some((inquiry) => inquiry.id === id && inquiry.subject === marker),
      'the new inquiry is not in the list',
    );
  });
  await check('preflight allows the origin', 'origin', async () => {
    const { status, headers } = await preflight(options.origin);
    assert(status === 204 || status === 200, `answered ${status}, not 204`);
    const origin = headers.get('access-control-allow-origin');
    assert(
      origin === options.origin,
      `Access-Control-Allow-Origin is ${origin ?? 'missing'}, not ${options.origin}`,
    );
    const methods = (headers.get('access-control-allow-methods') ?? '').toUpperCase();
    assert(methods.split(/, ?/).includes('POST'), `Access-Control-Allow-Methods is ${methods}`);
    const names = (headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/, ?/);
    assert(
      names.includes('authorization') && names.includes('content-type'),
      `Access-Control-Allow-Headers is ${names.join(',')}`,
    );
  });
  await check('preflight allows no other origin', undefined, async () => {
    const { headers } = await preflight('https://elsewhere.invalid');
    const origin = headers.get('access-control-allow-origin');
    assert(
      origin !== '*' && origin !== 'https://elsewhere.invalid',
      `Access-Control-Allow-Origin is ${origin}`,
    );
  });
}

function preflight(origin: string): Promise<Answer> {
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  return send('OPTIONS', '/inquiries', { headers });
}

function readOptions(): void {
  const given = parseOptions(USAGE, {
    url: { type: 'string' },
    token: { type: 'string' },
    origin: { type: 'string' },
    wait: { type: 'string', default: '0' },
  });
  if (given.url === undefined) throw new UsageError('--url is missing (see --help)');
  if (!URL.canParse(given.url) || !/^https?:$/.test(new URL(given.url).protocol)) {
    throw new UsageError(`--url must be an http or https URL, not '${given.url}'`);
  }
  if (!/^\d{1,4}$/.test(given.wait))
    throw new UsageError(`--wait must be a number of seconds, not '${given.wait}'`);
  options.url = given.url.replace(/\/+$/, '');
  options.token = (given.token ?? process.env['SMOKE_TOKEN'] ?? '').trim().replace(/^Bearer /i, '');
  options.origin = given.origin ?? '';
  options.wait = Number(given.wait);
}

await runCommand(async () => {
  readOptions();
  await awaitStage();
  await checkStage();
  process.stdout.write(
    `smoke: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
  );
  if (counts.failed > 0) process.exitCode = 1;
});
