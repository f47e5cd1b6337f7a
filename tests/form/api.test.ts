import { expect, it, vi } from 'vitest';
import { badRequest, internalError, refusals, type ApiError } from '../../src/errors.ts';
import { createApi, type Failure, SignedOut } from '../../web/src/api.ts';
import { INQUIRY } from '../helpers/events.ts';

const created = () => Response.json({ inquiry: INQUIRY }, { status: 201 });
const unauthorized = () => Response.json({ message: 'Unauthorized' }, { status: 401 });
const LOST = new TypeError('Failed to fetch');

/** A client with these answers of service and session in turn, and its requests. */
function connect(
  answers: (Response | Error)[],
  tokens: (string | Error)[] = ['t'],
  isOnline = true,
) {
  const requests: object[] = [];
  const next = <Value>(values: (Value | Error)[]): Value => {
    const value = values.shift() ?? new Error('nothing left');
    if (value instanceof Error) throw value;
    return value;
  };
  vi.stubGlobal('fetch', async (url: string, { method, headers, body }: RequestInit) => {
    requests.push({ url, method, headers: { ...(headers as object) }, body });
    return next(answers);
  });
  const session = { user: { sub: '', email: '' }, token: async () => next(tokens) };
  const waits: number[] = [];
  const wait = async (seconds: number) => void waits.push(seconds);
  const { list, create } = createApi('https://api.example/v1', session, () => isOnline, wait);
  const post = async () => create({ subject: 'a', body: 'b' }, 'k', 'de');
  return { requests, waits, list, post };
}

it('an inquiry is posted as JSON with the key and the language of the form', async () => {
  const { requests, post } = connect([created()]);
  expect(await post()).toEqual(INQUIRY);
  const headers = {
    Authorization: 'Bearer t',
    'Idempotency-Key': 'k',
    'Accept-Language': 'de',
    'Content-Type': 'application/json',
  };
  const url = 'https://api.example/v1/inquiries';
  expect(requests).toEqual([{ method: 'POST', url, headers, body: '{"subject":"a","body":"b"}' }]);
});

it.each([
  ['<?before=1&limit=50>; rel="next"', '?before=1&limit=100'],
  ['<?before=1&limit=800>; rel="next"', '?before=1&limit=1000'],
  ['<?x=1>; rel="prev", <?before=1>; rel=next', '?before=1'],
  ['<?before=1>; rel="prev"', undefined],
])('a small page is listed, and its Link %s leads on to %j', async (link, next) => {
  const page = () => Response.json({ inquiries: [INQUIRY] }, { headers: { link } });
  const { requests, list } = connect([page(), page()], ['t', 't']);
  expect(await list()).toEqual({ inquiries: [INQUIRY], next });
  await list('?x');
  const urls = ['?limit=50', '?x'].map((query) => `https://api.example/v1/inquiries${query}`);
  const headers = { Authorization: 'Bearer t' };
  expect(requests).toEqual(urls.map((url) => ({ url, headers })));
});

it.each<[ApiError, Failure['kind'], mayBeDone?: boolean]>([
  [badRequest('why'), 'refused'],
  [refusals.inquiry(), 'too-large'],
  [refusals.reused(), 'reused'],
  [refusals['in use'](), 'conflict', true],
  [refusals.busy(), 'busy'],
  [refusals.limit(1, 725), 'limit'],
  [internalError(), 'server', true],
])('the service’s error %s is the failure %s', async (error, kind, mayBeDone = false) => {
  const { status, code, message, headers } = error;
  const retryAfter = Number(headers['Retry-After']);
  const answer = Response.json({ error: code, message }, { status, headers });
  expect(await connect([answer]).post()).toEqual({
    kind,
    mayBeDone,
    ...(kind !== 'server' && { message }),
    ...(retryAfter > 0 && { retryAfter }),
  });
});

const GATEWAY = '{"message":"Forbidden"}';
it.each([
  ['<html>', 200],
  ['{}', 201],
  ['{"inquiry":{"id":"1"}}', 201],
  ['<html>', 401],
  ['<html>', 403],
  [GATEWAY, 403],
  [GATEWAY, 404],
  ['', 407],
  ['<html>', 408],
  ['<html>', 413],
  ['{"error":"rate_limited"}', 429],
  ['<html>', 503],
])('a response %s with %i that is not the contract’s is no verdict', async (body, status) => {
  const { list, post } = connect(
    [1, 2].map(() => new Response(body, { status })),
    ['t', 't'],
  );
  const unknown = { kind: 'server', mayBeDone: true };
  expect([await post(), await list()]).toEqual([unknown, unknown]);
});

it.each<[what: string, expected: object, ...Parameters<typeof connect>]>([
  ['401: again, once', INQUIRY, [unauthorized(), created()], ['old', 'new']],
  [
    '401 twice: the session has ended',
    { kind: 'signed-out', mayBeDone: false },
    [unauthorized(), unauthorized()],
    ['old', 'new'],
  ],
  [
    '401 and no other token: certainly not done',
    { kind: 'unreachable', mayBeDone: false },
    [unauthorized()],
    ['old', LOST],
  ],
  ['signed out', { kind: 'signed-out', mayBeDone: false }, [], [new SignedOut()]],
  ['no answer', { kind: 'unreachable', mayBeDone: true }, [LOST]],
  ['no answer offline', { kind: 'offline', mayBeDone: true }, [LOST], undefined, false],
  [
    'an answer although the browser says that it is offline',
    INQUIRY,
    [created()],
    undefined,
    false,
  ],
  [
    'the gateway’s 429: before the service has the request',
    { kind: 'busy', mayBeDone: false },
    [Response.json({ message: 'Too Many Requests' }, { status: 429 })],
  ],
])('%s', async (_, expected, answers, tokens = ['t'], isOnline) => {
  const sent = tokens.filter((token) => typeof token === 'string');
  const { requests, waits, post } = connect(answers, tokens, isOnline);
  expect(await post()).toMatchObject(expected);
  // The issuer's clock may be ahead of the API's.
  expect(waits).toEqual(sent.length > 1 ? [3] : []);
  const requestWith = (token: string) => ({
    headers: { Authorization: `Bearer ${token}`, 'Idempotency-Key': 'k' },
  });
  expect(requests).toMatchObject(sent.map(requestWith));
});
