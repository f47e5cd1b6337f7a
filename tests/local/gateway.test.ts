/** What the gateway does as API Gateway does; tests/function/contract.test.ts has its replies. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { createGateway } from '../../local/gateway.ts';
import { limits } from '../../lib/gateway-replies.ts';
import { closeServer, serve } from '../../lib/loopback-server.ts';
import { CORS } from '../../lib/stages.ts';
import { send } from '../helpers/http.ts';

const ORIGIN = 'https://www.example.com';
const OTHER = 'http://localhost:5173';
const EVIL = `${OTHER}.evil.example`;

const result = (change: object = {}): string =>
  JSON.stringify({ statusCode: 200, headers: {}, body: '{}', ...change });
let returned = '';
const events: Record<string, unknown>[] = [];
const logged: string[] = [];
const server = createGateway({
  // Refuses requests with the header.
  authorize: async (header) =>
    header === undefined ? { claims: { sub: 's' } } : { challenge: `Bearer of="${header}"` },
  invoke: async (event) => {
    events.push(JSON.parse(event) as Record<string, unknown>);
    return returned;
  },
  corsOrigins: [ORIGIN, OTHER],
  log: (line) => void logged.push(line),
});
const url = `${await serve(server)}/inquiries`;
afterAll(() => closeServer(server));

const TOKEN = ['Authorization', 'a'];
const refusal = (message: string, more: object = {}) => {
  const headers = { 'access-control-allow-origin': ORIGIN, 'content-type': 'application/json' };
  return { json: { message }, headers: { ...headers, ...more } };
};
const preflight = (origin: string) => {
  const headers = [...TOKEN, 'Origin', origin, 'Access-Control-Request-Method', 'POST'];
  return { method: 'OPTIONS', headers };
};
/** As many bytes of headers, with the request line, as are allowed, and more. */
function fill(more: number) {
  const rest = 'GET /inquiries HTTP/1.1\r\nhost: h\r\nconnection: close\r\nx: \r\n'.length;
  const value = 'x'.repeat(limits.headers - rest + more);
  return { headers: ['host', 'h', 'connection', 'close', 'x', value] };
}
const post = (body: string, type = 'application/json') => {
  return { method: 'POST', headers: ['Content-Type', type], body };
};
const allows = (origin: string) => {
  const expose = CORS.expose_headers.join();
  const headers = { vary: 'Origin', 'access-control-expose-headers': expose };
  return { headers: { ...headers, 'access-control-allow-origin': origin } };
};
const PREFLIGHT = {
  'access-control-allow-methods': CORS.allow_methods.join(),
  'access-control-allow-headers': CORS.allow_headers.join(),
  'access-control-max-age': String(CORS.max_age),
};
const ROOM = limits.lambdaPayload - result({ body: '' }).length;
const ANY_ORIGIN = result({ headers: { 'Access-Control-Allow-Origin': '*' } });

type Request = Parameters<typeof send>[1] & { path?: string };
it.each<[string, Request, status: number, answer?: object, result?: string]>([
  [
    'another path, before the token is looked at',
    { path: '/', headers: TOKEN },
    404,
    refusal('Not Found'),
  ],
  // Joined, so that neither is trusted.
  [
    'two tokens',
    { path: '?access_token=d', headers: [...TOKEN, 'authorization', 'b', 'Cookie', 'c'] },
    401,
    refusal('Unauthorized', { 'www-authenticate': 'Bearer of="a,b"' }),
  ],
  ['an allowed preflight', preflight(ORIGIN), 204, { text: '', headers: PREFLIGHT }],
  ['an allowed origin', { headers: ['Origin', OTHER] }, 200, allows(OTHER), ANY_ORIGIN],
  ['another origin', { headers: ['Origin', EVIL] }, 200, allows(ORIGIN), ANY_ORIGIN],
  ['no origin', {}, 200, allows(ORIGIN), ANY_ORIGIN],
  ['10,240 bytes of headers', fill(0), 200],
  ['one more', fill(1), 431, refusal('Request Header Fields Too Large')],
  ['an event of less than 6 MB', post('x'.repeat(6_280_000)), 200],
  ['escapes that make it larger', post('"'.repeat(3_200_000)), 413],
  ['base64 that makes it larger', post('x'.repeat(4_800_000), 'image/png'), 413],
  ['a result of 6 MB', {}, 200, {}, result({ body: '1'.repeat(ROOM) })],
  ['a larger one', {}, 500, {}, result({ body: '1'.repeat(ROOM + 1) })],
  ['a result that is null', {}, 500, {}, 'null'],
  ['without a status', {}, 500, {}, result({ statusCode: 42 })],
  ['without a text', {}, 500, {}, result({ body: {} })],
  [
    'a success, which is not stored',
    {},
    201,
    { json: 'é', headers: { 'cache-control': 'no-store', 'content-length': '4' } },
    result({ statusCode: 201, headers: { 'Cache-Control': 'max-age=9' }, body: '"é"' }),
  ],
  [
    'an error with headers of its own',
    {},
    400,
    { headers: { 'cache-control': 'max-age=9' } },
    result({ statusCode: 400, headers: { 'Cache-Control': 'max-age=9' } }),
  ],
])('answers %s', async (_, { path = '', ...request }, status, answer = {}, given = result()) => {
  returned = given;
  logged.length = 0;
  expect(await send(url + path, request)).toMatchObject({ status, ...answer });
  expect(logged).toHaveLength(status === 500 ? 1 : 0);
});

it('keeps an idle connection for a minute', async () => {
  const { headers } = await fetch(url, { method: 'DELETE' });
  expect(headers.get('keep-alive')).toBe('timeout=60');
});

it('answers a preflight of another origin without what it allows', async () => {
  const { status, headers } = await send(url, preflight(EVIL));
  expect(status).toBe(204);
  for (const name of Object.keys(PREFLIGHT)) expect(headers).not.toHaveProperty(name);
});

it('refuses a request whose body is malformed', async () => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('POST /inquiries HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\nx\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 400 [^]*"Bad Request"\}$/);
});

it('makes an event of payload 2.0', async () => {
  returned = result();
  await send(`${url}?a=1&b=x%20y&a=2&empty=&plus=1+1`, {
    method: 'POST',
    headers: ['X-Twice', 'one', 'x-twice', 'two', 'Cookie', 'c1=v1; c2=v2', 'User-Agent', 'test/1'],
  });
  expect(events.at(-1)).toMatchObject({
    version: '2.0',
    routeKey: 'POST /inquiries',
    rawPath: '/inquiries',
    rawQueryString: 'a=1&b=x%20y&a=2&empty=&plus=1+1',
    cookies: ['c1=v1', 'c2=v2'],
    headers: { 'x-twice': 'one,two', 'x-forwarded-for': '127.0.0.1' },
    queryStringParameters: { a: '1,2', b: 'x y', empty: '', plus: '1 1' },
    requestContext: {
      authorizer: { jwt: { claims: { sub: 's' }, scopes: null } },
      http: { method: 'POST', path: '/inquiries', sourceIp: '127.0.0.1', userAgent: 'test/1' },
      time: expect.stringMatching(/^\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d \+0000$/) as string,
    },
  });
  expect(events.at(-1)).not.toHaveProperty('headers.cookie');
  await send(url);
  for (const absent of ['body', 'cookies', 'queryStringParameters']) {
    expect(events.at(-1)).not.toHaveProperty(absent);
  }
});

it.each([
  ['Text/Plain;charset=x', 'utf8'],
  ['application/problem+json', 'utf8'],
  ['image/png', 'base64'],
] as const)('passes a body of the type %s as %s', async (type, encoding) => {
  await send(url, post('{"é":1}', type));
  const body = Buffer.from('{"é":1}').toString(encoding);
  expect(events.at(-1)).toMatchObject({ body, isBase64Encoded: encoding === 'base64' });
});
