import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FunctionTimeout } from '../../local/lambda/sandbox.ts';
import { createGateway } from '../../local/gateway.ts';
import { limits, replies } from '../../lib/gateway-replies.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { createApp, operations } from '../../src/app.ts';
import { inquiriesPath } from '../../src/contract.ts';
import * as errors from '../../src/errors.ts';
import type { GatewayEvent } from '../../src/http.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { checkAnswer, document, findResponses, sendAndCheck } from '../helpers/contract.ts';
import { EMAIL, SUB } from '../helpers/events.ts';
import type { Answer } from '../helpers/http.ts';
import { createMemoryStore } from '../helpers/memory-store.ts';

const ORIGIN = 'https://www.example.com';
/** As in the examples of the document: the owner, the times, no random bits in the ids. */
const OWNER = { sub: '1daae433-47cc-48ff-bf9b-73f530b9d7bc', email: EMAIL };
const NOW = Date.UTC(2026, 10, 20, 9);
const NO_RANDOM = { nextUint32: () => 0 };
const PAYLOAD = { subject: 'Hello', body: 'Is anyone there?' };

/** The gateway and the function with a store in memory; tests change these to make them fail. */
let claims: Record<string, string> | undefined;
let fault: Error | undefined;
let throttled = false;
let broken = false;
let isFull = false;
const store = createMemoryStore();
const inquiries = createInquiries(
  {
    ...store,
    async put(inquiry, call, options) {
      if (broken) throw new Error('down');
      if (options?.key === 'in-use') return { refusal: 'in use' };
      if (inquiry.email !== EMAIL) return { refusal: 'email' };
      const limit = isFull ? { most: 0, time: 0 } : undefined;
      return store.put(inquiry, call, { ...options, limit });
    },
    list: (...args) => {
      if (broken) throw new Error('down');
      return store.list(...args);
    },
  },
  {
    inquiriesPerHour: 60,
    now: () => NOW + Math.min(store.rows.length, 2) * 60_000,
    random: NO_RANDOM,
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
  throttle: () => throttled,
  log: () => undefined,
});
let url = '';
const seen: { method: string; status: number; json: unknown }[] = [];

beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server, 0)}${inquiriesPath}`;
  Object.assign(console, { warn() {}, error() {} });
});
afterAll(() => close(server));
beforeEach(() => {
  claims = OWNER;
  fault = undefined;
  throttled = false;
  broken = false;
});

const request = async (method: string, body?: string | Buffer, query = '', more: string[] = []) => {
  const headers = ['Content-Type', 'application/json', ...more];
  const options = { method, headers, ...(body !== undefined && { body }) };
  const { status, json } = await sendAndCheck(url + query, options);
  seen.push({ method, status, json });
  return status;
};
const post = (value: unknown, key?: string) =>
  request('POST', JSON.stringify(value), '', key === undefined ? [] : ['Idempotency-Key', key]);

describe('every response is as documented', () => {
  it('to a list: none, all, a page, malformed parameters', async () => {
    expect(await request('GET')).toBe(200);
    expect(await post(PAYLOAD)).toBe(201);
    expect(await post({ subject: 'Opening hours', body: '' })).toBe(201);
    expect(await request('GET')).toBe(200);
    expect(await request('GET', undefined, '?limit=1')).toBe(200);
    expect(await request('GET', undefined, '?limit=0')).toBe(400);
    expect(await request('GET', undefined, '?before=yesterday')).toBe(400);
  });

  it('to a creation: malformed bodies, too large', async () => {
    expect(await request('POST')).toBe(400);
    expect(await post([])).toBe(400);
    expect(await post({ subject: 'Hello' })).toBe(400);
    expect(await post({ ...PAYLOAD, subject: 1 })).toBe(400);
    expect(await request('POST', '{')).toBe(500);
    expect(await post({ ...PAYLOAD, body: 'x'.repeat(101) })).toBe(413);
    expect(await request('POST', ' '.repeat(3_000_000))).toBe(413);
    claims = { ...OWNER, email: 'long@example.com' };
    expect(await post(PAYLOAD)).toBe(413);
  });

  it('to a creation with a key: the first one, its replay, another text, malformed, in use, two keys', async () => {
    expect(await post(PAYLOAD, 'k')).toBe(201);
    expect(await post(PAYLOAD, '"k"')).toBe(201);
    expect(await post({ ...PAYLOAD, subject: 'another' }, 'k')).toBe(422);
    expect(await post(PAYLOAD, '')).toBe(400);
    expect(await post(PAYLOAD, 'in-use')).toBe(409);
    for (const another of ['a', 'b', '']) {
      const twice = ['Idempotency-Key', 'a', 'idempotency-KEY', another];
      expect(await request('POST', JSON.stringify(PAYLOAD), '', twice)).toBe(400);
    }
  });

  it('to a browser, which may send the documented headers and read those of the response', async () => {
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
    expect(sent).toEqual(['Idempotency-Key']);
  });

  it('to a creation beyond the limit, and to a key that is known then', async () => {
    isFull = true;
    expect(await post(PAYLOAD)).toBe(429);
    expect(await post(PAYLOAD, 'k')).toBe(201);
    isFull = false;
    store.rows.splice(0);
  });

  it.each(['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])(
    'to %s: refused, failed, late',
    async (method) => {
      const ask = () => request(method, method === 'POST' ? JSON.stringify(PAYLOAD) : undefined);
      throttled = true;
      expect(await ask()).toBe(429);
      throttled = false;
      // Two framings of one body: Node's parser rejects the request before any code of the gateway runs.
      expect(
        await request(method, undefined, '', [
          'Transfer-Encoding',
          'chunked',
          'Content-Length',
          '1',
        ]),
      ).toBe(400);
      expect(await request(method, ' '.repeat(limits.lambdaPayload))).toBe(413);
      expect(await request(method, undefined, '', ['X-Fill', 'x'.repeat(limits.headers)])).toBe(
        431,
      );
      fault = new Error('out of memory');
      expect(await ask()).toBe(500);
      fault = new FunctionTimeout();
      expect(await ask()).toBe(503);
      fault = undefined;
      broken = true;
      expect(await ask()).toBe(operations.has(method) ? 500 : 405);
      claims = { sub: SUB };
      expect(await ask()).toBe(operations.has(method) ? 401 : 405);
      claims = undefined;
      expect(await ask()).toBe(401);
    },
  );

  it('to HEAD, to a preflight and on any other path', async () => {
    expect(await request('HEAD')).toBe(405);
    expect(await request('OPTIONS')).toBe(404);
    const preflight = ['Origin', ORIGIN, 'Access-Control-Request-Method', 'POST'];
    expect(await request('OPTIONS', undefined, '', preflight)).toBe(204);
    expect((await sendAndCheck(`${url}/1`)).status).toBe(replies.notFound.status);
  });
});

describe('everything documented has been seen', () => {
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

  it.each(METHODS)(
    'every documented status of %s, and no other, and every example, word for word',
    (method) => {
      const answered = seenOf(method).map(({ status, json }) => ({ status, json }));
      const statuses = new Set(answered.map(({ status }) => status));
      statuses.delete(204);
      expect([...statuses].toSorted((a, b) => a - b)).toEqual(
        Object.keys(findResponses(method, inquiriesPath)).map(Number),
      );
      for (const example of examplesOf(method)) expect(answered).toContainEqual(example);
    },
  );

  it('the example of a request', () => {
    const content = { 'application/json': { examples: { created: { value: PAYLOAD } } } };
    expect(document.paths[inquiriesPath]?.post.requestBody).toMatchObject({ content });
  });

  it('every error of the service, as an example', () => {
    const factories = Object.values(errors).filter((value) => value !== errors.ApiError);
    const shown = METHODS.flatMap(examplesOf).map(({ status, json }) => ({
      status,
      code: (json as { error?: string }).error,
    }));
    for (const create of factories) {
      const { status, code } = (create as (text: string) => errors.ApiError)('');
      expect(shown).toContainEqual({ status, code });
    }
    expect(factories.length).toBeGreaterThanOrEqual(6);
  });
});

it.each<[string, string, object, RegExp]>([
  [
    'a field',
    'POST',
    { status: 201, json: { inquiry: { id: '1' } } },
    /required prop.*id must match/,
  ],
  ['a status', 'POST', { status: 200 }, /it is not documented/],
  ['a header', 'GET', { headers: { 'x-by': 'us' } }, /the header x-by is not documented/],
  [
    'the form of a header',
    'GET',
    { headers: { link: '</inquiries?before=1>; rel="next"' } },
    /link is </,
  ],
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
