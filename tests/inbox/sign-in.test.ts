import { afterAll, expect, it } from 'vitest';
import { createInbox } from '../../inbox/app.ts';
import { createSignIn } from '../../inbox/sign-in.ts';
import { INBOX_CLIENT_ID, signToken } from '../../lib/issuer/issuer-tokens.ts';
import { createKey } from '../../lib/issuer/issuer-keys.ts';
import { startIssuer } from '../../local/issuer/issuer-server.ts';
import { openInbox, textsOf } from './test-inbox.ts';

const ORIGIN = 'https://inbox.example.com';
const COOKIE = '__Host-inbox';
const EMAIL = 'Olga@example.com';
const issuer = await startIssuer({ port: 0, inboxOrigin: ORIGIN });
const other = await startIssuer({ port: 0, inboxOrigin: ORIGIN });
afterAll(async () => Promise.all([issuer.close(), other.close()]));

const begin = async (issuerUrl = issuer.url) => {
  const own = await openInbox();
  const { id } = await own.add(0, { subject: 'Opening hours' });
  const logged: object[] = [];
  const access = createSignIn({
    origin: ORIGIN,
    issuer: issuerUrl,
    signInOrigin: issuerUrl,
    clientId: INBOX_CLIENT_ID,
    team: [EMAIL.toLowerCase()],
  });
  const app = createInbox({
    origin: ORIGIN,
    stage: 'develop',
    access,
    connect: () => ({ ...own.connection, mail: async () => 'sent' }),
    savedReplies: [],
    log: (failure) => logged.push(failure),
  });
  const ask = async (
    path: string,
    cookie = '',
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ) => {
    const headers = { host: 'inbox.example.com', cookie, ...init.headers };
    const response = await app.request(ORIGIN + path, { ...init, headers });
    const html = await response.text();
    const cookies = response.headers.getSetCookie();
    const location = response.headers.get('location') ?? '';
    return { status: response.status, location, cookies, html, says: textsOf(html) };
  };
  /** Signs in at the issuer. @returns The way back, and the cookie that it needs. */
  const visit = async (email: string, path = `/inquiries/${id}`) => {
    const { location, cookies } = await ask(path);
    const jar: string[] = [];
    const go = async (url: string, form?: Record<string, string>): Promise<string> => {
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: jar.join('; ') },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      jar.push(...response.headers.getSetCookie().map((line) => line.split(';')[0] ?? ''));
      const next = response.headers.get('location');
      if (next === null) return go(url, { email });
      const { href, origin } = new URL(next, url);
      return origin === ORIGIN ? href.slice(ORIGIN.length) : go(href);
    };
    return { callback: await go(location), cookie: cookies[0]?.split(';')[0] ?? '' };
  };
  return { ...own, id, ask, visit, logged };
};

it('signs a member in, leads back, and signs out', async () => {
  const { ask, visit, id } = await begin();
  const { callback, cookie } = await visit(EMAIL);
  const signedIn = await ask(callback, cookie);
  expect([signedIn.status, signedIn.location]).toEqual([303, `/inquiries/${id}`]);
  const [, session = ''] = signedIn.cookies;
  expect(session.split('; ').slice(1).toSorted()).toEqual([
    'HttpOnly',
    'Max-Age=3600',
    'Path=/',
    'SameSite=Lax',
    'Secure',
  ]);
  const own = session.split(';')[0] ?? '';
  expect(own.split('=')[0]).toBe(COOKIE);
  const page = await ask(`/inquiries/${id}`, own);
  expect([page.status, page.says]).toEqual([200, 'Opening hours']);
  expect(page.html).toContain(`Answers are stored as ${EMAIL}`);
  // The code was used.
  expect((await ask(callback, cookie)).status).toBe(400);
  const out = await ask('/sign-out', own, { method: 'POST', headers: { origin: ORIGIN } });
  expect([out.status, out.location]).toEqual([303, expect.stringContaining('/logout?client_id=')]);
  expect(out.cookies[0]).toMatch(/^__Host-inbox=; Max-Age=0;/);
});

it.each([
  ['a state that nobody asked for', (url: string) => url.replace('state=', 'state=_')],
  [
    'another state of the same beginning',
    (url: string) => url.replace(/(state=.{20}).*?(?=&|$)/, '$1'),
  ],
  ['a forged code', (url: string) => url.replace('code=', 'code=_')],
  ['no code', (url: string) => url.replace(/code=[^&]*/, 'error=access_denied')],
])('a way back with %s signs nobody in', async (_, forge) => {
  const { ask, visit } = await begin();
  const { callback, cookie } = await visit(EMAIL);
  const { status, cookies, says } = await ask(forge(callback), cookie);
  expect([status, says]).toEqual([400, expect.stringContaining('You are not signed in')]);
  expect(cookies.filter((each) => each.startsWith(`${COOKIE}=`))).toEqual([]);
});

it.each([
  ['without its cookie', (): string => ''],
  ['with another nonce', (cookie: string) => cookie.replace('nonce%22%3A%22', '$&_')],
  ['with another verifier', (cookie: string) => cookie.replace('verifier%22%3A%22', '$&_')],
  ['with a path of another site', (cookie: string) => cookie.replace(/(path%22%3A%22)/, '$1%2F')],
])('a way back %s signs nobody in', async (_, forge) => {
  const { ask, visit } = await begin();
  const { callback, cookie } = await visit(EMAIL);
  expect((await ask(callback, forge(cookie))).status).toBe(400);
});

it('tells who is not in the team, and lets them take another account', async () => {
  const { ask, visit } = await begin();
  const { callback, cookie } = await visit('eve@example.com');
  const { status, says, html } = await ask(callback, cookie);
  expect([status, says]).toEqual([403, expect.stringContaining('You are not in the team')]);
  expect(html).toContain('action="/sign-out"');
});

const aud = INBOX_CLIENT_ID;
it.each([
  ['text that is no token', () => 'x'],
  ['a token of the form’s pool', async () => other.token({ email: EMAIL, claims: { aud } })],
  ['a token of the form’s client', async () => issuer.token({ email: EMAIL })],
  [
    'an access token',
    async () => issuer.token({ email: EMAIL, claims: { aud, token_use: 'access' } }),
  ],
  ['an expired token', async () => issuer.token({ email: EMAIL, claims: { aud, exp: 1 } })],
  [
    'an unverified address',
    async () => issuer.token({ email: EMAIL, claims: { aud, email_verified: false } }),
  ],
  [
    'an address outside the team',
    async () => issuer.token({ email: 'eve@example.com', claims: { aud } }),
  ],
  [
    'a token of a forged key',
    async () => signToken(createKey(), issuer.url, { email: EMAIL, claims: { aud } }),
  ],
])(
  'a cookie with %s opens nothing, and a text that was sent with it is shown again',
  async (_, forge) => {
    const { ask, id, inbox } = await begin();
    const cookie = `${COOKIE}=${await forge()}`;
    const page = await ask('/', cookie);
    expect([page.status, page.location.startsWith(`${issuer.url}/oauth2/authorize?`)]).toEqual([
      302,
      true,
    ]);
    expect((await ask('/', cookie, { headers: { 'sec-fetch-mode': 'cors' } })).status).toBe(401);
    const init = {
      method: 'POST',
      headers: { origin: ORIGIN },
      body: new URLSearchParams({ reply: 'My text' }),
    };
    const { status, html } = await ask(`/inquiries/${id}/reply`, cookie, init);
    expect(status).toBe(401);
    expect(html).toContain('My text</textarea>');
    expect(html).toContain(`href="/inquiries/${id}"`);
    expect(await inbox.get(id)).not.toHaveProperty('reply_at');
  },
);

it('says what to do while the issuer is away, and logs no text', async () => {
  const { ask, id, logged } = await begin('http://127.0.0.1:9');
  const init = {
    method: 'POST',
    headers: { origin: ORIGIN },
    body: new URLSearchParams({ reply: 'My text' }),
  };
  for (const { status, html } of [
    await ask('/'),
    await ask('/', `${COOKIE}=x`),
    await ask(`/inquiries/${id}/reply`, `${COOKIE}=x`, init),
  ]) {
    expect([status, html]).toEqual([503, expect.stringContaining('Try again in a minute.')]);
  }
  expect(JSON.stringify(logged)).not.toMatch(/My text|example/);
  expect(logged).toHaveLength(3);
});
