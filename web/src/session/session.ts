/** The ID token is in sessionStorage, the refresh token only in memory. docs/adr/0050 */
import { SignedOut, type Session, type User } from '../api.ts';
import * as oauth from 'oauth4webapi';
import type { Config } from '../config.ts';
import { createIssuer, type PendingSignIn } from './issuer.ts';
import { isText, parseJson, toRecord } from '../narrow.ts';
import { signOutUrl } from '../../../ui/sign-out.ts';
import { attempt } from '../storage.ts';

interface Tokens {
  idToken: string;
  /** By the local clock, which may be wrong. */
  expires: number;
  user: User;
  /** A later sign-out ends the session. */
  lastSignOut: string | null;
}

export interface SignInResult {
  session?: Session;
  reason?: 'signedOut' | 'signedOutHere' | 'ended' | 'cancelled' | 'failed' | undefined;
}

interface Held {
  issuer: ReturnType<typeof createIssuer>;
  tokens?: Tokens | undefined;
  refreshToken?: string | undefined;
  /** One refresh at a time: a refresh token used twice ends the session at the issuer. */
  refreshing?: Promise<Tokens> | undefined;
}

const KEY = 'inquiries.session';
const PENDING_KEY = 'inquiries.sign-in';
const REASON_KEY = 'inquiries.left';
/** Names the last sign-out in any tab. */
const SIGN_OUT_KEY = 'inquiries.signed-out';
/** Final errors of a refresh (RFC 6749, 5.2). */
const FINAL: ReadonlySet<string> = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
]);
/** Milliseconds before its expiry. */
const EXPIRY_MARGIN = 30_000;

/** @param onSignOut - Called after a sign-out in another tab. */
export function createSignIn(config: Config, onSignOut: () => void) {
  const home = new URL('.', location.href).href;
  const issuer = createIssuer(config, home);
  const held: Held = { issuer };
  addEventListener('storage', ({ key }) => {
    if (key !== SIGN_OUT_KEY || held.tokens === undefined) return;
    forget(held);
    leave('signedOut');
    onSignOut();
  });
  return {
    async resume(): Promise<SignInResult> {
      const query = new URLSearchParams(location.search);
      const isRedirect = query.has('state') && (query.has('code') || query.has('error'));
      return isRedirect ? complete(held, query, home) : restore(held);
    },

    redirect: async (): Promise<void> =>
      issuer.redirect((pending) => sessionStorage.setItem(PENDING_KEY, JSON.stringify(pending))),

    async signOut(): Promise<void> {
      const { tokens, refreshToken } = held;
      forget(held);
      // Stays so if the issuer does not answer.
      leave('signedOutHere');
      // Tabs that show another page read it later.
      attempt(() => localStorage.setItem(SIGN_OUT_KEY, crypto.randomUUID()));
      const metadata = await issuer.discover();
      // Cognito's /logout does not revoke refresh tokens.
      if (refreshToken !== undefined) await issuer.revoke(refreshToken);
      leave('signedOut');
      location.assign(signOutUrl(config, metadata, home, tokens?.idToken));
    },
  };
}

const leave = (reason: 'signedOut' | 'signedOutHere'): boolean =>
  attempt(() => sessionStorage.setItem(REASON_KEY, reason));

const findLastSignOut = (): string | null => localStorage.getItem(SIGN_OUT_KEY);

/** Whether no tab has signed out since. */
const isCurrent = (tokens: Tokens | undefined): tokens is Tokens =>
  tokens?.lastSignOut === findLastSignOut();

const isFresh = ({ expires }: Tokens): boolean => Date.now() < expires - EXPIRY_MARGIN;

/** The session that this tab had before a reload. */
function restore(held: Held): SignInResult {
  const stored = parseJson(sessionStorage.getItem(KEY));
  const own = isTokens(stored) ? stored : undefined;
  const left = sessionStorage.getItem(REASON_KEY);
  if (isCurrent(own) && isFresh(own)) return begin(held, own);
  forget(held);
  sessionStorage.removeItem(REASON_KEY);
  if (left === 'signedOut' || left === 'signedOutHere') return { reason: left };
  // A sign-in then redirects at once.
  held.issuer.discover().catch(() => undefined);
  return { reason: own && (isCurrent(own) ? 'ended' : 'signedOut') };
}

async function complete(held: Held, query: URLSearchParams, home: string): Promise<SignInResult> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this page
  const pending = parseJson(sessionStorage.getItem(PENDING_KEY)) as PendingSignIn | undefined;
  if (pending?.state === query.get('state')) sessionStorage.removeItem(PENDING_KEY);
  // A code works once, so it leaves the address.
  history.replaceState(null, '', home + (pending?.hash ?? ''));
  try {
    const lastSignOut = findLastSignOut();
    return begin(held, read(held, await held.issuer.exchange(query, pending), lastSignOut));
  } catch (error) {
    // The address may be that of an old redirect, and the tab's session still valid.
    const before = restore(held);
    if (before.session !== undefined) return before;
    const isCancelled =
      error instanceof oauth.AuthorizationResponseError && error.error === 'access_denied';
    return { reason: isCancelled ? 'cancelled' : 'failed' };
  }
}

function begin(held: Held, tokens: Tokens): SignInResult {
  keep(held, tokens);
  const { user } = tokens;
  return { session: { user, token: async (refused) => getToken(held, refused) } };
}

function keep(held: Held, tokens: Tokens): Tokens {
  held.tokens = tokens;
  attempt(() => sessionStorage.setItem(KEY, JSON.stringify(tokens)));
  return tokens;
}

function forget(held: Held): void {
  held.tokens = undefined;
  held.refreshToken = undefined;
  sessionStorage.removeItem(KEY);
}

async function getToken(held: Held, refused?: string): Promise<string> {
  const { tokens } = held;
  if (!isCurrent(tokens)) throw new SignedOut();
  const { idToken } = tokens;
  if (idToken !== refused && isFresh(tokens)) return idToken;
  return (await refresh(held)).idToken;
}

async function refresh(held: Held): Promise<Tokens> {
  held.refreshing ??= requestTokens(held).finally(() => (held.refreshing = undefined));
  return held.refreshing;
}

async function requestTokens(held: Held): Promise<Tokens> {
  const { tokens, refreshToken } = held;
  if (tokens === undefined || refreshToken === undefined) throw new SignedOut();
  try {
    const response = await held.issuer.refresh(refreshToken);
    // The user may have signed out in the meantime.
    if (held.tokens === undefined) throw new SignedOut();
    const fresh = read(held, response, tokens.lastSignOut);
    if (fresh.user.sub === tokens.user.sub) return keep(held, fresh);
    throw new Error('The new ID token is of another user.');
  } catch (cause) {
    // A 429 or 503, for instance, may pass.
    if (!(cause instanceof oauth.ResponseBodyError) || !FINAL.has(cause.error)) throw cause;
    held.refreshToken = undefined;
    throw new SignedOut('', { cause });
  }
}

function read(
  held: Held,
  response: oauth.TokenEndpointResponse,
  lastSignOut: string | null,
): Tokens {
  const claims = oauth.getValidatedIdTokenClaims(response);
  if (claims === undefined || response.id_token === undefined) {
    throw new Error('The issuer has sent no ID token.');
  }
  const { exp, iat, sub, email } = claims;
  // Some issuers rotate the refresh token.
  held.refreshToken = response.refresh_token ?? held.refreshToken;
  return {
    idToken: response.id_token,
    expires: Date.now() + (exp - iat) * 1_000,
    user: { sub, email: isText(email) ? email : '' },
    lastSignOut,
  };
}

function isTokens(value: unknown): value is Tokens {
  const { idToken, expires, user, lastSignOut } = toRecord(value);
  const { sub, email } = toRecord(user);
  return (
    [idToken, sub, email].every(isText) &&
    typeof expires === 'number' &&
    (lastSignOut === null || isText(lastSignOut))
  );
}
