/** What the function tells the store and the log, and what no gateway sends. tests/function/contract.test.ts has the answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import type { CompletedRequest } from '../../src/log.ts';
import { EMAIL, makeEvent, makeKeyedPost, makePost, SUB } from '../helpers/events.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';

const ORIGIN = 'https://www.example.com';
const NAMES = { awsRequestId: 'request-1', functionName: 'inquiries-main' };
const CONTENT = { subject: 'Hello', body: 'World' };

function setUp(overrides: Partial<InquiryStore> = {}) {
  const store = createMemoryStore(overrides);
  const logged: CompletedRequest[] = [];
  const log = (line: CompletedRequest) => void logged.push(line);
  const app = createApp({ inquiries: createInquiries(store), corsOrigin: ORIGIN, log });
  const send = (event: unknown, remaining = 30_000) =>
    app(event as GatewayEvent, { ...NAMES, getRemainingTimeInMillis: () => remaining });
  return { app, store, send, logged };
}

const get = makeEvent({});
const ask = (queryStringParameters: unknown) => ({ ...get, queryStringParameters });
it.each<[number, unknown[]]>([
  [405, [null, {}, makeEvent({ method: '__proto__' })]],
  [
    401,
    [makeEvent({ claims: null }), { requestContext: { ...get.requestContext, authorizer: {} } }],
  ],
  [400, [null, CONTENT].map((body) => makeEvent({ method: 'POST', body }))],
  [500, [makeEvent({ method: 'POST', body: '', isBase64Encoded: true })]],
  [400, [{ ...makePost(CONTENT), headers: { 'idempotency-key': null } }]],
  [400, [ask({ limit: 7 })]],
  [200, [ask(null)]],
])('answers %i to what no gateway sends, and stores nothing: %j', async (status, events) => {
  const { send, store } = setUp();
  for (const event of events) expect(await send(event)).toMatchObject({ statusCode: status });
  expect(store.rows).toEqual([]);
});

it('tells the store the key without quotes, the language and whether the email is verified', async () => {
  const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
  const claims = { sub: SUB, email: EMAIL, email_verified: 'true' };
  const event = makeKeyedPost(String.raw`"a\"b"`, CONTENT, claims);
  Object.assign(event.headers ?? {}, { 'accept-language': 'FR-CA;q=0.8' });
  const { send } = setUp({ put });
  await send(event);
  await send({ ...makePost(CONTENT), headers: null });
  expect(put.mock.calls.map(([, , options]) => options)).toMatchObject([
    { key: 'a"b', language: 'fr', isEmailVerified: true },
    { key: undefined, language: undefined, isEmailVerified: false },
  ]);
});

it.each([
  ['9.5 s of a long invocation', 30_000, 9_500],
  ['what remains less 1.5 s, in whole milliseconds', 4_000.7, 2_500],
  ['nothing when less than 1.5 s remain', 1_000, 0],
])('gives the store %s', async (_, remaining, expected) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  await setUp().send(get, remaining);
  expect(timeout.mock.calls).toEqual([[expected]]);
});

it.each<[GatewayEvent, object]>([
  [get, { method: 'GET', status: 200, error: undefined }],
  [makePost({}), { method: 'POST', status: 400, error: { code: 'BAD_REQUEST' } }],
  [makePost(CONTENT), { method: 'POST', status: 500, error: new TypeError('secret') }],
])('logs one request: %j', async (event, expected) => {
  const put = async () => {
    throw new TypeError('secret');
  };
  const { send, logged } = setUp({ put });
  expect((await send(event)).body).not.toContain('secret');
  const names = { requestId: 'request-1', functionName: 'inquiries-main' };
  expect(logged).toMatchObject([{ ...names, ...expected, attempts: 0 }]);
});

it('logs how often the database was asked, and how long the answer took', async () => {
  const { send, logged } = setUp({
    async *list(_owner, _query, call) {
      call.attempts += 3;
      await sleep(60);
      yield [];
    },
  });
  const started = performance.now();
  await send(get);
  const [{ attempts, milliseconds } = { attempts: 0, milliseconds: 0 }] = logged;
  expect(attempts).toBe(3);
  expect(milliseconds).toBeGreaterThanOrEqual(50);
  expect(milliseconds).toBeLessThanOrEqual(performance.now() - started);
});

it('answers a direct call without a context, with the two headers of every response', async () => {
  const { app, logged } = setUp();
  const headers = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': ORIGIN };
  expect(await app(makePost(CONTENT))).toMatchObject({ statusCode: 201, headers });
  expect(logged).toMatchObject([{ requestId: undefined, functionName: undefined }]);
});
