/** The team's sign-in: authorization code with PKCE, `state` and `nonce`; the ID token is the cookie. docs/adr/0082 */
import { Hono, type Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose';
import * as oauth from 'oauth4webapi';
import { beginSignIn, completeSignIn } from '../ui/authorization.ts';
import { signOutUrl } from '../ui/sign-out.ts';
import type { Access } from './access.ts';
import type { Problem } from './page/problem-page.ts';
import { refuse, type Env } from './respond.ts';

export interface SignInOptions {
  origin: string;
  issuer: string;
  /** Origin of the issuer's pages. */
  signInOrigin: string;
  clientId: string;
  /** Addresses in lower case. */
  team: string[];
}

const AGAIN = { href: '/', label: 'Sign in' };
const FAILED: Problem = {
  title: 'You are not signed in',
  text: 'The sign-in was cancelled, has expired, or its address was used before.',
  link: AGAIN,
};
const NOT_A_MEMBER: Problem = {
  title: 'You are not in the team',
  text: 'This account has no verified address that may open the inbox. Whoever deploys the stage adds addresses to inbox.team.',
  canSignOut: true,
};

/** @returns What the page says when the issuer or its keys cannot be reached. */
const toAway = (cause: unknown): Error =>
  Object.assign(new Error('The sign-in does not answer. Try again in a minute.', { cause }), {
    name: 'SignInAway',
  });

/** Cancelled, forged, expired or used before; otherwise the issuer is away. */
const isRefused = (error: unknown): boolean =>
  error instanceof oauth.AuthorizationResponseError ||
  (error instanceof oauth.ResponseBodyError && error.status < 500) ||
  (error instanceof oauth.OperationProcessingError &&
    [oauth.INVALID_RESPONSE, oauth.JWT_CLAIM_COMPARISON].some((code) => code === error.code));

const ISSUER_ERRORS = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT']);

/** Seconds. */
const SIGN_IN_TIME = 600;
const TIMEOUT = 5_000;

export function createSignIn({
  origin,
  issuer,
  signInOrigin,
  clientId,
  team,
}: SignInOptions): Access {
  const isSecure = origin.startsWith('https:');
  const prefix = isSecure ? '__Host-inbox' : `inbox_${new URL(origin).port}`;
  // A link in a mail, and the way back from the sign-in, come from other sites.
  const cookies = { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure } as const;
  /** The cookie is kept until the browser comes back; each tab has its own. */
  const nameOf = (state: string): string => `${prefix}-${state.slice(0, 8)}`;
  const client: oauth.Client = { client_id: clientId };
  const network = {
    signal: () => AbortSignal.timeout(TIMEOUT),
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  };
  const redirectUri = `${origin}/callback`;
  let found: ReturnType<typeof discover> | undefined;

  async function discover() {
    const url = new URL(issuer);
    const response = await oauth.discoveryRequest(url, network);
    const server = await oauth.processDiscoveryResponse(url, response);
    return { server, keys: createRemoteJWKSet(new URL(server.jwks_uri ?? '')) };
  }
  const findIssuer = async (): ReturnType<typeof discover> =>
    (found ??= discover().catch((error: unknown) => {
      found = undefined;
      throw toAway(error);
    }));

  /** @returns The verified address of a member; undefined for a token of others. @throws Error if the issuer is away. */
  async function findMember(token: string): Promise<string | undefined> {
    const { keys } = await findIssuer();
    try {
      const options = { issuer, audience: clientId, algorithms: ['RS256'] };
      const { payload } = await jwtVerify(token, keys, options);
      return toMember(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError && !ISSUER_ERRORS.has(error.code)) return undefined;
      throw toAway(error);
    }
  }
  function toMember({ token_use, email, email_verified }: JWTPayload): string | undefined {
    const isVerified = token_use === 'id' && email_verified === true && typeof email === 'string';
    return isVerified && team.includes(email.toLowerCase()) ? email : undefined;
  }
  /** Leads to the issuer, and back to this page. */
  async function invite(context: Context): Promise<Response> {
    const { server } = await findIssuer();
    const { url, pending } = await beginSignIn({ server, client, redirectUri }, 'openid email');
    const { state, nonce, verifier } = pending;
    const { pathname, search } = new URL(context.req.url);
    const kept = [state, nonce, verifier, pathname + search].join('.');
    setCookie(context, nameOf(state), kept, { ...cookies, maxAge: SIGN_IN_TIME });
    return context.redirect(url);
  }

  async function receive(context: Context<Env>): Promise<Response> {
    const url = new URL(context.req.url);
    const name = nameOf(url.searchParams.get('state') ?? '');
    const [state = '', nonce = '', verifier = '', ...rest] =
      getCookie(context, name)?.split('.') ?? [];
    deleteCookie(context, name, cookies);
    const path = rest.join('.');
    if (!/^\/(?![/\\])/.test(path)) return refuse(context, 400, FAILED);
    const { server } = await findIssuer();
    const { id_token: token = '', expires_in } = await completeSignIn(
      { server, client, redirectUri },
      url,
      { state, nonce, verifier },
      network,
    );
    if ((await findMember(token)) === undefined) return refuse(context, 403, NOT_A_MEMBER);
    setCookie(context, prefix, token, { ...cookies, maxAge: expires_in ?? 0 });
    return context.redirect(path, 303);
  }

  const routes = new Hono<Env>();
  routes.get('/callback', async (context) =>
    receive(context).catch(async (error: unknown) => {
      if (isRefused(error)) return refuse(context, 400, FAILED);
      throw toAway(error);
    }),
  );
  routes.post('/sign-out', async (context) => {
    deleteCookie(context, prefix, cookies);
    const { server } = await findIssuer();
    return context.redirect(signOutUrl({ issuer, clientId }, server, `${origin}/`), 303);
  });
  return {
    routes,
    async findMember(context) {
      const token = getCookie(context, prefix);
      return token === undefined ? undefined : findMember(token);
    },
    invite,
    signInOrigin,
  };
}
