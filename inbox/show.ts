import { escapeAddress } from '../text/invisible.ts';
import { toReference } from '../src/limits.ts';
import { findInquiry } from './arguments.ts';
import type { Command } from './options.ts';
import { SHOWN_FIELDS, type ShownInquiry } from './shown-inquiry.ts';
import { formatTime, toJsonLine } from './output.ts';
import { toLine, toLines, wrapLine } from '../lib/terminal/terminal-text.ts';
import { canMail, factsOf, formatAge, stateOf, subjectOf, UNDELIVERED } from './words.ts';

export async function run({ named, isInteractive, io, connect }: Command): Promise<void> {
  const { inquiries, deliveries } = connect();
  for (const shown of await deliveries.addUndelivered([await findInquiry(inquiries, named)])) {
    io.stdout.write(
      isInteractive
        ? formatInquiry(
            { ...shown, follow_ups: await inquiries.findFollowUps(shown) },
            io.stdout.columns,
          )
        : toJsonLine(shown, SHOWN_FIELDS),
    );
  }
}

/** Indented, so that a user's text cannot look like a heading. */
const indent = (text: string, columns?: number): string =>
  toLines(text)
    .map((line) => wrapLine(`  ${line}`.trimEnd(), columns, 2))
    .join('\n');

const LABEL = 13;

const describe = (what: string, time: string): string =>
  `${what}, ${formatTime(time)} (${formatAge(Date.parse(time))})`;

export function formatInquiry(inquiry: ShownInquiry, columns?: number): string {
  const {
    id,
    email,
    body,
    reply,
    respondent,
    reply_at,
    undelivered,
    undelivered_at = '',
    follows,
    follow_ups = [],
    additions = [],
  } = inquiry;
  const noMail = canMail(inquiry) ? undefined : 'none can go to this address';
  const lines = [
    ['Reference', toReference(id)],
    ['Email', escapeAddress(email)],
    ...factsOf(inquiry).map(({ label, value, isTime }) => [
      label,
      isTime ? formatTime(value) : value,
    ]),
    ['Follows', follows && toReference(follows)],
    ['Followed by', follow_ups.map(toReference).join(', ') || undefined],
    [
      'Answer',
      reply_at === undefined
        ? 'not yet'
        : describe(`${stateOf(inquiry)} by ${respondent}`, reply_at),
    ],
    [
      'Mail',
      undelivered === undefined ? noMail : describe(UNDELIVERED[undelivered], undelivered_at),
    ],
    ['Subject', subjectOf(inquiry)],
  ].flatMap(([name = '', value]) =>
    value === undefined
      ? []
      : wrapLine(`${name.padEnd(LABEL)}${toLine(value)}`.trimEnd(), columns, LABEL),
  );
  const replyLines = reply === undefined ? [] : ['', 'Reply', '', indent(reply, columns)];
  const added = additions.flatMap(({ text, at }) => [
    '',
    describe('Added', at),
    '',
    indent(text, columns),
  ]);
  return `${[...lines, '', indent(body, columns), ...replyLines, ...added].join('\n')}\n`;
}
