/** The local issuer over HTTP: its flows as a browser and a single-page app use them. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startIssuer, type Issuer } from '../../local/issuer/issuer-server.ts';
import { subOf } from '../../lib/issuer-tokens.ts';
import { escapeHtml } from '../../src/mailer/text.ts';

const ORIGIN = 'http://localhost:5173';
const CALLBACK = `${ORIGIN}/callback`;
const ANA = 'ana@example.com';

let issuer: Issuer;
const notices: unknown[] = [];

beforeAll(async () => {
  const note = (text: unknown) => void notices.push(text);
  Object.assign(console, { info: note, warn: note });
  issuer = await startIssuer({ port: 0, webOrigins: [ORIGIN] });
});
afterAll(() => issuer.close());

/** A user agent: keeps cookies and follows redirects within the issuer. */
type Browser = (url: string, form?: Record<string, string>) => Promise<Response>;

function createBrowser(): Browser {
  const jar = new Map<string, string>();
  return async function visit(url: string, form?: Record<string, string>): Promise<Response> {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const target = new URL(response.headers.get('location') ?? 'about:blank', url);
    return target.origin === issuer.url ? visit(target.href) : response;
  };
}

const VERIFIER = randomBytes(32).toString('base64url');
type Overrides = Record<string, string | undefined>;

function authorizeQuery(overrides: Overrides = {}): string {
  const parameters = {
    client_id: issuer.clientId,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'openid email profile',
    state: 'state-1',
    nonce: 'nonce-1',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    ...overrides,
  };
  // JSON leaves out what is undefined.
  return `?${new URLSearchParams(JSON.parse(JSON.stringify(parameters)) as Record<string, string>).toString()}`;
}

const authorize = (browser: Browser, overrides?: Overrides): Promise<Response> =>
  browser(`${issuer.url}/oauth2/authorize${authorizeQuery(overrides)}`);

/** Where the forms of the sign-in page post to. */
async function actionOf(page: Response): Promise<string> {
  return `${issuer.url}${/<form method="post" action="([^"]+)"/.exec(await page.text())?.[1]}`;
}

/** The parameters that the web app gets at its redirect URI. */
function callback(response: Response): URLSearchParams {
  const location = new URL(response.headers.get('location') ?? 'about:blank');
  expect(`${location.origin}${location.pathname}`).toBe(CALLBACK);
  return location.searchParams;
}

async function signIn(browser = createBrowser(), email = ANA, overrides?: Overrides) {
  const page = await authorize(browser, overrides);
  expect(page.status).toBe(200);
  return callback(await browser(await actionOf(page), { email }));
}

async function postToken(form: Record<string, string>) {
  const body = new URLSearchParams({ client_id: issuer.clientId, ...form });
  const response = await fetch(`${issuer.url}/oauth2/token`, { method: 'POST', body });
  const tokens = (await response.json()) as Record<
    'access_token' | 'id_token' | 'refresh_token',
    string
  >;
  return { status: response.status, ...tokens };
}

const exchange = (query: URLSearchParams, code_verifier = VERIFIER) =>
  postToken({
    grant_type: 'authorization_code',
    code: query.get('code') ?? '',
    code_verifier,
    redirect_uri: CALLBACK,
  });
const refresh = (token: string) => postToken({ grant_type: 'refresh_token', refresh_token: token });
const INVALID_GRANT = { status: 400, error: 'invalid_grant' };

async function isSignedIn(browser: Browser): Promise<boolean> {
  return callback(await authorize(browser, { prompt: 'none' })).has('code');
}

it('discovery has Cognito’s paths, readable by the web app', async () => {
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
    code_challenge_methods_supported: ['S256'],
    id_token_signing_alg_values_supported: ['RS256'],
  });
});

describe('the code flow', () => {
  it('turns a sign-in into an ID token with Cognito’s claims', async () => {
    const query = await signIn(createBrowser(), 'dora@example.com');
    expect(query.get('state')).toBe('state-1');
    const { id_token } = await exchange(query);
    const keys = createRemoteJWKSet(new URL(`${issuer.url}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(id_token, keys);
    const sub = subOf('dora@example.com');
    const any = expect.any(String) as string;
    expect(payload).toEqual({
      sub,
      iss: issuer.url,
      aud: issuer.clientId,
      token_use: 'id',
      'cognito:username': sub,
      email: 'dora@example.com',
      email_verified: true,
      auth_time: expect.any(Number) as number,
      iat: expect.any(Number) as number,
      exp: (payload.iat ?? 0) + 3600,
      jti: any,
      event_id: any,
      origin_jti: any,
      nonce: 'nonce-1',
    });
  });

  it('gives the claims of npm run token for scope=openid alone', async () => {
    const query = await signIn(createBrowser(), ANA, { scope: 'openid', nonce: undefined });
    const { id_token } = await exchange(query);
    const [flow, direct] = [decodeJwt(id_token), decodeJwt(await issuer.token())];
    expect(Object.keys(flow).toSorted()).toEqual(Object.keys(direct).toSorted());
  });

  it('refuses a scope without openid and tells the app why', async () => {
    const told = callback(await authorize(createBrowser(), { scope: 'email', nonce: undefined }));
    const { error, error_description } = Object.fromEntries(told);
    expect([error, error_description]).toEqual([
      'invalid_scope',
      'scope must contain openid, it is "email"',
    ]);
  });

  it.each([[{ redirect_uri: 'https://evil.example/"><b>' }], [{ client_id: 'other<b>' }]])(
    'shows a page instead of redirecting for %j',
    async (overrides) => {
      const response = await authorize(createBrowser(), overrides);
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await response.text()).not.toContain('<b>');
    },
  );
});

describe('the pages', () => {
  it('escape a login_hint, allow no script, and name the app’s origin as a form target', async () => {
    const login_hint = `"><script>alert('1')</script>&`;
    const page = await authorize(createBrowser(), { login_hint });
    const html = await page.text();
    expect(html).toContain(`value="${escapeHtml(login_hint)}"`);
    expect(html).not.toContain('<script');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^ ]+'; img-src data:; /);
    expect(policy).toContain(
      `form-action 'self' ${ORIGIN}; base-uri 'none'; frame-ancestors 'none'`,
    );
  });

  it('have one for a path that there is not, with the way to the settings', async () => {
    const page = await createBrowser()(`${issuer.url}/nothing`);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(await page.text()).toContain('<a href="/">');
  });

  it.each(['', '"><script>@example.com'])(
    'show the sign-in again with a message for %j',
    async (email) => {
      const browser = createBrowser();
      const action = await actionOf(await authorize(browser));
      const page = await browser(action, { email });
      const html = await page.text();
      expect(page.status).toBe(400);
      expect(html).toMatch(/role="alert">[^<]*an e-mail address, such as you@example\.com\.</);
      expect(html).toContain(`value="${escapeHtml(email)}"`);
      expect(callback(await browser(action, { email: ANA })).has('code')).toBe(true);
    },
  );

  it('send access_denied to the app when the user cancels, after which the sign-in has expired', async () => {
    const browser = createBrowser();
    const action = await actionOf(await authorize(browser));
    const query = callback(await browser(action, { cancel: '1' }));
    expect(Object.fromEntries(query)).toMatchObject({ error: 'access_denied', state: 'state-1' });
    const page = await browser(action);
    expect([page.status, await page.text()]).toEqual([
      400,
      expect.stringContaining('Sign-in expired'),
    ]);
  });

  it('are not served under another host name', async () => {
    const rebound = request(issuer.url, { headers: { host: 'evil.example' } }).end();
    const [response] = await once(rebound, 'response');
    response.resume();
    expect(response.statusCode).toBe(421);
  });
});

it('a refresh token gives a new ID token of the same sign-in', async () => {
  const first = await exchange(await signIn());
  const second = await refresh(first.refresh_token);
  const [before, after] = [decodeJwt(first.id_token), decodeJwt(second.id_token)];
  for (const claim of ['sub', 'email', 'origin_jti', 'auth_time']) {
    expect(after[claim]).toBe(before[claim]);
  }
});

describe('sign-out', () => {
  const logout = (browser: Browser, parameters: Record<string, string>): Promise<Response> =>
    browser(`${issuer.url}/logout?${new URLSearchParams(parameters).toString()}`);
  const HOME = `${ORIGIN}/`;
  const CLIENT = { client_id: 'inquiries-local' };

  it.each([
    ['Cognito’s parameters', { logout_uri: HOME }, HOME],
    [
      'those of OpenID Connect',
      { post_logout_redirect_uri: HOME, state: 'bye' },
      `${HOME}?state=bye`,
    ],
  ])(
    'with %s returns to the app and ends session and refresh token',
    async (_name, parameters, target) => {
      const browser = createBrowser();
      const { refresh_token } = await exchange(await signIn(browser));
      expect(await isSignedIn(browser)).toBe(true);
      const response = await logout(browser, { ...CLIENT, ...parameters });
      expect([response.status, response.headers.get('location')]).toEqual([303, target]);
      expect(await isSignedIn(browser)).toBe(false);
      expect(await refresh(refresh_token)).toMatchObject(INVALID_GRANT);
    },
  );

  it.each([
    ['an unregistered logout_uri', { ...CLIENT, logout_uri: 'https://evil.example/' }],
    ['no logout_uri', CLIENT],
    ['another client', { client_id: 'other', logout_uri: HOME }],
  ])('refuses %s and keeps the session', async (_name, parameters) => {
    const browser = createBrowser();
    await signIn(browser);
    const response = await logout(browser, parameters);
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(await response.text()).toMatch(/(logout_uri|client_id) must be/);
    expect(await isSignedIn(browser)).toBe(true);
  });
});

// Last, because oidc-provider prints each of its notices once per process.
it('writes nothing to the console', () => {
  expect(notices).toEqual([]);
});
