/** Compares docs/openapi.yaml and docs/contract.md with the app behind the gateway. */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { limits } from '../../lib/contract/gateway-replies.ts';
import type { GatewayOptions } from '../../local/gateway.ts';
import { FunctionTimeout } from '../../local/lambda/sandbox.ts';
import {
  createInquiryRequestSchema,
  parseCreateInquiryRequest,
  toPayload,
  type Inquiry,
  type InquiryListResponse,
} from '../../src/contract.ts';
import * as errors from '../../src/errors.ts';
import { createInquiries, type InquiryStore, type PutResult } from '../../src/inquiries.ts';
import { ORIGIN, serveApp } from './test-app.ts';
import { checkAnswer, findResponses } from './responses.ts';
import { createOwnStore, whyNoDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, SUB } from '../helpers/events.ts';
import { send as request, type Answer } from '../local/http.ts';
import { unless } from '../helpers/needs.ts';

type Claims = Record<string, string | null>;

type Parts = Partial<GatewayOptions & InquiryStore>;

const { store } = await createOwnStore();
const openApp = ({ put = store.put, list = store.list, ...parts }: Parts = {}) =>
  serveApp(createInquiries({ put, list }), parts);

async function ask(url: string, options: Parameters<typeof request>[1] & { method: string }) {
  const answer = await request(url, options);
  checkAnswer(options.method, answer);
  return answer;
}

interface Request {
  method?: string;
  query?: Record<string, string>;
  key?: string | undefined;
  /** A buffer gets a content type that becomes base64. */
  body?: string | Buffer;
  claims?: Claims;
}

const post = (value: unknown, key?: string): Request => ({
  method: 'POST',
  body: typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value),
  key,
});
const HELLO = { subject: 'Hello', body: 'Is anyone there?' };
const FIELDS = { subject: 's', body: 'b' };
const MALFORMED = { key: 'a,b' };

/** Mistakes in the order in which they are answered, with the name of the documented example. */
const REFUSALS: [status: number, when: string, example: string, requests: Request[]][] = [
  [
    405,
    'the method is neither GET nor POST',
    'method',
    [{ method: 'PUT', body: '{}', ...MALFORMED, claims: { email: null } }],
  ],
  [
    401,
    'sub is not a UUID or email is missing',
    'claims',
    [{ claims: { sub: 'x' } }, { ...post('{'), claims: { email: null } }],
  ],
  [401, 'email is empty', 'claims', [{ query: { limit: 'x' }, claims: { email: '' } }]],
  [
    400,
    'limit is not a whole number from 1 to 1000',
    'limit',
    ['', '0', '1001', '1,2', '1e2', ' 1', '１'].map((limit) => ({ query: { limit } })),
  ],
  [
    400,
    'before is not the id of an inquiry',
    'before',
    ['', SUB].map((before) => ({ query: { before } })),
  ],
  [400, 'a POST has no body', 'noBody', [{ method: 'POST', ...MALFORMED }]],
  [
    500,
    'the body is not JSON or not UTF-8',
    'noJson',
    [
      post('{', MALFORMED.key),
      ...['\uFEFF{}', Buffer.from('\uFEFF{}'), Buffer.from([0x22, 0xff, 0x22])].map((body) =>
        post(body),
      ),
    ],
  ],
  [
    413,
    'the body is larger than any inquiry can be',
    'body',
    [post(' '.repeat(2_600_001), MALFORMED.key)],
  ],
  [400, 'the Idempotency-Key is malformed', 'key', [post({}, MALFORMED.key)]],
  [400, 'the JSON is not an object', 'noObject', [post('null'), post('["s","b"]')]],
  [400, 'a required field is missing', 'missing', [post({ subject: '' })]],
  [
    400,
    'a field is not a string',
    'noString',
    [post({ subject: null, body: '' }), post({ subject: 1, body: '' })],
  ],
  [
    413,
    'the inquiry is larger than the store takes',
    'tooLarge',
    [post({ subject: '', body: 'x'.repeat(410_000) })],
  ],
];

const findExample = (method: string, status: number, name: string): unknown =>
  findResponses(method)[status]?.content['application/json'].examples[name]?.value;

const { url, close } = await openApp();
afterAll(close);

describe('the app answers', () => {
  function createUser() {
    const owner = { sub: randomUUID(), email: EMAIL };
    const send = async ({ method = 'GET', query = {}, key, body, claims }: Request) => {
      const type = typeof body === 'object' ? 'application/octet-stream' : 'application/json';
      const token = JSON.stringify({ ...owner, ...claims });
      return ask(`${url}?${new URLSearchParams(query).toString()}`, {
        method,
        headers: [
          ['authorization', token, 'content-type', type],
          key === undefined ? [] : ['idempotency-key', key],
        ].flat(),
        body,
      });
    };
    const list = async (query: Record<string, string> = {}) => {
      const { headers, json } = await send({ query });
      const { email, count, inquiries } = json as InquiryListResponse;
      expect([email, count]).toEqual([EMAIL, inquiries.length]);
      return { link: headers['link'], inquiries };
    };
    const create = async (one: Request): Promise<Inquiry> => {
      const { status, json, headers } = await send(one);
      expect([status, headers['idempotency-replayed']]).toEqual([201, undefined]);
      const { inquiry } = json as { inquiry: Inquiry };
      expect(inquiry).toMatchObject({ cognito_sub: owner.sub, email: EMAIL });
      return inquiry;
    };
    return { send, list, create };
  }

  it.each(REFUSALS)('%i when %s, and stores nothing', async (status, _when, name, requests) => {
    const { send, list } = createUser();
    for (const one of requests) {
      const answer = await send(one);
      const example = findExample(one.method ?? 'GET', status, name);
      expect([answer.status, answer.json]).toEqual([status, example]);
    }
    expect((await list()).inquiries).toEqual([]);
  });

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
    const rest = { before: `{${second?.id.toUpperCase()}}`, limit: '0002' };
    expect(await list(rest)).toEqual({ link: undefined, inquiries: [first] });
    expect((await list({ before: `${first?.id}` })).inquiries).toEqual([]);
  });

  it('ignores other parameters, the key and the body of a GET, and parameters of a POST', async () => {
    const { send, create } = createUser();
    expect((await send({ query: { page: '2' }, body: '{', ...MALFORMED })).status).toBe(200);
    await create({ ...post(HELLO), query: { limit: 'x' } });
  });

  it(
    'answers a known key byte for byte the same, and 422 to another text',
    unless(whyNoDynamoDbLocal),
    async () => {
      for (const content of [HELLO, { subject: '\0\u2028"\\\ud800', body: '€'.repeat(40_000) }]) {
        const { send, list, create } = createUser();
        const first = await send(post(content, 'k'));
        const { status, headers, text } = await send(post(content, '"k"'));
        expect([status, headers['idempotency-replayed'], text]).toEqual([201, 'true', first.text]);
        const reused = await send(post({ subject: '', body: '' }, 'k'));
        expect([reused.status, reused.json]).toEqual([422, findExample('POST', 422, 'reused')]);
        for (const key of ['K', '__proto__']) await create(post(HELLO, key));
        expect((await list()).inquiries).toHaveLength(3);
      }
    },
  );
});

const PREFLIGHT = ['Origin', ORIGIN, 'Access-Control-Request-Method', 'POST'];
const TOKEN = ['Authorization', JSON.stringify({ sub: SUB, email: EMAIL })];
const fail = (error = new Error('down')) => {
  return () => {
    throw error;
  };
};
const refuse = (result: PutResult): Parts => {
  return { put: async () => result };
};
type Case = [
  method: string,
  status: number,
  example: string,
  parts?: Parts,
  headers?: string[],
  body?: string,
];
const listCases = (method: string): Case[] => [
  [method, 401, 'gateway', {}, []],
  [method, 429, 'gateway', { throttle: () => true }],
  // A body has two framings here, so Node's parser refuses the request before the gateway.
  [method, 400, 'gateway', {}, ['Transfer-Encoding', 'chunked', 'Content-Length', '1'], ''],
  [method, 413, 'gateway', {}, TOKEN, ' '.repeat(limits.lambdaPayload)],
  [method, 431, 'gateway', {}, ['X-Fill', 'x'.repeat(limits.headers)]],
  [method, 500, 'gateway', { invoke: fail() }],
  [method, 503, 'gateway', { invoke: fail(new FunctionTimeout()) }],
];
const CASES: Case[] = [
  ...['GET', 'POST', 'PUT'].flatMap(listCases),
  ['GET', 500, 'fault', { list: fail() }],
  ['POST', 500, 'fault', { put: fail() }],
  ['POST', 409, 'conflict', refuse({ refusal: 'in use' })],
  ['POST', 422, 'reused', refuse({ refusal: 'reused' })],
  ['POST', 429, 'busy', refuse({ refusal: 'busy' })],
  ['POST', 429, 'limit', refuse({ refusal: 'limit', limit: { most: 60, time: 0 } })],
  ['POST', 413, 'email', refuse({ refusal: 'email' })],
  ['POST', 400, 'key', {}, [...TOKEN, 'Idempotency-Key', 'a', 'idempotency-KEY', 'a']],
  ['OPTIONS', 404, 'gateway'],
];

describe('all that the document says occurs', () => {
  it.each(CASES)('%s: %i, %s', async (method, status, example, parts, own = TOKEN, text) => {
    const app = await openApp(parts);
    onTestFinished(app.close);
    const body = text ?? (method === 'POST' ? JSON.stringify(HELLO) : undefined);
    const headers = ['Content-Type', 'application/json', ...own];
    const answer = await ask(app.url, { method, headers, body: body || undefined });
    expect([answer.status, answer.json]).toEqual([status, findExample(method, status, example)]);
  });

  it.each([
    ['HEAD', 405, TOKEN],
    ['OPTIONS', 204, PREFLIGHT],
  ])('%s: %i, without a body', async (method, status, headers) => {
    expect(await ask(url, { method, headers })).toMatchObject({ status, text: '' });
  });

  it('a browser may send the headers of keys and monitoring, and read every documented header', async () => {
    const { headers } = await ask(url, { method: 'OPTIONS', headers: PREFLIGHT });
    const allowed = headers['access-control-allow-headers']?.split(',');
    const monitoring = ['traceparent', 'tracestate', 'baggage', 'sentry-trace'];
    expect(allowed).toEqual(expect.arrayContaining(['idempotency-key', ...monitoring]));
    const responses = ['GET', 'POST'].flatMap((method) => Object.values(findResponses(method)));
    // These are CORS headers, one that browsers always show, and one for clients without a token.
    const others = /^(Access-Control-.*|Cache-Control|WWW-Authenticate)$/;
    for (const name of responses.flatMap((response) => Object.keys(response.headers))) {
      if (others.test(name)) continue;
      expect(headers['access-control-expose-headers']).toContain(name.toLowerCase());
    }
  });

  const examplesOf = (method: string) =>
    Object.entries(findResponses(method)).flatMap(([status, { content }]) =>
      Object.entries(content['application/json'].examples).map(([name, { value: json }]) => ({
        status,
        name,
        json,
      })),
    );
  const SUCCESSES = [
    ['GET', 200, 'list'],
    ['GET', 200, 'page'],
    ['GET', 200, 'empty'],
    ['POST', 201, 'created'],
  ] as const;

  it.each(['GET', 'POST', 'PUT'])(
    'every documented status and error of %s is a case above',
    (method) => {
      const refused = REFUSALS.flatMap(([status, , name, requests]) =>
        requests.map((one) => [one.method ?? 'GET', status, name] as const),
      );
      const shown = [...SUCCESSES, ...refused, ...CASES].filter(
        ([of]) => findResponses(of) === findResponses(method),
      );
      const documented = examplesOf(method).map(({ status, name }) => `${status} ${name}`);
      expect(new Set(shown.map(([, status, name]) => `${status} ${name}`))).toEqual(
        new Set(documented),
      );
    },
  );

  it('every error of the service is an example', () => {
    const { ApiError: _, refusals, ...others } = errors;
    const shown = ['GET', 'POST', 'PUT'].flatMap(examplesOf);
    for (const create of Object.values({ ...refusals, ...others })) {
      const { status, code: error } = (create as (text?: string) => errors.ApiError)();
      const json = { error, message: expect.any(String) };
      expect(shown).toContainEqual({ status: String(status), name: expect.any(String), json });
    }
  });
});

it.each<[string, Partial<Answer>, RegExp]>([
  ['POST', { status: 201, json: { inquiry: { id: '1' } } }, /required prop.*id must/],
  ['POST', { status: 200 }, /it is not documented/],
  ['GET', { headers: { 'x-by': 'us' } }, /the header x-by is not documented/],
  ['PUT', { status: 405 }, /the header Allow is missing/],
])('%s: a difference from the document is an error: %j', (method, changed, message) => {
  const headers = {
    'content-type': 'application/json',
    'access-control-allow-origin': ORIGIN,
    ...changed.headers,
  };
  const json = { email: EMAIL, count: 0, inquiries: [] };
  const answer = { status: 200, text: '', json, ...changed, headers };
  expect(() => checkAnswer(method, answer)).toThrow(message);
});

it.each<[string, unknown]>([
  ['{"constructor":{"prototype":{"subject":"s","body":"b"}}}', 'The field `subject` is missing.'],
  ['{"subject":"s","__proto__":{"body":"b"}}', 'The field `body` is missing.'],
  ['{"ѕubject":"s","body":"b"}', 'The field `subject` is missing.'], // a Cyrillic letter
  ['{"subject":"a","subject":"s","body":"b"}', FIELDS],
  ['{"subject":"s","body":"b","__proto__":{"subject":"x"},"id":"x","reply":"x","pk":"x"}', FIELDS],
])(
  'only own fields of a request count, and the last of the same name: %s',
  async (json, outcome) => {
    const parse = async () => parseCreateInquiryRequest(JSON.parse(json));
    expect(await parse().catch(({ message }: Error) => message)).toEqual(outcome);
  },
);

it('the payload of a key tells texts and optional fields apart, and ignores others', () => {
  const { required, properties } = createInquiryRequestSchema;
  const schema = { required, properties: { ...properties, phone: {}, order: {} } };
  const requests = [
    FIELDS,
    { subject: 'b', body: 's' },
    { ...FIELDS, phone: 'x' },
    { ...FIELDS, phone: '' },
    { ...FIELDS, order: 'x' },
  ];
  const payloads = requests.map((one) => JSON.stringify(toPayload(one, schema)));
  expect(new Set(payloads).size).toBe(requests.length);
  expect(toPayload({ ...FIELDS, id: '1' })).toEqual(['s', 'b']);
});
