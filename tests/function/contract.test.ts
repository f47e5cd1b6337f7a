/** docs/openapi.yaml and docs/contract.md: what the app, the built function and the whole service answer. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
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
import { createInquiries, type PutResult } from '../../src/inquiries.ts';
import { checkAnswer, findResponses, sendAndCheck } from '../helpers/contract.ts';
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
const settings = { INQUIRIES_PER_HOUR: String(PER_HOUR) };

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
  const sandbox = await startSandbox({ ...table.environment(), ...settings });
  return {
    send: invokeWith((event) => sandbox.invoke(event)),
    async close() {
      await sandbox.close();
      table.close();
    },
  };
}

async function openService(): Promise<Target> {
  const service = await startService({ settings });
  return {
    async send({ method = 'GET', query = {}, headers = {}, body, claims }, owner) {
      const user = await service.signIn({ ...owner, ...(claims && { claims }) });
      const type = typeof body === 'object' ? 'application/octet-stream' : 'application/json';
      const others = Object.entries(headers).flat();
      return user.call(method, `?${new URLSearchParams(query).toString()}`, body, type, others);
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
const MALFORMED = withKey('a,b');

/** Each with the name of the example that is the answer. Of several mistakes the first in this order is answered. */
const REFUSALS: [status: number, example: string, requests: Request[]][] = [
  [405, 'method', [{ method: 'PUT', body: '{}', headers: MALFORMED }]],
  [405, 'method', [{ method: 'PATCH', claims: { email: null } }]],
  [401, 'claims', [{ claims: { sub: 'x' } }, { ...post('{'), claims: { email: null } }]],
  [401, 'claims', [{ query: { limit: 'x' }, claims: { email: '' } }]],
  [400, 'limit', ['', '0', '1001', '1,2', '１'].map((limit) => ({ query: { limit } }))],
  [400, 'before', ['', SUB].map((before) => ({ query: { before } }))],
  [400, 'noBody', [{ method: 'POST', headers: MALFORMED }]],
  [500, 'noJson', [post('{"subject":"s","body":', MALFORMED), post('\uFEFF{}')]],
  [500, 'noJson', [post(Buffer.from([0x22, 0xff, 0x22]))]],
  [413, 'body', [post(' '.repeat(2_600_001), MALFORMED)]],
  [400, 'key', [post({}, MALFORMED)]],
  [400, 'noObject', [post('null'), post('["s","b"]')]],
  [400, 'missing', [post({ subject: '' })]],
  [400, 'noString', [post({ subject: null, body: '' }), post({ subject: 1, body: '' })]],
  [413, 'tooLarge', [post({ subject: '', body: 'x'.repeat(410_000) })]],
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
      const ask = async (one: Request): Promise<Answer> => {
        const answer = await target.send(one, owner);
        const { method = 'GET' } = one;
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
      const create = async (one: Request): Promise<Inquiry> => {
        const { status, json, headers } = await ask(one);
        expect([status, headers['idempotency-replayed']]).toEqual([201, undefined]);
        const { inquiry } = json as CreateInquiryResponse;
        expect(inquiry).toMatchObject({ cognito_sub: owner.sub, email: EMAIL });
        return inquiry;
      };
      return { ask, list, create };
    }

    it.each(REFUSALS)(
      '%i with the example %s, and stores nothing',
      async (status, exampleName, requests) => {
        const { ask, list } = createUser();
        for (const one of requests) {
          const answer = await ask(one);
          const example = findExample(one.method ?? 'GET', status, exampleName);
          expect([answer.status, answer.json]).toEqual([status, example]);
        }
        expect((await list()).inquiries).toEqual([]);
      },
    );

    it('lists newest first, with a Link that repeats the limit while there are older ones', async () => {
      const { create, list } = createUser();
      const made: Inquiry[] = [];
      for (const subject of ['é', '2', '3']) {
        made.unshift(await create(post(Buffer.from(JSON.stringify({ subject, body: '' })))));
      }
      const [third, second, first] = made;
      expect(await list()).toEqual({ link: undefined, inquiries: made });
      const link = `<?before=${second?.id}&limit=2>; rel="next"`;
      expect(await list({ limit: '2' })).toEqual({ link, inquiries: [third, second] });
      const rest = { link: undefined, inquiries: [first] };
      for (const before of [`${second?.id}`, `{${second?.id.toUpperCase()}}`]) {
        expect(await list({ before, limit: '0002' })).toEqual(rest);
      }
      expect((await list({ before: `${first?.id}` })).inquiries).toEqual([]);
    });

    it('ignores other parameters, the key and the body of a GET, and parameters of a POST', async () => {
      const { ask, create } = createUser();
      const one = { query: { page: '2' }, headers: MALFORMED, body: '{' };
      expect((await ask(one)).status).toBe(200);
      await create({ ...post(HELLO), query: { limit: 'x' } });
    });

    it('answers a known key byte for byte the same, and 422 to another text', async () => {
      for (const content of [HELLO, { subject: '\0\u2028"\\\ud800', body: '€'.repeat(40_000) }]) {
        const { ask, list, create } = createUser();
        const first = await ask(post(content, withKey('k')));
        const { status, headers, text } = await ask(post(content, withKey('"k"')));
        expect([status, headers['idempotency-replayed'], text]).toEqual([201, 'true', first.text]);
        const reused = await ask(post({ subject: '', body: '' }, withKey('k')));
        expect([reused.status, reused.json]).toEqual([422, findExample('POST', 422, 'reused')]);
        for (const key of ['K', '__proto__']) await create(post(HELLO, withKey(key)));
        expect((await list()).inquiries).toHaveLength(3);
      }
    });

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

/** What makes the gateway and the function fail. */
interface Failing {
  /** Null: the token is not valid. */
  readonly claims?: Readonly<Record<string, string>> | null;
  readonly fault?: Error;
  readonly refusal?: Extract<PutResult, { refusal: string }>['refusal'];
  readonly isThrottled?: boolean;
  readonly isBroken?: boolean;
}
let failing: Failing = {};
const store = createMemoryStore({
  async put({ id }) {
    if (failing.isBroken) throw new Error('down');
    return failing.refusal ? { refusal: failing.refusal } : { id };
  },
  async *list() {
    if (failing.isBroken) throw new Error('down');
    yield [];
  },
});
const app = createApp({
  inquiries: createInquiries(store, { inquiriesPerHour: 60 }),
  corsOrigin: ORIGIN,
});
const server = createGateway({
  authorize: async () => {
    const { claims = { sub: SUB, email: EMAIL } } = failing;
    return claims ? { claims } : { challenge: 'Bearer' };
  },
  invoke: async (event) => {
    if (failing.fault) throw failing.fault;
    return JSON.stringify(await app(JSON.parse(event) as GatewayEvent));
  },
  corsOrigins: [ORIGIN],
  throttle: () => failing.isThrottled ?? false,
  log: () => undefined,
});
let url = '';
beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server, 0)}${inquiriesPath}`;
});
afterAll(() => close(server));

const PREFLIGHT = ['Origin', ORIGIN, 'Access-Control-Request-Method', 'POST'];
type Cases = readonly [status: number, failing?: Failing, headers?: string[], body?: string][];
const OF_POST: Cases = [
  [409, { refusal: 'in use' }],
  [429, { refusal: 'limit' }],
  [429, { refusal: 'busy' }],
  [413, { refusal: 'email' }],
  [400, {}, ['Idempotency-Key', 'a', 'idempotency-KEY', 'a']],
];
const listCases = (method: string): Cases => [
  [429, { isThrottled: true }],
  // Two framings of one body: Node's parser rejects the request before any code of the gateway runs.
  [400, {}, ['Transfer-Encoding', 'chunked', 'Content-Length', '1'], ''],
  [413, {}, [], ' '.repeat(limits.lambdaPayload)],
  [431, {}, ['X-Fill', 'x'.repeat(limits.headers)]],
  [500, { fault: new Error('out of memory') }],
  [503, { fault: new FunctionTimeout() }],
  [operations.has(method) ? 500 : 405, { isBroken: true }],
  [operations.has(method) ? 401 : 405, { claims: { sub: SUB } }],
  [401, { claims: null }],
];

describe('everything in the document occurs', () => {
  it.each<[string, Cases]>([
    ['POST', OF_POST],
    ['GET', listCases('GET')],
    ['POST', listCases('POST')],
    ['PUT', listCases('PUT')],
    ['HEAD', [[405]]],
    ['OPTIONS', [[404], [204, {}, PREFLIGHT]]],
  ])('in %s', async (method, cases) => {
    for (const [status, fails = {}, headers = [], text] of cases) {
      failing = fails;
      const body = text ?? (method === 'POST' ? JSON.stringify(HELLO) : undefined);
      const answer = await sendAndCheck(url, {
        method,
        headers: ['Content-Type', 'application/json', ...headers],
        ...(body && { body }),
      });
      expect(answer.status).toBe(status);
      seen.push({ method, status, json: answer.json });
    }
    expect((await sendAndCheck(`${url}/1`)).status).toBe(replies.notFound.status);
  });

  it('and a browser may send the key, and read every documented header', async () => {
    const { headers } = await sendAndCheck(url, { method: 'OPTIONS', headers: PREFLIGHT });
    expect(headers['access-control-allow-headers']).toContain('idempotency-key');
    const documented = ['GET', 'POST'].flatMap((method) =>
      Object.values(findResponses(method, inquiriesPath)).flatMap((response) =>
        Object.keys(response.headers),
      ),
    );
    // CORS itself, one that browsers show anyway, and one for clients without a token.
    const others = /^(Access-Control-.*|Cache-Control|WWW-Authenticate)$/;
    for (const name of documented.filter((one) => !others.test(one))) {
      expect(headers['access-control-expose-headers']).toContain(name.toLowerCase());
    }
  });

  const isOf = (method: string) => (answer: { method: string }) =>
    method === 'another' ? !operations.has(answer.method) : answer.method === method;
  const METHODS = ['GET', 'POST', 'another'];
  /** The errors among the examples. */
  const errorsOf = (method: string) =>
    Object.entries(findResponses(method, inquiriesPath)).flatMap(([status, { content }]) =>
      Object.values(content['application/json'].examples).flatMap(({ value }) =>
        Number(status) < 400 ? [] : [{ status: Number(status), json: value }],
      ),
    );

  it.each(METHODS)('every documented status of %s, and no other, and every error', (method) => {
    const answered = seen.filter(isOf(method)).map(({ status, json }) => ({ status, json }));
    const statuses = new Set(answered.map(({ status }) => String(status)));
    statuses.delete('204');
    expect([...statuses].toSorted()).toEqual(Object.keys(findResponses(method, inquiriesPath)));
    for (const example of errorsOf(method)) expect(answered).toContainEqual(example);
  });

  it('every error of the service, as an example', () => {
    const { ApiError, refusals, ...others } = errors;
    const shown = METHODS.flatMap(errorsOf).map(({ status, json }) => ({
      status,
      code: (json as { error?: string }).error,
    }));
    for (const create of [...Object.values(refusals), ...Object.values(others)]) {
      const { status, code } = (create as (text?: string) => InstanceType<typeof ApiError>)();
      expect(shown).toContainEqual({ status, code });
    }
  });
});

it.each<[string, string, object, RegExp]>([
  ['a field', 'POST', { status: 201, json: { inquiry: { id: '1' } } }, /required prop.*id must/],
  ['a status', 'POST', { status: 200 }, /it is not documented/],
  ['a header', 'GET', { headers: { 'x-by': 'us' } }, /the header x-by is not documented/],
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
