import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Server } from 'node:net';

/**
 * Listens on 127.0.0.1.
 *
 * @param port - 0: any free port.
 * @returns The port.
 * @throws Error with `code` EADDRINUSE and `port`.
 */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** As {@link listen}. @returns The server's origin. */
export async function serve(server: Server, port = 0): Promise<string> {
  return `http://127.0.0.1:${await listen(server, port)}`;
}

export async function closeServer(
  server: Server & { closeAllConnections?(): void },
): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeAllConnections?.();
  await closed;
}

export async function isListening(port: number, host = '127.0.0.1'): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Refuses requests of other sites' pages. Requests under another host name (DNS rebinding), whose responses such pages
 * could read, get a 302 to the server's address; those from another origin a 403.
 *
 * @param url - The server's origin.
 * @returns Whether the request was refused.
 */
export function refuseOtherSites(
  { headers }: IncomingMessage,
  response: ServerResponse,
  url: string,
): boolean {
  const { host, origin = url } = headers;
  if (host !== new URL(url).host) response.writeHead(302, { location: url }).end();
  else if (origin !== url) response.writeHead(403).end();
  else return false;
  return true;
}

/** A request target may have scheme and host (RFC 9112, 3.2.2). */
export function splitTarget({ url = '' }: IncomingMessage) {
  const [rawPath, ...query] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  return { rawPath: rawPath || '/', rawQueryString: query.join('?') };
}
