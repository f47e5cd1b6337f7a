/**
 * Sign-in and session. The ID token is in sessionStorage, so it survives a reload of the tab; the refresh token is
 * only in memory, so that no second tab can use it. docs/adr/0050
 */
import { ErrorResponse, OidcClient, WebStorageStateStore } from 'oidc-client-ts';
import type { RefreshState, SigninResponse } from 'oidc-client-ts';
import type { Config } from './config.ts';
import { signOutUrl } from './sign-out.ts';
import { SignedOut } from './user.ts';
import type { Session, User } from './user.ts';

/** The session, if there is one, and why the page was loaded with or without it. */
export interface SignInResult {
  readonly session: Session | undefined;
  readonly reason: 'none' | 'signed-in' | 'signed-out' | 'signed-out-here' | 'ended' | 'cancelled' | 'failed';
}

export interface SignIn {
  /** Completes a sign-in after the redirect from the issuer, or restores the session of this tab. */
  resume(): Promise<SignInResult>;
  /** Redirects to the issuer. @throws when it cannot be reached. */
  redirect(): Promise<void>;
  /** Ends the session in this tab, in other tabs and at the issuer, and redirects to the issuer. */
  signOut(): Promise<void>;
  /** Called when another tab has signed out. */
  onSignOut(listener: () => void): void;
}

interface Tokens {
  readonly idToken: string;
  /** The local time plus the token's lifetime, not its `exp`: the local clock may be wrong. */
  readonly expires: number;
  readonly user: User;
}

const KEY = 'inquiries.session';
const REASON_KEY = 'inquiries.left';
/** Milliseconds before its expiry at which a token is no longer used. */
const EXPIRY_MARGIN = 30_000;
/** Seconds. */
const ISSUER_TIMEOUT = 15;

export function createSignIn(config: Config, page: Location, store: Storage): SignIn {
  const home = new URL('.', page.href).href;
  const client = new OidcClient({
    authority: config.issuer,
    client_id: config.clientId,
    redirect_uri: home,
    scope: config.scopes,
    // In this tab only, like the session.
    stateStore: new WebStorageStateStore({ store, prefix: 'inquiries.oidc.' }),
    requestTimeoutInSeconds: ISSUER_TIMEOUT,
  });
  const tabs = new BroadcastChannel('inquiries.session');
  let tokens: Tokens | undefined;
  let refreshState: RefreshState | undefined;
  let refreshing: Promise<string> | undefined;

  const keep = (response: SigninResponse): Tokens => {
    tokens = toTokens(response, config);
    store.setItem(KEY, JSON.stringify(tokens));
    const refresh_token = response.refresh_token ?? refreshState?.refresh_token;
    const { id_token = '', session_state, scope, profile } = response;
    refreshState =
      refresh_token === undefined
        ? undefined
        : { refresh_token, id_token, session_state, profile, ...(scope && { scope }) };
    return tokens;
  };

  const forget = (): void => {
    tokens = undefined;
    refreshState = undefined;
    store.removeItem(KEY);
  };

  const refresh = async (): Promise<string> => {
    if (refreshState === undefined) throw new SignedOut();
    try {
      const response = await client.useRefreshToken({
        state: refreshState,
        timeoutInSeconds: ISSUER_TIMEOUT,
      });
      return keep(response).idToken;
    } catch (cause) {
      // An error response of the issuer is final; a network error is not.
      if (!(cause instanceof ErrorResponse)) throw cause;
      refreshState = undefined;
      throw new SignedOut('', { cause });
    }
  };

  const session = ({ user }: Tokens): Session => ({
    user,
    async token(refused) {
      if (tokens === undefined) throw new SignedOut();
      if (tokens.idToken !== refused && Date.now() < tokens.expires - EXPIRY_MARGIN) return tokens.idToken;
      // One refresh at a time: using a refresh token twice ends the session at the issuer.
      refreshing ??= refresh().finally(() => (refreshing = undefined));
      return refreshing;
    },
  });

  const restore = (): SignInResult => {
    tokens = parseTokens(store.getItem(KEY));
    if (tokens !== undefined && Date.now() < tokens.expires - EXPIRY_MARGIN) {
      return { session: session(tokens), reason: 'none' };
    }
    const left = store.getItem(REASON_KEY);
    const isLeft = left === 'signed-out' || left === 'signed-out-here';
    const reason = tokens !== undefined ? 'ended' : isLeft ? left : 'none';
    forget();
    store.removeItem(REASON_KEY);
    return { session: undefined, reason };
  };

  return {
    async resume() {
      const query = new URLSearchParams(page.search);
      if (!query.has('state') || !(query.has('code') || query.has('error'))) return restore();
      const url = page.href;
      // A code can be used once, so it is removed from the URL and the history.
      history.replaceState(null, '', home);
      try {
        return { session: session(keep(await client.processSigninResponse(url))), reason: 'signed-in' };
      } catch (error) {
        const cancelled = error instanceof ErrorResponse && error.error === 'access_denied';
        const before = restore();
        // An old redirect from the history; the session of this tab is still valid.
        if (before.session !== undefined) return before;
        return { session: undefined, reason: cancelled ? 'cancelled' : 'failed' };
      }
    },

    async redirect() {
      const { url } = await client.createSigninRequest({ nonce: crypto.randomUUID() });
      page.assign(url);
    },

    async signOut() {
      const idToken = tokens?.idToken;
      const refreshToken = refreshState?.refresh_token;
      forget();
      // Valid unless the issuer responds below.
      store.setItem(REASON_KEY, 'signed-out-here');
      tabs.postMessage('signed-out');
      const metadata = await client.metadataService.getMetadata();
      // Cognito's /logout does not revoke refresh tokens.
      if (refreshToken !== undefined && metadata.revocation_endpoint !== undefined) {
        await client.revokeToken(refreshToken, 'refresh_token').catch(() => undefined);
      }
      store.setItem(REASON_KEY, 'signed-out');
      page.assign(signOutUrl(config, metadata, home, idToken));
    },

    onSignOut(listener) {
      tabs.addEventListener('message', () => {
        forget();
        store.setItem(REASON_KEY, 'signed-out');
        listener();
      });
    },
  };
}

/** Checks the claims that OpenID Connect Core 3.1.3.7 requires and oidc-client-ts does not check. */
function toTokens({ id_token, profile }: SigninResponse, { issuer, clientId }: Config): Tokens {
  const { iss, aud, exp, iat, sub, email } = profile;
  if (id_token === undefined) throw new Error('The issuer has sent no ID token.');
  if (iss.replace(/\/$/, '') !== issuer) throw new Error('The ID token is of another issuer.');
  if (![aud].flat().includes(clientId)) throw new Error('The ID token is for another client.');
  return { idToken: id_token, expires: Date.now() + (exp - iat) * 1000, user: { sub, email: email ?? '' } };
}

function parseTokens(text: string | null): Tokens | undefined {
  if (text === null) return undefined;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this page
    return JSON.parse(text) as Tokens;
  } catch {
    return undefined;
  }
}
