import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries } from '../../src/inquiries.ts';
import type { InquiryStore } from '../../src/inquiries.ts';
import { logRequest } from '../../src/log.ts';
import { EMAIL, makeEvent, makePost, SUB } from '../helpers/events.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';

const ORIGIN = 'https://www.example.com';
const HEADERS = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': ORIGIN };
const CONTEXT = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 30_000 };
const NOW = Date.UTC(2026, 10, 20);

function setUp(overrides: Partial<InquiryStore> = {}, inquiriesPerHour?: number) {
  const store = createMemoryStore(overrides);
  let time = NOW;
  const app = createApp({
    inquiries: createInquiries(store, { inquiriesPerHour, now: () => time }),
    corsOrigin: ORIGIN,
    log: (request) => logRequest(request, (line) => void metrics.push(JSON.parse(line) as object)),
  });
  const send = async (event: unknown, context: object = CONTEXT) => {
    const { body, ...response } = await app(event as GatewayEvent, context);
    return { ...response, body: JSON.parse(body) as unknown };
  };
  const wait = (milliseconds: number): void => void (time += milliseconds);
  return { app, store, send, wait };
}

/** More than the store in memory holds. */
const LARGE = { subject: '', body: 'x'.repeat(101) };

const withKey = (event: GatewayEvent, key: unknown): GatewayEvent => ({
  ...event,
  headers: { 'idempotency-key': key },
});

/** A POST whose body is this text. */
const postText = (body: unknown): GatewayEvent => makeEvent({ method: 'POST', body });

const failure = (statusCode: number, error: string, message: unknown, headers: object = HEADERS) => ({
  statusCode,
  headers,
  body: { error, message },
});
const UNAUTHORIZED = failure(401, 'Unauthorized', 'Invalid or missing required JWT claims');
const NOT_JSON = failure(500, 'INTERNAL_SERVER_ERROR', 'The request body could not be parsed as JSON.');
const FAULT = failure(
  500,
  'INTERNAL_SERVER_ERROR',
  'The request could not be processed. Please try again later.',
);
const NOT_ALLOWED = failure(405, 'METHOD_NOT_ALLOWED', 'Allowed methods: GET, POST.', {
  ...HEADERS,
  Allow: 'GET, POST',
});
const TOO_LARGE = failure(
  413,
  'PAYLOAD_TOO_LARGE',
  'The request body is larger than any inquiry that can be stored.',
);
const badRequest = (message: string) => failure(400, 'BAD_REQUEST', message);
const NO_BODY = badRequest('The request has no body; the fields `subject` and `body` are missing.');

const logged: { level: string; entry: unknown }[] = [];
const metrics: object[] = [];
/** The log line of a request, of any duration. */
const lineOf = (level: string, entry: object) => ({
  level,
  entry: [
    {
      requestId: 'request-1',
      method: 'GET',
      route: '/inquiries',
      milliseconds: expect.any(Number) as number,
      attempts: 0,
      ...entry,
    },
  ],
});
beforeEach(() => {
  logged.length = 0;
  metrics.length = 0;
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((...entry) => void logged.push({ level, entry }));
  }
});
afterEach(() => vi.restoreAllMocks());

describe('GET', () => {
  it('answers 200 with email, count and inquiries, newest first', async () => {
    const { send, store } = setUp();
    await send(makePost({ subject: 'first', body: '' }));
    await send(makePost({ subject: 'second', body: '' }));
    expect(await send(makeEvent({}))).toEqual({
      statusCode: 200,
      headers: HEADERS,
      body: { email: EMAIL, count: 2, inquiries: [store.rows[1], store.rows[0]] },
    });
  });

  it('ignores a body', async () => {
    expect(await setUp().send(makeEvent({ body: '{' }))).toMatchObject({ statusCode: 200 });
  });
});

describe('GET with parameters', () => {
  const get = (queryStringParameters: unknown) => ({ ...makeEvent({}), queryStringParameters });
  const BAD_LIMIT = badRequest('The parameter `limit` must be a whole number from 1 to 1000.');
  const BAD_BEFORE = badRequest('The parameter `before` must be the id of an inquiry.');

  it('answers with a Link to older inquiries while there are any, `limit` repeated', async () => {
    const { send, store } = setUp();
    for (const subject of ['1', '2', '3']) await send(makePost({ subject, body: '' }));
    const [first, second, third] = store.rows;
    expect(await send(get({ limit: '2' }))).toEqual({
      statusCode: 200,
      headers: { ...HEADERS, Link: `<?before=${second?.id}&limit=2>; rel="next"` },
      body: { email: EMAIL, count: 2, inquiries: [third, second] },
    });
    expect(await send(get({ before: second?.id, limit: '2' }))).toEqual({
      statusCode: 200,
      headers: HEADERS,
      body: { email: EMAIL, count: 1, inquiries: [first] },
    });
  });

  it('lists only inquiries older than `before`, in any spelling of the id', async () => {
    const { send, store } = setUp();
    for (const subject of ['1', '2']) await send(makePost({ subject, body: '' }));
    const [first, second] = store.rows;
    for (const before of [second?.id, second?.id.toUpperCase(), `{${second?.id}}`]) {
      expect((await send(get({ before }))).body).toMatchObject({ inquiries: [first] });
    }
    expect((await send(get({ before: first?.id }))).body).toEqual({ email: EMAIL, count: 0, inquiries: [] });
  });

  it('ignores other parameters', async () => {
    expect(await setUp().send(get({ page: '2', offset: 'x' }))).toMatchObject({ statusCode: 200 });
  });

  it.each([null, undefined, 7, 'limit=1', [], {}])('reads the parameters %j as none', async (parameters) => {
    expect(await setUp().send(get(parameters))).toMatchObject({ statusCode: 200 });
  });

  it.each(['1', '1000', '00001'])('takes the limit %j', async (limit) => {
    expect(await setUp().send(get({ limit }))).toMatchObject({ statusCode: 200 });
  });

  it.each(['', '0', '-1', '1001', '1.5', ' 1', '1,2', '１', 7, null])(
    'answers 400 to the limit %j',
    async (limit) => {
      expect(await setUp().send(get({ limit }))).toEqual(BAD_LIMIT);
    },
  );

  it.each(['', 'x', SUB, '01a1f794-6f77-70a2-a975-366ad3f1860', 7, null])(
    'answers 400 to the id %j',
    async (before) => {
      expect(await setUp().send(get({ before }))).toEqual(BAD_BEFORE);
    },
  );

  it('checks the claims before the parameters', async () => {
    expect(
      await setUp().send({ ...makeEvent({ claims: {} }), queryStringParameters: { limit: 'x' } }),
    ).toEqual(UNAUTHORIZED);
  });

  it('are not read by POST', async () => {
    const event = { ...makePost({ subject: '', body: '' }), queryStringParameters: { limit: 'x' } };
    expect(await setUp().send(event)).toMatchObject({ statusCode: 201 });
  });
});

describe('POST', () => {
  it('answers 201 with the stored inquiry', async () => {
    const { send, store } = setUp();
    expect(await send(makePost({ subject: 'Hello', body: 'World' }))).toEqual({
      statusCode: 201,
      headers: HEADERS,
      body: {
        inquiry: {
          id: store.rows[0]?.id,
          cognito_sub: SUB,
          email: EMAIL,
          subject: 'Hello',
          body: 'World',
          created_at: '2026-11-20T00:00:00.000Z',
        },
      },
    });
    expect(store.rows).toHaveLength(1);
  });

  it('accepts an empty subject and an empty body', async () => {
    expect(await setUp().send(makePost({ subject: '', body: '' }))).toMatchObject({
      statusCode: 201,
      body: { inquiry: { subject: '', body: '' } },
    });
  });

  it('replaces lone surrogates by U+FFFD in the store and in the 201', async () => {
    const { send, store } = setUp();
    const body = '{"subject":"a\\ud800b","body":"\\udfff\\ud83d\\ude00"}';
    const response = await send(postText(body));
    expect(store.rows[0]).toMatchObject({ subject: 'a\uFFFDb', body: '\uFFFD😀' });
    expect(response.body).toEqual({ inquiry: store.rows[0] });
  });

  it('decodes a base64 body', async () => {
    const { send, store } = setUp();
    const body = Buffer.from('{"subject":"é","body":"😀"}').toString('base64');
    await send(makeEvent({ method: 'POST', body, isBase64Encoded: true }));
    expect(store.rows[0]).toMatchObject({ subject: 'é', body: '😀' });
  });

  const OBJECT_NEEDED = badRequest(
    'The request body must be a JSON object with the fields `subject` and `body`.',
  );
  const isMissing = (name: string) => badRequest(`The field \`${name}\` is missing.`);
  const isNoText = (name: string) => badRequest(`The field \`${name}\` must be a string.`);
  it.each([
    ['there is no body', undefined, NO_BODY],
    ['the body of the event is null', null, NO_BODY],
    ['the body of the event is an object', { subject: '', body: '' }, NO_BODY],
    ['the JSON is null', 'null', OBJECT_NEEDED],
    ['the JSON is an array', '["s","b"]', OBJECT_NEEDED],
    ['the JSON is a string', '"s"', OBJECT_NEEDED],
    ['both fields are missing', '{}', isMissing('subject')],
    ['the subject is missing', '{"body":""}', isMissing('subject')],
    ['the body is missing', '{"subject":""}', isMissing('body')],
    ['the subject is null', '{"subject":null,"body":""}', isNoText('subject')],
    ['the subject is a number', '{"subject":1,"body":""}', isNoText('subject')],
    ['the body is an object', '{"subject":"","body":{}}', isNoText('body')],
    ['the fields hide in __proto__', '{"__proto__":{"subject":"","body":""}}', isMissing('subject')],
    ['the body is an empty string', '', NOT_JSON],
    ['the body is broken JSON', '{"subject":"s","body":', NOT_JSON],
    ['the body opens with a byte order mark', '\uFEFF{"subject":"s","body":"b"}', NOT_JSON],
  ])('answers as the table says and stores nothing when %s', async (_, body, expected) => {
    const { send, store } = setUp();
    expect(await send(postText(body))).toEqual(expected);
    expect(store.rows).toEqual([]);
  });

  it.each([
    ['empty', ''],
    ['not JSON', Buffer.from('hello').toString('base64')],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('base64')],
    ['JSON after a byte order mark', Buffer.from('\uFEFF{"subject":"s","body":"b"}').toString('base64')],
  ])('answers 500 when a base64 body is %s', async (_, body) => {
    expect(await setUp().send(makeEvent({ method: 'POST', body, isBase64Encoded: true }))).toEqual(NOT_JSON);
  });

  it('answers 413 to an inquiry that does not fit into the store, and to a body that is larger than any', async () => {
    const { send, store } = setUp();
    expect(await send(makePost(LARGE))).toEqual({
      ...TOO_LARGE,
      body: {
        error: 'PAYLOAD_TOO_LARGE',
        message: 'The inquiry is larger than the 400 KB that can be stored.',
      },
    });
    expect(await send(makePost({ subject: '', body: 'x'.repeat(2_600_000) }))).toEqual(TOO_LARGE);
    expect(store.rows).toEqual([]);
  });

  it('checks the claims before the body', async () => {
    expect(await setUp().send(makeEvent({ method: 'POST', body: '{', claims: {} }))).toEqual(UNAUTHORIZED);
  });
});

describe('POST with Idempotency-Key', () => {
  const hello = makePost({ subject: 'Hello', body: 'World' });
  const other = makePost({ subject: 'Hello', body: 'Moon' });
  const BAD_KEY = badRequest(
    'The header `Idempotency-Key` must be one key of 1 to 255 visible ASCII characters.',
  );
  const REUSED = failure(
    422,
    'IDEMPOTENCY_KEY_REUSED',
    'The Idempotency-Key was used for an inquiry with another subject or body.',
  );

  it('answers as without one, the first time', async () => {
    const { send, store } = setUp();
    expect(await send(withKey(hello, 'k'))).toEqual({
      statusCode: 201,
      headers: HEADERS,
      body: { inquiry: store.rows[0] },
    });
    expect(store.rows).toHaveLength(1);
  });

  it('answers a replay with the first body, byte for byte, and says so in a header', async () => {
    const { app, store, wait } = setUp();
    const first = await app(withKey(hello, 'k'));
    wait(60_000);
    expect(await app(withKey(hello, '"k"'))).toEqual({
      ...first,
      headers: { ...HEADERS, 'Idempotency-Replayed': 'true' },
    });
    expect(store.rows).toHaveLength(1);
  });

  it('answers 422 when the key was used for another text', async () => {
    const { send, store } = setUp();
    await send(withKey(hello, 'k'));
    expect(await send(withKey(other, 'k'))).toEqual(REUSED);
    expect(store.rows).toHaveLength(1);
  });

  it('answers 409 with Retry-After while a request with the key is being processed', async () => {
    const { send } = setUp({ put: async () => ({ refusal: 'in use' }) });
    expect(await send(withKey(hello, 'k'))).toEqual(
      failure(
        409,
        'IDEMPOTENCY_CONFLICT',
        'A request with this Idempotency-Key is being processed. Please send it again.',
        { ...HEADERS, 'Retry-After': '1' },
      ),
    );
  });

  it.each(['K', 'kk', '__proto__'])('takes %j for another key than "k"', async (key) => {
    const { send, store } = setUp();
    await send(withKey(hello, 'k'));
    expect(await send(withKey(other, key))).toMatchObject({ statusCode: 201, headers: HEADERS });
    expect(store.rows).toHaveLength(2);
  });

  it.each(['', 'a,b', '"k', 'x'.repeat(256), 'é', null, ['k']])(
    'answers 400 to the key %j and stores nothing',
    async (key) => {
      const { send, store } = setUp();
      expect(await send(withKey(hello, key))).toEqual(BAD_KEY);
      expect(store.rows).toEqual([]);
    },
  );

  it.each([
    ['the method is another', makeEvent({ method: 'PUT' }), NOT_ALLOWED],
    ['claims are missing', makePost({}, {}), UNAUTHORIZED],
    ['there is no body', postText(undefined), NO_BODY],
    ['the body is not JSON', postText('{'), NOT_JSON],
    ['the body is too large', postText(' '.repeat(2_600_001)), TOO_LARGE],
  ])('answers that %s before it looks at the key', async (_, event, expected) => {
    expect(await setUp().send(withKey(event, 'a,b'))).toEqual(expected);
  });

  it('answers that the key is malformed before it looks at the fields', async () => {
    expect(await setUp().send(withKey(makePost({}), 'a,b'))).toEqual(BAD_KEY);
  });

  it.each([
    ['a field is missing', makePost({ subject: 'Hello' }), 400],
    ['the body is not JSON', postText('{'), 500],
    ['the inquiry is too large', makePost(LARGE), 413],
  ])('does not use up the key when %s', async (_, event, statusCode) => {
    const { send } = setUp();
    expect(await send(withKey(event, 'k'))).toMatchObject({ statusCode });
    expect(await send(withKey(hello, 'k'))).toMatchObject({ statusCode: 201, headers: HEADERS });
  });

  it('tells the store the key without quotes', async () => {
    const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
    await setUp({ put }).send(withKey(hello, String.raw`"a\"b"`));
    expect(put.mock.calls[0]?.[2]).toBe('a"b');
  });

  it.each([undefined, null, {}, [], 'idempotency-key', 7, { 'Idempotency-Replayed': 'true' }])(
    'answers as without one when the headers are %j: every request is an inquiry of its own',
    async (headers) => {
      const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
      const { send } = setUp({ put });
      for (let count = 0; count < 2; count++) {
        expect(await send({ ...hello, headers })).toMatchObject({ statusCode: 201, headers: HEADERS });
      }
      const ids = put.mock.calls.map(([{ id }]) => id);
      expect(new Set(ids).size).toBe(2);
      expect(put.mock.calls.map(([, , key]) => key)).toEqual([undefined, undefined]);
    },
  );

  it.each(['k', '', 'a,b'])('is not read by GET: %j', async (key) => {
    const { send } = setUp();
    expect(await send(withKey(makeEvent({}), key))).toMatchObject({ statusCode: 200, headers: HEADERS });
  });

  describe('beyond the limit of inquiries per hour', () => {
    const tooMany = (seconds: number) =>
      failure(429, 'TOO_MANY_REQUESTS', 'The limit of inquiries per hour (2) is reached.', {
        ...HEADERS,
        'Retry-After': String(seconds),
      });
    const reachLimit = async () => {
      const own = setUp({}, 2);
      expect(await own.send(withKey(hello, 'k'))).toMatchObject({ statusCode: 201 });
      own.wait(60_000);
      expect(await own.send(other)).toMatchObject({ statusCode: 201 });
      return own;
    };

    it('answers 429 with Retry-After, without a key and to an unknown one, and stores nothing', async () => {
      const { send, store } = await reachLimit();
      expect(await send(other)).toEqual(tooMany(3_540));
      expect(await send(withKey(other, 'new'))).toEqual(tooMany(3_540));
      expect(store.rows).toHaveLength(2);
    });

    it('still answers a known key: 201 with the replay, or 422', async () => {
      const { send, store } = await reachLimit();
      expect(await send(withKey(hello, 'k'))).toEqual({
        statusCode: 201,
        headers: { ...HEADERS, 'Idempotency-Replayed': 'true' },
        body: { inquiry: store.rows[0] },
      });
      expect(await send(withKey(other, 'k'))).toEqual(REUSED);
    });

    it('checks claims, body and key before the limit', async () => {
      const { send } = await reachLimit();
      expect(await send(postText('{'))).toEqual(NOT_JSON);
      expect(await send(makePost({ body: '' }))).toMatchObject({ statusCode: 400 });
      expect(await send(withKey(other, 'a,b'))).toEqual(BAD_KEY);
      expect(await send(makePost({}, {}))).toEqual(UNAUTHORIZED);
    });
  });
});

describe('other methods', () => {
  it.each(['PUT', 'HEAD', 'get', '', '__proto__', 'constructor', null, 7, {}, ['GET']])(
    'answers 405 with Allow to %j, whatever the claims',
    async (method) => {
      expect(await setUp().send(makeEvent({ method }))).toEqual(NOT_ALLOWED);
      expect(await setUp().send(makeEvent({ method, claims: null }))).toEqual(NOT_ALLOWED);
    },
  );

  it.each([
    null,
    undefined,
    'event',
    7,
    [],
    {},
    { requestContext: null },
    { requestContext: { http: null } },
  ])('answers 405 to the event %j, which has no method', async (event) => {
    expect(await setUp().send(event)).toEqual(NOT_ALLOWED);
  });
});

describe('claims', () => {
  it.each([
    ['no authorizer ran', { requestContext: { http: { method: 'GET' } } }],
    ['the authorizer is null', { requestContext: { http: { method: 'GET' }, authorizer: null } }],
    [
      'the authorizer has no JWT',
      { requestContext: { http: { method: 'GET' }, authorizer: { lambda: {} } } },
    ],
    ['the JWT has no claims', { requestContext: { http: { method: 'GET' }, authorizer: { jwt: {} } } }],
    ['claims are missing', makeEvent({ claims: {} })],
    ['sub is not a UUID', makeEvent({ claims: { sub: 'x', email: EMAIL } })],
  ])('answers 401 when %s', async (_, event) => {
    expect(await setUp().send(event)).toEqual(UNAUTHORIZED);
  });
});

describe('faults', () => {
  class SecretError extends Error {
    override readonly name = 'ThrottlingException';
    readonly item = { email: EMAIL, subject: 'secret' };
  }
  /** A list whose first page fails. */
  const fail = (rejecting: () => Promise<never>): InquiryStore['list'] =>
    async function* failing() {
      yield await rejecting();
    };
  const reject = (): Promise<never> =>
    Promise.reject(new SecretError(`secret of ${EMAIL}`, { cause: 'secret' }));

  const post = makePost({ subject: 's', body: 'b' });
  const findNth = async () => '019ab000-0000-7000-8000-000000000000';
  const throwAtOnce = () => {
    throw new SecretError('secret');
  };
  it.each<[string, Partial<InquiryStore>, GatewayEvent]>([
    ['a list fails', { list: fail(reject) }, makeEvent({})],
    ['a put fails', { put: reject }, post],
    ['a put with a key fails', { put: reject }, withKey(post, 'secret-key')],
    ['the limit cannot be read', { findNth: reject }, post],
    ['a key cannot be looked up', { findNth, find: reject }, withKey(post, 'secret-key')],
    ['our own code throws', { put: throwAtOnce }, post],
  ])(
    'answers one fixed 500 and logs nothing of the error but its name when %s',
    async (_, overrides, event) => {
      expect(await setUp(overrides, 60).send(event)).toEqual(FAULT);
      const method = event.requestContext?.http?.method;
      expect(logged).toEqual([lineOf('error', { method, status: 500, errorName: 'ThrottlingException' })]);
    },
  );

  it('logs the name of what an error wraps', async () => {
    const wrapped = new Error('wrapper', { cause: new SecretError('secret') });
    await setUp({ list: fail(() => Promise.reject(wrapped)) }).send(makeEvent({}));
    expect(logged).toEqual([lineOf('error', { status: 500, errorName: 'ThrottlingException' })]);
  });

  it.each([
    ['a string', 'secret', 'string'],
    ['undefined', undefined, 'undefined'],
    [
      'an error whose name is text from outside',
      Object.assign(new Error('m'), { name: `x ${EMAIL}` }),
      'Error',
    ],
  ])('answers 500 and logs nothing of it when %s is thrown', async (_, thrown, errorName) => {
    // oxlint-disable-next-line prefer-promise-reject-errors
    expect(await setUp({ list: fail(() => Promise.reject(thrown)) }).send(makeEvent({}))).toEqual(FAULT);
    expect(logged).toEqual([lineOf('error', { status: 500, errorName })]);
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

  it('answers without a context, too', async () => {
    expect(await setUp().send(makeEvent({}), {})).toMatchObject({ statusCode: 200 });
  });
});

describe('logs', () => {
  it.each<[string, GatewayEvent, string, number, string?]>([
    ['a list', makeEvent({}), 'GET', 200],
    ['an inquiry', makePost({ subject: '', body: '' }), 'POST', 201],
    ['invalid claims', makeEvent({ claims: {} }), 'GET', 401, 'Unauthorized'],
    ['another method', makeEvent({ method: 'PUT' }), 'PUT', 405, 'METHOD_NOT_ALLOWED'],
    ['an unknown method', makeEvent({ method: EMAIL }), 'OTHER', 405, 'METHOD_NOT_ALLOWED'],
    ['a field that is missing', makePost({}), 'POST', 400, 'BAD_REQUEST'],
    ['a body that is not JSON, a mistake of the client', postText('{'), 'POST', 500, 'SyntaxError'],
    ['an inquiry that does not fit', makePost(LARGE), 'POST', 413, 'PAYLOAD_TOO_LARGE'],
  ])('one line about %s', async (_, event, method, status, errorName) => {
    await setUp().send(event);
    const failed = errorName !== undefined && { errorName };
    expect(logged).toEqual([lineOf(failed ? 'warn' : 'info', { method, status, ...failed })]);
  });

  const findNth = async () => '019ab000-0000-7000-8000-000000000000';
  it.each<[string, Partial<InquiryStore>, number, string?]>([
    ['a replay', {}, 201],
    ['a reused key', { put: async () => ({ refusal: 'reused' }) }, 422, 'IDEMPOTENCY_KEY_REUSED'],
    ['a key in use', { put: async () => ({ refusal: 'in use' }) }, 409, 'IDEMPOTENCY_CONFLICT'],
    ['an owner beyond the limit', { findNth }, 429, 'TOO_MANY_REQUESTS'],
  ])('one line about %s, without the key, and no internal error', async (_, overrides, status, errorName) => {
    const { send } = setUp(overrides, 60);
    const event = withKey(makePost({ subject: '', body: '' }), 'the-key');
    await send(event);
    logged.length = 0;
    await send(event);
    const failed = errorName !== undefined && { errorName };
    expect(logged).toEqual([lineOf(failed ? 'warn' : 'info', { method: 'POST', status, ...failed })]);
    expect(metrics).toMatchObject([{ Faults: 0 }, { Faults: 0 }]);
  });

  it.each(['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])('the method %s by its name', async (method) => {
    await setUp().send(makeEvent({ method }));
    expect(logged).toEqual([lineOf('warn', { method, status: 405, errorName: 'METHOD_NOT_ALLOWED' })]);
  });

  it('whole milliseconds, and how often the database was asked', async () => {
    const list: InquiryStore['list'] = async function* (_owner, _query, call) {
      call.attempts += 3;
      yield [];
    };
    await setUp({ list }).send(makeEvent({}));
    expect(logged).toEqual([lineOf('info', { status: 200, attempts: 3 })]);
    expect(logged[0]?.entry).toMatchObject([{ milliseconds: expect.toSatisfy(Number.isInteger) as number }]);
  });

  it('how long the answer took', async () => {
    const list: InquiryStore['list'] = async function* () {
      await sleep(60);
      yield [];
    };
    const started = performance.now();
    await setUp({ list }).send(makeEvent({}));
    const [{ Latency }] = metrics as [{ Latency: number }];
    expect(Latency).toBeGreaterThanOrEqual(50);
    expect(Latency).toBeLessThanOrEqual(Math.ceil(performance.now() - started));
    expect(logged).toEqual([lineOf('info', { status: 200, milliseconds: Latency })]);
  });

  it.each([
    ['a success', {}, makeEvent({}), 0],
    ['a mistake of the client', {}, postText('{'), 0],
    [
      'an internal error',
      { put: () => Promise.reject(new Error('x')) },
      makePost({ subject: '', body: '' }),
      1,
    ],
  ])('metrics of %s: requests, internal errors, latency', async (_, overrides, event, faults) => {
    await setUp(overrides).send(event, { ...CONTEXT, functionName: 'inquiries-main' });
    expect(metrics).toEqual([
      {
        _aws: {
          Timestamp: expect.any(Number) as number,
          CloudWatchMetrics: [
            {
              Namespace: 'Inquiries',
              Dimensions: [['FunctionName']],
              Metrics: [
                { Name: 'Requests', Unit: 'Count' },
                { Name: 'Faults', Unit: 'Count' },
                { Name: 'Latency', Unit: 'Milliseconds' },
              ],
            },
          ],
        },
        FunctionName: 'inquiries-main',
        Requests: 1,
        Faults: faults,
        Latency: expect.any(Number) as number,
      },
    ]);
  });

  it('metrics of a direct call without a context under the name local', async () => {
    expect(await setUp().app(makeEvent({}))).toMatchObject({ statusCode: 200 });
    expect(metrics).toMatchObject([{ FunctionName: 'local' }]);
    expect(logged).toEqual([lineOf('info', { status: 200, requestId: undefined })]);
  });

  it('nothing without a log function', async () => {
    const app = createApp({ inquiries: createInquiries(createMemoryStore()), corsOrigin: ORIGIN });
    expect(await app(makeEvent({}))).toMatchObject({ statusCode: 200 });
    expect([logged, metrics]).toEqual([[], []]);
  });
});
