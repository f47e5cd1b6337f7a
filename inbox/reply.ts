import { spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { UsageError, type Io } from '../lib/terminal/command-line.ts';
import { readUpTo } from './read-up-to.ts';
import { parseReply, recordAnswer, reportAnswer, TOO_LARGE } from './record-answer.ts';
import { findInquiry } from './arguments.ts';
import type { Command } from './options.ts';
import { escapeAddress } from '../text/invisible.ts';
import { ITEM_LIMIT } from '../src/limits.ts';
import { escapeUnsafe, writeLines } from '../lib/terminal/terminal-text.ts';
import { canMail } from './words.ts';

export async function run(command: Command): Promise<number> {
  const { named, values, io } = command;
  const file = values.file ?? (io.stdin.isTTY === true ? undefined : '-');
  // git asks for them in the same order.
  const editor = io.env['VISUAL'] || io.env['EDITOR'];
  if (file === undefined && !editor) {
    throw new UsageError('There is no editor; set $EDITOR, or pass --file FILE or standard input.');
  }
  const reply = file === undefined ? undefined : parseReply(await readText(file, io));
  const connection = command.connect();
  const inquiry = await findInquiry(connection.inquiries, named);
  if (inquiry.reply_at !== undefined) return reportAnswer(io, inquiry);
  if (!canMail(inquiry) && values.anyway !== true) {
    writeLines(
      io.stderr,
      `No mail can go to ${escapeAddress(inquiry.email)}, so nothing was changed; answer elsewhere, or record the answer with --anyway.`,
    );
    return 4;
  }
  const record = async (text: string) => recordAnswer(command, connection, inquiry, text);
  return reply === undefined ? replyFromEditor(io, `${editor}`, record) : record(reply);
}

/** Bytes: more than a reply, with CRLF and white space at its end. */
const READ_LIMIT = 4 * ITEM_LIMIT;

async function readText(file: string, { stdin }: Pick<Io, 'stdin'>): Promise<string> {
  try {
    const bytes = await readUpTo(file === '-' ? stdin : createReadStream(file), READ_LIMIT);
    if (bytes === undefined) throw new UsageError(TOO_LARGE);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : code;
    const name = file === '-' ? 'standard input' : escapeUnsafe(file);
    const message = `The reply cannot be read from ${name} (${reason}).`;
    throw new UsageError(message, { cause: error });
  }
}

/** Keeps the file, and names it, unless its text was recorded or is empty. */
async function replyFromEditor(
  io: Io,
  editor: string,
  record: (reply: string) => Promise<number>,
): Promise<number> {
  const file = join(mkdtempSync(join(tmpdir(), 'inquiry-')), 'reply.txt');
  writeFileSync(file, '', { mode: 0o600 });
  // May hold arguments, as in `code --wait`.
  const { status } = spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
  const text = await readText(file, io);
  const isEmpty = text.trim() === '';
  let code: number | undefined;
  try {
    if (status !== 0) throw new Error('The editor failed; nothing was sent.');
    if (isEmpty) throw new UsageError('The reply is empty; nothing was sent.');
    code = await record(parseReply(text));
    return code;
  } finally {
    if (isEmpty || code === 0) rmSync(dirname(file), { recursive: true, force: true });
    else io.stderr.write(`Your text is kept in ${file}\n`);
  }
}
