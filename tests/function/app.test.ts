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
const CONTEXT = { awsRequestId: 'request-1', functionName: 'inquiries-main' };
const CONTENT = { subject: 'Hello', body: 'World' };

function setUp(overrides: Partial<InquiryStore> = {}) {
  const store = createMemoryStore(overrides);
  const log = vi.fn<(request: CompletedRequest) => void>();
  const app = createApp({ inquiries: createInquiries(store), corsOrigin: ORIGIN, log });
  const send = (event: unknown, remaining = 30_000) =>
    app(event as GatewayEvent, { ...CONTEXT, getRemainingTimeInMillis: () => remaining });
  return { app, store, send, logged: () => log.mock.calls.map(([request]) => request) };
}

const withAuthorizer = (authorizer: unknown) => ({
  requestContext: { http: { method: 'GET' }, authorizer },
});
const withParameters = (parameters: unknown) => ({
  ...makeEvent({}),
  queryStringParameters: parameters,
});

it.each<[number, unknown[]]>([
  [405, [null, 'event', {}, { requestContext: null }]],
  [
    405,
    ['HEAD', 'get', '', '__proto__', null, 7, {}, ['GET']].map((method) => makeEvent({ method })),
  ],
  [401, [undefined, null, { lambda: {} }, { jwt: {} }].map(withAuthorizer)],
  [400, [null, CONTENT].map((body) => makeEvent({ method: 'POST', body }))],
  [500, [makeEvent({ method: 'POST', body: '', isBase64Encoded: true })]],
  [400, [{ ...makePost(CONTENT), headers: { 'idempotency-key': null } }]],
  [400, [withParameters({ limit: 7 }), withParameters({ before: 7 })]],
  [200, [null, undefined, 7, 'limit=1', [], {}].map(withParameters)],
])('answers %i to what no gateway sends, and stores nothing: %j', async (status, events) => {
  const { send, store } = setUp();
  for (const event of events) expect(await send(event)).toMatchObject({ statusCode: status });
  expect(store.rows).toEqual([]);
});

it('answers with the two headers of every response', async () => {
  expect((await setUp().send(makeEvent({}))).headers).toEqual({
    'Content-Type': 'application/json',
    'Access-Control-Allow-Origin': ORIGIN,
  });
});

it.each<[string, GatewayEvent, object]>([
  ['the key without quotes', makeKeyedPost(String.raw`"a\"b"`, CONTENT), { key: 'a"b' }],
  ['no key without the header', { ...makePost(CONTENT), headers: null }, { key: undefined }],
  [
    'the language of Accept-Language',
    { ...makePost(CONTENT), headers: { 'accept-language': 'pt-BR, FR-CA;q=0.8' } },
    { language: 'fr' },
  ],
  [
    'the claim email_verified',
    makePost(CONTENT, { sub: SUB, email: EMAIL, email_verified: 'true' }),
    { isEmailVerified: true },
  ],
])('tells the store %s', async (_, event, expected) => {
  const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
  await setUp({ put }).send(event);
  expect(put.mock.lastCall?.[2]).toMatchObject(expected);
});

it.each([
  ['9.5 s of a long invocation', 30_000, 9_500],
  ['what remains less 1.5 s, in whole milliseconds', 4_000.7, 2_500],
  ['nothing when less than 1.5 s remain', 1_000, 0],
])('gives the store %s', async (_, remaining, expected) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  await setUp().send(makeEvent({}), remaining);
  expect(timeout.mock.calls).toEqual([[expected]]);
});

const fail = () => {
  throw new TypeError('secret');
};
it.each<[string, Partial<InquiryStore>, GatewayEvent]>([
  ['a list', { list: fail }, makeEvent({})],
  ['a put', { put: async () => fail() }, makePost(CONTENT)],
])(
  'answers one fixed 500 and passes the error to the log when %s fails',
  async (_, overrides, event) => {
    const { send, logged } = setUp(overrides);
    const { statusCode, body } = await send(event);
    expect([statusCode, body]).toEqual([500, expect.not.stringContaining('secret')]);
    expect(logged()).toMatchObject([{ status: 500, error: new TypeError('secret') }]);
  },
);

it.each<[string, GatewayEvent, object]>([
  ['a list', makeEvent({}), { method: 'GET', status: 200, error: undefined }],
  ['a mistake', makePost({}), { method: 'POST', status: 400, error: { code: 'BAD_REQUEST' } }],
  ['a method', makeEvent({ method: EMAIL }), { method: EMAIL, status: 405 }],
])('logs one request: %s', async (_, event, expected) => {
  const { send, logged } = setUp();
  await send(event);
  const names = { requestId: 'request-1', functionName: 'inquiries-main' };
  expect(logged()).toMatchObject([{ ...names, ...expected, attempts: 0 }]);
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
  await send(makeEvent({}));
  const [line] = logged();
  expect(line?.attempts).toBe(3);
  expect(line?.milliseconds).toBeGreaterThanOrEqual(50);
  expect(line?.milliseconds).toBeLessThanOrEqual(performance.now() - started);
});

it('answers a direct call without a context', async () => {
  const { app, logged } = setUp();
  expect(await app(makePost(CONTENT))).toMatchObject({ statusCode: 201 });
  expect(logged()).toMatchObject([{ requestId: undefined, functionName: undefined }]);
});
