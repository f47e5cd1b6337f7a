import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries, type InquiryStore } from '../../src/inquiries.ts';
import { logRequest } from '../../src/log.ts';
import { EMAIL, makeEvent, makePost, SUB } from '../helpers/events.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';

const ORIGIN = 'https://www.example.com';
const HEADERS = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': ORIGIN };
const CONTEXT = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 30_000 };
const NOW = Date.UTC(2026, 10, 20);
const OWNER = { sub: SUB, email: EMAIL };

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

const failure = (
  statusCode: number,
  error: string,
  message: unknown,
  headers: object = HEADERS,
) => ({
  statusCode,
  headers,
  body: { error, message },
});
const UNAUTHORIZED = failure(401, 'Unauthorized', 'Invalid or missing required JWT claims');
const NOT_JSON = failure(
  500,
  'INTERNAL_SERVER_ERROR',
  'The request body could not be parsed as JSON.',
);
const FAULT = failure(
  500,
  'INTERNAL_SERVER_ERROR',
  'The request could not be processed. Please try again later.',
);
const ALLOW = { ...HEADERS, Allow: 'GET, POST' };
const NOT_ALLOWED = failure(405, 'METHOD_NOT_ALLOWED', 'Allowed methods: GET, POST.', ALLOW);
const TOO_LARGE = failure(
  413,
  'PAYLOAD_TOO_LARGE',
  'The request body is larger than any inquiry that can be stored.',
);
const TOO_LONG = failure(
  413,
  'PAYLOAD_TOO_LARGE',
  'The inquiry is larger than the 400 KB that can be stored.',
);
const badRequest = (message: string) => failure(400, 'BAD_REQUEST', message);
const BAD_KEY = badRequest(
  'The header `Idempotency-Key` must be one key of 1 to 255 visible ASCII characters.',
);
const NO_BODY = badRequest('The request has no body; the fields `subject` and `body` are missing.');

/** As beyond the limit. */

const logged: { level: string; entry: unknown }[] = [];
const metrics: object[] = [];
const milliseconds = expect.any(Number) as number;
const LINE = {
  requestId: 'request-1',
  method: 'GET',
  route: '/inquiries',
  milliseconds,
  attempts: 0,
};
/** The log line of a request, of any duration. */
const lineOf = (level: string, entry: object) => ({ level, entry: [{ ...LINE, ...entry }] });
beforeEach(() => {
  logged.length = 0;
  metrics.length = 0;
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((...entry) => void logged.push({ level, entry }));
  }
});

const get = (queryStringParameters: unknown, claims: unknown = OWNER) => ({
  ...makeEvent({ claims }),
  queryStringParameters,
});
const hello = makePost({ subject: 'Hello', body: 'World' });
const other = makePost({ subject: 'Hello', body: 'Moon' });
const toBase64 = (body: string | Buffer) =>
  makeEvent({ method: 'POST', body: Buffer.from(body).toString('base64'), isBase64Encoded: true });

describe('GET', () => {
  it('answers 200 with email, count and inquiries, newest first; a Link, with the limit repeated, while there are older ones', async () => {
    const { send, store } = setUp();
    for (const subject of ['1', '2', '3']) await send(makePost({ subject, body: '' }));
    const [first, second, third] = store.rows;
    const page = (inquiries: unknown[], headers: object = HEADERS) => ({
      statusCode: 200,
      headers,
      body: { email: EMAIL, count: inquiries.length, inquiries },
    });
    expect(await send(makeEvent({}))).toEqual(page([third, second, first]));
    const Link = `<?before=${second?.id}&limit=2>; rel="next"`;
    expect(await send(get({ limit: '2' }))).toEqual(page([third, second], { ...HEADERS, Link }));
    expect(await send(get({ before: second?.id, limit: '2' }))).toEqual(page([first]));
    for (const before of [second?.id.toUpperCase(), `{${second?.id}}`]) {
      expect(await send(get({ before }))).toEqual(page([first]));
    }
    expect(await send(get({ before: first?.id }))).toEqual(page([]));
  });

  it.each<readonly [string, GatewayEvent]>([
    ['a body', makeEvent({ body: '{' })],
    ['other parameters', get({ page: '2', offset: 'x' })],
    ...['1', '1000', '00001'].map(
      (limit) => [`nothing of the limit ${limit}`, get({ limit })] as const,
    ),
    ['a key that is malformed', withKey(makeEvent({}), 'a,b')],
    ...[null, undefined, 7, 'limit=1', [], {}].map(
      (one) => [`parameters that are ${JSON.stringify(one)}`, get(one)] as const,
    ),
  ])('ignores %s', async (_, event) => {
    expect(await setUp().send(event)).toMatchObject({ statusCode: 200, headers: HEADERS });
  });
});

describe('POST', () => {
  it('answers 201 with the stored inquiry, whatever the query parameters', async () => {
    const { send, store } = setUp();
    const id = expect.any(String) as string;
    const created_at = '2026-11-20T00:00:00.000Z';
    const inquiry = {
      id,
      cognito_sub: SUB,
      email: EMAIL,
      subject: 'Hello',
      body: 'World',
      created_at,
    };
    const event = { ...hello, queryStringParameters: { limit: 'x' } };
    expect(await send(event)).toEqual({ statusCode: 201, headers: HEADERS, body: { inquiry } });
    expect(store.rows).toEqual([inquiry]);
  });

  it.each<[string, GatewayEvent, { subject: string; body: string }]>([
    ['empty texts', makePost({ subject: '', body: '' }), { subject: '', body: '' }],
    [
      'lone surrogates, which become U+FFFD',
      postText(String.raw`{"subject":"a\ud800b","body":"\udfff\ud83d\ude00"}`),
      { subject: 'a\uFFFDb', body: '\uFFFD😀' },
    ],
    ['base64', toBase64('{"subject":"é","body":"😀"}'), { subject: 'é', body: '😀' }],
  ])('takes %s', async (_, event, texts) => {
    const { send, store } = setUp();
    const { body } = await send(event);
    expect(store.rows).toMatchObject([texts]);
    expect(body).toEqual({ inquiry: store.rows[0] });
  });
});

describe('a refusal, which stores nothing', () => {
  const OBJECT_NEEDED = badRequest(
    'The request body must be a JSON object with the fields `subject` and `body`.',
  );
  const isMissing = (name: string) => badRequest(`The field \`${name}\` is missing.`);
  const isNoText = (name: string) => badRequest(`The field \`${name}\` must be a string.`);
  const BAD_LIMIT = badRequest('The parameter `limit` must be a whole number from 1 to 1000.');
  const BAD_BEFORE = badRequest('The parameter `before` must be the id of an inquiry.');
  const BROKEN = '{"subject":"s","body":';
  const MARKED = '\uFEFF{"subject":"s","body":"b"}';
  const http = { method: 'GET' };

  it.each<readonly [string, unknown, object]>([
    ...['', '0', '-1', '1001', '1.5', ' 1', '1,2', '１', 7, null].map(
      (limit) => [`the limit ${JSON.stringify(limit)}`, get({ limit }), BAD_LIMIT] as const,
    ),
    ...['', 'x', SUB, '01a1f794-6f77-70a2-a975-366ad3f1860', 7, null].map(
      (before) => [`the id ${JSON.stringify(before)}`, get({ before }), BAD_BEFORE] as const,
    ),
    ['no body', postText(undefined), NO_BODY],
    ['a body that is null', postText(null), NO_BODY],
    ['a body that is an object', postText({ subject: '', body: '' }), NO_BODY],
    ['JSON that is null', postText('null'), OBJECT_NEEDED],
    ['JSON that is an array', postText('["s","b"]'), OBJECT_NEEDED],
    ['JSON that is a string', postText('"s"'), OBJECT_NEEDED],
    ['no fields', postText('{}'), isMissing('subject')],
    ['no subject', postText('{"body":""}'), isMissing('subject')],
    ['no text', postText('{"subject":""}'), isMissing('body')],
    ['a subject that is null', postText('{"subject":null,"body":""}'), isNoText('subject')],
    ['a subject that is a number', postText('{"subject":1,"body":""}'), isNoText('subject')],
    ['a text that is an object', postText('{"subject":"","body":{}}'), isNoText('body')],
    [
      'fields in __proto__',
      postText('{"__proto__":{"subject":"","body":""}}'),
      isMissing('subject'),
    ],
    ['an empty body', postText(''), NOT_JSON],
    ['broken JSON', postText(BROKEN), NOT_JSON],
    ['a byte order mark', postText(MARKED), NOT_JSON],
    ['an empty body in base64', toBase64(''), NOT_JSON],
    ['broken JSON in base64', toBase64(BROKEN), NOT_JSON],
    ['bytes that are not UTF-8', toBase64(Buffer.from([0x22, 0xff, 0x22])), NOT_JSON],
    ['a byte order mark in base64', toBase64(MARKED), NOT_JSON],
    ['an inquiry larger than the store takes', makePost(LARGE), TOO_LONG],
    ['a body larger than any inquiry', postText(' '.repeat(2_600_001)), TOO_LARGE],
    ['a malformed key', withKey(hello, 'a,b'), BAD_KEY],
    ['a key that is no text', withKey(hello, null), BAD_KEY],
    ...['PUT', 'HEAD', 'get', '', '__proto__', 'constructor', null, 7, {}, ['GET']].map(
      (method) =>
        [`the method ${JSON.stringify(method)}`, makeEvent({ method }), NOT_ALLOWED] as const,
    ),
    ...[null, 'event', {}, { requestContext: null }].map(
      (event) => [`the event ${JSON.stringify(event)}`, event, NOT_ALLOWED] as const,
    ),
    ...[undefined, null, { lambda: {} }, { jwt: {} }].map(
      (authorizer) =>
        [
          `the authorizer ${JSON.stringify(authorizer)}`,
          { requestContext: { http, authorizer } },
          UNAUTHORIZED,
        ] as const,
    ),
    ['no claims', makeEvent({ claims: {} }), UNAUTHORIZED],
    ['a sub that is no UUID', makeEvent({ claims: { sub: 'x', email: EMAIL } }), UNAUTHORIZED],
    // Of several mistakes, the first in this order is answered: method, claims, body, key, fields.
    [
      'a method and claims',
      withKey(makeEvent({ method: 'PUT', claims: null }), 'a,b'),
      NOT_ALLOWED,
    ],
    ['claims and parameters', get({ limit: 'x' }, {}), UNAUTHORIZED],
    ['claims and a body', makeEvent({ method: 'POST', body: '{', claims: {} }), UNAUTHORIZED],
    ['claims and a key', withKey(makePost({}, {}), 'a,b'), UNAUTHORIZED],
    ['no body and a key', withKey(postText(undefined), 'a,b'), NO_BODY],
    ['a body that is not JSON and a key', withKey(postText('{'), 'a,b'), NOT_JSON],
    [
      'a body that is too large and a key',
      withKey(postText(' '.repeat(2_600_001)), 'a,b'),
      TOO_LARGE,
    ],
    ['a key and fields', withKey(makePost({}), 'a,b'), BAD_KEY],
  ])('of %s', async (_, event, expected) => {
    const { send, store } = setUp();
    expect(await send(event)).toEqual(expected);
    expect(store.rows).toEqual([]);
  });
});

describe('POST with Idempotency-Key', () => {
  const reused = 'The Idempotency-Key was used for an inquiry with another subject or body.';
  const REUSED = failure(422, 'IDEMPOTENCY_KEY_REUSED', reused);

  it('answers as without one the first time, then the same byte for byte with a header, and 422 to another text', async () => {
    const { app, send, store, wait } = setUp();
    const first = await app(withKey(hello, 'k'));
    expect(first).toEqual({
      statusCode: 201,
      headers: HEADERS,
      body: JSON.stringify({ inquiry: store.rows[0] }),
    });
    wait(60_000);
    const headers = { ...HEADERS, 'Idempotency-Replayed': 'true' };
    expect(await app(withKey(hello, '"k"'))).toEqual({ ...first, headers });
    expect(await send(withKey(other, 'k'))).toEqual(REUSED);
    expect(store.rows).toHaveLength(1);
    for (const key of ['K', 'kk', '__proto__']) {
      expect(await send(withKey(other, key))).toMatchObject({ statusCode: 201, headers: HEADERS });
    }
  });

  it('answers 409 with Retry-After while a request with the key is being processed', async () => {
    const { send } = setUp({ put: async () => ({ refusal: 'in use' }) });
    const message = 'A request with this Idempotency-Key is being processed. Please send it again.';
    expect(await send(withKey(hello, 'k'))).toEqual(
      failure(409, 'IDEMPOTENCY_CONFLICT', message, { ...HEADERS, 'Retry-After': '1' }),
    );
  });

  it('tells the store the key without quotes, and none without the header', async () => {
    const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
    const { send } = setUp({ put });
    for (const event of [withKey(hello, String.raw`"a\"b"`), hello, { ...hello, headers: null }]) {
      expect(await send(event)).toMatchObject({ statusCode: 201, headers: HEADERS });
    }
    expect(put.mock.calls.map(([, , options]) => options?.key)).toEqual([
      'a"b',
      undefined,
      undefined,
    ]);
  });

  it.each([
    ['de', 'de'],
    ['ja-JP,en;q=0.5', 'ja'],
    ['pt-BR, FR-CA;q=0.8', 'fr'],
    ['*', undefined],
    ['', undefined],
    ['deutsch', undefined],
    ['constructor', undefined],
    [`${'x'.repeat(100)},de`, undefined],
    [['de'], undefined],
    [undefined, undefined],
  ])(
    'stores %j of Accept-Language as the language %j, and does not return it',
    async (header, language) => {
      const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
      const { send } = setUp({ put });
      const { body } = await send({ ...hello, headers: { 'accept-language': header } });
      expect(put.mock.calls[0]?.[2]?.language).toBe(language);
      expect(body).toEqual({
        inquiry: expect.not.objectContaining({ language: expect.anything() }),
      });
    },
  );

  it.each([
    ['true', true],
    ['false', false],
  ])('stores the claim email_verified %j, and does not return it', async (claim, expected) => {
    const put = vi.fn<InquiryStore['put']>(async ({ id }) => ({ id }));
    const { send } = setUp({ put });
    const claims = { sub: SUB, email: EMAIL, email_verified: claim };
    const { body } = await send(makePost({ subject: '', body: '' }, claims));
    expect(put.mock.calls[0]?.[2]?.isEmailVerified).toBe(expected);
    expect(body).toEqual({ inquiry: expect.not.objectContaining({ email_verified: expected }) });
  });

  it('beyond the limit of inquiries per hour answers known keys, and 429 with Retry-After to everything else that is valid', async () => {
    const { send, store, wait } = setUp({}, 2);
    expect(await send(withKey(hello, 'k'))).toMatchObject({ statusCode: 201 });
    wait(60_000);
    expect(await send(other)).toMatchObject({ statusCode: 201 });
    const message = 'The limit of inquiries per hour (2) is reached.';
    const headers = { ...HEADERS, 'Retry-After': '3540' };
    const tooMany = failure(429, 'TOO_MANY_REQUESTS', message, headers);
    expect(await send(other)).toEqual(tooMany);
    expect(await send(withKey(other, 'new'))).toEqual(tooMany);
    expect(await send(withKey(hello, 'k'))).toMatchObject({
      statusCode: 201,
      headers: { 'Idempotency-Replayed': 'true' },
      body: { inquiry: store.rows[0] },
    });
    expect(await send(withKey(other, 'k'))).toEqual(REUSED);
    expect(await send(withKey(other, 'a,b'))).toEqual(BAD_KEY);
    expect(store.rows).toHaveLength(2);
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

  const throwAtOnce = () => {
    throw new SecretError('secret');
  };
  it.each<[string, Partial<InquiryStore>, GatewayEvent]>([
    ['a list fails', { list: fail(reject) }, makeEvent({})],
    ['a put fails', { put: reject }, hello],
    ['a put with a key fails', { put: reject }, withKey(hello, 'secret-key')],
    ['our own code throws', { put: throwAtOnce }, hello],
  ])(
    'answers one fixed 500 and logs nothing of the error but its name when %s',
    async (_, overrides, event) => {
      const { send, store } = setUp(overrides, 60);
      expect(await send(event)).toEqual(FAULT);
      expect(store.rows).toEqual([]);
      const method = event.requestContext?.http?.method;
      expect(logged).toEqual([
        lineOf('error', { method, status: 500, errorName: 'ThrottlingException' }),
      ]);
    },
  );

  it.each<[string, unknown, string]>([
    ['a string', 'secret', 'string'],
    ['undefined', undefined, 'undefined'],
    [
      'an error of the system',
      Object.assign(new Error('m'), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
    ],
    [
      'what wraps an error',
      new Error('m', { cause: new SecretError('secret') }),
      'ThrottlingException',
    ],
    [
      'an error with a name from outside',
      Object.assign(new Error('m'), { name: `x ${EMAIL}` }),
      'Error',
    ],
  ])('answers 500 and logs a name only when %s is thrown', async (_, thrown, errorName) => {
    // oxlint-disable-next-line prefer-promise-reject-errors
    expect(await setUp({ list: fail(() => Promise.reject(thrown)) }).send(makeEvent({}))).toEqual(
      FAULT,
    );
    expect(logged).toEqual([lineOf('error', { status: 500, errorName })]);
  });

  const limits = [
    { reason: 'IndexWriteKeyRangeThroughputExceeded', resource: EMAIL },
    { reason: EMAIL },
  ];
  it.each<[string, object[], string[]]>([
    ['ThrottlingReasons', limits, ['IndexWriteKeyRangeThroughputExceeded']],
    ['throttlingReasons', limits, ['IndexWriteKeyRangeThroughputExceeded']],
    ['CancellationReasons', [{ Code: 'ThrottlingError', Message: EMAIL }, {}], ['ThrottlingError']],
  ])(
    'logs which limit has throttled, of %s only what has the form of a reason',
    async (name, reasons, expected) => {
      const error = Object.assign(new SecretError('secret'), { [name]: reasons });
      await setUp({ list: fail(() => Promise.reject(error)) }).send(makeEvent({}));
      const line = { status: 500, errorName: 'ThrottlingException', throttlingReasons: expected };
      expect(logged).toEqual([lineOf('error', line)]);
    },
  );

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
});

describe('logs', () => {
  it.each<readonly [string, GatewayEvent, string, number, string?]>([
    ['a list', makeEvent({}), 'GET', 200],
    ['an inquiry', makePost({ subject: '', body: '' }), 'POST', 201],
    ['invalid claims', makeEvent({ claims: {} }), 'GET', 401, 'Unauthorized'],
    ...['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].map(
      (method) => [method, makeEvent({ method }), method, 405, 'METHOD_NOT_ALLOWED'] as const,
    ),
    ['an unknown method', makeEvent({ method: EMAIL }), 'OTHER', 405, 'METHOD_NOT_ALLOWED'],
    ['a field that is missing', makePost({}), 'POST', 400, 'BAD_REQUEST'],
    ['a body that is not JSON, a mistake of the client', postText('{'), 'POST', 500, 'SyntaxError'],
    ['an inquiry that does not fit', makePost(LARGE), 'POST', 413, 'PAYLOAD_TOO_LARGE'],
  ])('one line about %s', async (_, event, method, status, errorName) => {
    await setUp().send(event);
    const failed = errorName !== undefined && { errorName };
    expect(logged).toEqual([lineOf(failed ? 'warn' : 'info', { method, status, ...failed })]);
  });

  it.each<[string, Partial<InquiryStore>, number, string?]>([
    ['a replay', {}, 201],
    ['a reused key', { put: async () => ({ refusal: 'reused' }) }, 422, 'IDEMPOTENCY_KEY_REUSED'],
    ['a key in use', { put: async () => ({ refusal: 'in use' }) }, 409, 'IDEMPOTENCY_CONFLICT'],
    [
      'an owner beyond the limit',
      { put: async () => ({ refusal: 'limit' }) },
      429,
      'TOO_MANY_REQUESTS',
    ],
    ['too many at once', { put: async () => ({ refusal: 'busy' }) }, 429, 'TOO_MANY_REQUESTS'],
  ])(
    'one line about %s, without the key, and no internal error',
    async (_, overrides, status, errorName) => {
      const { send } = setUp(overrides, 60);
      const event = withKey(makePost({ subject: '', body: '' }), 'the-key');
      await send(event);
      logged.length = 0;
      await send(event);
      const failed = errorName !== undefined && { errorName };
      expect(logged).toEqual([
        lineOf(failed ? 'warn' : 'info', { method: 'POST', status, ...failed }),
      ]);
      expect(metrics).toMatchObject([{ Faults: 0 }, { Faults: 0 }]);
    },
  );

  it('how often the database was asked, and how long the answer took, in whole milliseconds', async () => {
    const list: InquiryStore['list'] = async function* (_owner, _query, call) {
      call.attempts += 3;
      await sleep(60);
      yield [];
    };
    const started = performance.now();
    await setUp({ list }).send(makeEvent({}));
    const [{ Latency }] = metrics as [{ Latency: number }];
    expect(Latency).toSatisfy(Number.isInteger);
    expect(Latency).toBeGreaterThanOrEqual(50);
    expect(Latency).toBeLessThanOrEqual(Math.ceil(performance.now() - started));
    expect(logged).toEqual([lineOf('info', { status: 200, attempts: 3, milliseconds: Latency })]);
  });

  it.each([
    ['a success', {}, makeEvent({}), 0],
    ['a mistake of the client', {}, postText('{'), 0],
    ['an internal error', { put: () => Promise.reject(new Error('x')) }, hello, 1],
  ])('metrics of %s: requests, internal errors, latency', async (_, overrides, event, faults) => {
    await setUp(overrides).send(event, { ...CONTEXT, functionName: 'inquiries-main' });
    const units = { Requests: 'Count', Faults: 'Count', Latency: 'Milliseconds' };
    const Metrics = Object.entries(units).map(([Name, Unit]) => ({ Name, Unit }));
    const CloudWatchMetrics = [{ Namespace: 'Inquiries', Dimensions: [['FunctionName']], Metrics }];
    const values = {
      FunctionName: 'inquiries-main',
      Requests: 1,
      Faults: faults,
      Latency: milliseconds,
    };
    expect(metrics).toEqual([{ _aws: { Timestamp: milliseconds, CloudWatchMetrics }, ...values }]);
  });

  it('metrics of a direct call, without a context or with an empty one, under the name local', async () => {
    expect(await setUp().send(makeEvent({}), {})).toMatchObject({ statusCode: 200 });
    logged.length = metrics.length = 0;
    expect(await setUp().app(makeEvent({}))).toMatchObject({ statusCode: 200 });
    expect(metrics).toMatchObject([{ FunctionName: 'local' }]);
    expect(logged).toEqual([lineOf('info', { status: 200, requestId: undefined })]);
  });
});
