import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Authorize } from '../../local/authorizer.ts';
import { createGateway } from '../../local/gateway.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { CORS } from '../../lib/stages.ts';
import { LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { send } from '../helpers/http.ts';

const ORIGIN = 'https://www.example.com';
const OTHER = 'http://localhost:5173';

/** A response of the gateway itself to a request without Origin. */
const refusal = (status: number, message: string) => {
  return { status, json: { message }, headers: { 'access-control-allow-origin': ORIGIN } };
};
/** A result of the function as JSON. */
const result = (change: object = {}): string =>
  JSON.stringify({ statusCode: 200, headers: {}, body: '{}', ...change });

/** What the gateway under test has around it, set anew by each test. */
let authorize: Authorize;
let returned = '';
let events: Record<string, unknown>[] = [];
let logged: string[] = [];
const server = createGateway({
  authorize: (header) => authorize(header),
  invoke: async (event) => {
    events.push(JSON.parse(event) as Record<string, unknown>);
    return returned;
  },
  corsOrigins: [ORIGIN, OTHER],
  log: (line) => void logged.push(line),
});
let port = 0;
let url = '';
beforeAll(async () => {
  port = await listen(server, 0);
  url = `http://127.0.0.1:${port}/inquiries`;
});
afterAll(() => close(server));
beforeEach(() => {
  [events, logged, returned] = [[], [], result()];
  authorize = async () => ({ claims: { sub: 's' } });
});

it.each([
  ['GET', '/inquiries/'],
  ['TRACE', '/inquiries'],
])('answers 404 to %s %s before it looks at the token', async (method, path) => {
  authorize = () => Promise.reject(new Error('asked'));
  const answer = await send(`http://127.0.0.1:${port}${path}`, { method });
  expect(answer).toMatchObject(refusal(404, 'Not Found'));
});

it('answers 401 with the challenge of the authorizer, which gets the header Authorization only', async () => {
  authorize = async (header) => ({ challenge: `Bearer of="${header}"` });
  // Joined, so that neither is trusted by chance.
  const headers = ['Authorization', 'a', 'authorization', 'b', 'Cookie', 'c'];
  const answer = await send(`${url}?access_token=d`, { headers });
  expect(answer).toMatchObject(refusal(401, 'Unauthorized'));
  expect(answer.headers['www-authenticate']).toBe('Bearer of="a,b"');
  expect(events).toEqual([]);
});

it('makes an event of payload 2.0', async () => {
  await send(`${url}?a=1&b=x%20y&a=2&empty=&plus=1+1`, {
    method: 'POST',
    headers: ['X-Twice', 'one', 'x-twice', 'two', 'Cookie', 'c1=v1; c2=v2', 'User-Agent', 'test/1'],
  });
  expect(events).toMatchObject([
    {
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
    },
  ]);
  expect(events[0]?.['headers']).not.toHaveProperty('cookie');
  await send(url);
  for (const name of ['body', 'cookies', 'queryStringParameters']) {
    expect(events[1]).not.toHaveProperty(name);
  }
});

it.each([
  ['Text/Plain;charset=x', 'utf8'],
  ['application/problem+json', 'utf8'],
  ['image/png', 'base64'],
] as const)('passes a body of the type %s as %s', async (type, encoding) => {
  await send(url, { method: 'POST', headers: ['Content-Type', type], body: '{"é":1}' });
  const body = Buffer.from('{"é":1}').toString(encoding);
  expect(events).toMatchObject([{ body, isBase64Encoded: encoding === 'base64' }]);
});

it.each([
  [ORIGIN, ORIGIN],
  [OTHER, OTHER],
  [`${OTHER}.evil.example`, ORIGIN],
  [undefined, ORIGIN],
])('allows %s a call from %s, whatever the function says', async (origin, allowed) => {
  returned = result({ headers: { 'Access-Control-Allow-Origin': '*' } });
  const { headers } = await send(url, { headers: origin === undefined ? [] : ['Origin', origin] });
  expect(headers).toMatchObject({
    'access-control-allow-origin': allowed,
    vary: 'Origin',
    'access-control-expose-headers': CORS.expose_headers.join(),
  });
});

it('answers preflights itself, and those of another origin without what it allows', async () => {
  authorize = () => Promise.reject(new Error('asked'));
  const ask = (origin: string) => {
    const headers = ['Origin', origin, 'Access-Control-Request-Method', 'POST'];
    return send(url, { method: 'OPTIONS', headers });
  };
  const answer = await ask(ORIGIN);
  expect(answer).toMatchObject({ status: 204, text: '' });
  expect(answer.headers).toMatchObject({
    'access-control-allow-methods': CORS.allow_methods.join(),
    'access-control-allow-headers': CORS.allow_headers.join(),
    'access-control-max-age': String(CORS.max_age),
  });
  const refused = await ask(`${OTHER}.evil.example`);
  expect(refused.status).toBe(204);
  expect(Object.keys(refused.headers).join()).not.toMatch(/allow-(methods|headers)|max-age/);
});

it('takes a request line and headers of 10,240 bytes and not one more', async () => {
  const fixed = `GET /inquiries HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\nx-fill: \r\n`;
  const sendWith = (more: number) => {
    const text = 'x'.repeat(10_240 - fixed.length + more);
    return send(url, { headers: ['connection', 'close', 'x-fill', text] });
  };
  expect((await sendWith(0)).status).toBe(200);
  const refused = refusal(431, 'Request Header Fields Too Large');
  for (const more of [1, 100_000]) expect(await sendWith(more)).toMatchObject(refused);
});

it('answers 413 when the event is over the 6 MB of Lambda, escapes and base64 counted', async () => {
  const post = async (body: string, type = 'application/json') =>
    (await send(url, { method: 'POST', headers: ['Content-Type', type], body })).status;
  expect(await post('x'.repeat(6_280_000))).toBe(200);
  expect(await post('"'.repeat(3_200_000))).toBe(413);
  expect(await post('x'.repeat(4_800_000), 'image/png')).toBe(413);
  expect(events).toHaveLength(1);
});

it.each([
  [201, 'no-store'],
  [400, 'max-age=9'],
])('answers %d with the Cache-Control %s', async (statusCode, expected) => {
  returned = result({ statusCode, headers: { 'Cache-Control': 'max-age=9' }, body: '"é"' });
  const headers = { 'cache-control': expected, 'content-length': '4' };
  expect(await send(url)).toMatchObject({ status: statusCode, json: 'é', headers });
});

const ROOM = LAMBDA_PAYLOAD_LIMIT - result({ body: '' }).length;
it.each([
  [200, result({ body: 'x'.repeat(ROOM) })],
  [500, result({ body: 'x'.repeat(ROOM + 1) })],
  [500, 'null'],
  [500, result({ statusCode: 42 })],
  [500, result({ body: {} })],
])('answers %d to the result %.50s', async (status, json) => {
  returned = json;
  expect((await fetch(url)).status).toBe(status);
  expect(logged).toHaveLength(status === 500 ? 1 : 0);
});
