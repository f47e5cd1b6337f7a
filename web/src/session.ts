/**
 * Who is signed in. The ID token lies in sessionStorage and so survives a reload of this tab; the refresh token is
 * in memory alone, where no second tab can find and use it twice. docs/adr/0050
 */
import { ErrorResponse, OidcClient, WebStorageStateStore } from 'oidc-client-ts';
import type { RefreshState, SigninResponse } from 'oidc-client-ts';
import type { Config } from './config.ts';
import { signOutUrl } from './sign-out.ts';
import { SignedOut } from './user.ts';
import type { Session, User } from './user.ts';

/** How the page was entered. */
export interface Arrival {
  readonly session: Session | undefined;
  readonly reason: 'none' | 'signed-in' | 'signed-out' | 'signed-out-here' | 'ended' | 'cancelled' | 'failed';
}

export interface SignIn {
  /** Finishes a sign-in that comes back from the issuer, or takes up the session of this tab. */
  arrive(): Promise<Arrival>;
  /** Leaves for the issuer. @throws when it cannot be reached. */
  leave(): Promise<void>;
  /** Ends the session here, in other tabs and at the issuer, and leaves for it. */
  signOut(): Promise<void>;
  /** Called when another tab has signed out. */
  onSignOut(listener: () => void): void;
}

interface Tokens {
  readonly idToken: string;
  /** By the clock of this machine, from the lifetime the token has: that clock may be wrong. */
  readonly expires: number;
  readonly user: User;
}

const KEY = 'inquiries.session';
const LEFT = 'inquiries.left';
/** Milliseconds before its end from which a token is not used any more. */
const MARGIN = 30_000;
/** Seconds. */
const ISSUER_TIMEOUT = 15;

export function createSignIn(config: Config, page: Location, store: Storage): SignIn {
  const home = new URL('.', page.href).href;
  const client = new OidcClient({
    authority: config.issuer,
    client_id: config.clientId,
    redirect_uri: home,
    scope: config.scopes,
    // In this tab alone, as the session.
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
      // The issuer's refusal is final; a network that fails is not.
      if (!(cause instanceof ErrorResponse)) throw cause;
      refreshState = undefined;
      throw new SignedOut('', { cause });
    }
  };

  const session = ({ user }: Tokens): Session => ({
    user,
    async token(refused) {
      if (tokens === undefined) throw new SignedOut();
      if (tokens.idToken !== refused && Date.now() < tokens.expires - MARGIN) return tokens.idToken;
      // One refresh at a time: using a refresh token twice ends the session at the issuer.
      refreshing ??= refresh().finally(() => (refreshing = undefined));
      return refreshing;
    },
  });

  const restore = (): Arrival => {
    tokens = parseTokens(store.getItem(KEY));
    if (tokens !== undefined && Date.now() < tokens.expires - MARGIN) {
      return { session: session(tokens), reason: 'none' };
    }
    const left = store.getItem(LEFT);
    const isLeft = left === 'signed-out' || left === 'signed-out-here';
    const reason = tokens !== undefined ? 'ended' : isLeft ? left : 'none';
    forget();
    store.removeItem(LEFT);
    return { session: undefined, reason };
  };

  return {
    async arrive() {
      const query = new URLSearchParams(page.search);
      if (!query.has('state') || !(query.has('code') || query.has('error'))) return restore();
      const url = page.href;
      // A code is good for one use: neither a reload nor the history may bring it back.
      history.replaceState(null, '', home);
      try {
        return { session: session(keep(await client.processSigninResponse(url))), reason: 'signed-in' };
      } catch (error) {
        const cancelled = error instanceof ErrorResponse && error.error === 'access_denied';
        const before = restore();
        // An old answer of the issuer, from the history: the session of this tab still holds.
        if (before.session !== undefined) return before;
        return { session: undefined, reason: cancelled ? 'cancelled' : 'failed' };
      }
    },

    async leave() {
      const { url } = await client.createSigninRequest({ nonce: crypto.randomUUID() });
      page.assign(url);
    },

    async signOut() {
      const idToken = tokens?.idToken;
      const refreshToken = refreshState?.refresh_token;
      forget();
      // Until the issuer has been heard of.
      store.setItem(LEFT, 'signed-out-here');
      tabs.postMessage('signed-out');
      const metadata = await client.metadataService.getMetadata();
      // Cognito's /logout leaves refresh tokens as they are.
      if (refreshToken !== undefined && metadata.revocation_endpoint !== undefined) {
        await client.revokeToken(refreshToken, 'refresh_token').catch(() => undefined);
      }
      store.setItem(LEFT, 'signed-out');
      page.assign(signOutUrl(config, metadata, home, idToken));
    },

    onSignOut(listener) {
      tabs.addEventListener('message', () => {
        forget();
        store.setItem(LEFT, 'signed-out');
        listener();
      });
    },
  };
}

/** The claims that OpenID Connect Core 3.1.3.7 has a client check and oidc-client-ts leaves alone. */
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
