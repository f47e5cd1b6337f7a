import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Server } from 'node:net';

/**
 * Listens on the IPv4 loopback address.
 *
 * @param port - 0 for any free port.
 * @returns The port.
 * @throws Error with `code` EADDRINUSE and `port` when the port is taken.
 */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

/** Listens as {@link listen} does. @returns The server's origin. */
export async function serve(server: Server, port = 0): Promise<string> {
  return `http://127.0.0.1:${await listen(server, port)}`;
}

/** Stops listening and closes all connections. */
export async function closeServer(
  server: Server & { closeAllConnections?(): void },
): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeAllConnections?.();
  await closed;
}

/** Whether something listens on a port of this machine. */
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
 * Refuses what a page of another site can send to a server on this machine: under another name (DNS rebinding) it could
 * read the responses, so it gets a 302 to the server's address; with another origin it could still change something: 403.
 *
 * @param url - The server's origin.
 * @returns Whether the request was refused, and answered.
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

/** Path and query of a request as sent. */
export function splitTarget({ url = '/' }: IncomingMessage) {
  const [rawPath = '/', ...query] = url.split('?');
  return { rawPath, rawQueryString: query.join('?') };
}
