import { parseCommandLine, type Io } from '../lib/command-line.ts';
import { showAddress } from '../src/invisible.ts';
import { toReference } from '../src/limits.ts';
import { toMailbox } from '../src/mailbox.ts';
import { findInquiry, parseId } from './arguments.ts';
import type { Connect } from './connect.ts';
import { SHOWN_FIELDS, type StoredInquiry, type Undelivered } from './store.ts';
import {
  formatDuration,
  formatSubject,
  formatTime,
  isInteractive,
  OUTCOMES,
  toJsonLine,
} from './output.ts';
import { escapeUnsafe, escapeLines, wrapLine } from '../lib/terminal-text.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] show ID [options]

Shows one inquiry with its text and its answer. ID is a UUID in any notation, or
the reference that the form shows, such as 01a201c0-abec.

  --json  one JSON object on a terminal, too
`;

export async function showInquiry(connect: Connect, args: string[], io: Io): Promise<void> {
  const { values, positionals } = parseCommandLine(USAGE, { json: { type: 'boolean' } }, { args });
  const named = parseId(positionals, 'show');
  const { inbox } = connect();
  const inquiry = await findInquiry(inbox, named);
  const shown = { ...inquiry, ...(await inbox.readUndelivered([inquiry.id])).get(inquiry.id) };
  io.stdout.write(
    isInteractive(io, values.json)
      ? formatInquiry(shown, io.stdout.columns)
      : toJsonLine(shown, SHOWN_FIELDS),
  );
}

/** Texts of users are indented, so that none can look like a heading. */
const indent = (text: string, columns?: number): string =>
  escapeLines(text)
    .map((line) => wrapLine(`  ${line}`.trimEnd(), columns, 2))
    .join('\n');

/** Columns of the names of what is shown. */
const LABEL = 11;

const ago = (time: string): string =>
  `${formatTime(time)} (${formatDuration(Date.now() - Date.parse(time))} ago)`;

/** What is to be known about mail to the owner. */
function describeDelivery({
  email,
  undelivered,
  undelivered_at = '',
}: ShownInquiry): string | undefined {
  if (undelivered === undefined) {
    return toMailbox(email) ? undefined : 'none can go to this address';
  }
  return `the reply could not be delivered: ${OUTCOMES[undelivered]}, ${ago(undelivered_at)}`;
}

type ShownInquiry = StoredInquiry & Partial<Undelivered>;

/** Formats an inquiry for a terminal. */
export function formatInquiry(inquiry: ShownInquiry, columns?: number): string {
  const { id, cognito_sub, email, language, subject, body, created_at } = inquiry;
  const { reply, respondent, reply_at, expires_at } = inquiry;
  const delivery = describeDelivery(inquiry);
  const answer =
    reply_at === undefined
      ? 'not yet'
      : `${reply === undefined ? 'dismissed' : 'answered'} by ${respondent ?? ''}, ${ago(reply_at)}`;
  const lines = [
    ['Reference', toReference(id)],
    ['Id', id],
    ['Email', showAddress(email)],
    ['Owner', cognito_sub],
    ...(language === undefined ? [] : [['Language', language]]),
    ['Created', ago(created_at)],
    ...(expires_at === undefined ? [] : [['Expires', formatTime(expires_at * 1_000)]]),
    ['Answer', answer],
    ...(delivery === undefined ? [] : [['Mail', delivery]]),
    ['Subject', formatSubject(subject)],
  ].map(([name = '', value = '']) =>
    wrapLine(`${name.padEnd(LABEL)}${escapeUnsafe(value)}`.trimEnd(), columns, LABEL),
  );
  const replyLines = reply === undefined ? [] : ['', 'Reply', '', indent(reply, columns)];
  return `${[...lines, '', indent(body, columns), ...replyLines].join('\n')}\n`;
}
