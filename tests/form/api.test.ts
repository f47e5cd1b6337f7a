/** The contact form's client: what it sends, and what it makes of each response. */
import { describe, expect, it, vi } from 'vitest';
import { createApi, isFailure, type Failure } from '../../web/src/api.ts';
import { SignedOut, type Session } from '../../web/src/user.ts';

const INQUIRY = { id: '1', cognito_sub: '', email: '', subject: 'a', body: 'b', created_at: '' };

/** Replaces `fetch`: gives these responses in turn and records the requests. */
function createService(...answers: (Response | Error)[]) {
  const requests: Record<'method' | 'url' | 'token' | 'key' | 'language' | 'body', unknown>[] = [];
  vi.stubGlobal('fetch', async (url: string, { method = 'GET', headers, body }: RequestInit) => {
    const sent = new Headers(headers);
    const [token, key] = [sent.get('authorization'), sent.get('idempotency-key')];
    requests.push({ method, url, token, key, language: sent.get('accept-language'), body });
    const answer = answers.shift();
    if (answer instanceof Response) return answer;
    throw answer ?? new Error('no more answers');
  });
  return requests;
}

const session = (...tokens: (string | Error)[]): Session => ({
  user: { sub: '', email: '' },
  async token() {
    const token = tokens.length > 1 ? tokens.shift() : tokens[0];
    if (typeof token === 'string') return token;
    throw token ?? new Error('no token');
  },
});

const BASE = 'https://api.example/v1';
const create = async (of: Session, isOnline = true) =>
  createApi(BASE, of, () => isOnline).create({ subject: 'a', body: 'b' }, 'k', 'de');
const { list } = createApi(BASE, session('t'), () => true);

it('create posts JSON with the key and the language of the form, and resolves to the stored inquiry', async () => {
  const requests = createService(Response.json({ inquiry: INQUIRY }, { status: 201 }));
  expect(await create(session('t'))).toEqual(INQUIRY);
  const request = { method: 'POST', token: 'Bearer t', key: 'k', language: 'de' };
  const body = '{"subject":"a","body":"b"}';
  expect(requests).toEqual([{ url: `${BASE}/inquiries`, ...request, body }]);
});

describe('list', () => {
  const respond = (link = '') => Response.json({ inquiries: [INQUIRY] }, { headers: { link } });

  it('asks for a small page, then for the one that Link names with twice the limit, then there is none', async () => {
    const requests = createService(respond('<?before=1&limit=50>; rel="next"'), respond());
    const page = await list();
    expect(page).toEqual({ inquiries: [INQUIRY], next: '?before=1&limit=100' });
    if (isFailure(page)) throw new Error(page.kind);
    expect(requests[0]?.key).toBeNull();
    expect(await list(page.next)).toEqual({ inquiries: [INQUIRY], next: undefined });
    expect(requests).toMatchObject([
      { method: 'GET', url: `${BASE}/inquiries?limit=50` },
      { method: 'GET', url: `${BASE}/inquiries?before=1&limit=100` },
    ]);
  });

  it.each([
    ['<?x=1>; rel="prev", <?before=1>; rel=next', '?before=1'],
    ['<?before=1>; rel="prev"', undefined],
    ['<?before=1&limit=800>; rel="next"', '?before=1&limit=1000'],
  ])(
    'reads the relation next from Link, with a limit that the service allows: %s',
    async (link, next) => {
      createService(respond(link));
      expect(await list()).toMatchObject({ next });
    },
  );
});

describe('a request', () => {
  const why = '{"error":"BAD_REQUEST","message":"why"}';
  it.each<[status: number, body: string, retryAfter: string | undefined, failure: Failure]>([
    [400, why, undefined, { kind: 'refused', mayBeDone: false, message: 'why' }],
    [400, '<html>', undefined, { kind: 'refused', mayBeDone: false }],
    [409, why, '1', { kind: 'conflict', mayBeDone: true, retryAfter: 1 }],
    [413, why, undefined, { kind: 'too-large', mayBeDone: false }],
    [422, why, undefined, { kind: 'reused', mayBeDone: false }],
    [429, why, '725', { kind: 'limit', mayBeDone: false, retryAfter: 725 }],
    [429, why, undefined, { kind: 'busy', mayBeDone: false }],
    [429, why, 'Sat, 21 Nov 2026 12:00:00 GMT', { kind: 'busy', mayBeDone: false }],
    [503, '<html>', undefined, { kind: 'server', mayBeDone: true }],
    [200, why, undefined, { kind: 'server', mayBeDone: true }],
    [201, '<html>', undefined, { kind: 'server', mayBeDone: true }],
  ])(
    'answered with %i, %s and Retry-After %s has failed: %j',
    async (status, body, retryAfter, failure) => {
      const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
      createService(new Response(body, { status, headers }));
      expect(await create(session('t'))).toEqual(failure);
    },
  );

  it('answered with 401 is sent again with a fresh token, once', async () => {
    const refused = () => Response.json({ message: 'Unauthorized' }, { status: 401 });
    const requests = createService(refused(), Response.json({ inquiry: INQUIRY }, { status: 201 }));
    expect(await create(session('old', 'new'))).toEqual(INQUIRY);
    expect(requests.map(({ token, key }) => [token, key])).toEqual([
      ['Bearer old', 'k'],
      ['Bearer new', 'k'],
    ]);
    // Without a fresh token, it has certainly not been done.
    createService(refused());
    expect(await create(session('old', new TypeError('offline')))).toMatchObject({
      mayBeDone: false,
    });
    const again = createService(refused(), refused());
    expect(await create(session('old', 'new'))).toEqual({ kind: 'signed-out', mayBeDone: false });
    expect(again).toHaveLength(2);
  });

  it('without a token is not sent', async () => {
    const requests = createService();
    expect(await create(session(new SignedOut()))).toEqual({
      kind: 'signed-out',
      mayBeDone: false,
    });
    expect(await create(session(new TypeError('the issuer does not answer')))).toEqual({
      kind: 'unreachable',
      mayBeDone: false,
    });
    expect(requests).toEqual([]);
  });

  it.each([
    [true, 'unreachable'],
    [false, 'offline'],
  ])('without an answer may have been done; online: %j', async (isOnline, kind) => {
    createService(new TypeError('Failed to fetch'));
    expect(await create(session('t'), isOnline)).toEqual({ kind, mayBeDone: true });
  });
});
