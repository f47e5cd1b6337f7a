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
const CONTEXT = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 30_000 };
const CONTENT = { subject: 'Hello', body: 'World' };

function setUp(overrides: Partial<InquiryStore> = {}, inquiriesPerHour?: number) {
  const store = createMemoryStore(overrides);
  const log = vi.fn<(request: CompletedRequest) => void>();
  const inquiries = createInquiries(store, { inquiriesPerHour });
  const app = createApp({ inquiries, corsOrigin: ORIGIN, log });
  const send = (event: unknown, context: object = CONTEXT) => app(event as GatewayEvent, context);
  return { app, store, send, logged: () => log.mock.calls.map(([request]) => request) };
}

const http = { method: 'GET' };
it.each<readonly [string, unknown, number]>([
  ...[null, 'event', {}, { requestContext: null }].map(
    (event) => [`the event ${JSON.stringify(event)}`, event, 405] as const,
  ),
  ...['HEAD', 'get', '', '__proto__', 'constructor', null, 7, {}, ['GET']].map(
    (method) => [`the method ${JSON.stringify(method)}`, makeEvent({ method }), 405] as const,
  ),
  ...[undefined, null, { lambda: {} }, { jwt: {} }].map(
    (authorizer) =>
      [
        `the authorizer ${JSON.stringify(authorizer)}`,
        { requestContext: { http, authorizer } },
        401,
      ] as const,
  ),
  ...[null, { subject: '', body: '' }].map(
    (given) =>
      [
        `the body ${JSON.stringify(given)}`,
        makeEvent({ method: 'POST', body: given }),
        400,
      ] as const,
  ),
  ['an empty body in base64', makeEvent({ method: 'POST', body: '', isBase64Encoded: true }), 500],
  ['a key that is no text', { ...makePost(CONTENT), headers: { 'idempotency-key': null } }, 400],
  ...['limit', 'before'].map(
    (name) =>
      [
        `a number for ${name}`,
        { ...makeEvent({}), queryStringParameters: { [name]: 7 } },
        400,
      ] as const,
  ),
])('refuses %s, which no gateway sends', async (_, event, status) => {
  const { send, store } = setUp();
  expect(await send(event)).toMatchObject({ statusCode: status });
  expect(store.rows).toEqual([]);
});

it.each([null, undefined, 7, 'limit=1', [], {}])(
  'takes %j for no parameters',
  async (parameters) => {
    const event = { ...makeEvent({}), queryStringParameters: parameters };
    expect(await setUp().send(event)).toMatchObject({ statusCode: 200 });
  },
);

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
])('tells the store %s, and returns the six fields alone', async (_, event, expected) => {
  const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
  const { body: text } = await setUp({ put }).send(event);
  expect(put.mock.calls[0]?.[2]).toMatchObject(expected);
  const { inquiry } = JSON.parse(text) as { inquiry: object };
  const fields = ['id', 'cognito_sub', 'email', 'subject', 'body', 'created_at'];
  expect(Object.keys(inquiry)).toEqual(fields);
});

it.each([
  ['9.5 s of a long invocation', 30_000, 9_500],
  ['what remains less 1.5 s', 4_000, 2_500],
  ['whole milliseconds', 4_000.7, 2_500],
  ['nothing when less than 1.5 s remain', 1_000, 0],
])('gives the store %s', async (_, remaining, expected) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  const context = { ...CONTEXT, getRemainingTimeInMillis: () => remaining };
  await setUp().send(makeEvent({}), context);
  expect(timeout.mock.calls).toEqual([[expected]]);
});

const throwNow = () => {
  throw new TypeError('secret');
};
it.each<[string, Partial<InquiryStore>, GatewayEvent]>([
  ['a list', { list: throwNow }, makeEvent({})],
  ['a put', { put: () => Promise.reject(new TypeError('secret')) }, makePost(CONTENT)],
  ['our own code', { put: throwNow }, makeKeyedPost('secret-key', CONTENT)],
])(
  'answers one fixed 500 and passes the error to the log when %s fails',
  async (_, overrides, event) => {
    const { send, store, logged } = setUp(overrides, 60);
    expect(await send(event)).toMatchObject({
      statusCode: 500,
      body: expect.stringMatching(
        /^\{"error":"INTERNAL_SERVER_ERROR","message":"[^"]+again later\."\}$/,
      ),
    });
    expect(store.rows).toEqual([]);
    expect(logged()).toMatchObject([{ status: 500, error: new TypeError('secret') }]);
  },
);

it.each<[string, GatewayEvent, object]>([
  ['a list', makeEvent({}), { method: 'GET', status: 200, error: undefined }],
  ['a mistake', makePost({}), { method: 'POST', status: 400, error: { code: 'BAD_REQUEST' } }],
  ['a method', makeEvent({ method: EMAIL }), { method: EMAIL, status: 405 }],
])('logs one request: %s', async (_, event, expected) => {
  const { send, logged } = setUp();
  await send(event, { ...CONTEXT, functionName: 'inquiries-main' });
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
  const milliseconds = line?.milliseconds ?? 0;
  expect(line?.attempts).toBe(3);
  expect(milliseconds).toBeGreaterThanOrEqual(50);
  expect(milliseconds).toBeLessThanOrEqual(performance.now() - started);
});

it('answers a direct call without a context', async () => {
  const { app, logged } = setUp();
  expect(await app(makePost(CONTENT))).toMatchObject({ statusCode: 201 });
  expect(logged()).toMatchObject([{ requestId: undefined, functionName: undefined }]);
});
