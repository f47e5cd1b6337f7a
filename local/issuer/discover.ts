import { allowInsecureRequests, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi';
import { UsageError } from '../../lib/terminal/command-line.ts';

/**
 * Reads the metadata of the user's own OIDC issuer, such as Keycloak.
 *
 * @returns What form and authorizer need.
 *
 * @throws UsageError unless it answers with its own name and the address of its keys.
 */
export async function discoverIssuer({ issuer, clientId }: { issuer: string; clientId: string }) {
  const url = new URL(issuer);
  try {
    const response = await discoveryRequest(url, { [allowInsecureRequests]: true });
    const { jwks_uri: keysUrl = '' } = await processDiscoveryResponse(url, response);
    return { issuer, clientId, audience: [clientId], keysUrl: new URL(keysUrl).href };
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    throw new UsageError(
      `${issuer}/.well-known/openid-configuration does not describe an issuer with this name (${cause?.code ?? message}).`,
      { cause: error },
    );
  }
}
