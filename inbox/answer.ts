import { formatTime, isForPeople, toJsonLine } from './output.ts';
import { escapeUnsafe } from '../lib/terminal-text.ts';
import { resolveId } from './arguments.ts';
import type { Connection } from './connect.ts';
import { TOO_LARGE } from './store.ts';

/** Says on standard error that somebody was faster; the exit code becomes 3. */
export function reportAlreadyAnswered(respondent: string, time: string): void {
  process.stderr.write(`Already answered by ${escapeUnsafe(respondent)} at ${formatTime(time)}.\n`);
  process.exitCode = 3;
}

/** Names on standard error what is about to be written, unless it is the local stack. */
function announce({ stage, table }: Connection, respondent: string): void {
  if (stage === 'local') return;
  process.stderr.write(`Table ${escapeUnsafe(table)} of ${stage}, answered by ${escapeUnsafe(respondent)}\n`);
}

/**
 * Records an answer and prints the result.
 *
 * @param named - From `parseId`.
 * @param reply - From `parseReply`; undefined dismisses the inquiry.
 * @param json - Whether to print JSON on a terminal, too.
 * @returns Whether it was recorded; otherwise somebody was faster.
 * @throws Error when the inquiry does not exist or cannot hold the reply.
 */
export async function recordAnswer(
  connection: Connection,
  named: string,
  { reply, json }: { readonly reply?: string; readonly json: boolean | undefined },
): Promise<boolean> {
  const respondent = await connection.respondent();
  announce(connection, respondent);
  const id = await resolveId(connection.inbox, named);
  const result = await connection.inbox.answer(id, { respondent, ...(reply !== undefined && { reply }) });
  if (result.status === 'not-found') throw new Error(`There is no inquiry ${id}.`);
  if (result.status === 'too-large') throw new Error(TOO_LARGE);
  const { status, reply_at } = result;
  if (status === 'already-answered') {
    reportAlreadyAnswered(result.respondent, reply_at);
    return false;
  }
  process.stdout.write(
    isForPeople(json)
      ? `${reply === undefined ? 'Dismissed' : 'Answered'} ${id} as ${escapeUnsafe(respondent)}.\n`
      : toJsonLine({ id, respondent, reply_at }),
  );
  return true;
}
