/** docs/openapi.yaml and docs/contract.md: what the app, the built function and the whole service answer. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { limits, replies } from '../../lib/gateway-replies.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { createGateway } from '../../local/gateway.ts';
import { FunctionTimeout } from '../../local/lambda/sandbox.ts';
import { createApp, operations } from '../../src/app.ts';
import {
  inquiriesPath,
  type CreateInquiryResponse,
  type Inquiry,
  type InquiryListResponse,
} from '../../src/contract.ts';
import * as errors from '../../src/errors.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { checkAnswer, document, findResponses, sendAndCheck } from '../helpers/contract.ts';
import { EMAIL, makeEvent, SUB } from '../helpers/events.ts';
import type { Answer } from '../helpers/http.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { startService } from '../helpers/service.ts';

const ORIGIN = 'https://www.example.com';

interface Request {
  readonly method?: string;
  readonly query?: Record<string, string>;
  /** Names in lower case. */
  readonly headers?: Record<string, string>;
  /** A buffer is sent with a content type that the gateway passes on as base64. */
  readonly body?: string | Buffer;
  /** Replace claims of the owner; null removes one. */
  readonly claims?: Record<string, string | null>;
}
interface Owner {
  readonly sub: string;
  readonly email: string;
}
interface Target {
  send(request: Request, owner: Owner): Promise<Answer>;
  close(): Promise<void>;
}

/** A function that is invoked with events. */
const invokeWith =
  (invoke: (event: GatewayEvent) => Promise<Omit<Answer, 'headers'> & { headers: object }>) =>
  async ({ method, query, headers = {}, body, claims }: Request, owner: Owner): Promise<Answer> => {
    const isBase64Encoded = typeof body === 'object';
    const own = Object.entries({ ...owner, ...claims }).filter(([, value]) => value !== null);
    const answer = await invoke({
      ...makeEvent({
        ...(method !== undefined && { method }),
        ...(body !== undefined && { body: isBase64Encoded ? body.toString('base64') : body }),
        isBase64Encoded,
        claims: Object.fromEntries(own),
      }),
      headers,
      ...(query !== undefined && { queryStringParameters: query }),
    });
    const lower = Object.entries(answer.headers).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]);
    return { ...answer, headers: Object.fromEntries(lower) as Answer['headers'] };
  };

/** All answers. */
const seen: { method: string; status: number; json: unknown }[] = [];

const PER_HOUR = 5;

async function openApp(): Promise<Target> {
  const inquiries = createInquiries(createMemoryStore({}, 400_000), { inquiriesPerHour: PER_HOUR });
  const app = createApp({ inquiries, corsOrigin: ORIGIN });
  const send = invokeWith(async (event) => {
    const { statusCode: status, headers, body: text } = await app(event);
    return { status, headers, text, json: JSON.parse(text) as unknown };
  });
  return { send, close: async () => undefined };
}

async function openFunction(): Promise<Target> {
  const table = await createOwnTable();
  const sandbox = await startSandbox({
    ...table.environment(),
    INQUIRIES_PER_HOUR: String(PER_HOUR),
  });
  return {
    send: invokeWith((event) => sandbox.invoke(event)),
    async close() {
      await sandbox.close();
      table.close();
    },
  };
}

async function openService(): Promise<Target> {
  const service = await startService({ settings: { INQUIRIES_PER_HOUR: String(PER_HOUR) } });
  return {
    async send({ method = 'GET', query = {}, headers = {}, body, claims }, owner) {
      const user = await service.signIn({ ...owner, ...(claims && { claims }) });
      const type = typeof body === 'object' ? 'application/octet-stream' : 'application/json';
      const parameters = new URLSearchParams(query).toString();
      const others = Object.entries(headers).flat();
      return user.call(method, parameters && `?${parameters}`, body, type, others);
    },
    close: () => service.close(),
  };
}

/** A POST of the value as JSON; a string is sent as it is. */
const post = (value: unknown, headers: Record<string, string> = {}): Request => ({
  method: 'POST',
  headers,
  body: typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value),
});
const withKey = (key: string) => ({ 'idempotency-key': key });
const HELLO = { subject: 'Hello', body: 'Is anyone there?' };
const NOT_JSON = ['', '{"subject":"s","body":', '\uFEFF{"subject":"s","body":"b"}'];
const TOO_LONG = ' '.repeat(2_600_001);

/** The status, and the name of the example that is the answer. Of several mistakes the first in this order is answered. */
const REFUSALS: [title: string, request: Request, status: number, example?: string][] = [
  ['another method', { method: 'PUT', body: '{}', headers: withKey('a,b') }, 405, 'method'],
  ['another method without an email', { method: 'PATCH', claims: { email: null } }, 405, 'method'],
  ['a sub that is no UUID', { claims: { sub: 'x' } }, 401, 'claims'],
  ['no email', { ...post('{'), claims: { email: null } }, 401, 'claims'],
  ['an empty email, and parameters', { query: { limit: 'x' }, claims: { email: '' } }, 401],
  ...['', '0', '-1', '1001', '1.5', ' 1', '1,2', '１'].map(
    (limit): [string, Request, number, string] => [
      `the limit ${JSON.stringify(limit)}`,
      { query: { limit } },
      400,
      'limit',
    ],
  ),
  ...['', 'x', SUB, '01a1f794-6f77-70a2-a975-366ad3f1860'].map(
    (before): [string, Request, number, string] => [
      `the id ${JSON.stringify(before)}`,
      { query: { before } },
      400,
      'before',
    ],
  ),
  ['no body, and a key', { method: 'POST', headers: withKey('a,b') }, 400, 'noBody'],
  ...NOT_JSON.slice(1).flatMap((text): [string, Request, number, string][] => [
    [`${JSON.stringify(text)} with a malformed key`, post(text, withKey('a,b')), 500, 'noJson'],
    [`${JSON.stringify(text)} in base64`, post(Buffer.from(text)), 500, 'noJson'],
  ]),
  ['bytes that are not UTF-8', post(Buffer.from([0x22, 0xff, 0x22])), 500, 'noJson'],
  ['a long body with a malformed key', post(TOO_LONG, withKey('a,b')), 413, 'body'],
  ['a malformed key and no fields', post({}, withKey('a,b')), 400, 'key'],
  ...['null', '["s","b"]', '"s"'].map((json): [string, Request, number, string] => [
    `the JSON ${json}`,
    post(json),
    400,
    'noObject',
  ]),
  ['no fields', post({}), 400],
  ['no text', post({ subject: '' }), 400, 'missing'],
  ['fields in __proto__', post('{"__proto__":{"subject":"","body":""}}'), 400],
  ['a subject that is null', post({ subject: null, body: '' }), 400, 'noString'],
  ['a subject that is a number', post({ subject: 1, body: '' }), 400, 'noString'],
  ['a text that is an object', post({ subject: '', body: {} }), 400],
  [
    'an inquiry that is too large',
    post({ subject: '', body: 'x'.repeat(410_000) }),
    413,
    'tooLarge',
  ],
];

/** The value of an example of the document. */
const findExample = (method: string, status: number, name: string): object =>
  findResponses(method, inquiriesPath)[status]?.content['application/json'].examples[name]
    ?.value as object;

describe.each([
  ['the app', openApp],
  ['the built function', openFunction],
  ['the service', openService],
])('%s', (name, open) => {
  const { 'dynamodb-local': engine } = inject('engines');
  describe.skipIf(name !== 'the app' && engine === undefined)('answers', () => {
    let target: Target;
    beforeAll(async () => {
      target = await open();
    });
    afterAll(() => target.close());

    /** A new owner, whose every answer is as documented. */
    function createUser() {
      const owner = { sub: randomUUID(), email: EMAIL };
      const ask = async (request: Request): Promise<Answer> => {
        const answer = await target.send(request, owner);
        const { method = 'GET' } = request;
        checkAnswer(method, inquiriesPath, answer);
        seen.push({ method, status: answer.status, json: answer.json });
        return answer;
      };
      const list = async (query: Record<string, string> = {}) => {
        const { status, headers, json } = await ask({ query });
        expect(status).toBe(200);
        const { email, count, inquiries } = json as InquiryListResponse;
        expect([email, count]).toEqual([EMAIL, inquiries.length]);
        return { link: headers['link'], inquiries };
      };
      const create = async (request: Request): Promise<Inquiry> => {
        const { status, json, headers } = await ask(request);
        expect([status, headers['idempotency-replayed']]).toEqual([201, undefined]);
        return (json as CreateInquiryResponse).inquiry;
      };
      return { owner, ask, list, create };
    }

    it.each(REFUSALS)('refuses %s and stores nothing', async (_, request, status, example) => {
      const { ask, list } = createUser();
      const answer = await ask(request);
      expect(answer.status).toBe(status);
      expect(answer.json).toMatchObject(
        example === undefined ? {} : findExample(request.method ?? 'GET', status, example),
      );
      expect((await list()).inquiries).toEqual([]);
    });

    it('lists newest first, with a Link that repeats the limit while there are older ones', async () => {
      const { create, list } = createUser();
      const made: Inquiry[] = [];
      for (const subject of ['1', '2', '3']) {
        made.unshift(await create(post({ subject, body: '' })));
      }
      const [third, second, first] = made;
      expect(await list()).toEqual({ link: undefined, inquiries: made });
      const link = `<?before=${second?.id}&limit=2>; rel="next"`;
      expect(await list({ limit: '2' })).toEqual({ link, inquiries: [third, second] });
      const ids = [second?.id ?? '', second?.id.toUpperCase() ?? '', `{${second?.id}}`];
      for (const before of ids) {
        expect(await list({ before, limit: '0002' })).toEqual({
          link: undefined,
          inquiries: [first],
        });
      }
      expect((await list({ before: first?.id ?? '' })).inquiries).toEqual([]);
    });

    it('ignores other parameters, the key and the body of a GET, and parameters of a POST', async () => {
      const { ask, create } = createUser();
      const request = { query: { page: '2' }, headers: withKey('a,b'), body: '{' };
      expect((await ask(request)).status).toBe(200);
      await create({ ...post(HELLO), query: { limit: 'x' } });
    });

    it.each<[string, string | Buffer, typeof HELLO]>([
      ['empty texts', '{"subject":"","body":""}', { subject: '', body: '' }],
      [
        'lone surrogates, which become U+FFFD',
        String.raw`{"subject":"a\ud800b","body":"\udfff\ud83d\ude00"}`,
        { subject: 'a\uFFFDb', body: '\uFFFD😀' },
      ],
      ['base64', Buffer.from('{"subject":"é","body":"😀"}'), { subject: 'é', body: '😀' }],
    ])('stores and returns %s', async (_, body, texts) => {
      const { owner, create, list } = createUser();
      const inquiry = await create({ method: 'POST', body });
      expect(inquiry).toMatchObject({ cognito_sub: owner.sub, email: owner.email, ...texts });
      expect((await list()).inquiries).toEqual([inquiry]);
    });

    it.each<[string, typeof HELLO]>([
      ['hostile', { subject: '\0\u2028"\\\u202E', body: '👩‍👩‍👧‍👦\ud800e\u0301' }],
      ['large', { subject: '€'.repeat(40_000), body: 'x'.repeat(200_000) }],
    ])(
      'answers a known key byte for byte the same, and 422 to another text: %s',
      async (_, content) => {
        const { ask, list, create } = createUser();
        const first = await ask(post(content, withKey('k')));
        const { status, headers, text } = await ask(post(content, withKey('"k"')));
        expect([status, headers['idempotency-replayed'], text]).toEqual([201, 'true', first.text]);
        const reused = await ask(post(HELLO, withKey('k')));
        expect([reused.status, reused.json]).toEqual([422, findExample('POST', 422, 'reused')]);
        for (const key of ['K', 'kk', '__proto__']) await create(post(HELLO, withKey(key)));
        expect((await list()).inquiries).toHaveLength(4);
      },
    );

    it('beyond the limit of inquiries per hour answers known keys, and 429 to everything else that is valid', async () => {
      const { ask } = createUser();
      const first = await ask(post(HELLO, withKey('k')));
      const statuses: number[] = [];
      // At a full hour as many again.
      for (let sent = 0; sent < 2 * PER_HOUR && !statuses.includes(429); sent++) {
        // Counted by sub, whatever the email.
        const claims = { email: `${sent}@example.com` };
        statuses.push((await ask({ ...post(HELLO), claims })).status);
      }
      expect(statuses.length).toBeGreaterThanOrEqual(PER_HOUR);
      expect(statuses.at(-1)).toBe(429);
      expect((await ask(post(HELLO, withKey('k')))).text).toBe(first.text);
      expect((await ask(post({}, withKey('k')))).status).toBe(400);
    });
  });
});

/** As in the examples of the document: the owner, the times, no random bits in the ids. */
const OWNER = { sub: '1daae433-47cc-48ff-bf9b-73f530b9d7bc', email: EMAIL };
const NOW = Date.UTC(2026, 10, 20, 9);

/** The gateway and the function with a store in memory; tests change these to make them fail. */
let claims: Record<string, string> | undefined;
let fault: Error | undefined;
let isThrottled = false;
let isBroken = false;
let isFull = false;
const store = createMemoryStore();
const inquiries = createInquiries(
  {
    async put(inquiry, call, options) {
      if (isBroken) throw new Error('down');
      if (options?.key === 'in-use') return { refusal: 'in use' };
      if (inquiry.email !== EMAIL) return { refusal: 'email' };
      return store.put(inquiry, call, {
        ...options,
        limit: isFull ? { most: 0, time: 0 } : undefined,
      });
    },
    list(...args) {
      if (isBroken) throw new Error('down');
      return store.list(...args);
    },
  },
  {
    inquiriesPerHour: 60,
    now: () => NOW + Math.min(store.rows.length, 2) * 60_000,
  },
);
const app = createApp({ inquiries, corsOrigin: ORIGIN });
const server = createGateway({
  authorize: async () => (claims ? { claims } : { challenge: 'Bearer' }),
  invoke: async (event) => {
    if (fault) throw fault;
    return JSON.stringify(await app(JSON.parse(event) as GatewayEvent));
  },
  corsOrigins: [ORIGIN],
  throttle: () => isThrottled,
  log: () => undefined,
});
let url = '';

beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server, 0)}${inquiriesPath}`;
});
afterAll(() => close(server));
beforeEach(() => {
  claims = OWNER;
  fault = undefined;
  isThrottled = isBroken = isFull = false;
});

const request = async (method: string, body?: string, query = '', more: string[] = []) => {
  const headers = ['Content-Type', 'application/json', ...more];
  const options = { method, headers, ...(body !== undefined && { body }) };
  const { status, json } = await sendAndCheck(url + query, options);
  seen.push({ method, status, json });
  return status;
};
const create = (value: unknown, key?: string) =>
  request('POST', JSON.stringify(value), '', key === undefined ? [] : ['Idempotency-Key', key]);

describe('everything in the document occurs', () => {
  it('in lists and creations', async () => {
    // The generator's buffer stays as it is, all zero.
    vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => array);
    expect(await request('GET')).toBe(200);
    expect(await create(HELLO)).toBe(201);
    expect(await create({ subject: 'Opening hours', body: '' })).toBe(201);
    expect(await request('GET')).toBe(200);
    expect(await request('GET', undefined, '?limit=1')).toBe(200);
    expect(await create(HELLO, 'in-use')).toBe(409);
    for (const another of ['a', 'b', '']) {
      const twice = ['Idempotency-Key', 'a', 'idempotency-KEY', another];
      expect(await request('POST', JSON.stringify(HELLO), '', twice)).toBe(400);
    }
    isFull = true;
    expect(await create(HELLO)).toBe(429);
    claims = { ...OWNER, email: 'long@example.com' };
    expect(await create(HELLO)).toBe(413);
  });

  it.each(['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])(
    'in %s: refused, failed, late',
    async (method) => {
      const ask = () => request(method, method === 'POST' ? JSON.stringify(HELLO) : undefined);
      isThrottled = true;
      expect(await ask()).toBe(429);
      isThrottled = false;
      // Two framings of one body: Node's parser rejects the request before any code of the gateway runs.
      const framings = ['Transfer-Encoding', 'chunked', 'Content-Length', '1'];
      expect(await request(method, undefined, '', framings)).toBe(400);
      expect(await request(method, ' '.repeat(limits.lambdaPayload))).toBe(413);
      const fill = ['X-Fill', 'x'.repeat(limits.headers)];
      expect(await request(method, undefined, '', fill)).toBe(431);
      fault = new Error('out of memory');
      expect(await ask()).toBe(500);
      fault = new FunctionTimeout();
      expect(await ask()).toBe(503);
      fault = undefined;
      isBroken = true;
      expect(await ask()).toBe(operations.has(method) ? 500 : 405);
      claims = { sub: SUB };
      expect(await ask()).toBe(operations.has(method) ? 401 : 405);
      claims = undefined;
      expect(await ask()).toBe(401);
    },
  );

  it('in HEAD, a preflight and any other path', async () => {
    expect(await request('HEAD')).toBe(405);
    expect(await request('OPTIONS')).toBe(404);
    const preflight = ['Origin', ORIGIN, 'Access-Control-Request-Method', 'POST'];
    expect(await request('OPTIONS', undefined, '', preflight)).toBe(204);
    expect((await sendAndCheck(`${url}/1`)).status).toBe(replies.notFound.status);
  });

  it('and a browser may send its headers, and read those of the response', async () => {
    const { parameters = [] } = document.paths[inquiriesPath]?.post ?? {};
    const sent = parameters.flatMap((one) =>
      'in' in one && one.in === 'header' ? [one.name] : [],
    );
    const documented = ['GET', 'POST'].flatMap((method) =>
      Object.values(findResponses(method, inquiriesPath)).flatMap(({ headers }) =>
        Object.keys(headers),
      ),
    );
    // Of CORS itself, one that browsers show anyway, and one for clients without a token.
    const others = /^(access-control-.*|cache-control|www-authenticate)$/i;
    const read = documented.filter((name) => !others.test(name));
    const preflight = ['Origin', ORIGIN, 'Access-Control-Request-Method', 'POST'];
    const { headers } = await sendAndCheck(url, { method: 'OPTIONS', headers: preflight });
    const wordsOf = (name: string) => String(headers[name]).split(',').toSorted();
    const lower = (names: string[]) =>
      [...new Set(names.map((name) => name.toLowerCase()))].toSorted();
    expect(wordsOf('access-control-allow-headers')).toEqual(
      lower(['Authorization', 'Content-Type', ...sent]),
    );
    expect(wordsOf('access-control-expose-headers')).toEqual(lower(read));
  });

  const METHODS = ['GET', 'POST', 'any other'];
  const seenOf = (method: string) =>
    seen.filter(
      (answer) =>
        answer.method === method || (method === 'any other' && !operations.has(answer.method)),
    );
  const examplesOf = (method: string) =>
    Object.entries(findResponses(method, inquiriesPath)).flatMap(([status, { content }]) =>
      Object.values(content['application/json'].examples).map(({ value }) => ({
        status: Number(status),
        json: value,
      })),
    );

  it.each(METHODS)('every documented status of %s, and no other, and every example', (method) => {
    const answered = seenOf(method).map(({ status, json }) => ({ status, json }));
    const statuses = new Set(answered.map(({ status }) => status));
    statuses.delete(204);
    expect([...statuses].toSorted((a, b) => a - b)).toEqual(
      Object.keys(findResponses(method, inquiriesPath)).map(Number),
    );
    for (const example of examplesOf(method)) expect(answered).toContainEqual(example);
  });

  it('every error of the service, as an example', () => {
    const { ApiError, refusals, ...others } = errors;
    const factories = [...Object.values(refusals), ...Object.values(others)];
    const shown = METHODS.flatMap(examplesOf).map(({ status, json }) => ({
      status,
      code: (json as { error?: string }).error,
    }));
    for (const createError of factories) {
      const { status, code } = (createError as (text?: string) => InstanceType<typeof ApiError>)();
      expect(shown).toContainEqual({ status, code });
    }
    expect(factories.length).toBeGreaterThanOrEqual(6);
  });
});

it.each<[string, string, object, RegExp]>([
  ['a field', 'POST', { status: 201, json: { inquiry: { id: '1' } } }, /required prop.*id must/],
  ['a status', 'POST', { status: 200 }, /it is not documented/],
  ['a header', 'GET', { headers: { 'x-by': 'us' } }, /the header x-by is not documented/],
  ['a Link', 'GET', { headers: { link: '</inquiries?before=1>; rel="next"' } }, /link is </],
  ['a header that is missing', 'PUT', { status: 405 }, /the header allow is missing/],
])(
  '%s that differs from the document is an error',
  (_, method, { headers, ...changed }: Partial<Answer>, message) => {
    const common = { 'content-type': 'application/json', 'access-control-allow-origin': ORIGIN };
    const json = { email: EMAIL, count: 0, inquiries: [] };
    const answer = { status: 200, text: '', json, ...changed, headers: { ...common, ...headers } };
    expect(() => checkAnswer(method, inquiriesPath, answer)).toThrow(message);
  },
);
