/**
 * The local issuer over HTTP: every flow as a browser and a single-page app go through it.
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startIssuer, subOf } from '../../scripts/local/issuer.ts';
import type { Issuer } from '../../scripts/local/issuer.ts';
import { messagePage } from '../../scripts/local/sign-in-page.ts';

const ORIGIN = 'http://localhost:5173';
const CALLBACK = `${ORIGIN}/callback`;
const ANA = 'ana@example.com';
const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

let issuer: Issuer;
let folder: string;
const consoleCalls: unknown[][] = [];

beforeAll(async () => {
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, method).mockImplementation((...args: unknown[]) => void consoleCalls.push(args));
  }
  folder = await mkdtemp(join(tmpdir(), 'issuer-'));
  issuer = await startIssuer({ port: 0, webOrigins: [ORIGIN] });
});

afterAll(async () => {
  vi.restoreAllMocks();
  await issuer.close();
  await rm(folder, { recursive: true });
});

// --- A browser: cookies by path, redirects followed while they stay with the issuer.

interface Browser {
  visit(url: string, form?: Record<string, string>): Promise<Response>;
}

function createBrowser(): Browser {
  const jar = new Map<string, { value: string; path: string }>();
  const send = async (url: string, form?: Record<string, string>) => {
    const { pathname } = new URL(url);
    const cookie = [...jar].filter(([, { path }]) => pathname.startsWith(path));
    const response = await fetch(url, {
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        cookie: cookie.map(([name, { value }]) => `${name}=${value}`).join('; '),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/expires=Thu, 01 Jan 1970/.test(line)) jar.delete(name);
      else jar.set(name, { value, path: /path=([^;]+)/.exec(line)?.[1] ?? '/' });
    }
    return response;
  };
  const visit = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const response = await send(url, form);
    const target = new URL(response.headers.get('location') ?? 'about:blank', url);
    return target.origin === new URL(issuer.url).origin ? visit(target.href) : response;
  };
  return { visit };
}

function createPkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

function authorizeUrl(challenge: string, overrides: Record<string, string | undefined> = {}): string {
  const parameters = {
    client_id: issuer.clientId,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'openid email profile',
    state: 'state-1',
    nonce: 'nonce-1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...overrides,
  };
  const query = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `${issuer.url}/oauth2/authorize?${new URLSearchParams(query).toString()}`;
}

/** Where a form of the sign-in page posts to. */
async function actionOf(page: Response): Promise<string> {
  const html = await page.text();
  return new URL(/<form method="post" action="([^"]+)"/.exec(html)?.[1] ?? '', issuer.url).href;
}

function landing(response: Response): URLSearchParams {
  const location = new URL(response.headers.get('location') ?? 'about:blank');
  expect(`${location.origin}${location.pathname}`).toBe(CALLBACK);
  return location.searchParams;
}

async function signIn(browser: Browser, email = ANA, overrides: Record<string, string | undefined> = {}) {
  const { verifier, challenge } = createPkce();
  const page = await browser.visit(authorizeUrl(challenge, overrides));
  expect(page.status).toBe(200);
  const query = landing(await browser.visit(await actionOf(page), { email }));
  return { code: query.get('code') ?? '', verifier, query };
}

interface Tokens {
  access_token: string;
  id_token: string;
  refresh_token: string;
  expires_in: number;
  error?: string;
}

async function postToken(form: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams({ client_id: issuer.clientId, ...form });
  const response = await fetch(`${issuer.url}/oauth2/token`, { method: 'POST', body, headers });
  const tokens: Tokens = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, ...tokens };
}

function exchange(code: string, verifier: string) {
  return postToken({
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: CALLBACK,
  });
}

function refresh(token: string) {
  return postToken({ grant_type: 'refresh_token', refresh_token: token });
}

async function verify(token: string) {
  const keys = createRemoteJWKSet(new URL(`${issuer.url}/.well-known/jwks.json`));
  return jwtVerify(token, keys, { issuer: issuer.url, audience: issuer.audience, algorithms: ['RS256'] });
}

async function isSignedIn(browser: Browser): Promise<boolean> {
  const response = await browser.visit(authorizeUrl(createPkce().challenge, { prompt: 'none' }));
  return landing(response).has('code');
}

describe('discovery', () => {
  it('names the issuer, its endpoints and what a client needs to know', async () => {
    const response = await fetch(`${issuer.url}/.well-known/openid-configuration`);
    expect(await response.json()).toMatchObject({
      issuer: issuer.url,
      authorization_endpoint: `${issuer.url}/oauth2/authorize`,
      token_endpoint: `${issuer.url}/oauth2/token`,
      userinfo_endpoint: `${issuer.url}/oauth2/userInfo`,
      end_session_endpoint: `${issuer.url}/session/end`,
      jwks_uri: `${issuer.url}/.well-known/jwks.json`,
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: ['RS256'],
      scopes_supported: expect.arrayContaining(['openid', 'email', 'profile']),
    });
    expect(issuer.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('offers nothing that Cognito does not', async () => {
    const response = await fetch(`${issuer.url}/.well-known/openid-configuration`);
    expect(await response.text()).not.toMatch(/pushed_authorization|dpop|device|registration|introspection/);
  });

  it('publishes one RSA key and nothing private', async () => {
    const response = await fetch(`${issuer.url}/.well-known/jwks.json`);
    const { keys }: { keys: object[] } = JSON.parse(await response.text());
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0] ?? {}).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });

  it.each(['/.well-known/openid-configuration', '/.well-known/jwks.json'])(
    'lets web apps read %s',
    async (path) => {
      const response = await fetch(`${issuer.url}${path}`, { headers: { origin: ORIGIN } });
      expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    },
  );
});

describe('the code flow', () => {
  it('turns a sign-in into an ID token in the shape of Cognito’s', async () => {
    const { code, verifier, query } = await signIn(createBrowser(), 'dora@example.com');
    expect(query.get('state')).toBe('state-1');
    expect(query.get('iss')).toBe(issuer.url);

    const tokens = await exchange(code, verifier);
    expect(tokens).toMatchObject({ status: 200, expires_in: 3600, refresh_token: expect.any(String) });
    const { payload, protectedHeader } = await verify(tokens.id_token);
    const sub = subOf('dora@example.com');
    expect(payload).toEqual({
      sub,
      iss: issuer.url,
      aud: issuer.clientId,
      token_use: 'id',
      'cognito:username': sub,
      email: 'dora@example.com',
      email_verified: true,
      auth_time: expect.any(Number),
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 3600,
      jti: expect.stringMatching(UUID_V4),
      event_id: expect.stringMatching(UUID_V4),
      origin_jti: expect.stringMatching(UUID_V4),
      nonce: 'nonce-1',
    });
    expect(protectedHeader).toEqual({ alg: 'RS256', kid: expect.any(String) });
  });

  it('puts the same claims into token() as into its ID token', async () => {
    const { code, verifier } = await signIn(createBrowser());
    const { id_token } = await exchange(code, verifier);
    const { nonce, ...flow } = decodeJwt(id_token);
    const direct = decodeJwt(await issuer.token());
    expect(nonce).toBe('nonce-1');
    expect(Object.keys(direct).toSorted()).toEqual(Object.keys(flow).toSorted());
    const stable = ['sub', 'iss', 'aud', 'token_use', 'cognito:username', 'email', 'email_verified'];
    for (const claim of stable) expect(direct[claim]).toEqual(flow[claim]);
    expect(decodeProtectedHeader(await issuer.token())).toEqual(decodeProtectedHeader(id_token));
  });

  it('ignores resource indicators, as Cognito does', async () => {
    const { code, verifier } = await signIn(createBrowser(), ANA, { resource: 'https://api.example' });
    expect(await exchange(code, verifier)).toMatchObject({ status: 200 });
  });

  it('gives every claim for scope=openid alone, and no nonce that was not sent', async () => {
    const { code, verifier } = await signIn(createBrowser(), ANA, { scope: 'openid', nonce: undefined });
    const claims = decodeJwt((await exchange(code, verifier)).id_token);
    expect(claims).toMatchObject({ email: ANA, email_verified: true, 'cognito:username': subOf(ANA) });
    expect(claims).not.toHaveProperty('nonce');
  });

  it('accepts the origin itself as redirect URI', async () => {
    const browser = createBrowser();
    const page = await browser.visit(authorizeUrl(createPkce().challenge, { redirect_uri: `${ORIGIN}/` }));
    const response = await browser.visit(await actionOf(page), { email: ANA });
    expect(response.headers.get('location')).toMatch(/^http:\/\/localhost:5173\/\?code=/);
  });

  it('refuses a code whose verifier is wrong', async () => {
    const { code, verifier } = await signIn(createBrowser());
    expect(await exchange(code, createPkce().verifier)).toMatchObject({
      status: 400,
      error: 'invalid_grant',
    });
    expect(await exchange(code, verifier)).toMatchObject({ status: 200 });
  });

  it('refuses a code the second time, and ends what the first time gave', async () => {
    const { code, verifier } = await signIn(createBrowser());
    const first = await exchange(code, verifier);
    expect(first.status).toBe(200);
    expect(await exchange(code, verifier)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await refresh(first.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it.each([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
    ['with the plain method', { code_challenge_method: 'plain' }],
    ['without a method, which means plain', { code_challenge_method: undefined }],
    ['for a token in the URL', { response_type: 'id_token' }],
  ])('sends the client an error for a request %s', async (_name, overrides) => {
    const response = await createBrowser().visit(authorizeUrl(createPkce().challenge, overrides));
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toMatch(/error=(invalid_request|unsupported_response_type)/);
  });

  it.each([
    ['a foreign origin', 'https://evil.example/callback'],
    ['another path', `${ORIGIN}/elsewhere`],
    ['another port', 'http://localhost:5174/callback'],
    ['a query added', `${CALLBACK}?next=1`],
  ])('never redirects to %s', async (_name, uri) => {
    const response = await createBrowser().visit(authorizeUrl(createPkce().challenge, { redirect_uri: uri }));
    expect(response.status).toBe(400);
    expect(response.headers.get('location')).toBeNull();
    expect(await response.text()).toContain('invalid_redirect_uri');
  });

  it('answers an unknown client with an error page of its own, under the same policy', async () => {
    const response = await createBrowser().visit(authorizeUrl('x', { client_id: 'other' }));
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await response.text()).toContain('<h1>invalid_client</h1>');
  });

  it('escapes whatever an error page says', () => {
    const page = messagePage('<b>', `<i title="'">&`);
    expect(page).toContain('<h1>&#60;b&#62;</h1>');
    expect(page).toContain('<p>&#60;i title=&#34;&#39;&#34;&#62;&#38;</p>');
  });
});

describe('the sign-in page', () => {
  it('offers the demo users, allows no script, and names the app’s origin as a form target', async () => {
    const page = await createBrowser().visit(authorizeUrl(createPkce().challenge));
    const html = await page.text();
    for (const user of ['ana', 'ben', 'chiara']) expect(html).toContain(`value="${user}@example.com"`);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`form-action 'self' ${ORIGIN};`);
    expect(policy).not.toContain('unsafe');
    const style = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? '';
    expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  });

  it('prefills login_hint and escapes a hostile one', async () => {
    const hint = `"><script>alert('1')</script>&`;
    const page = await createBrowser().visit(authorizeUrl(createPkce().challenge, { login_hint: hint }));
    const html = await page.text();
    expect(html).not.toContain('<script');
    const value = /<input[^>]*? value="([^"]*)"/.exec(html)?.[1] ?? '';
    expect(value.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)))).toBe(
      hint,
    );
  });

  it.each([
    '',
    'ana',
    'ana@',
    'a b@example.com',
    '"><script>@example.com',
    'ana@example.com, ben@example.com',
  ])('shows itself again, with a message and what was typed, for %j', async (email) => {
    const browser = createBrowser();
    const action = await actionOf(await browser.visit(authorizeUrl(createPkce().challenge)));
    const page = await browser.visit(action, { email });
    const html = await page.text();
    expect(page.status).toBe(400);
    expect(html).toMatch(/id="problem" role="alert">[^<]*an e-mail address, such as you@example\.com\.</);
    expect(html).toContain('aria-invalid="true" aria-describedby="problem"');
    expect(html).toContain(`value="${email.replaceAll(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)}"`);
    expect(html).not.toContain('<script');
    expect((await browser.visit(action, { email: ANA })).headers.get('location')).toMatch(/[?&]code=/);
  });

  it('sends access_denied back when the user cancels', async () => {
    const browser = createBrowser();
    const page = await browser.visit(authorizeUrl(createPkce().challenge));
    const query = landing(await browser.visit(await actionOf(page), { cancel: '1' }));
    expect(Object.fromEntries(query)).toMatchObject({ error: 'access_denied', state: 'state-1' });
  });

  it('says that a sign-in has expired instead of failing', async () => {
    const response = await createBrowser().visit(`${issuer.url}/sign-in/unknown`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('Go back to the application');
  });
});

describe('the session', () => {
  it('signs in silently the second time, as the same user', async () => {
    const browser = createBrowser();
    await signIn(browser, 'ben@example.com');
    const { verifier, challenge } = createPkce();
    const query = landing(await browser.visit(authorizeUrl(challenge)));
    const { id_token } = await exchange(query.get('code') ?? '', verifier);
    expect(decodeJwt(id_token)['email']).toBe('ben@example.com');
  });

  it('answers prompt=none with login_required when nobody is signed in', async () => {
    const response = await createBrowser().visit(authorizeUrl(createPkce().challenge, { prompt: 'none' }));
    expect(landing(response).get('error')).toBe('login_required');
  });

  it('asks again for prompt=login, and can change the user', async () => {
    const browser = createBrowser();
    await signIn(browser, ANA);
    await signIn(browser, ANA, { prompt: 'login' });
    const { verifier, challenge } = createPkce();
    const page = await browser.visit(authorizeUrl(challenge, { prompt: 'login' }));
    expect(page.status).toBe(200);
    // oidc-provider ends the old session by a form that posts itself.
    const form = await browser.visit(await actionOf(page), { email: 'ben@example.com' });
    const html = await form.text();
    const fields = [...html.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    const action = /action="([^"]+)"/.exec(html)?.[1] ?? '';
    const query = landing(await browser.visit(action, Object.fromEntries(fields)));
    const { id_token } = await exchange(query.get('code') ?? '', verifier);
    expect(decodeJwt(id_token)).toMatchObject({ email: 'ben@example.com', sub: subOf('ben@example.com') });
  });

  it('asks for no consent, not even for prompt=consent with offline_access', async () => {
    const browser = createBrowser();
    await signIn(browser);
    const overrides = { prompt: 'consent', scope: 'openid offline_access' };
    expect(landing(await browser.visit(authorizeUrl(createPkce().challenge, overrides))).has('code')).toBe(
      true,
    );
  });

  it('shows the userinfo endpoint’s caller who they are', async () => {
    const { code, verifier } = await signIn(createBrowser());
    const { access_token } = await exchange(code, verifier);
    const headers = { authorization: `Bearer ${access_token}`, origin: ORIGIN };
    const response = await fetch(`${issuer.url}/oauth2/userInfo`, { headers });
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(await response.json()).toEqual({ sub: subOf(ANA), email: ANA, email_verified: true });
  });
});

describe('refresh tokens', () => {
  it('give a new ID token of the same sign-in, once', async () => {
    const { code, verifier } = await signIn(createBrowser());
    const first = await exchange(code, verifier);
    const second = await refresh(first.refresh_token);
    expect(second.status).toBe(200);
    const [before, after] = [decodeJwt(first.id_token), (await verify(second.id_token)).payload];
    for (const claim of ['sub', 'email', 'origin_jti', 'auth_time']) expect(after[claim]).toBe(before[claim]);
    expect(after.jti).not.toBe(before.jti);
    expect(await refresh(first.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('are open to the web app’s origin and to no other', async () => {
    const [own, foreign] = await Promise.all(
      [ORIGIN, 'https://evil.example'].map((origin) =>
        postToken({ grant_type: 'refresh_token' }, { origin }),
      ),
    );
    expect(own?.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(foreign?.headers.get('access-control-allow-origin')).toBeNull();
  });
});

function endSession(parameters: Record<string, string>): string {
  return `${issuer.url}/session/end?${new URLSearchParams(parameters).toString()}`;
}

function logout(parameters: Record<string, string>): string {
  return `${issuer.url}/logout?${new URLSearchParams(parameters).toString()}`;
}

describe('sign-out', () => {
  it('at the end_session_endpoint goes straight back and ends session and refresh token', async () => {
    const browser = createBrowser();
    const { code, verifier } = await signIn(browser);
    const { id_token, refresh_token } = await exchange(code, verifier);
    expect(await isSignedIn(browser)).toBe(true);
    const parameters = { id_token_hint: id_token, post_logout_redirect_uri: `${ORIGIN}/`, state: 'bye' };
    const response = await browser.visit(endSession(parameters));
    expect([response.status, response.headers.get('location')]).toEqual([303, `${ORIGIN}/?state=bye`]);
    const [cookie] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^issuer_\d+=; .*expires=Thu, 01 Jan 1970/);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await refresh(refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('at the end_session_endpoint works with a client_id, and without anyone signed in', async () => {
    const parameters = { client_id: issuer.clientId, post_logout_redirect_uri: `${ORIGIN}/` };
    const response = await createBrowser().visit(endSession(parameters));
    expect([response.status, response.headers.get('location')]).toEqual([303, `${ORIGIN}/`]);
  });

  it('at the end_session_endpoint without a target says that it is done', async () => {
    const browser = createBrowser();
    await signIn(browser);
    const response = await browser.visit(endSession({}));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('Signed out');
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('at the end_session_endpoint refuses an unregistered target and keeps the session', async () => {
    const browser = createBrowser();
    await signIn(browser);
    const parameters = { client_id: issuer.clientId, post_logout_redirect_uri: 'https://evil.example/' };
    const response = await browser.visit(endSession(parameters));
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('at Cognito’s /logout ends session and refresh token', async () => {
    const browser = createBrowser();
    const { code, verifier } = await signIn(browser);
    const { refresh_token } = await exchange(code, verifier);
    const response = await browser.visit(logout({ client_id: issuer.clientId, logout_uri: `${ORIGIN}/` }));
    expect([response.status, response.headers.get('location')]).toEqual([303, `${ORIGIN}/`]);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await refresh(refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it.each([
    [
      'an unregistered logout_uri',
      { client_id: 'inquiries-local', logout_uri: 'https://evil.example/' },
      'logout_uri',
    ],
    ['no logout_uri', { client_id: 'inquiries-local' }, 'logout_uri'],
    ['another client', { client_id: 'other', logout_uri: `${ORIGIN}/` }, 'client_id'],
  ])('at Cognito’s /logout refuses %s and keeps the session', async (_name, parameters, culprit) => {
    const browser = createBrowser();
    await signIn(browser);
    const response = await browser.visit(logout(parameters));
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(await response.text()).toContain(`${culprit} must be`);
    expect(await isSignedIn(browser)).toBe(true);
  });
});

const JSON_TYPE = { 'content-type': 'application/json' };

function post(body: string, headers: Record<string, string> = JSON_TYPE): Promise<Response> {
  return fetch(`${issuer.url}/local/token`, { method: 'POST', body, headers });
}

describe('tokens without the sign-in page', () => {
  it('default to the first demo user and an hour', async () => {
    const response = await post('{}');
    const { token }: { token: string } = JSON.parse(await response.text());
    const { payload } = await verify(token);
    expect(payload).toMatchObject({ email: ANA, sub: subOf(ANA), exp: (payload.iat ?? 0) + 3600 });
  });

  it('take e-mail, sub and lifetime', async () => {
    const ben = decodeJwt(await issuer.token({ email: 'ben@example.com' }));
    expect(ben).toMatchObject({ email: 'ben@example.com', sub: subOf('ben@example.com') });
    const odd = decodeJwt(await issuer.token({ sub: 'not-a-uuid', expiresIn: -60 }));
    expect(odd).toMatchObject({ email: ANA, sub: 'not-a-uuid', 'cognito:username': 'not-a-uuid' });
    expect(odd.exp).toBe((odd.iat ?? 0) - 60);
  });

  it('let claims override all others, and null remove', async () => {
    const claims = { iss: 'https://x.example', aud: 'y', exp: 'soon', email: null, n: [1, { a: null }] };
    const payload = decodeJwt(await issuer.token({ claims, expiresIn: 5 }));
    expect(payload).toMatchObject({ iss: 'https://x.example', aud: 'y', exp: 'soon', n: [1, { a: null }] });
    expect(payload).not.toHaveProperty('email');
  });

  it.each([
    ['not json', 'the body must be JSON'],
    ['', 'the body must be JSON'],
    ['[]', 'the body must be an object'],
    ['null', 'the body must be an object'],
    ['{"email":1}', 'email must be a string'],
    ['{"sub":null}', 'sub must be a string'],
    ['{"claims":[]}', 'claims must be an object'],
    ['{"claims":"{}"}', 'claims must be an object'],
    ['{"expiresIn":"60"}', 'expiresIn must be a whole number of seconds'],
    ['{"expiresIn":1.5}', 'expiresIn must be a whole number of seconds'],
    ['{"emial":"x"}', 'emial is not one of: email, sub, claims, expiresIn'],
  ])('are refused for %j', async (body, error) => {
    const response = await post(body);
    expect([response.status, await response.json()]).toEqual([400, { error }]);
  });

  it('are not for foreign web pages: neither without a preflight nor with one', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      expect((await post('{}', { 'content-type': type })).status).toBe(415);
    }
    const put = await fetch(`${issuer.url}/local/token`, { method: 'PUT', body: '{}', headers: JSON_TYPE });
    expect(put.status).toBe(415);
    const preflight = await fetch(`${issuer.url}/local/token`, {
      method: 'OPTIONS',
      headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
    });
    const allowed = await post('{}', { ...JSON_TYPE, origin: ORIGIN });
    for (const { headers } of [preflight, allowed])
      expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(preflight.ok).toBe(false);
  });

  it('are refused with 413 for a body beyond a megabyte', async () => {
    expect((await post(JSON.stringify({ email: 'x'.repeat(1_000_000) }))).status).toBe(413);
  });

  it('are not to be had, and nothing else either, under another host name', async () => {
    const rebound = request(issuer.url, { headers: { host: 'evil.example' } }).end();
    const [response] = await once(rebound, 'response');
    response.resume();
    expect(response.statusCode).toBe(421);
  });
});

describe('subOf', () => {
  it('makes one UUID in version-4 form of one spelling', () => {
    const emails = [
      ANA,
      'Ana@example.com',
      '',
      'ö@example.com',
      ...Array.from({ length: 200 }, (_, i) => `u${i}`),
    ];
    for (const email of emails) expect(subOf(email)).toMatch(UUID_V4);
    expect(new Set(emails.map(subOf)).size).toBe(emails.length);
    expect(subOf(ANA)).toBe('1daae433-47cc-48ff-bf9b-73f530b9d7bc'); // fixed: stored inquiries belong to it
  });
});

describe('the key file', () => {
  it('keeps tokens valid over a restart, for its owner’s eyes only', async () => {
    const keysFile = join(folder, 'new', 'keys.json');
    const first = await startIssuer({ port: 0, keysFile });
    const token = await first.token();
    await first.close();
    const second = await startIssuer({ port: 0, keysFile });
    const keys = createRemoteJWKSet(new URL(`${second.url}/.well-known/jwks.json`));
    expect((await jwtVerify(token, keys)).payload.sub).toBe(subOf(ANA));
    await second.close();
    expect((await stat(keysFile)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'new'))).toEqual(['keys.json']);
  });

  it('is named in one line, which quotes nothing of it, when it is of no use', async () => {
    const good = await startIssuer({ port: 0, keysFile: join(folder, 'good.json') });
    await good.close();
    const { jwk, ...rest } = JSON.parse(await readFile(join(folder, 'good.json'), 'utf8'));
    const { kty, n, e, kid } = jwk;
    const contents = [
      '',
      'secret-text',
      '{}',
      'null',
      JSON.stringify({ jwk }),
      JSON.stringify({ jwk: { kty, n, e, kid }, ...rest }),
    ];
    for (const [index, content] of contents.entries()) {
      const keysFile = join(folder, `bad-${index}.json`);
      await writeFile(keysFile, content);
      const error: unknown = await startIssuer({ port: 0, keysFile }).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(Error);
      expect(String(error)).toMatch(
        new RegExp(`^UsageError: [^\\n]*bad-${index}\\.json: [^\\n]*delete it[^\\n]*$`),
      );
      expect(String(error)).not.toContain('secret-text');
      expect(await readFile(keysFile, 'utf8')).toBe(content);
    }
  });

  it('is named when it cannot be read or written', async () => {
    await writeFile(join(folder, 'file'), '');
    await chmod(join(folder, 'file'), 0o600);
    await expect(startIssuer({ port: 0, keysFile: folder })).rejects.toThrow(`${folder}: EISDIR`);
    const below = join(folder, 'file', 'keys.json');
    await expect(startIssuer({ port: 0, keysFile: below })).rejects.toThrow(`${below}: ENOTDIR`);
  });
});

describe('start and stop', () => {
  it('reject with the plain error when the port is taken', async () => {
    const port = Number(new URL(issuer.url).port);
    await expect(startIssuer({ port })).rejects.toMatchObject({ code: 'EADDRINUSE', port });
  });

  it('need no web app: without one nothing can be authorised, and token() works', async () => {
    const bare = await startIssuer({ port: 0 });
    expect(decodeJwt(await bare.token())['iss']).toBe(bare.url);
    const query = new URL(authorizeUrl(createPkce().challenge)).search;
    const response = await fetch(`${bare.url}/oauth2/authorize${query}`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    await bare.close();
  });

  it('end at once while a connection is open, even in the middle of a request', async () => {
    const other = await startIssuer({ port: 0 });
    const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
    socket.write(`GET / HTTP/1.1\r\nHost: ${new URL(other.url).host}\r\n\r\n`);
    await once(socket, 'data');
    socket.write('GET / HTTP/1.1\r\n');
    await fetch(other.url); // by now the server has read that too
    const closed = once(socket, 'close');
    await other.close();
    await closed;
    await expect(fetch(other.url)).rejects.toThrow('fetch failed');
  });
});

describe('npm run token', () => {
  const script = join(import.meta.dirname, '../../scripts/token.ts');
  const run = (args: string[], file = script) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [file, ...args], (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });

  it('prints the token, a newline, and nothing else', async () => {
    const args = ['--email', 'ben@example.com', '--claims', '{"email_verified":null}', '--expires-in', '-60'];
    const { code, stdout, stderr } = await run([...args, '--issuer', issuer.url]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const claims = decodeJwt(stdout.trim());
    expect(claims).toMatchObject({ email: 'ben@example.com', sub: subOf('ben@example.com') });
    expect(claims).not.toHaveProperty('email_verified');
    expect(claims.exp).toBe((claims.iat ?? 0) - 60);
  });

  it('explains itself', async () => {
    const { code, stdout } = await run(['--help']);
    expect([code, stdout.split('\n')[0]]).toEqual([0, 'Usage: npm run --silent token -- [options]']);
  });

  it.each([
    [['--foo'], 'Unknown option'],
    [['extra'], 'Unexpected argument'],
    [['--email'], "'--email <value>' argument missing"],
    [['--email', '--sub', 'x'], "'--email' argument is ambiguous"],
    [['--claims', '{'], '--claims is not JSON'],
    [['--claims', '[]'], 'claims must be an object'],
    [['--expires-in', '1.5'], '--expires-in must be a whole number of seconds'],
    [['--expires-in', 'soon'], '--expires-in must be a whole number of seconds'],
    [['--expires-in', '9'.repeat(20)], 'expiresIn must be a whole number of seconds'],
    [['--issuer', 'nowhere'], 'not a URL'],
    [['--issuer', 'http://127.0.0.1:1'], 'does not answer'],
  ])('says on one line what is wrong with %j', async (args, text) => {
    const own = args[0] === '--issuer' ? [] : ['--issuer', issuer.url];
    const { code, stdout, stderr } = await run([...own, ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(text);
  });

  it('finds the running stack’s issuer in .data/stack.json, and says so when it does not', async () => {
    const project = join(folder, 'project');
    const copy = join(project, 'scripts', 'token.ts');
    await mkdir(join(project, '.data'), { recursive: true });
    await writeFile(join(project, 'package.json'), '{"type":"module"}');
    await cp(script, copy);
    await cp(join(script, '../cli.ts'), join(copy, '../cli.ts'));
    const failure = async () => {
      const { code, stdout, stderr } = await run([], copy);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^[^\n]+\n$/);
      return stderr;
    };
    expect(await failure()).toContain('No local stack is running');
    const stack = join(project, '.data', 'stack.json');
    await writeFile(stack, '{');
    expect(await failure()).toContain('is not JSON');
    await writeFile(stack, '{"pid":1}');
    expect(await failure()).toContain('names no issuer');
    await writeFile(stack, JSON.stringify({ pid: 1, issuer: 'http://127.0.0.1:1' }));
    expect(await failure()).toContain('does not answer');
    await writeFile(stack, JSON.stringify({ pid: 1, issuer: issuer.url }));
    expect(decodeJwt((await run([], copy)).stdout.trim())['email']).toBe(ANA);
  });
});

describe('the console', () => {
  // The last test: oidc-provider prints each of its notices once per process, at the first use of what it is about.
  it('has been left alone by all of the above', () => {
    expect(consoleCalls).toEqual([]);
  });
});
