export interface SignOut {
  issuer: string;
  clientId: string;
  /** Default: `cognito` for the issuer of a user pool, otherwise `oidc`. */
  logout?: string | undefined;
}

/** Cognito: https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html */
export function signOutUrl(
  { issuer, clientId, logout }: SignOut,
  metadata: { authorization_endpoint?: string; end_session_endpoint?: string },
  home: string,
  idToken?: string,
): string {
  const isPool = issuer.startsWith('https://cognito-idp.');
  const isCognito = logout === undefined ? isPool : logout === 'cognito';
  const endpoint = isCognito
    ? new URL('/logout', metadata.authorization_endpoint)
    : new URL(metadata.end_session_endpoint ?? '');
  const parameters = isCognito
    ? { client_id: clientId, logout_uri: home }
    : {
        client_id: clientId,
        post_logout_redirect_uri: home,
        ...(idToken !== undefined && { id_token_hint: idToken }),
      };
  for (const [name, value] of Object.entries(parameters)) endpoint.searchParams.set(name, value);
  return endpoint.href;
}
