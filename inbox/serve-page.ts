import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { closeServer, serve } from '../lib/pages/loopback-server.ts';
import { onEndOfNpm, UsageError } from '../lib/terminal/command-line.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';
import { createOneTimeAccess } from './access.ts';
import { createInbox, type InboxOptions } from './app.ts';
import type { Connection } from './connect.ts';
import type { Command } from './options.ts';
import { readSavedReplies } from './saved-replies.ts';

interface Options extends Partial<Pick<InboxOptions, 'savedReplies'>> {
  /** Default: any free one. */
  port?: number;
}

/**
 * Serves the pages on this machine.
 *
 * @param connect - Called for each request: a restarted local stack has other addresses.
 * @returns The address, which opens them once.
 */
export async function servePage(
  connect: () => Connection,
  { port = 0, savedReplies = [] }: Options = {},
) {
  const fetch = async (request: Request): Promise<Response> => inbox.fetch(request);
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false }) as Server;
  const origin = await serve(server, port);
  const { access, address } = createOneTimeAccess(origin, async () => connect().respondent());
  const { stage } = connect();
  const inbox = createInbox({ origin, stage, access, connect, savedReplies });
  return { address, close: async () => closeServer(server) };
}

export async function run({ values, io, connect }: Command): Promise<void> {
  const { port = '0', replies, stage } = values;
  const { stdout, stderr, env } = io;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`The port must be a number from 0 to 65535, not "${escapeUnsafe(port)}".`);
  }
  const savedReplies = await readSavedReplies(replies);
  const options = { port: Number(port), savedReplies };
  const connection = connect();
  const reconnect = stage === undefined ? connect : () => connection;
  const { address } = await servePage(reconnect, options).catch((error: Error) => {
    if (!('code' in error) || error.code !== 'EADDRINUSE') throw error;
    throw new UsageError(`Port ${port} is in use; choose another with --port.`);
  });
  stdout.write(`Inbox     ${address}\n`);
  stderr.write(
    'It opens once. Whoever opens it reads and answers inquiries as you, until Ctrl+C.\n',
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => process.exit());
  }
  onEndOfNpm(env, () => process.exit());
}
