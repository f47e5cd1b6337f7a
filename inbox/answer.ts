import { escapeUnsafe } from '../lib/terminal-text.ts';
import { parseCommandLine, type Io } from '../lib/command-line.ts';
import { failToFind, parseId, resolveId } from './arguments.ts';
import type { Connect, Connection } from './connect.ts';
import { formatTime, isInteractive, toJsonLine } from './output.ts';
import { TOO_LARGE } from './store.ts';
import { toReference } from '../src/limits.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] dismiss ID [options]

Marks an inquiry as answered without a reply: it was answered elsewhere or needs
no answer. No mail is sent, and it cannot be undone.

  --json  one JSON object on a terminal, too

Exit codes: 0 dismissed, 1 failed, 2 bad usage, 3 already answered or dismissed.
`;

export async function dismissInquiry(connect: Connect, args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseCommandLine(USAGE, { json: { type: 'boolean' } }, { args });
  return recordAnswer(connect(), parseId(positionals, 'dismiss'), { json: values.json }, io);
}

/** Says on standard error that someone else has answered. @returns The exit code. */
export function reportAlreadyAnswered({ stderr }: Io, respondent: string, time: string): number {
  stderr.write(`Already answered by ${escapeUnsafe(respondent)} at ${formatTime(time)}.\n`);
  return 3;
}

/**
 * Records an answer and prints the result. On a stage, it first names the table and the respondent on standard error.
 *
 * @param named - From `parseId`.
 * @param answer - `reply`: from `parseReply`; undefined dismisses the inquiry. `json`: whether to print JSON on a
 * terminal, too.
 * @returns The exit code: 0, or 3 when someone else has answered.
 * @throws Error when the inquiry does not exist or cannot hold the reply.
 */
export async function recordAnswer(
  { stage, table, inbox, respondent: findRespondent }: Connection,
  named: string,
  { reply, json }: { readonly reply?: string; readonly json: boolean | undefined },
  io: Io,
): Promise<number> {
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
  io.stdout.write(
    isInteractive(io, json)
      ? `${reply === undefined ? 'Dismissed' : 'Answered'} ${toReference(id)} as ${name}.\n`
      : toJsonLine({ id, respondent, reply_at }),
  );
  return 0;
}
