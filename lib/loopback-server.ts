import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Server } from 'node:net';

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

/** Stops listening and closes all connections. */
export async function close(server: Server & { closeAllConnections?(): void }): Promise<void> {
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

/** Path and query of a request as sent. */
export function splitTarget({ url = '/' }: IncomingMessage) {
  const [rawPath = '/', ...query] = url.split('?');
  return { rawPath, rawQueryString: query.join('?') };
}
