import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, expect, it } from 'vitest';
import { startIssuer } from '../../local/issuer/issuer-server.ts';
import { subOf } from '../../lib/issuer/issuer-tokens.ts';
import { send } from './http.ts';

const ORIGIN = 'http://localhost:5173';
const CALLBACK = `${ORIGIN}/callback`;
const HOME = `${ORIGIN}/`;
const EMAIL = 'dora@example.com';
const VERIFIER = 'v'.repeat(43);

const issuer = await startIssuer({ port: 0, webOrigins: [ORIGIN] });
afterAll(issuer.close);

function createBrowser() {
  const jar = new Map<string, string>();
  async function visit(url: string, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(new URL(url, issuer.url), {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: [...jar.values()].join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      jar.set(pair.split('=', 1).join(), pair);
    }
    const target = new URL(response.headers.get('location') ?? 'about:blank', issuer.url);
    return target.origin === issuer.url ? visit(target.href) : response;
  }
  const authorize = (changes: Record<string, string> = {}) =>
    visit(
      `/oauth2/authorize?${new URLSearchParams({
        client_id: issuer.clientId,
        response_type: 'code',
        redirect_uri: CALLBACK,
        scope: 'openid',
        state: 'state-1',
        code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
        code_challenge_method: 'S256',
        ...changes,
      }).toString()}`,
    );
  return {
    visit,
    authorize,
    async signIn() {
      const { url } = await authorize();
      const { code = '', state } = callbackParameters(await visit(url, { email: EMAIL }));
      expect(state).toBe('state-1');
      return postToken({
        grant_type: 'authorization_code',
        code,
        code_verifier: VERIFIER,
        redirect_uri: CALLBACK,
      });
    },
  };
}

function callbackParameters(response: Response): Partial<Record<string, string>> {
  const [address = '', query] = response.headers.get('location')?.split('?') ?? [];
  expect(address).toBe(CALLBACK);
  return Object.fromEntries(new URLSearchParams(query));
}

async function postToken(form: Record<string, string>) {
  const body = new URLSearchParams({ client_id: issuer.clientId, ...form });
  const response = await fetch(`${issuer.url}/oauth2/token`, { method: 'POST', body });
  return (await response.json()) as Record<'id_token' | 'refresh_token' | 'error', string>;
}
const refresh = (token: string) => postToken({ grant_type: 'refresh_token', refresh_token: token });

it('has Cognito’s paths, which the web app may read', async () => {
  const { headers, json } = await send(`${issuer.url}/.well-known/openid-configuration`, {
    headers: ['origin', ORIGIN],
  });
  expect(headers['access-control-allow-origin']).toBe(ORIGIN);
  expect(json).toMatchObject({
    issuer: issuer.url,
    authorization_endpoint: `${issuer.url}/oauth2/authorize`,
    token_endpoint: `${issuer.url}/oauth2/token`,
    userinfo_endpoint: `${issuer.url}/oauth2/userInfo`,
    end_session_endpoint: `${issuer.url}/logout`,
    jwks_uri: `${issuer.url}/.well-known/jwks.json`,
  });
});

it('turns a sign-in into an ID token with the claims of npm run token, and refreshes it', async () => {
  const first = await createBrowser().signIn();
  const claims = decodeJwt(first.id_token);
  const sub = subOf(EMAIL);
  const expected = {
    sub,
    iss: issuer.url,
    aud: issuer.clientId,
    token_use: 'id',
    'cognito:username': sub,
    email: EMAIL,
    email_verified: true,
  };
  expect(claims).toMatchObject({ ...expected, exp: (claims.iat ?? 0) + 3600 });
  const direct = decodeJwt(await issuer.token());
  expect(Object.keys(claims).toSorted()).toEqual(Object.keys(direct).toSorted());
  const { origin_jti, auth_time } = claims;
  const again = decodeJwt((await refresh(first.refresh_token)).id_token);
  expect(again).toMatchObject({ ...expected, origin_jti, auth_time });
});

it.each([
  [{ redirect_uri: 'https://evil.example/"><b>' }, 400, ''],
  [{ client_id: 'other<b>' }, 400, ''],
  [{ state: '<b>' }, 200, ORIGIN],
])(
  'shows a page for %j, which is escaped and allows no script',
  async (changes, status, target) => {
    const { authorize, visit } = createBrowser();
    const page = await authorize(changes);
    expect([page.status, page.headers.get('location')]).toEqual([status, null]);
    expect(await page.text()).not.toContain('<b>');
    expect(page.headers.get('content-security-policy')).toMatch(
      new RegExp(
        `^default-src 'none'; style-src 'sha256-[^ ]+'; img-src data:; form-action 'self' ${target}; base-uri 'none'; frame-ancestors 'none'$`,
      ),
    );
    if (target === '') return;
    expect(await (await visit(page.url, { email: 'ana' })).text()).toContain('<h1>Sign in</h1>');
    expect(callbackParameters(await visit(page.url, { cancel: '' }))).toMatchObject({
      error: 'access_denied',
    });
    expect(await (await visit(page.url)).text()).toContain('<h1>Sign-in expired</h1>');
  },
);

it('is not served under another host name', async () => {
  const response = await fetch(issuer.url.replace('127.0.0.1', 'localhost'));
  expect(response.status).toBe(421);
});

const CLIENT = { client_id: 'inquiries-local' };
it.each<[given: Record<string, string>, status: number]>([
  [{ ...CLIENT, logout_uri: HOME }, 303],
  [{ ...CLIENT, post_logout_redirect_uri: HOME }, 303],
  [{ ...CLIENT, logout_uri: 'https://evil.example/' }, 400],
  [{ logout_uri: HOME }, 400],
])(
  'answers a sign-out with %j by %i; only a 303 ends session and refresh token',
  async (given, status) => {
    const { signIn, visit, authorize } = createBrowser();
    const { refresh_token } = await signIn();
    const response = await visit(`/logout?${new URLSearchParams(given).toString()}`);
    const isOver = status === 303;
    expect([response.status, response.headers.get('location')]).toEqual([
      status,
      isOver ? HOME : null,
    ]);
    expect('code' in callbackParameters(await authorize({ prompt: 'none' }))).toBe(!isOver);
    expect((await refresh(refresh_token)).error).toBe(isOver ? 'invalid_grant' : undefined);
  },
);
