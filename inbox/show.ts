import { parseCommandLine } from '../lib/command-line.ts';
import type { Io } from '../lib/command-line.ts';
import { showAddress } from '../src/invisible.ts';
import { findInquiry, parseId } from './arguments.ts';
import type { Connect } from './connect.ts';
import { FIELDS } from './store.ts';
import type { StoredInquiry } from './store.ts';
import { formatDuration, formatTime, isInteractive, toJsonLine } from './output.ts';
import { escapeUnsafe, escapeLines } from '../lib/terminal-text.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] show ID [options]

Shows one inquiry with its text and its answer. ID is a UUID in any notation, or the
reference that the form shows, such as 01a201c0-abec.

  --json  one JSON object on a terminal, too
`;

export async function showInquiry(connect: Connect, args: string[], io: Io): Promise<void> {
  const { values, positionals } = parseCommandLine(USAGE, { json: { type: 'boolean' } }, { args });
  const named = parseId(positionals, 'show');
  const inquiry = await findInquiry(connect().inbox, named);
  io.stdout.write(isInteractive(io, values.json) ? formatInquiry(inquiry) : toJsonLine(inquiry, FIELDS));
}

/** Texts of users are indented, so that none can look like a heading. */
const indent = (text: string): string =>
  escapeLines(text)
    .map((line) => `  ${line}`.trimEnd())
    .join('\n');

const ago = (time: string): string =>
  `${formatTime(time)} (${formatDuration(Date.now() - Date.parse(time))} ago)`;

/** Formats an inquiry for a terminal. */
export function formatInquiry(inquiry: StoredInquiry): string {
  const { id, cognito_sub, email, subject, body, created_at, reply, respondent, reply_at, expires_at } =
    inquiry;
  const answer =
    reply_at === undefined
      ? 'not yet'
      : `${reply === undefined ? 'dismissed' : 'answered'} by ${respondent ?? ''}, ${ago(reply_at)}`;
  const lines = [
    ['Id', id],
    ['Email', showAddress(email)],
    ['Owner', cognito_sub],
    ['Created', ago(created_at)],
    ...(expires_at === undefined ? [] : [['Expires', formatTime(expires_at * 1_000)]]),
    ['Answer', answer],
    ['Subject', subject],
  ].map(([name = '', value = '']) => `${name.padEnd(9)}${escapeUnsafe(value)}`.trimEnd());
  const replyLines = reply === undefined ? [] : ['', 'Reply', '', indent(reply)];
  return `${[...lines, '', indent(body), ...replyLines].join('\n')}\n`;
}
