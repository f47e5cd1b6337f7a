/** What clients send is nowhere but in their own answers: neither in the log nor in an error. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { digest } from '../../src/entities/keys.ts';
import type { Answer } from '../helpers/http.ts';
import {
  always,
  answer,
  EMPTY,
  first,
  never,
  refuse,
  RESET,
  type Fault,
  type Plan,
} from '../helpers/fault-proxy.ts';
import { startService, type Service, type User } from '../helpers/service.ts';
import { createTally } from '../helpers/tally.ts';

const CANARY = 'canary7b1';
/** A key, which is a canary, too, and what is stored in its place. */
const KEY = `${CANARY}-key`;
const DIGESTS = [digest(KEY), digest(`${CANARY} s`, `${CANARY} b`)];
const JSON_BODY = JSON.stringify({ subject: `${CANARY} s`, body: `${CANARY} b`, [CANARY]: CANARY });

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

/** Asks while the database fails as planned, and judges the answer and the line about it. */
async function check(
  run: () => Promise<Answer>,
  plan: Plan,
  expected: { level: string; status: number; errorName?: unknown; attempts?: unknown },
): Promise<void> {
  const { length } = service.lines;
  service.proxy.plan = plan;
  const got = await run();
  await expect.poll(() => service.lines.length, { timeout: 10_000 }).toBe(length + 2);
  const added = service.lines.slice(length);
  const hidden = added.join('\n') + JSON.stringify(got.headers);
  for (const text of [CANARY, ...DIGESTS]) expect(hidden).not.toContain(text);
  for (const text of DIGESTS) expect(got.text).not.toContain(text);
  if (got.status >= 400) expect(got.text).not.toContain(CANARY);
  const lines = added.map((text) => JSON.parse(text) as { level?: string; message?: object });
  const { level, message = {} } = lines.find((one) => one.level !== undefined) ?? {};
  expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(message)));
  const { status } = got;
  const line = { errorName: undefined, ...message, level };
  const common = { status, attempts: service.proxy.attempts, route: '/inquiries' };
  expect(line).toMatchObject({ ...common, milliseconds: expect.any(Number) });
  expect(line).toMatchObject(expected);
  tally();
}
const send = (body?: string | Buffer, type?: string) => user.call('POST', '', body, type);
const list = (query = '') => user.call('GET', query);

const FIELD = `{"${CANARY}":"${CANARY}"}`;
const large = JSON.stringify({ subject: '', body: CANARY.repeat(60_000) });
it.each<[string, () => Promise<Answer>, number, string]>([
  ['no JSON', () => send(`{"${CANARY}`), 500, 'SyntaxError'],
  ['bytes that are no text', () => send(Buffer.from([0xff, 0x63]), 'x/y'), 500, 'TypeError'],
  ['a field missing', () => send(FIELD), 400, 'BAD_REQUEST'],
  ['too large', () => send(large), 413, 'PAYLOAD_TOO_LARGE'],
  ['a bad before', () => list(`?before=${CANARY}`), 400, 'BAD_REQUEST'],
  ['a bad limit', () => list(`?limit=${CANARY}`), 400, 'BAD_REQUEST'],
  ['another method', () => user.call('PUT', `?${CANARY}`, CANARY), 405, 'METHOD_NOT_ALLOWED'],
  ['a bad key', () => post(JSON_BODY, `${CANARY},${CANARY}`), 400, 'BAD_REQUEST'],
  ['a sub that is no UUID', () => listAs(`${CANARY}@example.com`, CANARY), 401, 'Unauthorized'],
])('a mistake of the client is a warning: %s', async (_, run, status, errorName) =>
  check(run, never, { level: 'WARN', status, errorName, attempts: 0 }),
);

describe.skipIf(!hasTransactions)('a key (skipped on dynalite, which has no transactions)', () => {
  const CONFLICT = JSON.stringify({
    __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
    Message: CANARY,
    CancellationReasons: [{ Code: 'TransactionConflict', Message: CANARY }],
  });
  const OTHER = JSON.stringify({ subject: CANARY, body: CANARY });
  const inUse = always(answer(400, CONFLICT));
  it.each<[string, string, number, string?, Plan?]>([
    ['that is new', JSON_BODY, 201],
    ['that is known', JSON_BODY, 201],
    ['of another text', OTHER, 422, 'IDEMPOTENCY_KEY_REUSED'],
    ['in use', JSON_BODY, 409, 'IDEMPOTENCY_CONFLICT', inUse],
  ])('%s', async (_, body, status, errorName, plan = never) =>
    check(() => post(body, KEY), plan, {
      level: errorName ? 'WARN' : 'INFO',
      status,
      errorName,
      attempts: 1,
    }),
  );
});

it.each<[string, Plan, number, (() => Promise<Answer>)?]>([
  ['at once', never, 1],
  ['after a throttle', first(1, refuse(400, 'ThrottlingException')), 2],
  ['after two resets', first(2, RESET), 3],
  [
    'of a list of pages after an error',
    first(1, refuse(500, 'InternalServerError')),
    expect.any(Number),
    list,
  ],
])('a success is information, with the attempts it took: %s', async (_, plan, attempts, run) => {
  const status = run ? 200 : 201;
  await check(run ?? (() => send(JSON_BODY)), plan, {
    level: 'INFO',
    status,
    errorName: undefined,
    attempts,
  });
});

it.each<[string, Fault]>([
  ['throttled', refuse(400, 'ThrottlingException')],
  ['an error type with a canary', refuse(400, `${CANARY} exception`)],
  ['an error message with a canary', answer(400, `{"__type":"X","message":"${CANARY}"}`)],
  ['HTML with a canary', answer(500, `<html>${CANARY}</html>`, { 'content-type': 'text/html' })],
  ['JSON with a canary, cut', answer(200, `{"${CANARY}`)],
  ['a header with a canary', answer(503, '', { 'x-amzn-requestid': CANARY, 'x-canary': CANARY })],
  ['an empty success', EMPTY],
  ['reset', RESET],
])('an internal error is logged as an error: %s', async (_, fault) => {
  const errorName: unknown = expect.stringMatching(/^\w+$/);
  for (const run of [() => send(JSON_BODY), () => post(JSON_BODY, `${KEY}-of-a-fault`), list]) {
    await check(run, always(fault), { level: 'ERROR', status: 500, errorName });
  }
});
