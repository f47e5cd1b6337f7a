import { onEndOfNpm, UsageError } from '../lib/terminal/command-line.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';
import type { Command } from './options.ts';
import { readSavedReplies } from './saved-replies.ts';
import { serveInbox } from './server.ts';

export async function run({ values, io, connect }: Command): Promise<void> {
  const { port = '0', replies, stage } = values;
  const { stdout, stderr, env } = io;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`The port must be a number from 0 to 65535, not "${escapeUnsafe(port)}".`);
  }
  const savedReplies = await readSavedReplies(replies);
  const options = { port: Number(port), savedReplies };
  const connection = connect();
  // A restarted local stack has another address.
  const reconnect = stage === undefined ? connect : () => connection;
  const { url } = await serveInbox(reconnect, options).catch((error: Error) => {
    if (!('code' in error) || error.code !== 'EADDRINUSE') throw error;
    throw new UsageError(`Port ${port} is in use; choose another with --port.`);
  });
  stdout.write(`Inbox     ${url}\n`);
  stderr.write('Whoever has this address can read and answer inquiries as you, until Ctrl+C.\n');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => process.exit());
  }
  onEndOfNpm(env, () => process.exit());
}
