import { showAddress } from '../src/invisible.ts';
import { toReference } from '../src/limits.ts';
import { findInquiry } from './arguments.ts';
import type { Command } from './options.ts';
import { SHOWN_FIELDS, type ShownInquiry } from './store.ts';
import { formatTime, toJsonLine } from './output.ts';
import { escapeUnsafe, escapeLines, wrapLine } from '../lib/terminal-text.ts';
import { canMail, factsOf, formatAge, subjectOf, UNDELIVERED } from './words.ts';

export async function showInquiry({ named, isInteractive, io, connect }: Command): Promise<void> {
  const { inbox } = connect();
  for (const shown of await inbox.addUndelivered([await findInquiry(inbox, named)])) {
    io.stdout.write(
      isInteractive ? formatInquiry(shown, io.stdout.columns) : toJsonLine(shown, SHOWN_FIELDS),
    );
  }
}

/** Texts of users are indented, so that none can look like a heading. */
const indent = (text: string, columns?: number): string =>
  escapeLines(text)
    .map((line) => wrapLine(`  ${line}`.trimEnd(), columns, 2))
    .join('\n');

/** Columns of the names of what is shown. */
const LABEL = 11;

const ago = (time: string): string => `${formatTime(time)} (${formatAge(Date.parse(time))})`;

function describeAnswer({ reply, respondent = '', reply_at }: ShownInquiry): string {
  if (reply_at === undefined) return 'not yet';
  return `${reply === undefined ? 'dismissed' : 'answered'} by ${respondent}, ${ago(reply_at)}`;
}

/** What is to be known about mail to the owner. */
function describeMail({ email, undelivered, undelivered_at = '' }: ShownInquiry): string[] {
  if (undelivered !== undefined) return [`${UNDELIVERED[undelivered]}, ${ago(undelivered_at)}`];
  return canMail({ email }) ? [] : ['none can go to this address'];
}

/** Formats an inquiry for a terminal. */
export function formatInquiry(inquiry: ShownInquiry, columns?: number): string {
  const { id, email, body, reply } = inquiry;
  const lines = [
    ['Reference', toReference(id)],
    ['Email', showAddress(email)],
    ...factsOf(inquiry).map(({ label, value, isTime }) => [
      label,
      isTime ? formatTime(value) : value,
    ]),
    ['Answer', describeAnswer(inquiry)],
    ...describeMail(inquiry).map((text) => ['Mail', text]),
    ['Subject', subjectOf(inquiry)],
  ].map(([name = '', value = '']) =>
    wrapLine(`${name.padEnd(LABEL)}${escapeUnsafe(value)}`.trimEnd(), columns, LABEL),
  );
  const replyLines = reply === undefined ? [] : ['', 'Reply', '', indent(reply, columns)];
  return `${[...lines, '', indent(body, columns), ...replyLines].join('\n')}\n`;
}
