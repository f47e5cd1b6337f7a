/**
 * Sign-in and session. The ID token is in sessionStorage, so it survives a reload of the tab; the refresh token is
 * only in memory, so that no second tab can use it. docs/adr/0050
 */
import * as oauth from 'oauth4webapi';
import type { Config } from './config.ts';
import { createIssuer, type PendingSignIn } from './issuer.ts';
import { parseJson } from './narrow.ts';
import { signOutUrl } from './sign-out.ts';
import { attempt } from './storage.ts';
import { createTabs, isTokens, type Tokens } from './tabs.ts';
import { SignedOut, type Session } from './user.ts';

/** The session, if there is one, otherwise the text that says why there is none, if there is one. */
export interface SignInResult {
  readonly session: Session | undefined;
  readonly reason?: 'signedOut' | 'signedOutHere' | 'ended' | 'cancelled' | 'failed' | undefined;
}

const KEY = 'inquiries.session';
const PENDING_KEY = 'inquiries.sign-in';
const REASON_KEY = 'inquiries.left';
/** In localStorage: names the last sign-out in any tab. */
const SIGN_OUT_KEY = 'inquiries.signed-out';
/** Milliseconds before its expiry at which a token is no longer used. */
const EXPIRY_MARGIN = 30_000;
/**
 * @param onSignOut - Called when another tab has signed out.
 * @param onDelete - Called before that, when it has deleted the text of the same user in all tabs.
 */
export function createSignIn(config: Config, onSignOut: () => void, onDelete: () => void) {
  const home = new URL('.', location.href).href;
  const issuer = createIssuer(config, home);
  let tokens: Tokens | undefined;
  let refreshToken: string | undefined;
  let refreshing: Promise<Tokens> | undefined;

  const keep = (fresh: Tokens): Tokens => {
    tokens = fresh;
    attempt(() => sessionStorage.setItem(KEY, JSON.stringify(fresh)));
    tabs.open();
    return fresh;
  };

  const read = (
    response: oauth.TokenEndpointResponse,
    lastSignOut: Tokens['lastSignOut'],
  ): Tokens => {
    const claims = oauth.getValidatedIdTokenClaims(response);
    if (claims === undefined || response.id_token === undefined) {
      throw new Error('The issuer has sent no ID token.');
    }
    const { exp, iat, sub, email } = claims;
    // Some issuers send a new refresh token each time, others never.
    refreshToken = response.refresh_token ?? refreshToken;
    return {
      idToken: response.id_token,
      expires: Date.now() + (exp - iat) * 1_000,
      user: { sub, email: typeof email === 'string' ? email : '' },
      lastSignOut,
    };
  };

  const forget = (): void => {
    tokens = undefined;
    refreshToken = undefined;
    sessionStorage.removeItem(KEY);
    tabs.close();
  };

  const requestTokens = async (): Promise<Tokens> => {
    const before = tokens;
    if (before === undefined || refreshToken === undefined) throw new SignedOut();
    try {
      const response = await issuer.refresh(refreshToken);
      // Signed out in the meantime.
      if (tokens === undefined) throw new SignedOut();
      const fresh = read(response, before.lastSignOut);
      if (fresh.user.sub !== before.user.sub) {
        throw new Error('The new ID token is of another user.');
      }
      return keep(fresh);
    } catch (cause) {
      // An error response of the issuer is final; a network error is not.
      if (!(cause instanceof oauth.ResponseBodyError)) throw cause;
      refreshToken = undefined;
      throw new SignedOut('', { cause });
    }
  };

  /** One refresh at a time: using a refresh token twice ends the session at the issuer. */
  const refresh = async (): Promise<Tokens> => {
    refreshing ??= requestTokens().finally(() => (refreshing = undefined));
    return refreshing;
  };

  const tabs = createTabs({
    name: `inquiries.session ${config.issuer} ${config.clientId}`,
    async give({ sub, refused }, wait) {
      if (tokens === undefined || !isCurrent(tokens)) return undefined;
      // Another user's session does not replace that of the tab.
      if (sub !== undefined && sub !== tokens.user.sub) return undefined;
      if (isFresh(tokens) && tokens.idToken !== refused) return tokens;
      if (refreshToken === undefined) return undefined;
      wait();
      return refresh();
    },
    onSignOut() {
      if (tokens === undefined) return;
      forget();
      attempt(() => sessionStorage.setItem(REASON_KEY, 'signedOut'));
      onSignOut();
    },
    onDelete(sub) {
      if (sub === tokens?.user.sub) onDelete();
    },
  });

  const session = ({ user }: Tokens): Session => ({
    user,
    async token(refused) {
      if (tokens === undefined || !isCurrent(tokens)) throw new SignedOut();
      const { idToken } = tokens;
      if (idToken !== refused && isFresh(tokens)) return idToken;
      try {
        return (await refresh()).idToken;
      } catch (error) {
        if (!(error instanceof SignedOut)) throw error;
        const theirs = await tabs.ask({ sub: user.sub, refused: idToken });
        // The user may have signed out in the meantime.
        if (theirs === undefined || !isCurrent(theirs) || tokens === undefined) throw error;
        return keep(theirs).idToken;
      }
    },
  });

  /** The session of this tab, otherwise of another one. */
  const restore = async (): Promise<SignInResult> => {
    const stored = parseJson(sessionStorage.getItem(KEY));
    const own = isTokens(stored) ? stored : undefined;
    const isOver = own !== undefined && !isCurrent(own);
    if (own !== undefined && !isOver && isFresh(own)) return { session: session(keep(own)) };
    const left = sessionStorage.getItem(REASON_KEY);
    forget();
    sessionStorage.removeItem(REASON_KEY);
    if (left === 'signedOut' || left === 'signedOutHere') {
      return { session: undefined, reason: left };
    }
    // The user will probably sign in, which then needs no request before the redirect.
    issuer.discover().catch(() => undefined);
    const theirs = await tabs.ask(own === undefined || isOver ? {} : { sub: own.user.sub });
    if (theirs !== undefined && isCurrent(theirs)) return { session: session(keep(theirs)) };
    return {
      session: undefined,
      reason: own === undefined ? undefined : isOver ? 'signedOut' : 'ended',
    };
  };

  return {
    /** Completes a sign-in after the redirect from the issuer, or restores the session of this tab or of another one. */
    async resume(): Promise<SignInResult> {
      const query = new URLSearchParams(location.search);
      if (!query.has('state') || !(query.has('code') || query.has('error'))) return restore();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this page
      const pending = parseJson(sessionStorage.getItem(PENDING_KEY)) as PendingSignIn | undefined;
      if (pending?.state === query.get('state')) sessionStorage.removeItem(PENDING_KEY);
      // A code can be used once, so it is removed from the URL and the history.
      history.replaceState(null, '', home + (pending?.hash ?? ''));
      try {
        const lastSignOut = findLastSignOut();
        const response = await issuer.exchange(query, pending);
        return { session: session(keep(read(response, lastSignOut))) };
      } catch (error) {
        // An old redirect from the history; the session may still be valid.
        const { session: before } = await restore();
        if (before !== undefined) return { session: before };
        const cancelled =
          error instanceof oauth.AuthorizationResponseError && error.error === 'access_denied';
        return { session: undefined, reason: cancelled ? 'cancelled' : 'failed' };
      }
    },

    /** Redirects to the issuer. @throws when it cannot be reached. */
    redirect: async (): Promise<void> =>
      issuer.redirect((pending) => sessionStorage.setItem(PENDING_KEY, JSON.stringify(pending))),

    /**
     * Ends the session in this tab, in other tabs and at the issuer, and redirects to the issuer.
     *
     * @param deletesText - Whether other tabs delete what the user has typed there.
     */
    async signOut(deletesText: boolean): Promise<void> {
      const idToken = tokens?.idToken;
      if (deletesText && tokens !== undefined) tabs.delete(tokens.user.sub);
      const revocable = refreshToken;
      forget();
      // Valid unless the issuer responds below.
      attempt(() => sessionStorage.setItem(REASON_KEY, 'signedOutHere'));
      // For tabs that show another page now and come back later.
      attempt(() => localStorage.setItem(SIGN_OUT_KEY, crypto.randomUUID()));
      tabs.signOut();
      const metadata = await issuer.discover();
      // Cognito's /logout does not revoke refresh tokens.
      if (revocable !== undefined) await issuer.revoke(revocable);
      attempt(() => sessionStorage.setItem(REASON_KEY, 'signedOut'));
      location.assign(signOutUrl(config, metadata, home, idToken));
    },
  };
}

const findLastSignOut = (): string | null => localStorage.getItem(SIGN_OUT_KEY);

/** Whether the user has not signed out since the sign-in, in any tab. */
const isCurrent = ({ lastSignOut }: Tokens): boolean => lastSignOut === findLastSignOut();

const isFresh = ({ expires }: Tokens): boolean => Date.now() < expires - EXPIRY_MARGIN;
