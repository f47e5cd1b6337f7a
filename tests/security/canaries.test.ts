/** What clients send is only in their own answers, neither in the log nor in an error. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { digest } from '../../src/entities/keys.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import type { Answer } from '../helpers/http.ts';
import {
  always,
  answer,
  EMPTY,
  first,
  never,
  refuse,
  refuseAsConflict,
  RESET,
  type Fault,
  type Plan,
} from '../helpers/fault-proxy.ts';
import { startService, type Service, type User } from '../helpers/service.ts';

const CANARY = 'canary7b1';
/** A key, also a canary, and what is stored instead. */
const KEY = `${CANARY}-key`;
const DIGESTS = [digest(KEY), digest(`${CANARY} s`, `${CANARY} b`)];
/** In no line or answer; `secret` is in the fault proxy's errors. */
const HIDDEN = [...DIGESTS, 'secret'];
const JSON_BODY = JSON.stringify({ subject: `${CANARY} s`, body: `${CANARY} b`, [CANARY]: CANARY });

/** All fields that a line about a request may have. */
const FIELDS = ['requestId', 'method', 'route', 'status', 'milliseconds', 'attempts', 'errorName'];

let service: Service;
let user: User;
beforeAll(async () => {
  service = await startService({ pageSize: 2 });
  const claims = { 'cognito:username': CANARY, nickname: CANARY };
  user = await service.signIn({ email: `${CANARY}@example.com`, sub: randomUUID(), claims });
});
afterAll(() => service.close());

const send = (body: string | Buffer, type?: string, headers?: string[]) =>
  user.call('POST', '', body, type, headers);
const sendJson = () => send(JSON_BODY);
const post = (body: string, key: string) => send(body, undefined, ['Idempotency-Key', key]);
const list = (query = '') => user.call('GET', query);
/** A user whose sub is no UUID. */
const listAsNobody = async () =>
  (await service.signIn({ email: user.email, sub: CANARY })).call('GET');

type Run = () => Promise<Answer>;

/** Asks under the planned faults, and judges answer and line. */
async function check(run: Run, plan: Plan, expected: object): Promise<void> {
  const { length } = service.lines;
  service.proxy.plan = plan;
  const got = await run();
  await expect.poll(() => service.lines.length).toBe(length + 2);
  const added = service.lines.slice(length);
  const hidden = added.join('\n') + JSON.stringify(got.headers);
  for (const text of HIDDEN) expect(hidden + got.text).not.toContain(text);
  expect(got.status < 400 ? hidden : hidden + got.text).not.toContain(CANARY);
  const lines = added.map((text) => JSON.parse(text) as { level?: string; message?: object });
  const { level, message = {} } = lines.find((one) => one.level !== undefined) ?? {};
  expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(message)));
  const line = { errorName: undefined, ...message, level };
  expect(line).toMatchObject({
    status: got.status,
    attempts: service.proxy.attempts,
    route: '/inquiries',
    milliseconds: expect.any(Number),
  });
  expect(line).toMatchObject(expected);
}

it.each<[string, Run, number, string]>([
  ['no JSON', () => send(`{"${CANARY}`), 500, 'SyntaxError'],
  ['bytes that are no text', () => send(Buffer.from([0xff, 0x63]), 'x/y'), 500, 'TypeError'],
  ['a field missing', () => send(`{"${CANARY}":"${CANARY}"}`), 400, 'BAD_REQUEST'],
  [
    'too large',
    () => send(JSON.stringify({ subject: '', body: CANARY.repeat(60_000) })),
    413,
    'PAYLOAD_TOO_LARGE',
  ],
  ['a bad before', () => list(`?before=${CANARY}`), 400, 'BAD_REQUEST'],
  ['a bad limit', () => list(`?limit=${CANARY}`), 400, 'BAD_REQUEST'],
  ['another method', () => user.call('PUT', `?${CANARY}`, CANARY), 405, 'METHOD_NOT_ALLOWED'],
  ['a bad key', () => post(JSON_BODY, `${CANARY},${CANARY}`), 400, 'BAD_REQUEST'],
  ['a sub that is no UUID', listAsNobody, 401, 'Unauthorized'],
])('a mistake of the client is a warning: %s', async (_, run, status, errorName) =>
  check(run, never, { level: 'WARN', status, errorName, attempts: 0 }),
);

describeOnDynamoDbLocal('a key', () => {
  it.each<[string, string, number, string?, Plan?]>([
    ['that is new', JSON_BODY, 201],
    ['that is known', JSON_BODY, 201],
    [
      'of another text',
      JSON.stringify({ subject: CANARY, body: CANARY }),
      422,
      'IDEMPOTENCY_KEY_REUSED',
    ],
    ['in use', JSON_BODY, 409, 'IDEMPOTENCY_CONFLICT', always(refuseAsConflict)],
  ])('%s', async (_, body, status, errorName, plan = never) =>
    check(() => post(body, KEY), plan, {
      level: errorName ? 'WARN' : 'INFO',
      status,
      errorName,
      attempts: 1,
    }),
  );
});

it.each<[string, Plan, number, Run?, number?]>([
  ['at once', never, 1],
  ['after a throttle', first(1, refuse(400, 'ThrottlingException')), 2],
  ['after two resets', first(2, RESET), 3],
  [
    'of a list of pages after an error',
    first(1, refuse(500, 'InternalServerError')),
    expect.any(Number),
    list,
    200,
  ],
])(
  'a success is information, with the attempts it took: %s',
  async (_, plan, attempts, run = sendJson, status = 201) =>
    check(run, plan, { level: 'INFO', status, errorName: undefined, attempts }),
);

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
  for (const run of [sendJson, () => post(JSON_BODY, `${KEY}-of-a-fault`), list]) {
    await check(run, always(fault), {
      level: 'ERROR',
      status: 500,
      errorName: expect.stringMatching(/^\w+$/),
    });
  }
});
