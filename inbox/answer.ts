import { escapeUnsafe } from '../lib/terminal-text.ts';
import type { Io } from '../lib/command-line.ts';
import { failToFind, resolveId } from './arguments.ts';
import type { Command } from './options.ts';
import { formatTime, toJsonLine } from './output.ts';
import { TOO_LARGE } from './store.ts';
import { toReference } from '../src/limits.ts';

export const dismissInquiry = async (command: Command): Promise<number> => recordAnswer(command);

/** Says on standard error that someone else has answered. @returns The exit code. */
export function reportAlreadyAnswered({ stderr }: Io, respondent: string, time: string): number {
  stderr.write(`Already answered by ${escapeUnsafe(respondent)} at ${formatTime(time)}.\n`);
  return 3;
}

/**
 * Records an answer and prints the result. On a stage, it first names the table and the respondent on standard error.
 *
 * @param reply - From `parseReply`; undefined dismisses the inquiry.
 * @returns The exit code: 0, or 3 when someone else has answered.
 * @throws Error when the inquiry does not exist or cannot hold the reply.
 */
export async function recordAnswer(
  { named, isInteractive, io, connect }: Command,
  reply?: string,
): Promise<number> {
  const { stage, table, inbox, respondent: findRespondent } = connect();
  const respondent = await findRespondent();
  const name = escapeUnsafe(respondent);
  if (stage !== 'local') {
    io.stderr.write(`Table ${escapeUnsafe(table)} of ${stage}, answered by ${name}\n`);
  }
  const id = await resolveId(inbox, named);
  const result = await inbox.answer(id, { respondent, reply });
  if (result.status === 'not-found') return failToFind(id);
  if (result.status === 'too-large') throw new Error(TOO_LARGE);
  const { reply_at } = result;
  if (result.status === 'already-answered') {
    return reportAlreadyAnswered(io, result.respondent, reply_at);
  }
  const done = reply === undefined ? 'Dismissed' : 'Answered';
  io.stdout.write(
    isInteractive
      ? `${done} ${toReference(id)} as ${name}.\n`
      : toJsonLine({ id, respondent, reply_at }),
  );
  return 0;
}
