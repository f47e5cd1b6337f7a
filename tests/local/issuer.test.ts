import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, expect, it } from 'vitest';
import { startIssuer } from '../../local/issuer/issuer-server.ts';
import { subOf } from '../../lib/issuer-tokens.ts';

const ORIGIN = 'http://localhost:5173';
const CALLBACK = `${ORIGIN}/callback`;
const HOME = `${ORIGIN}/`;
const EMAIL = 'dora@example.com';
const VERIFIER = 'v'.repeat(43);

const issuer = await startIssuer({ port: 0, webOrigins: [ORIGIN] });
afterAll(issuer.close);

/** Keeps cookies, and follows redirects within the issuer. */
function createBrowser() {
  const jar = new Map<string, string>();
  async function visit(url: string, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(new URL(url, issuer.url), {
      redirect: 'manual',
      headers: { accept: 'text/html', origin: ORIGIN, cookie: [...jar.values()].join('; ') },
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
    /** Signs in, and exchanges the code for tokens. */
    async signIn() {
      const { url } = await authorize();
      const { code = '', state } = callback(await visit(url, { email: EMAIL }));
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

/** The parameters at the web app's redirect URI. */
function callback(response: Response): Partial<Record<string, string>> {
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

it('has Cognito’s paths, and pages that escape texts and run no script', async () => {
  const { authorize, visit } = createBrowser();
  const shown: string[] = [];
  const show = async (title: string, response: Response) => {
    const names = ['access-control-allow-origin', 'content-security-policy'];
    const headers = names.flatMap((name) => response.headers.get(name) ?? []);
    const body = (await response.text()).replace(/<style>.*<\/style>/s, '');
    shown.push([`# ${title}`, response.status, ...headers, body].join('\n'));
  };
  await show('discovery', await visit('/.well-known/openid-configuration'));
  await show('settings', await visit('/'));
  const evil = 'https://evil.example/"><b>';
  await show('another redirect address', await authorize({ redirect_uri: evil }));
  await show('another client', await authorize({ client_id: 'other<b>' }));
  const page = await authorize();
  await show('the sign-in page', page);
  await show('an address that is none', await visit(page.url, { email: 'ana' }));
  const cancelled = callback(await visit(page.url, { cancel: '' }));
  expect(cancelled).toMatchObject({ error: 'access_denied', state: 'state-1' });
  await show('the sign-in page afterwards', await visit(page.url));
  const golden = shown.join('\n').replaceAll(issuer.url, 'ISSUER');
  await expect(golden).toMatchFileSnapshot('golden/issuer.txt');
});

it('turns a sign-in into an ID token with the claims of npm run token, and refreshes it', async () => {
  /** Without what differs. */
  const read = (token: string) => {
    const { jti: _, iat = 0, exp = 0, ...claims } = decodeJwt(token);
    return { ...claims, lifetime: exp - iat };
  };
  const { id_token, refresh_token } = await createBrowser().signIn();
  const claims = read(id_token);
  expect(claims).toMatchObject({ sub: subOf(EMAIL), email: EMAIL, lifetime: 3_600 });
  expect(claims).toEqual(read(await issuer.token({ email: EMAIL })));
  expect(claims).toEqual(read((await refresh(refresh_token)).id_token));
});

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
  'answers a sign-out with %j by %i, and ends session and refresh token or not',
  async (given, status) => {
    const { signIn, visit, authorize } = createBrowser();
    const { refresh_token } = await signIn();
    const response = await visit(`/logout?${new URLSearchParams(given).toString()}`);
    const isOver = status === 303;
    expect([response.status, response.headers.get('location')]).toEqual([
      status,
      isOver ? HOME : null,
    ]);
    expect('code' in callback(await authorize({ prompt: 'none' }))).toBe(!isOver);
    expect((await refresh(refresh_token)).error).toBe(isOver ? 'invalid_grant' : undefined);
  },
);
