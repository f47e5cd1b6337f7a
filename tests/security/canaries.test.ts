/** What clients send is nowhere but in their own answers: neither in the log nor in an error. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { digest } from '../../src/entities/keys.ts';
import type { Answer } from '../helpers/http.ts';
import {
  answer,
  answerAfter,
  cutConnection,
  first,
  always,
  never,
  refuse,
  type Plan,
} from '../helpers/fault-proxy.ts';
import { startService, type Service, type User } from '../helpers/service.ts';
import { createTally } from '../helpers/tally.ts';

const CANARY = 'canary7b1';
/** A key, which is a canary, too, and what is stored in its place. */
const KEY = `${CANARY}-key`;
const DIGESTS = [digest(KEY), digest(`${CANARY} s`, `${CANARY} b`)];
const JSON_BODY = JSON.stringify({ subject: `${CANARY} s`, body: `${CANARY} b`, [CANARY]: CANARY });

interface Line {
  readonly level?: string;
  readonly message: Record<string, unknown>;
}
/** The fields a line about a request may have, and no others. */
const FIELDS = ['requestId', 'method', 'route', 'status', 'milliseconds', 'attempts', 'errorName'];

const hasTransactions = inject('engines')['dynamodb-local'] !== undefined;

let service: Service;
let user: User;
beforeAll(async () => {
  service = await startService({ pageSize: 2 });
  const claims = { 'cognito:username': CANARY, nickname: CANARY };
  user = await service.signIn({ email: `${CANARY}@example.com`, sub: randomUUID(), claims });
});
afterAll(() => service.close());

const listAs = async (email: string, sub: string) =>
  (await service.signIn({ email, sub })).call('GET');
const post = (body: string, key: string) =>
  user.call('POST', '', body, undefined, ['Idempotency-Key', key]);

const tally = createTally('7b canaries: requests whose log and errors hold none');

interface Expected {
  readonly level: string;
  readonly errorName?: unknown;
  readonly attempts?: unknown;
}

/** Asks while the database fails as planned, and judges the answer and the line about it. */
async function check(
  run: () => Promise<Answer>,
  status: number,
  { level, errorName, attempts = expect.any(Number) }: Expected,
  plan: Plan = never,
): Promise<void> {
  const { length } = service.lines;
  service.proxy.plan = plan;
  const got = await run();
  await expect.poll(() => service.lines.length, { timeout: 10_000 }).toBe(length + 2);
  const added = service.lines.slice(length);
  const hidden = added.join('\n') + JSON.stringify(got.headers);
  for (const text of [CANARY, ...DIGESTS]) expect(hidden).not.toContain(text);
  for (const text of DIGESTS) expect(got.text).not.toContain(text);
  if (status >= 400) expect(got.text).not.toContain(CANARY);
  const line = added.map((text) => JSON.parse(text) as Line).find((one) => one.level !== undefined);
  const { message = {} } = line ?? {};
  expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(message)));
  expect([got.status, line?.level, message['errorName']]).toEqual([status, level, errorName]);
  expect(message).toMatchObject({ route: '/inquiries', status, attempts });
  expect(message['attempts']).toBe(service.proxy.attempts);
  expect(Number.isInteger(message['milliseconds'])).toBe(true);
  tally();
}
const postPlain = () => user.call('POST', '', JSON_BODY);
const list = () => user.call('GET');

describe('a mistake of the client is a warning', () => {
  const send = (body?: string | Buffer, type?: string) => user.call('POST', '', body, type);
  const large = JSON.stringify({ subject: '', body: CANARY.repeat(60_000) });
  it.each<[string, () => Promise<Answer>, number, string]>([
    ['no JSON', () => send(`{"${CANARY}`), 500, 'SyntaxError'],
    ['bytes that are no text', () => send(Buffer.from([0xff, 0x63]), 'x/y'), 500, 'TypeError'],
    ['a field missing', () => send(`{"${CANARY}":"${CANARY}"}`), 400, 'BAD_REQUEST'],
    ['not an object', () => send(`"${CANARY}"`), 400, 'BAD_REQUEST'],
    ['no body', () => send(), 400, 'BAD_REQUEST'],
    ['too large', () => send(large), 413, 'PAYLOAD_TOO_LARGE'],
    ['a bad before', () => user.call('GET', `?before=${CANARY}`), 400, 'BAD_REQUEST'],
    ['a bad limit', () => user.call('GET', `?limit=${CANARY}`), 400, 'BAD_REQUEST'],
    ['another method', () => user.call('PUT', `?${CANARY}`, CANARY), 405, 'METHOD_NOT_ALLOWED'],
    ['a bad key', () => post(JSON_BODY, `${CANARY},${CANARY}`), 400, 'BAD_REQUEST'],
    ['a key and no field', () => post(`{"${CANARY}":"${CANARY}"}`, KEY), 400, 'BAD_REQUEST'],
    ['an email that is empty', () => listAs('', randomUUID()), 401, 'Unauthorized'],
    ['a sub that is no UUID', () => listAs(`${CANARY}@example.com`, CANARY), 401, 'Unauthorized'],
  ])('%s', async (_, run, status, errorName) =>
    check(run, status, { level: 'WARN', errorName, attempts: 0 }),
  );
});

describe.skipIf(!hasTransactions)('a key (skipped on dynalite, which has no transactions)', () => {
  const CONFLICT = JSON.stringify({
    __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
    Message: CANARY,
    CancellationReasons: [{ Code: 'TransactionConflict', Message: CANARY }],
  });
  const other = JSON.stringify({ subject: CANARY, body: CANARY });
  const inUse = always(answer(400, CONFLICT));
  it.each<[string, string, number, string, string?, Plan?]>([
    ['that is new', JSON_BODY, 201, 'INFO'],
    ['that is known', JSON_BODY, 201, 'INFO'],
    ['of another text', other, 422, 'WARN', 'IDEMPOTENCY_KEY_REUSED'],
    ['in use', JSON_BODY, 409, 'WARN', 'IDEMPOTENCY_CONFLICT', inUse],
  ])('%s', async (_, body, status, level, errorName, plan) =>
    check(() => post(body, KEY), status, { level, errorName, attempts: 1 }, plan),
  );
});

const AT_LEAST_3 = expect.toSatisfy((count: number) => count >= 3) as unknown;
it.each<[string, Plan, unknown, (() => Promise<Answer>)?]>([
  ['at once', never, 1],
  ['after a throttle', first(1, refuse(400, 'ThrottlingException')), 2],
  ['after two resets', first(2, cutConnection('after', 'reset')), 3],
  [
    'of a list of pages after an error',
    first(1, refuse(500, 'InternalServerError')),
    AT_LEAST_3,
    list,
  ],
])('a success is information, with the attempts it took: %s', async (_, plan, attempts, run) =>
  check(run ?? postPlain, run ? 200 : 201, { level: 'INFO', attempts }, plan),
);

describe('an internal error is logged as an error', () => {
  it.each<[string, Plan]>([
    ['throttled', always(refuse(400, 'ThrottlingException'))],
    ['an error type with a canary', always(refuse(400, `${CANARY} exception`))],
    ['an error message with a canary', always(answer(400, `{"__type":"X","message":"${CANARY}"}`))],
    [
      'HTML with a canary',
      always(answer(500, `<html>${CANARY}</html>`, { 'content-type': 'text/html' })),
    ],
    ['JSON with a canary, cut', always(answer(200, `{"${CANARY}`))],
    [
      'a header with a canary',
      always(answer(503, '', { 'x-amzn-requestid': CANARY, 'x-canary': CANARY })),
    ],
    ['an empty success', always(answerAfter(() => ({ body: Buffer.alloc(0) })))],
    ['reset', always(cutConnection('after', 'reset'))],
  ])('%s', async (_, plan) => {
    const errorName = expect.stringMatching(/^\w+$/) as string;
    for (const run of [postPlain, () => post(JSON_BODY, `${KEY}-of-a-fault`), list]) {
      await check(run, 500, { level: 'ERROR', errorName }, plan);
    }
  });
});
