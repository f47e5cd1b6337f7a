import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Authorize } from '../../local/authorizer.ts';
import { createGateway } from '../../local/gateway.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { CORS } from '../../lib/stages.ts';
import { LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { send } from '../helpers/http.ts';

const ORIGIN = 'https://www.example.com';
const OTHER = 'http://localhost:5173';
const OK = JSON.stringify({ statusCode: 200, headers: {}, body: '{"ok":true}' });

/** A response of the gateway itself to a request without Origin. */
const refusal = (status: number, message: string) => {
  return { status, json: { message }, headers: { 'access-control-allow-origin': ORIGIN } };
};

/** What the gateway under test has in front of it, set anew by each test. */
let authorize: Authorize;
let invoke: (event: string, requestId: string) => Promise<string>;
const events: Record<string, unknown>[] = [];
const logged: string[] = [];
const server = createGateway({
  authorize: (header) => authorize(header),
  invoke: async (event, requestId) => {
    events.push(JSON.parse(event) as Record<string, unknown>);
    return invoke(event, requestId);
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
  for (const list of [events, logged]) list.length = 0;
  authorize = async () => ({ claims: { sub: 's' } });
  invoke = async () => OK;
});

describe('routes', () => {
  it('passes every method of /inquiries to the function, but OPTIONS and TRACE', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
    for (const method of methods) expect((await send(url, { method })).status).toBe(200);
    expect(events).toMatchObject(methods.map((method) => ({ routeKey: `${method} /inquiries` })));
  });

  it.each([
    ['GET', '/'],
    ['GET', '/inquiries/'],
    ['GET', '/%69nquiries'],
    ['OPTIONS', '/inquiries'],
    ['TRACE', '/inquiries'],
  ])('answers 404 to %s %s before it looks at the token', async (method, path) => {
    authorize = () => Promise.reject(new Error('asked'));
    const answer = await send(`http://127.0.0.1:${port}${path}`, { method });
    expect(answer).toMatchObject(refusal(404, 'Not Found'));
    expect(events).toEqual([]);
  });

  it('answers 401 with the challenge of the authorizer and does not invoke', async () => {
    authorize = async (header) => ({ challenge: `Bearer error="${header}"` });
    const answer = await send(url, { method: 'PUT', headers: ['Authorization', 'x'] });
    expect(answer).toMatchObject(refusal(401, 'Unauthorized'));
    expect(answer.headers['www-authenticate']).toBe('Bearer error="x"');
    expect(events).toEqual([]);
  });

  it('passes the authorizer the header Authorization only; repeated ones are joined', async () => {
    authorize = async (header) => ({ challenge: String(header) });
    const challengeOf = async (...headers: string[]) => {
      const body = 'access_token=a';
      const answer = await send(`${url}?${body}`, { method: 'POST', headers, body });
      return answer.headers['www-authenticate'];
    };
    // Joined, so that neither is trusted by chance.
    expect(await challengeOf('Authorization', 'a', 'authorization', 'b')).toBe('a,b');
    expect(await challengeOf('Cookie', 'a', 'X-Authorization', 'a')).toBe('undefined');
  });
});

describe('the event', () => {
  it('has the form of payload 2.0', async () => {
    authorize = async () => ({ claims: { sub: 's', email: 'e' } });
    await send(`${url}?a=1&b=x%20y&a=2&empty=&plus=1+1`, {
      method: 'POST',
      headers: [
        ['Content-Type', 'application/json; charset=utf-8'],
        ['X-Twice', 'one'],
        ['x-twice', 'two'],
        ['Cookie', 'c1=v1; c2=v2'],
        ['User-Agent', 'test/1'],
        ['X-Forwarded-For', '10.0.0.1'],
      ].flat(),
      body: '{"é":1}',
    });
    expect(events).toMatchObject([
      {
        version: '2.0',
        routeKey: 'POST /inquiries',
        rawPath: '/inquiries',
        rawQueryString: 'a=1&b=x%20y&a=2&empty=&plus=1+1',
        cookies: ['c1=v1', 'c2=v2'],
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'x-twice': 'one,two',
          'x-forwarded-for': '10.0.0.1, 127.0.0.1',
        },
        queryStringParameters: { a: '1,2', b: 'x y', empty: '', plus: '1 1' },
        requestContext: {
          authorizer: { jwt: { claims: { sub: 's', email: 'e' }, scopes: null } },
          http: { method: 'POST', path: '/inquiries', sourceIp: '127.0.0.1', userAgent: 'test/1' },
          stage: '$default',
          time: expect.stringMatching(/^\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d \+0000$/) as string,
        },
        body: '{"é":1}',
        isBase64Encoded: false,
      },
    ]);
    expect(events[0]?.['headers']).not.toHaveProperty('cookie');
  });

  it('has no body, cookies or query parameters where there are none', async () => {
    await send(url);
    for (const name of ['body', 'cookies', 'queryStringParameters']) {
      expect(events[0]).not.toHaveProperty(name);
    }
  });

  it.each([
    ['application/json', false],
    ['Text/Plain;charset=x', false],
    ['application/problem+json', false],
    ['application/x-www-form-urlencoded', true],
    ['', true],
  ])('passes a body of the type %j as base64: %s', async (type, isBase64Encoded) => {
    await send(url, {
      method: 'POST',
      headers: type === '' ? [] : ['Content-Type', type],
      body: '{"é":1}',
    });
    const body = isBase64Encoded ? Buffer.from('{"é":1}').toString('base64') : '{"é":1}';
    expect(events).toMatchObject([{ body, isBase64Encoded }]);
  });
});

it.each([
  [201, 'no-store'],
  [400, 'max-age=9'],
])(
  'answers %d with the Cache-Control %s where the function says max-age=9',
  async (statusCode, expected) => {
    invoke = async () =>
      JSON.stringify({ statusCode, headers: { 'Cache-Control': 'max-age=9' }, body: '' });
    expect((await send(url)).headers['cache-control']).toBe(expected);
  },
);

describe('CORS', () => {
  const ASKED = ['Access-Control-Request-Method', 'POST'];
  const origins = [
    [ORIGIN, ORIGIN],
    [OTHER, OTHER],
    [`${OTHER}.evil.example`, ORIGIN],
    [`${ORIGIN},${OTHER}`, ORIGIN],
    ['null', ORIGIN],
  ] as const;

  it.each([...origins, [undefined, ORIGIN]] as const)(
    'allows %s a call from %s, whatever the function says',
    async (origin, own) => {
      const answered = { 'Access-Control-Allow-Origin': '*' };
      invoke = async () => JSON.stringify({ statusCode: 200, headers: answered, body: '{}' });
      const { headers } = await send(url, {
        headers: origin === undefined ? [] : ['Origin', origin],
      });
      expect(headers).toMatchObject({
        'access-control-allow-origin': own,
        vary: 'Origin',
        'access-control-expose-headers': CORS.expose_headers.join(),
      });
    },
  );

  it.each([ORIGIN, `${OTHER}.evil.example`])('answers a preflight of %s itself', async (origin) => {
    authorize = () => Promise.reject(new Error('asked'));
    const answer = await send(url, { method: 'OPTIONS', headers: ['Origin', origin, ...ASKED] });
    expect(answer).toMatchObject({ status: 204, text: '' });
    const granted = {
      'access-control-allow-methods': CORS.allow_methods.join(),
      'access-control-allow-headers': CORS.allow_headers.join(),
      'access-control-max-age': String(CORS.max_age),
    };
    const found = Object.keys(granted).filter((name) => name in answer.headers);
    expect(found).toEqual(origin === ORIGIN ? Object.keys(granted) : []);
    expect(answer.headers).toMatchObject(origin === ORIGIN ? granted : {});
    expect(events).toEqual([]);
  });
});

describe('limits', () => {
  /** A request line and headers of exactly `bytes` bytes: 10,240 is what the gateway takes. */
  const sendWithHeaders = (bytes: number) => {
    const fixed = `GET /inquiries HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\nx-fill: \r\n`;
    return send(url, {
      headers: ['connection', 'close', 'x-fill', 'x'.repeat(bytes - fixed.length)],
    });
  };

  it('takes a request line and headers of 10,240 bytes and not one more', async () => {
    expect((await sendWithHeaders(10_240)).status).toBe(200);
    expect(await sendWithHeaders(10_241)).toMatchObject(
      refusal(431, 'Request Header Fields Too Large'),
    );
  });

  it('answers 417 to an expectation that it does not know', async () => {
    const answer = await send(url, { headers: ['Expect', 'a miracle'] });
    expect(answer).toMatchObject(refusal(417, 'Expectation Failed'));
  });

  it.each([
    ['without a Host', 'GET /inquiries HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['that is no HTTP', 'nonsense\r\n\r\n'],
  ])('answers 400 to a request %s', async (_, bytes) => {
    const socket = connect(port, '127.0.0.1').end(bytes);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(head.toLowerCase()).toContain('content-type: application/json');
    expect(head.toLowerCase()).toContain(`access-control-allow-origin: ${ORIGIN}`);
    expect(JSON.parse(body)).toEqual({ message: 'Bad Request' });
  });

  const post = (body: string | Buffer, type = 'application/json') =>
    send(url, { method: 'POST', headers: ['Content-Type', type], body });

  it('answers 413 when the event is over the 6 MB of Lambda, escapes and base64 counted', async () => {
    expect((await post('x'.repeat(6_280_000))).status).toBe(200);
    expect((await post('x'.repeat(6_292_000))).status).toBe(413);
    expect((await post('"'.repeat(3_200_000))).status).toBe(413);
    expect((await post('x'.repeat(4_800_000), 'image/png')).status).toBe(413);
    expect(events).toHaveLength(1);
  });

  it('answers 500 when the response is over the 6 MB of Lambda', async () => {
    const responseOf = (size: number) => {
      const frame = JSON.stringify({ statusCode: 200, body: '' }).length;
      return async () => JSON.stringify({ statusCode: 200, body: 'x'.repeat(size - frame) });
    };
    invoke = responseOf(LAMBDA_PAYLOAD_LIMIT);
    expect((await fetch(url)).status).toBe(200);
    invoke = responseOf(LAMBDA_PAYLOAD_LIMIT + 1);
    expect((await send(url)).status).toBe(500);
  });
});

describe('the function’s result', () => {
  it('becomes the response: status, headers, cookies and a base64 body', async () => {
    const body = Buffer.from('"é"').toString('base64');
    const result = { statusCode: 418, headers: { 'X-A': 'b' }, cookies: ['a=1', 'b=2'], body };
    invoke = async () => JSON.stringify({ ...result, isBase64Encoded: true });
    const headers = { 'x-a': 'b', 'set-cookie': ['a=1', 'b=2'], 'content-length': '4' };
    expect(await send(url)).toMatchObject({ status: 418, json: 'é', headers });
  });

  it.each([
    ['null', 'null'],
    ['with an impossible status', '{"statusCode":42,"body":"{}"}'],
    ['with an object for a body', '{"statusCode":200,"body":{}}'],
    [
      'with a header that cannot be sent',
      '{"statusCode":200,"headers":{"a":"b\\r\\nc"},"body":"{}"}',
    ],
    ['that is not JSON', 'undefined'],
  ])('is answered with 500 when it is one %s', async (_, result) => {
    invoke = async () => result;
    expect(await send(url)).toMatchObject(refusal(500, 'Internal Server Error'));
    expect(logged).toHaveLength(1);
  });
});
