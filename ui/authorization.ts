/** The authorization code flow with PKCE, of the form and of the team's pages. docs/adr/0050, docs/adr/0082 */
import * as oauth from 'oauth4webapi';

interface Flow {
  server: oauth.AuthorizationServer;
  client: oauth.Client;
  redirectUri: string;
}

/** The way back is checked with it. */
export type Pending = Awaited<ReturnType<typeof beginSignIn>>['pending'];

/** @returns `url`: where the browser goes. */
export async function beginSignIn({ server, client, redirectUri }: Flow, scope: string) {
  const pending = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
  };
  const url = new URL(server.authorization_endpoint ?? '');
  const { verifier, ...sent } = pending;
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    scope,
    ...sent,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, pending };
}

/**
 * @param found - The address of the way back, or its query.
 * @throws The errors of oauth4webapi if it is refused.
 */
export async function completeSignIn(
  { server, client, redirectUri }: Flow,
  found: URL | URLSearchParams,
  { state, nonce, verifier }: Pending,
  options: oauth.TokenEndpointRequestOptions,
) {
  const parameters = oauth.validateAuthResponse(server, client, found, state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri,
    verifier,
    options,
  );
  const checks = { expectedNonce: nonce, requireIdToken: true };
  return oauth.processAuthorizationCodeResponse(server, client, response, checks);
}
