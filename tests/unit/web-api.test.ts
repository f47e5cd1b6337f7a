/** How the contact form takes each way in which a request can end. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createApi } from '../../web/src/api.ts';
import { SignedOut } from '../../web/src/user.ts';
import type { Session } from '../../web/src/user.ts';

const INQUIRY = { id: '1', cognito_sub: '', email: '', subject: 'a', body: 'b', created_at: '' };

/** A service that gives these answers in turn; the tokens that were sent are kept. */
function createService(...answers: (Response | Error)[]) {
  const tokens: (string | null)[] = [];
  vi.stubGlobal('fetch', async (_url: string, { headers }: RequestInit) => {
    tokens.push(new Headers(headers).get('authorization'));
    const answer = answers.shift();
    if (answer instanceof Response) return answer;
    throw answer ?? new Error('no more answers');
  });
  return tokens;
}

const session = (...tokens: (string | Error)[]): Session => ({
  user: { sub: '', email: '' },
  async token() {
    const token = tokens.length > 1 ? tokens.shift() : tokens[0];
    if (typeof token === 'string') return token;
    throw token ?? new Error('no token');
  },
});

const create = async (of: Session, isOnline = true) =>
  createApi('https://api.example', of, () => isOnline).create({ subject: 'a', body: 'b' });

describe('a request', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it('resolves to the inquiry that was stored', async () => {
    createService(Response.json({ inquiry: INQUIRY }, { status: 201 }));
    expect(await create(session('t'))).toEqual(INQUIRY);
  });

  it.each([
    [400, 'refused', false],
    [403, 'refused', false],
    [413, 'too-large', false],
    [429, 'busy', false],
    [431, 'refused', false],
    [500, 'server', true],
    [502, 'server', true],
    [503, 'server', true],
    [504, 'server', true],
    [200, 'server', true],
  ])('answered with %i has failed as %s; it may have been done: %j', async (status, kind, mayBeDone) => {
    createService(Response.json({ message: 'why' }, { status }));
    expect(await create(session('t'))).toMatchObject({ kind, mayBeDone });
  });

  it('answered with 400 hands on what the service says', async () => {
    createService(Response.json({ error: 'BAD_REQUEST', message: 'why' }, { status: 400 }));
    expect(await create(session('t'))).toMatchObject({ message: 'why' });
  });

  it('answered with 401 is sent again with a fresh token, once', async () => {
    const refused = () => Response.json({ message: 'Unauthorized' }, { status: 401 });
    const tokens = createService(refused(), Response.json({ inquiry: INQUIRY }, { status: 201 }));
    expect(await create(session('old', 'new'))).toEqual(INQUIRY);
    expect(tokens).toEqual(['Bearer old', 'Bearer new']);
    const again = createService(refused(), refused());
    expect(await create(session('old', 'new'))).toEqual({ kind: 'signed-out', mayBeDone: false });
    expect(again).toHaveLength(2);
  });

  it('without a token is not sent', async () => {
    const tokens = createService();
    expect(await create(session(new SignedOut()))).toEqual({ kind: 'signed-out', mayBeDone: false });
    expect(await create(session(new TypeError('the issuer does not answer')))).toEqual({
      kind: 'unreachable',
      mayBeDone: false,
    });
    expect(tokens).toEqual([]);
  });

  it('answered with 401 and then without a fresh token has certainly not been done', async () => {
    createService(Response.json({ message: 'Unauthorized' }, { status: 401 }));
    expect(await create(session('old', new TypeError('offline')))).toMatchObject({ mayBeDone: false });
  });

  it('without an answer may have been done, whether one is offline or not', async () => {
    createService(new TypeError('Failed to fetch'));
    expect(await create(session('t'))).toEqual({ kind: 'unreachable', mayBeDone: true });
    createService(new TypeError('Failed to fetch'));
    expect(await create(session('t'), false)).toEqual({ kind: 'offline', mayBeDone: true });
  });
});
