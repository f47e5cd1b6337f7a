import { toReference } from '../src/limits.ts';
import { escapeUnsafe } from '../lib/terminal-text.ts';
import { findInquiry } from './arguments.ts';
import type { Connection } from './connect.ts';
import type { Command } from './options.ts';
import { formatTime, toJsonLine } from './output.ts';
import { TOO_LARGE, type StoredInquiry } from './store.ts';

/** Marks an inquiry as answered. */
export async function run(command: Command): Promise<number> {
  const connection = command.connect();
  return recordAnswer(command, connection, await findInquiry(connection.inbox, command.named));
}

/**
 * Records an answer and prints the result, or on standard error who has answered before. On a stage, it first names the
 * table and the respondent on standard error.
 *
 * @param reply - From `parseReply`; undefined dismisses the inquiry.
 * @returns The exit code: 0, or 3 when someone else has answered.
 * @throws Error when the inquiry is gone or cannot hold the reply.
 */
export async function recordAnswer(
  { isInteractive, io }: Command,
  { stage, table, inbox, respondent: findRespondent }: Connection,
  { id }: Pick<StoredInquiry, 'id'>,
  reply?: string,
): Promise<number> {
  const respondent = await findRespondent();
  const name = escapeUnsafe(respondent);
  if (stage !== 'local') {
    io.stderr.write(`Table ${escapeUnsafe(table)} of ${stage}, answered by ${name}\n`);
  }
  const result = await inbox.answer(id, { respondent, reply });
  if (result.status === 'not-found') throw new Error(`There is no inquiry ${id}.`);
  if (result.status === 'too-large') throw new Error(TOO_LARGE);
  if (result.status === 'already-answered') return reportAnswer(io, result);
  const done = reply === undefined ? 'Dismissed' : 'Answered';
  io.stdout.write(
    isInteractive
      ? `${done} ${toReference(id)} as ${name}.\n`
      : toJsonLine({ id, respondent, reply_at: result.reply_at }),
  );
  return 0;
}

/** Says on standard error that someone else has answered. @returns The exit code. */
export function reportAnswer(
  { stderr }: Command['io'],
  { respondent = '', reply_at = '' }: Pick<StoredInquiry, 'respondent' | 'reply_at'>,
): number {
  stderr.write(`Already answered by ${escapeUnsafe(respondent)} at ${formatTime(reply_at)}.\n`);
  return 3;
}
