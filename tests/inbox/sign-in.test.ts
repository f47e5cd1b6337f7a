/** What a sign-in of the team refuses. The table, a long body and other sites: app.test.ts. */
import { afterAll, expect, it } from 'vitest';
import { createSignIn } from '../../inbox/sign-in.ts';
import { createKey } from '../../lib/issuer/issuer-keys.ts';
import { INBOX_CLIENT_ID, signToken } from '../../lib/issuer/issuer-tokens.ts';
import { startIssuer } from '../../local/issuer/issuer-server.ts';
import { containing, openPages } from './test-inbox.ts';

const ORIGIN = 'https://inbox.example.com';
const COOKIE = '__Host-inbox';
const EMAIL = 'Olga@example.com';
const issuer = await startIssuer({ port: 0, inboxOrigin: ORIGIN });
const other = await startIssuer({ port: 0, inboxOrigin: ORIGIN });
afterAll(async () => Promise.all([issuer.close(), other.close()]));

const begin = async (issuerUrl = issuer.url) => {
  const access = createSignIn({
    origin: ORIGIN,
    issuer: issuerUrl,
    signInOrigin: issuerUrl,
    clientId: INBOX_CLIENT_ID,
    team: [EMAIL.toLowerCase()],
  });
  const own = await openPages(ORIGIN, access);
  const { id } = await own.add(0, { subject: 'Opening hours' });
  const get = async (path: string, cookie = '', more = {}) =>
    own.ask(`GET ${path}`, undefined, { cookie, ...more });
  const reply = async (cookie: string) =>
    own.ask(`POST /inquiries/${id}/reply`, { reply: 'My text' }, { cookie });
  /** Signs in at the issuer. @returns The way back, and the cookie that it needs. */
  const visit = async (email: string) => {
    const { location, cookies } = await get(`/inquiries/${id}`);
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
  return { ...own, id, get, reply, visit };
};

it('signs a member in, leads back, takes no code twice, and signs out', async () => {
  const { ask, get, visit, id } = await begin();
  const { callback, cookie } = await visit(EMAIL);
  const signedIn = await get(callback, cookie);
  expect([signedIn.status, signedIn.location]).toEqual([303, `/inquiries/${id}`]);
  const session = signedIn.cookies.find((each) => each.startsWith(`${COOKIE}=`)) ?? '';
  expect(session.split('; ').slice(1).toSorted()).toEqual([
    'HttpOnly',
    'Max-Age=3600',
    'Path=/',
    'SameSite=Lax',
    'Secure',
  ]);
  const own = session.split(';')[0] ?? '';
  const page = await get(`/inquiries/${id}`, own);
  expect([page.status, page.says]).toEqual([200, 'Opening hours']);
  expect(page.html).toContain(`Answers are stored as ${EMAIL}`);
  expect((await get(callback, cookie)).status).toBe(400);
  const out = await ask('POST /sign-out', undefined, { cookie: own });
  expect([out.status, out.location]).toEqual([303, containing('/logout?client_id=')]);
  expect(out.cookies[0]).toMatch(/^__Host-inbox=; Max-Age=0;/);
});

const same = (text: string): string => text;
it.each<[what: string, way: (url: string) => string, cookie?: (cookie: string) => string]>([
  ['with a state that nobody asked for', (url) => url.replace('state=', 'state=_')],
  ['with another end of its state', (url) => url.replace(/(state=.{20}).*?(?=&|$)/, '$1')],
  ['with a forged code', (url) => url.replace('code=', 'code=_')],
  ['without a code', (url) => url.replace(/code=[^&]*/, 'error=access_denied')],
  ['without its cookie', same, () => ''],
  ['with another nonce', same, (cookie) => cookie.replace('.', '._')],
  ['with another verifier', same, (cookie) => cookie.replace(/\.[^.]*\./, '$&_')],
  ['to another site', same, (cookie) => cookie.replace('.%2F', '.%2F%2F')],
])('a way back %s signs nobody in', async (_, forge, forgeCookie = same) => {
  const { get, visit } = await begin();
  const { callback, cookie } = await visit(EMAIL);
  const { status, cookies, says } = await get(forge(callback), forgeCookie(cookie));
  expect([status, says]).toEqual([400, containing('You are not signed in')]);
  expect(cookies.filter((each) => each.startsWith(`${COOKIE}=`))).toEqual([]);
});

it('tells who is not in the team, and lets them take another account', async () => {
  const { get, visit } = await begin();
  const { callback, cookie } = await visit('eve@example.com');
  const { status, says, html } = await get(callback, cookie);
  expect([status, says]).toEqual([403, containing('You are not in the team')]);
  expect(html).toContain('action="/sign-out"');
});

const from = async (claims: object, email = EMAIL, { token } = issuer) =>
  token({ email, claims: { aud: INBOX_CLIENT_ID, ...claims } });
it.each([
  ['text that is no token', () => 'x'],
  ['a token of another pool: the form’s, or another stage’s', () => from({}, EMAIL, other)],
  ['a token of the form’s client', () => issuer.token({ email: EMAIL })],
  ['an access token', () => from({ token_use: 'access' })],
  ['a token of a session that has ended', () => from({ exp: 1 })],
  ['an unverified address', () => from({ email_verified: false })],
  ['an address outside the team', () => from({}, 'eve@example.com')],
  [
    'a token of a forged key',
    () => signToken(createKey(), issuer.url, { email: EMAIL, claims: { aud: INBOX_CLIENT_ID } }),
  ],
])(
  'a cookie with %s opens nothing, and a text that was sent with it is shown again',
  async (_, forge) => {
    const { get, reply, id, inbox } = await begin();
    const cookie = `${COOKIE}=${await forge()}`;
    const page = await get('/', cookie);
    expect([page.status, page.location]).toEqual([
      302,
      containing(`${issuer.url}/oauth2/authorize?`),
    ]);
    expect((await get('/', cookie, { 'sec-fetch-mode': 'cors' })).status).toBe(401);
    const { status, html } = await reply(cookie);
    expect(status).toBe(401);
    expect(html).toContain('My text</textarea>');
    expect(html).toContain(`href="/inquiries/${id}"`);
    expect(await inbox.get(id)).not.toHaveProperty('reply_at');
  },
);

it('says what to do while the issuer is away, and logs no text', async () => {
  const { get, reply, logged } = await begin('http://127.0.0.1:9');
  const [cookie, says] = [`${COOKIE}=x`, containing('Try again in a minute.')];
  const answers = [await get('/'), await get('/', cookie), await reply(cookie)];
  for (const { status, html } of answers) expect([status, html]).toEqual([503, says]);
  expect(answers[2]?.html).toContain('My text</textarea>');
  expect(JSON.stringify(logged)).not.toMatch(/My text|example/);
  expect(logged).toHaveLength(3);
});
