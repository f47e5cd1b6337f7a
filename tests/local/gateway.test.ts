import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../local/gateway.ts';
import { limits } from '../../lib/contract/gateway-replies.ts';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';
import { stopClock } from './clock.ts';
import { send } from './http.ts';

const ORIGIN = 'https://www.example.com';
const OTHER = 'http://localhost:5173';
const EVIL = `${OTHER}.evil.example`;

const result = (change: object = {}): string =>
  JSON.stringify({ statusCode: 200, headers: {}, body: '{}', ...change });
let returned = '';
const events: Record<string, unknown>[] = [];
const logged: string[] = [];
const server = createGateway({
  authorize: async (header) =>
    header === undefined ? { claims: { sub: 's' } } : { challenge: `Bearer of="${header}"` },
  invoke: async (event) => {
    // Meanwhile, the server notices that the client has closed its side.
    await setTimeout(20);
    events.push(JSON.parse(event) as Record<string, unknown>);
    return returned;
  },
  corsOrigins: [ORIGIN, OTHER],
  log: (line) => void logged.push(line),
});
const url = `${await serve(server)}/inquiries`;
afterAll(() => closeServer(server));

const TOKEN = ['Authorization', 'a'];
const preflight = (origin: string) => {
  const headers = [...TOKEN, 'Origin', origin, 'Access-Control-Request-Method', 'POST'];
  return { method: 'OPTIONS', headers };
};
/** Creates headers that, with the request line, have the allowed bytes and `more`. */
function fill(more: number) {
  const rest = 'GET /inquiries HTTP/1.1\r\nhost: h\r\nconnection: close\r\nx: \r\n'.length;
  const value = 'x'.repeat(limits.headers - rest + more);
  return { headers: ['host', 'h', 'connection', 'close', 'x', value] };
}
const post = (body: string, type = 'application/json') => {
  return { method: 'POST', headers: ['Content-Type', type], body };
};
const ROOM = limits.lambdaPayload - result({ body: '' }).length;
const ANY_ORIGIN = result({ headers: { 'Access-Control-Allow-Origin': '*' } });

type Request = Parameters<typeof send>[1] & { path?: string };
const CASES: readonly (readonly [title: string, request: Request, result?: string])[] = [
  ['another path, before the token is looked at', { path: '/', headers: TOKEN }],
  // They are joined, so that neither is trusted.
  [
    'two tokens',
    { path: '?access_token=d', headers: [...TOKEN, 'authorization', 'b', 'Cookie', 'c'] },
  ],
  ['an allowed preflight', preflight(ORIGIN)],
  ['a preflight of another origin', preflight(EVIL)],
  ['an allowed origin', { headers: ['Origin', OTHER] }, ANY_ORIGIN],
  ['another origin', { headers: ['Origin', EVIL] }, ANY_ORIGIN],
  ['no origin', {}, ANY_ORIGIN],
  ['a token in the address, which is none', { path: '?access_token=d' }],
  ['10,240 bytes of headers', fill(0)],
  ['one more', fill(1)],
  ['an event of less than 6 MB', post('x'.repeat(6_280_000))],
  ['escapes that make it larger', post('"'.repeat(3_200_000))],
  ['base64 that makes it larger', post('x'.repeat(4_800_000), 'image/png')],
  ['a result of 6 MB', {}, result({ body: '1'.repeat(ROOM) })],
  ['a larger one', {}, result({ body: '1'.repeat(ROOM + 1) })],
  ['a result that is null', {}, 'null'],
  ['a result without a status', {}, result({ statusCode: 42 })],
  ['a result without a text', {}, result({ body: {} })],
  [
    'a success, which is not stored',
    {},
    result({ statusCode: 201, headers: { 'Cache-Control': 'max-age=9' }, body: '"é"' }),
  ],
  [
    'an error with headers of its own',
    {},
    result({ statusCode: 400, headers: { 'Cache-Control': 'max-age=9' } }),
  ],
];

it('answers as API Gateway does, with its headers and limits', async () => {
  const answers: string[] = [];
  for (const [title, { path = '', ...request }, given = result()] of CASES) {
    returned = given;
    logged.length = 0;
    const { status, headers, text: body } = await send(url + path, request);
    const { date: _, 'apigw-requestid': __, ...others } = headers;
    const lines = Object.entries(others).map(([name, value]) => `${name}: ${String(value)}`);
    const log = logged.map((line) => `Logged: ${line.replace(/(?<=request )[\w-]+/, 'ID')}`);
    const shown = [`# ${title}`, `${status}`, ...lines.toSorted(), body.slice(0, 80), ...log];
    answers.push(`${shown.filter(Boolean).join('\n')}\n`);
  }
  expect(answers.join('\n')).toMatchSnapshot();
});

it('keeps an idle connection for a minute', async () => {
  const { headers } = await fetch(url, { method: 'DELETE' });
  expect(headers.get('keep-alive')).toBe('timeout=60');
});

/** Requests that `send` cannot send, as lines. */
const RAW: readonly (readonly [title: string, lines: string[]])[] = [
  ['HEAD', ['HEAD /inquiries HTTP/1.1']],
  ['TRACE, which has no route', ['TRACE /inquiries HTTP/1.1']],
  ['a target with scheme and host', ['GET http://h/inquiries?a=1 HTTP/1.1']],
  ['one without a path', ['GET HTTP://h?a=1 HTTP/1.1']],
  ['an unknown expectation', ['GET /inquiries HTTP/1.1', 'expect: x']],
  ['what is not HTTP', ['x']],
  ['a malformed body', ['POST /inquiries HTTP/1.1', 'transfer-encoding: chunked', '', 'x']],
  [
    'more of an extension of a chunk than Node reads',
    ['POST /inquiries HTTP/1.1', 'transfer-encoding: chunked', '', `1;${'x'.repeat(20_000)}`],
  ],
  ['more headers than Node reads', ['GET /inquiries HTTP/1.1', `x: ${'x'.repeat(1_000_000)}`]],
];
async function sendRaw([first, ...others]: string[], isHalfClosed: boolean): Promise<string> {
  const port = Number(new URL(url).port);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.write([first, 'host: h', 'connection: close', ...others, '', ''].join('\r\n'));
  if (isHalfClosed) socket.end();
  return (await text(socket)).replaceAll(/(?<=^(date|apigw-requestid): ).*/gim, '…');
}

it('answers itself where Node would answer', async () => {
  returned = result();
  const answers: string[] = [];
  for (const [title, lines] of RAW) {
    const answer = await sendRaw(lines, false);
    expect([title, await sendRaw(lines, true)]).toEqual([title, answer]);
    answers.push(`# ${title}`, ...answer.split('\r\n'));
  }
  expect(answers.join('\n')).toMatchSnapshot();
});

it('answers 408 to a request that takes longer than Node waits', async () => {
  const connected = once(server, 'connection');
  const answer = sendRaw(['POST /inquiries HTTP/1.1', 'content-length: 9'], false);
  const [socket] = await connected;
  server.emit(
    'clientError',
    Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
    socket,
  );
  expect(await answer).toMatch(
    /^HTTP\/1.1 408 Request Timeout\r\n[^]*\{"message":"Request Timeout"\}$/,
  );
});

it('makes events of payload 2.0: what is empty is absent, bodies are text or base64', async () => {
  stopClock(Date.parse('2026-11-21T12:00:00Z'));
  returned = result();
  const twice = ['X-Twice', 'one', 'x-twice', 'two', 'X-Forwarded-For', '192.0.2.1'];
  await send(`${url}?a=1&b=x%20y&a=2&empty=&plus=1+1`, {
    method: 'POST',
    headers: [...twice, 'Cookie', 'c1=v1; c2=v2', 'User-Agent', 'test/1'],
  });
  await send(url);
  const latin1 = 'application/json; charset=iso-8859-1';
  for (const type of [
    'Text/Plain;charset=UTF-8',
    'application/problem+json',
    latin1,
    'image/png',
  ]) {
    await send(url, post('{"é":1}', type));
  }
  const made = JSON.stringify(events.slice(-6), null, 2)
    .replaceAll(new RegExp(String.raw`\b${new URL(url).port}\b`, 'g'), 'PORT')
    .replaceAll(/(?<="requestId": ")[\da-f-]{36}/g, 'ID');
  await expect(made).toMatchFileSnapshot('golden/events.txt');
});
