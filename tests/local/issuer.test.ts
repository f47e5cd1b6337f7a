/** The local issuer over HTTP: its flows as a browser and a single-page app use them. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startIssuer, type Issuer } from '../../local/issuer/issuer-server.ts';
import { subOf } from '../../lib/issuer-tokens.ts';

const ORIGIN = 'http://localhost:5173';
const CALLBACK = `${ORIGIN}/callback`;
const HOME = `${ORIGIN}/`;
const ANA = 'ana@example.com';
const VERIFIER = 'v'.repeat(43);

let issuer: Issuer;
const notices: unknown[] = [];
beforeAll(async () => {
  const note = (text: unknown) => void notices.push(text);
  Object.assign(console, { info: note, warn: note });
  issuer = await startIssuer({ port: 0, webOrigins: [ORIGIN] });
});
afterAll(() => issuer.close());

/** A user agent: keeps cookies and follows redirects within the issuer. */
function createBrowser() {
  const jar = new Map<string, string>();
  return async function visit(url: string, form?: Record<string, string>): Promise<Response> {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(new URL(url, issuer.url), {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const target = new URL(response.headers.get('location') ?? 'about:blank', issuer.url);
    return target.origin === issuer.url ? visit(target.href) : response;
  };
}
type Browser = ReturnType<typeof createBrowser>;

function authorize(browser: Browser, changes: Record<string, string> = {}): Promise<Response> {
  const parameters = new URLSearchParams({
    client_id: issuer.clientId,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'openid',
    state: 'state-1',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    ...changes,
  });
  return browser(`/oauth2/authorize?${parameters.toString()}`);
}

/** The parameters that the web app gets at its redirect URI. */
function callback(response: Response): Partial<Record<string, string>> {
  const location = new URL(response.headers.get('location') ?? 'about:blank');
  expect(location.href).toContain(`${CALLBACK}?`);
  return Object.fromEntries(location.searchParams);
}

async function postToken(form: Record<string, string>) {
  const body = new URLSearchParams({ client_id: issuer.clientId, ...form });
  const response = await fetch(`${issuer.url}/oauth2/token`, { method: 'POST', body });
  return (await response.json()) as Record<'id_token' | 'refresh_token' | 'error', string>;
}

/** Signs in, and exchanges the code for tokens. */
async function signIn(browser: Browser, email = ANA) {
  const { url } = await authorize(browser);
  const { code = '', state } = callback(await browser(url, { email }));
  expect(state).toBe('state-1');
  return postToken({
    grant_type: 'authorization_code',
    code,
    code_verifier: VERIFIER,
    redirect_uri: CALLBACK,
  });
}
const refresh = (token: string) => postToken({ grant_type: 'refresh_token', refresh_token: token });
const isSignedIn = async (browser: Browser): Promise<boolean> =>
  'code' in callback(await authorize(browser, { prompt: 'none' }));

it('has Cognito’s paths, which the web app may read', async () => {
  const response = await fetch(`${issuer.url}/.well-known/openid-configuration`, {
    headers: { origin: ORIGIN },
  });
  expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(await response.json()).toMatchObject({
    issuer: issuer.url,
    authorization_endpoint: `${issuer.url}/oauth2/authorize`,
    token_endpoint: `${issuer.url}/oauth2/token`,
    userinfo_endpoint: `${issuer.url}/oauth2/userInfo`,
    end_session_endpoint: `${issuer.url}/logout`,
    jwks_uri: `${issuer.url}/.well-known/jwks.json`,
  });
});

it('turns a sign-in into an ID token with Cognito’s claims, those of npm run token, and refreshes it', async () => {
  const first = await signIn(createBrowser(), 'dora@example.com');
  const claims = decodeJwt(first.id_token);
  const sub = subOf('dora@example.com');
  const expected = {
    sub,
    iss: issuer.url,
    aud: issuer.clientId,
    token_use: 'id',
    'cognito:username': sub,
    email: 'dora@example.com',
    email_verified: true,
    exp: (claims.iat ?? 0) + 3600,
  };
  expect(claims).toMatchObject(expected);
  const direct = decodeJwt(await issuer.token());
  expect(Object.keys(claims).toSorted()).toEqual(Object.keys(direct).toSorted());
  const again = decodeJwt((await refresh(first.refresh_token)).id_token);
  const { origin_jti, auth_time } = claims;
  expect(again).toMatchObject({ ...expected, origin_jti, auth_time, exp: again.exp });
});

it.each([
  [{ redirect_uri: 'https://evil.example/"><b>' }, 400],
  [{ client_id: 'other<b>' }, 400],
  // The sign-in.
  [{ login_hint: `"><b>` }, 200],
])('shows a page for %j, which is escaped and allows no script', async (changes, status) => {
  const page = await authorize(createBrowser(), changes);
  expect([page.status, page.headers.get('location')]).toEqual([status, null]);
  expect(await page.text()).not.toContain('<b>');
  const policy = page.headers.get('content-security-policy');
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^ ]+'; img-src data:; /);
  const target = status === 200 ? ORIGIN : '';
  expect(policy).toContain(`form-action 'self' ${target}; base-uri 'none'; frame-ancestors 'none'`);
});

it('shows the sign-in again when it gets no address; tells the app when the user cancels, after which it has expired', async () => {
  const browser = createBrowser();
  const { url } = await authorize(browser);
  expect(await (await browser(url, { email: 'ana' })).text()).toContain('<h1>Sign in</h1>');
  const told = callback(await browser(url, { cancel: '1' }));
  expect(told).toMatchObject({ error: 'access_denied', state: 'state-1' });
  for (const [path, status, title] of [
    [url, 400, 'Sign-in expired'],
    ['/nothing', 404, 'Page not found'],
  ] as const) {
    const page = await browser(path);
    expect(page.status).toBe(status);
    expect(await page.text()).toContain(`<h1>${title}</h1>`);
  }
});

it('is not served under another host name', async () => {
  const rebound = request(issuer.url, { headers: { host: 'evil.example' } }).end();
  const [response] = await once(rebound, 'response');
  response.resume();
  expect(response.statusCode).toBe(421);
});

const CLIENT = { client_id: 'inquiries-local' };
it.each<[given: Record<string, string>, target?: string]>([
  [{ ...CLIENT, logout_uri: HOME }, HOME],
  [{ ...CLIENT, post_logout_redirect_uri: HOME, state: 'b&e' }, `${HOME}?state=b%26e`],
  [{ ...CLIENT, logout_uri: 'https://evil.example/' }],
  [CLIENT],
  [{ logout_uri: HOME }],
])(
  'signs out with %j, returns to %s, and ends the refresh token; or does neither',
  async (given, target) => {
    const browser = createBrowser();
    const { refresh_token } = await signIn(browser);
    const response = await browser(`/logout?${new URLSearchParams(given).toString()}`);
    expect(response.status).toBe(target === undefined ? 400 : 303);
    expect(response.headers.get('location')).toBe(target ?? null);
    expect(await isSignedIn(browser)).toBe(target === undefined);
    const { error } = await refresh(refresh_token);
    expect(error).toBe(target === undefined ? undefined : 'invalid_grant');
  },
);

// Last, because oidc-provider prints each of its notices once per process.
it('writes nothing to the console', () => {
  expect(notices).toEqual([]);
});
