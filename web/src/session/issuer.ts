/** docs/adr/0050 */
import * as oauth from 'oauth4webapi';
import { beginSignIn, completeSignIn, type Pending } from '../../../ui/authorization.ts';
import type { Config } from '../config.ts';

export interface PendingSignIn extends Pending {
  hash: string;
  /** The discovery document, which is not requested again. */
  metadata: oauth.AuthorizationServer;
}

/** Milliseconds. */
const TIMEOUT = 15_000;

export function createIssuer({ issuer, clientId, scopes }: Config, home: string) {
  const client: oauth.Client = {
    client_id: clientId,
    // The machine's clock may be wrong; the API checks the token's expiry.
    [oauth.clockTolerance]: Number.MAX_SAFE_INTEGER,
  };
  const options = () => ({
    // config.json allows plain http for this machine only.
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
    signal: AbortSignal.timeout(TIMEOUT),
  });
  const flowOf = (server: oauth.AuthorizationServer) => ({ server, client, redirectUri: home });
  let discovery: Promise<oauth.AuthorizationServer> | undefined;

  const discover = async (): Promise<oauth.AuthorizationServer> => {
    discovery ??= fetchMetadata(issuer).catch((error: unknown) => {
      discovery = undefined;
      throw error;
    });
    return discovery;
  };

  return {
    discover,

    async redirect(keep: (pending: PendingSignIn) => void): Promise<void> {
      const metadata = await discover();
      const { url, pending } = await beginSignIn(flowOf(metadata), scopes);
      keep({ ...pending, hash: location.hash, metadata });
      location.assign(url);
    },

    async exchange(
      query: URLSearchParams,
      pending: PendingSignIn | undefined,
    ): Promise<oauth.TokenEndpointResponse> {
      if (pending === undefined) throw new Error('This tab has not started a sign-in.');
      const { metadata } = pending;
      discovery = Promise.resolve(metadata);
      return completeSignIn(flowOf(metadata), query, pending, options());
    },

    /** @throws oauth.ResponseBodyError for the issuer's error. */
    async refresh(refreshToken: string): Promise<oauth.TokenEndpointResponse> {
      const metadata = await discover();
      return oauth.processRefreshTokenResponse(
        metadata,
        client,
        await oauth.refreshTokenGrantRequest(
          metadata,
          client,
          oauth.None(),
          refreshToken,
          options(),
        ),
      );
    },

    /** Does nothing where the issuer cannot; rejects only if discovery fails. */
    async revoke(refreshToken: string): Promise<void> {
      const metadata = await discover();
      if (metadata.revocation_endpoint === undefined) return;
      await oauth
        .revocationRequest(metadata, client, oauth.None(), refreshToken, options())
        .catch(() => undefined);
    },
  };
}

/** The library refuses an `iss` with a slash at the end, which config.json leaves out. */
async function fetchMetadata(issuer: string): Promise<oauth.AuthorizationServer> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(TIMEOUT),
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library checks what it uses
  const metadata = (await response.json()) as oauth.AuthorizationServer;
  if (metadata.issuer.replace(/\/$/, '') !== issuer) {
    throw new Error('The document is of another issuer.');
  }
  return metadata;
}
