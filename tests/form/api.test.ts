/** The contact form's client: what it sends, and what it makes of each response. */
import { expect, it, vi } from 'vitest';
import { createApi } from '../../web/src/api.ts';
import { SignedOut } from '../../web/src/user.ts';
import { INQUIRY } from '../helpers/events.ts';

const created = () => Response.json({ inquiry: INQUIRY }, { status: 201 });
const unauthorized = () => Response.json({ message: 'Unauthorized' }, { status: 401 });
const LOST = new TypeError('Failed to fetch');

/** A client whose service and whose session give these answers in turn, and the requests that it sends. */
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
  const { list, create } = createApi('https://api.example/v1', session, () => isOnline);
  const post = async () => create({ subject: 'a', body: 'b' }, 'k', 'de');
  return { requests, list, post };
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

const WHY = '{"message":"why"}';
it.each([
  [400, '', 'refused', false],
  [413, '', 'too-large', false],
  [422, '', 'reused', false],
  [409, '1', 'conflict', true],
  [429, '725', 'limit', false],
  [429, 'Sat, 21 Nov 2026 12:00:00 GMT', 'busy', false],
  [503, '', 'server', true, '<html>'],
  [200, '', 'server', true],
  [201, '', 'server', true, '<html>'],
])(
  'the answer %i with Retry-After %j is the failure %s',
  async (status, retryAfter, kind, mayBeDone, body = WHY) => {
    const response = new Response(body, { status, headers: { 'Retry-After': retryAfter } });
    expect(await connect([response]).post()).toEqual({
      kind,
      mayBeDone,
      ...(body === WHY && { message: 'why' }),
      ...(Number(retryAfter) > 0 && { retryAfter: Number(retryAfter) }),
    });
  },
);

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
])('%s', async (_, expected, answers, tokens = ['t'], isOnline) => {
  // Each token that there is goes with one request.
  const sent = tokens.filter((token) => typeof token === 'string');
  const { requests, post } = connect(answers, tokens, isOnline);
  expect(await post()).toMatchObject(expected);
  const requestWith = (token: string) => ({
    headers: { Authorization: `Bearer ${token}`, 'Idempotency-Key': 'k' },
  });
  expect(requests).toMatchObject(sent.map(requestWith));
});
