/** The contact form's client: what it sends, and what it makes of each response. */
import { expect, it, vi } from 'vitest';
import { createApi } from '../../web/src/api.ts';
import { SignedOut } from '../../web/src/user.ts';

const INQUIRY = { id: '1', cognito_sub: '', email: '', subject: 'a', body: 'b', created_at: '' };
const CREATED = () => Response.json({ inquiry: INQUIRY }, { status: 201 });
const UNAUTHORIZED = () => Response.json({ message: 'Unauthorized' }, { status: 401 });

/** A client whose service gives these answers in turn, with tokens that come in turn, and the requests that it sends. */
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
  vi.stubGlobal('fetch', async (url: string, { method = 'GET', headers, body }: RequestInit) => {
    requests.push({ method, url, headers, ...(body !== undefined && { body }) });
    return next(answers);
  });
  const session = { user: { sub: '', email: '' }, token: async () => next(tokens) };
  const { list, create } = createApi('https://api.example/v1', session, () => isOnline);
  const post = async () => create({ subject: 'a', body: 'b' }, 'k', 'de');
  return { requests, list, post };
}

it('an inquiry is posted as JSON with the key and the language of the form', async () => {
  const { requests, post } = connect([CREATED()]);
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
  ['', undefined],
  ['<?before=1&limit=50>; rel="next"', '?before=1&limit=100'],
  ['<?before=1&limit=800>; rel="next"', '?before=1&limit=1000'],
  ['<?x=1>; rel="prev", <?before=1>; rel=next', '?before=1'],
  ['<?before=1>; rel="prev"', undefined],
])(
  'a small page is listed; its Link %j leads on to %j, with up to twice the limit',
  async (link, next) => {
    const { requests, list } = connect(
      [
        Response.json({ inquiries: [INQUIRY] }, { headers: { link } }),
        Response.json({ inquiries: [] }),
      ],
      ['t', 't'],
    );
    expect(await list()).toEqual({ inquiries: [INQUIRY], next });
    await list(next);
    const url = 'https://api.example/v1/inquiries';
    const headers = { Authorization: 'Bearer t' };
    expect(requests).toEqual(
      ['?limit=50', next ?? '?limit=50'].map((query) => ({
        method: 'GET',
        url: url + query,
        headers,
      })),
    );
  },
);

const why = '{"error":"BAD_REQUEST","message":"why"}';
it.each<[status: number, body: string, retryAfter: string, failure: object]>([
  [400, why, '', { kind: 'refused', mayBeDone: false, message: 'why' }],
  [400, '<html>', '', { kind: 'refused', mayBeDone: false }],
  [409, why, '1', { kind: 'conflict', mayBeDone: true, retryAfter: 1 }],
  [413, why, '', { kind: 'too-large', mayBeDone: false }],
  [422, why, '', { kind: 'reused', mayBeDone: false }],
  [429, why, '725', { kind: 'limit', mayBeDone: false, retryAfter: 725 }],
  [429, why, 'Sat, 21 Nov 2026 12:00:00 GMT', { kind: 'busy', mayBeDone: false }],
  [503, '<html>', '', { kind: 'server', mayBeDone: true }],
  [200, why, '', { kind: 'server', mayBeDone: true }],
  [201, '<html>', '', { kind: 'server', mayBeDone: true }],
])(
  'the answer %i, %s with Retry-After %j is the failure %j',
  async (status, body, retryAfter, failure) => {
    const headers = { 'Retry-After': retryAfter };
    expect(await connect([new Response(body, { status, headers })]).post()).toEqual(failure);
  },
);

it.each<[what: string, ...rest: Parameters<typeof connect>, expected: object, requests: number]>([
  ['401: again with a fresh token', [UNAUTHORIZED(), CREATED()], ['old', 'new'], true, INQUIRY, 2],
  [
    '401, and no fresh token: it has not been done',
    [UNAUTHORIZED()],
    ['old', new TypeError('offline')],
    true,
    { kind: 'unreachable', mayBeDone: false },
    1,
  ],
  [
    '401 twice: the session has ended',
    [UNAUTHORIZED(), UNAUTHORIZED()],
    ['old', 'new'],
    true,
    { kind: 'signed-out', mayBeDone: false },
    2,
  ],
  ['signed out', [], [new SignedOut()], true, { kind: 'signed-out', mayBeDone: false }, 0],
  ['no token', [], [new TypeError('no')], true, { kind: 'unreachable', mayBeDone: false }, 0],
  ['no answer', [new TypeError('no')], ['t'], true, { kind: 'unreachable', mayBeDone: true }, 1],
  ['offline', [new TypeError('no')], ['t'], false, { kind: 'offline', mayBeDone: true }, 1],
])('a request: %s', async (_, answers, tokens, isOnline, expected, count) => {
  const wanted = tokens
    ?.filter((token) => typeof token === 'string')
    .map((token) => `Bearer ${token}`);
  const { requests, post } = connect(answers, tokens, isOnline);
  expect(await post()).toEqual(expected);
  expect(requests).toMatchObject(
    (wanted ?? [])
      .slice(0, count)
      .map((Authorization) => ({ headers: { Authorization, 'Idempotency-Key': 'k' } })),
  );
  expect(requests).toHaveLength(count);
});
