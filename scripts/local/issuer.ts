/**
 * The OpenID Connect issuer of the local stack, in the place of a Cognito user pool with its hosted sign-in.
 * oidc-provider does the protocol (code flow, PKCE, redirect URIs, refresh tokens); here are the shape of
 * Cognito's tokens, the way through the sign-in page, Cognito's /logout, and POST /local/token for the shell.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { dirname } from 'node:path';
import { CompactSign, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from 'jose';
import type { JWK } from 'jose';
import { Provider, errors } from 'oidc-provider';
import type {
  Adapter,
  AdapterPayload,
  Configuration,
  InteractionResults,
  KoaContextWithOIDC,
} from 'oidc-provider';
import { UsageError } from '../cli.ts';
import { close, listen } from './server.ts';
import { contentSecurityPolicy, messagePage, signInPage } from './sign-in-page.ts';

/** A user who can sign in locally. */
interface User {
  sub: string;
  email: string;
}

/** What a token made without the sign-in page shall say; everything has a default. */
export interface TokenRequest {
  /** Default: the first demo user. Any string, so that bad tokens can be made too. */
  email?: string;
  /** Default: `subOf(email)`. */
  sub?: string;
  /** Laid over the claims, whichever they are (`iss`, `aud` and `exp` included); null removes a claim. */
  claims?: Record<string, unknown>;
  /** Seconds from now to `exp`, negative for an expired token. Default: 3600. */
  expiresIn?: number;
}

export interface Issuer {
  /** The `iss` of its tokens: an origin, without a trailing slash. */
  url: string;
  clientId: string;
  /** The `aud` of its ID tokens: the client id, as Cognito does it. */
  audience: string;
  /** Signs an ID token with the same key and the same claims as the code flow. */
  token(request?: TokenRequest): Promise<string>;
  /** Ends at once, open connections or not. */
  close(): Promise<void>;
}

const CLIENT_ID = 'inquiries-local';
const DEMO_USERS = ['ana@example.com', 'ben@example.com', 'chiara@example.com'] as const;
const SCOPES = 'openid email profile offline_access';
const HOUR = 3600;
const MONTH = 30 * 24 * HOUR; // Cognito's default life of a refresh token
const MAX_BODY = 1_000_000;

/**
 * Starts the issuer on 127.0.0.1 and resolves once it answers. Its URL names the address, not `localhost`:
 * that name may mean ::1 first, where nobody listens, and shares its cookies with every other project on the
 * machine. Requests under any other Host are refused (421), which keeps DNS rebinding off POST /local/token.
 *
 * Sessions, codes and refresh tokens live in memory; signing out ends the refresh tokens too. Refresh tokens
 * are single-use (RFC 9700 section 4.14.2): using one twice revokes its family.
 *
 * @param options.port 0 takes any free port
 * @param options.keysFile keeps signing key and cookie secret, so that tokens outlive a restart
 * @param options.webOrigins origins of web apps: `<origin>/` and `<origin>/callback` are their redirect URIs,
 *   `<origin>/` their post-logout URI, and they get CORS. Without any, nobody can sign in, and there are only the
 *   tokens of `token()` and POST /local/token.
 * @throws the plain Node error (`code: 'EADDRINUSE'`, `port`) when the port is taken
 * @throws UsageError naming the key file when it cannot be used
 */
export async function startIssuer(options: {
  port: number;
  keysFile?: string;
  webOrigins?: string[];
}): Promise<Issuer> {
  const origins = (options.webOrigins ?? []).map((origin) => new URL(origin).origin);
  const keys = await loadKeys(options.keysFile);
  const server = createServer();
  const port = await listen(server, options.port);
  const url = `http://127.0.0.1:${port}`;

  const token = async ({
    email = DEMO_USERS[0],
    sub = subOf(email),
    claims = {},
    expiresIn = HOUR,
  }: TokenRequest = {}): Promise<string> => {
    const iat = Math.floor(Date.now() / 1000);
    const standard = { iss: url, aud: CLIENT_ID, auth_time: iat, iat, exp: iat + expiresIn };
    const all = Object.entries({ ...userClaims({ sub, email }, randomUUID()), ...standard, ...claims });
    const payload = JSON.stringify(Object.fromEntries(all.filter(([, value]) => value !== null)));
    return new CompactSign(Buffer.from(payload))
      .setProtectedHeader({ alg: 'RS256', kid: keys.kid })
      .sign(await importJWK(keys.jwk, 'RS256'));
  };

  const handle = createProvider({ url, port, keys, origins, token }).callback();
  server.on('request', (request, response) => void handle(request, response));
  return {
    url,
    clientId: CLIENT_ID,
    audience: CLIENT_ID,
    token,
    close: () => close(server),
  };
}

/** The `sub` of an e-mail address: a UUID in version-4 form, always the same one for the same spelling. */
export function subOf(email: string): string {
  return uuidOf(`sub ${email}`);
}

/**
 * The claims of a Cognito ID token that say who the user is. The code flow and `token()` both take them from here.
 *
 * @param origin names the sign-in: `origin_jti` stays the same over its refreshes
 */
function userClaims({ sub, email }: User, origin: string) {
  return {
    sub,
    token_use: 'id',
    'cognito:username': sub,
    email,
    email_verified: true,
    event_id: randomUUID(),
    origin_jti: uuidOf(`origin ${origin}`),
    jti: randomUUID(),
  };
}

function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // RFC 9562 section 4: version 4, variant 10
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

type Context = Parameters<Parameters<Provider['use']>[0]>[0];

interface Parts {
  url: string;
  port: number;
  keys: Keys;
  origins: string[];
  token: Issuer['token'];
}

/** The Koa app: oidc-provider with the issuer's own routes in front of it. */
function createProvider({ url, port, keys, origins, token }: Parts): Provider {
  const users = new Map<string, User>();
  const homes = origins.map((origin) => `${origin}/`);
  const host = new URL(url).host;

  const configuration: Configuration = {
    adapter: createMemoryAdapter,
    jwks: { keys: [keys.jwk] },
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: 'none', // a public client: oidc-provider requires PKCE, and knows S256 only
        grant_types: homes.length > 0 ? ['authorization_code', 'refresh_token'] : [],
        response_types: homes.length > 0 ? ['code'] : [],
        redirect_uris: origins.flatMap((origin) => [`${origin}/`, `${origin}/callback`]),
        post_logout_redirect_uris: homes,
      },
    ],
    clientAuthMethods: ['none'],
    clientBasedCORS: (_ctx, origin) => origins.includes(origin),
    responseTypes: ['code'],
    // As in Cognito, openid alone brings them all. In the code flow, oidc-provider leaves other scopes' claims out
    // of the ID token.
    claims: {
      openid: [...Object.keys(userClaims({ sub: '', email: '' }, '')), 'auth_time'],
      email: ['email', 'email_verified'],
      profile: ['cognito:username'],
    },
    findAccount: (_ctx, sub, source) => {
      const user = users.get(sub);
      if (!user) return undefined;
      const origin = source !== undefined && 'grantId' in source ? String(source.grantId) : sub;
      const claims = userClaims(user, origin);
      const { email, email_verified } = claims;
      return {
        accountId: sub,
        claims: (use) => (use === 'userinfo' ? { sub, email, email_verified } : claims),
      };
    },
    // No consent screen: whoever signs in has granted everything.
    loadExistingGrant: async ({ oidc }) => {
      const clientId = oidc.client?.clientId ?? '';
      const known = await oidc.provider.Grant.find(oidc.session?.grantIdFor(clientId) ?? '');
      if (known) return known;
      const grant = new oidc.provider.Grant({ accountId: oidc.account?.accountId, clientId });
      grant.addOIDCScope(SCOPES);
      await grant.save();
      return grant;
    },
    issueRefreshToken: () => true, // Cognito does not wait for offline_access
    // Cookies know no ports: with theirs in the name, two stacks on a machine leave each other's session alone.
    cookies: {
      keys: [keys.cookieSecret],
      names: { session: `issuer_${port}`, interaction: `step_${port}`, resume: `resume_${port}` },
    },
    // Numbers throughout: the default functions announce themselves on the console.
    ttl: {
      AccessToken: HOUR,
      AuthorizationCode: 60,
      IdToken: HOUR,
      Interaction: HOUR,
      Grant: MONTH,
      RefreshToken: MONTH,
      Session: MONTH,
    },
    routes: {
      authorization: '/oauth2/authorize',
      token: '/oauth2/token',
      userinfo: '/oauth2/userInfo',
      jwks: '/.well-known/jwks.json',
    },
    interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}` },
    renderError: (ctx, { error, error_description: text }) =>
      show(ctx, ctx.status, messagePage(error, text ?? 'No more is known.')),
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      rpInitiatedLogout: {
        logoutSource: () => undefined, // the middleware below ends the session instead of asking
        postLogoutSuccessSource: (ctx) =>
          show(ctx, 200, messagePage('Signed out', 'You can close this page.')),
      },
    },
  };
  const provider = new Provider(url, configuration);

  const signIn = async (ctx: Context): Promise<void> => {
    const { params, prompt } = await provider.interactionDetails(ctx.req, ctx.res);
    const finish = async (result: InteractionResults) =>
      redirect(ctx, await provider.interactionResult(ctx.req, ctx.res, result));
    if (prompt.name === 'consent') return finish({ consent: {} }); // only prompt=consent leads here
    const form = ctx.method === 'POST' ? new URLSearchParams(await readBody(ctx.req)) : undefined;
    if (form?.has('cancel')) {
      return finish({ error: 'access_denied', error_description: 'The sign-in was cancelled.' });
    }
    const email = form?.get('email')?.trim() ?? '';
    if (EMAIL.test(email)) {
      const sub = subOf(email);
      users.set(sub, { sub, email });
      return finish({ login: { accountId: sub } });
    }
    const hint = typeof params['login_hint'] === 'string' ? params['login_hint'] : '';
    const { origin, host: returnTo } = new URL(String(params['redirect_uri']));
    const page = signInPage({
      action: ctx.path,
      returnTo,
      users: DEMO_USERS,
      email: form ? email : hint,
      ...(form && {
        problem: `${email ? `“${email}” is not` : 'Type'} an e-mail address, such as you@example.com.`,
      }),
    });
    return show(ctx, form ? 400 : 200, page, origin);
  };

  const endSession = async (ctx: Context): Promise<void> => {
    const session = oidcOf(ctx)?.session ?? (await provider.Session.get(ctx));
    await session.destroy(); // the tokens that hang on it cannot be refreshed any more
    ctx.cookies.set(provider.cookieName('session'), null, { overwrite: true });
  };

  // https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html
  const logout = async (ctx: Context): Promise<void> => {
    const { client_id: clientId, logout_uri: target } = ctx.query;
    if (clientId !== CLIENT_ID) {
      return show(ctx, 400, messagePage('Not signed out', `client_id must be ${CLIENT_ID}.`));
    }
    if (typeof target !== 'string' || !homes.includes(target)) {
      return show(ctx, 400, messagePage('Not signed out', `logout_uri must be one of: ${homes.join(', ')}`));
    }
    await endSession(ctx);
    return redirect(ctx, target);
  };

  const localToken = async (ctx: Context): Promise<void> => {
    const answer = (status: number, body: object) => Object.assign(ctx, { status, body });
    // Other types a foreign page could post without a preflight (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
    if (ctx.method !== 'POST' || ctx.request.type !== 'application/json') {
      return void answer(415, { error: 'only a POST of application/json is answered here' });
    }
    const text = await readBody(ctx.req);
    let request: TokenRequest;
    try {
      request = parseTokenRequest(text);
    } catch (error) {
      return void answer(400, { error: reason(error) });
    }
    return void answer(200, { token: await token(request) });
  };

  provider.use(async (ctx, next) => {
    if (ctx.host !== host) return void Object.assign(ctx, { status: 421, body: `This issuer is ${url}\n` });
    if (ctx.path === '/local/token') return localToken(ctx);
    if (ctx.path === '/logout') return logout(ctx);
    if (ctx.path.startsWith('/sign-in/')) {
      return signIn(ctx).catch((error: unknown) => {
        if (!(error instanceof errors.SessionNotFound)) throw error;
        show(ctx, 400, messagePage('Sign-in expired', 'Go back to the application and sign in from there.'));
      });
    }
    await next();
    // RP-initiated logout: oidc-provider has checked the request and would now ask for a confirmation.
    const oidc = oidcOf(ctx);
    if (oidc?.route === 'end_session' && ctx.status === 200) {
      const { post_logout_redirect_uri: target, state } = oidc.params ?? {};
      const to = new URL(typeof target === 'string' ? target : oidc.urlFor('end_session_success'));
      if (typeof target === 'string' && typeof state === 'string') to.searchParams.set('state', state);
      await endSession(ctx);
      redirect(ctx, to.href);
    }
  });
  // What oidc-provider answers with a bare `server_error` is a defect of this file: show it.
  provider.on('server_error', (_ctx, error) => process.stderr.write(`issuer: ${error.stack}\n`));
  return provider;
}

/** As browsers check `type=email`: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;

/** Is there on oidc-provider's own routes only. */
function oidcOf(ctx: Context): KoaContextWithOIDC['oidc'] | undefined {
  return ctx['oidc'];
}

function show(ctx: Context, status: number, html: string, ...formTargets: string[]): void {
  ctx.set({
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy(...formTargets),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  Object.assign(ctx, { status, type: 'html', body: html });
}

function redirect(ctx: Context, target: string): void {
  ctx.set('cache-control', 'no-store');
  ctx.status = 303;
  ctx.redirect(target);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY) throw Object.assign(new Error('body too large'), { status: 413, expose: true });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const FIELDS = new Map<string, [check: (value: unknown) => boolean, wanted: string]>([
  ['email', [(value) => typeof value === 'string', 'a string']],
  ['sub', [(value) => typeof value === 'string', 'a string']],
  ['claims', [isObject, 'an object']],
  ['expiresIn', [Number.isSafeInteger, 'a whole number of seconds']],
]);

function parseTokenRequest(text: string): TokenRequest {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error('the body must be JSON');
  }
  if (!isObject(body)) throw new Error('the body must be an object');
  for (const [name, value] of Object.entries(body)) {
    const field = FIELDS.get(name);
    if (!field) throw new Error(`${name} is not one of: ${[...FIELDS.keys()].join(', ')}`);
    const [check, wanted] = field;
    if (!check(value)) throw new Error(`${name} must be ${wanted}`);
  }
  return body; // its fields have just been checked
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * oidc-provider's storage, one for each model. Its own in-memory one warns, forgets beyond 1000 entries and is
 * shared by all issuers of a process. An arrow function: oidc-provider calls anything constructable with `new`.
 */
const createMemoryAdapter = (): Adapter => {
  const rows = new Map<string, { payload: AdapterPayload; expires: number }>();
  return {
    async upsert(id, payload, expiresIn = Infinity) {
      const now = Date.now();
      for (const [key, { expires }] of rows) if (expires <= now) rows.delete(key);
      rows.set(id, { payload, expires: now + expiresIn * 1000 });
    },
    find: async (id) => rows.get(id)?.payload,
    findByUid: async (uid) => [...rows.values()].find(({ payload }) => payload.uid === uid)?.payload,
    findByUserCode: async () => undefined, // the device flow is off
    async consume(id) {
      const row = rows.get(id);
      if (row) row.payload.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      rows.delete(id);
    },
    async revokeByGrantId(grantId) {
      for (const [id, { payload }] of rows) if (payload.grantId === grantId) rows.delete(id);
    },
  };
};

interface Keys {
  jwk: JWK;
  kid: string;
  cookieSecret: string;
}

async function loadKeys(file?: string): Promise<Keys> {
  if (file === undefined) return createKeys();
  try {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (text !== undefined) return await parseKeys(text);
    const keys = await createKeys();
    await mkdir(dirname(file), { recursive: true });
    const draft = `${file}.${randomUUID()}`;
    await writeFile(draft, JSON.stringify(keys), { mode: 0o600, flag: 'wx' });
    await rename(draft, file); // a reader sees all of it or none
    return keys;
  } catch (cause) {
    throw new UsageError(`The issuer cannot use its key file ${file}: ${reason(cause)}`, { cause });
  }
}

async function createKeys(): Promise<Keys> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return {
    jwk: { ...jwk, kid, alg: 'RS256', use: 'sig' },
    kid,
    cookieSecret: randomBytes(32).toString('base64url'),
  };
}

/** Its errors quote nothing of the text, which holds a private key. */
async function parseKeys(text: string): Promise<Keys> {
  try {
    const { jwk, cookieSecret }: Partial<Keys> = JSON.parse(text);
    if (typeof jwk?.kid !== 'string' || typeof cookieSecret !== 'string') throw new Error('incomplete');
    const key = await importJWK(jwk, 'RS256');
    if (!(key instanceof CryptoKey) || key.type !== 'private') throw new Error('not a private key');
    return { jwk, kid: jwk.kid, cookieSecret };
  } catch {
    throw new Error('not a key file of this issuer; delete it to get a new one');
  }
}
