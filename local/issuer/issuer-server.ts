/** Replaces a Cognito user pool. docs/adr/0018 */
import { createServer } from 'node:http';
import { createKey, readKey } from '../../lib/issuer/issuer-keys.ts';
import { createProvider } from './provider.ts';
import { CLIENT_ID, signToken, type TokenRequest } from '../../lib/issuer/issuer-tokens.ts';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';

/**
 * Does not listen on `localhost`, which may be ::1 and shares cookies with other projects.
 *
 * @param options.keysFile - Keeps the signing key. Default: a new key.
 * @param options.webOrigins - May redirect to `<origin>/` and `<origin>/callback`, sign out to `<origin>/`, and use
 * CORS.
 * @param options.inboxOrigin - The origin of the team's pages.
 * @throws UsageError naming the key file.
 */
export async function startIssuer({
  port,
  keysFile,
  webOrigins = ['http://localhost'],
  inboxOrigin,
}: {
  port: number;
  keysFile?: string | undefined;
  webOrigins?: readonly string[];
  inboxOrigin?: string;
}) {
  const key = keysFile === undefined ? createKey() : readKey(keysFile, { create: true });
  const server = createServer();
  const url = await serve(server, port);
  const handle = createProvider(url, key, webOrigins, inboxOrigin).callback();
  server.on('request', (request, response) => void handle(request, response));
  return {
    url,
    clientId: CLIENT_ID,
    token: (request?: TokenRequest) => signToken(key, url, request),
    close: () => closeServer(server),
  };
}
