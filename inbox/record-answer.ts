import { ITEM_LIMIT, toReference } from '../src/limits.ts';
import type { StoredInquiry } from '../src/entities/stored-inquiries.ts';
import { UsageError } from '../lib/terminal/command-line.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';
import type { Connection } from './connect.ts';
import type { Command } from './options.ts';
import { formatTime, toJsonLine } from './output.ts';

export const TOO_LARGE =
  'The reply is too long: with the inquiry it may have 400 KB; nothing was changed.';

/**
 * @returns Well-formed Unicode, LF as line end, no white space at the end.
 * @throws UsageError if it is blank or larger than an inquiry can hold.
 */
export function parseReply(text: string): string {
  const reply = text.toWellFormed().replaceAll(/\r\n?/g, '\n').trimEnd();
  if (reply === '') throw new UsageError('The reply is empty; nothing was changed.');
  if (Buffer.byteLength(reply) > ITEM_LIMIT) throw new UsageError(TOO_LARGE);
  return reply;
}

/**
 * Prints the result, or on standard error who has answered; on a stage, first table and respondent.
 *
 * @param reply - From `parseReply`; undefined: a dismissal.
 * @returns The exit code: 0, or 3 if someone else has answered.
 * @throws Error if the inquiry is gone or cannot hold the reply.
 */
export async function recordAnswer(
  { isInteractive, io }: Command,
  { stage, table, inquiries, respondent: findRespondent }: Connection,
  inquiry: StoredInquiry,
  reply?: string,
): Promise<number> {
  const { id } = inquiry;
  const respondent = await findRespondent();
  const name = escapeUnsafe(respondent);
  if (stage !== 'local') {
    io.stderr.write(`Table ${escapeUnsafe(table)} of ${stage}, answered by ${name}\n`);
  }
  const result = await inquiries.answer(inquiry, { respondent, reply });
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

export function reportAnswer(
  { stderr }: Command['io'],
  { respondent = '', reply_at = '' }: Pick<StoredInquiry, 'respondent' | 'reply_at'>,
): number {
  stderr.write(`Already answered by ${escapeUnsafe(respondent)} at ${formatTime(reply_at)}.\n`);
  return 3;
}
