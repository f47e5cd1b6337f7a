/** A copy for the person (GDPR, articles 15 and 20): what `erase` would delete, without colleagues' names. */
import { escapeHtml, toVisible } from '../text/visible.ts';
import { escapeAddress } from '../text/invisible.ts';
import type { Command } from './options.ts';
import { formatTime } from './output.ts';
import { findPerson } from './person.ts';
import { createTask } from './task.ts';
import { UNDELIVERED } from './words.ts';

type Copy = Awaited<ReturnType<typeof readCopy>>;

/** @throws UsageError if several users have the email. @throws Error if there is nothing. */
export async function readCopy(command: Command) {
  const task = createTask(command);
  const { inquiries, deliveries } = task.connection;
  const { sub, account, mails, suppressed } = await findPerson(command.filter, task);
  const copied = [];
  const pages = sub === undefined ? [] : inquiries.scan({ sub, withExpired: true });
  for await (const page of pages) {
    for (const { respondent: _, ...row } of await deliveries.addUndelivered(page)) copied.push(row);
  }
  const received = (mails?.written ?? []).map(({ date, subject, text }) => ({
    date,
    subject,
    text,
  }));
  const bounced = suppressed?.addresses ?? [];
  if (account === undefined && copied.length + received.length + bounced.length === 0) {
    throw new Error(`There is nothing of ${sub ?? escapeAddress(`${command.filter.email}`)}.`);
  }
  return {
    copied_at: new Date().toISOString(),
    cognito_sub: sub,
    account: account && { email: account.email, created_at: account.created_at },
    inquiries: copied.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    mails: received,
    /** Addresses to which no mail is sent, since one came back. */
    suppressed: bounced,
  };
}

const formatRows = (rows: Record<string, string | undefined>): string =>
  Object.entries(rows)
    .filter(([, value]) => value !== undefined)
    .map(([name, value = '']) => `<dt>${name}<dd dir="auto">${escapeHtml(toVisible(value))}`)
    .join('\n');

const formatSection = (title: string, rows: Record<string, string | undefined>): string =>
  `<h2 dir="auto">${escapeHtml(toVisible(title))}</h2>\n<dl>\n${formatRows(rows)}\n</dl>`;

export function toPage({ copied_at, cognito_sub, account, inquiries, mails, suppressed }: Copy) {
  const sections = [
    formatSection('You', {
      'User id': cognito_sub,
      Account: account && `${account.email}, since ${formatTime(account.created_at)}`,
      'No mail is sent to': suppressed.join(', ') || undefined,
    }),
    ...inquiries.map((row) =>
      formatSection(row.subject || 'Inquiry', {
        Sent: `${formatTime(row.created_at)}, as ${row.email}`,
        Text: row.body,
        Language: row.language,
        'Address verified': row.email_verified === true ? 'yes' : undefined,
        Answered: row.reply_at && formatTime(row.reply_at),
        Answer: row.reply,
        Added: row.additions?.map(({ text }) => text).join('\n\n'),
        'The mail with it': row.undelivered && UNDELIVERED[row.undelivered],
        Deleted: row.expires_at === undefined ? undefined : formatTime(row.expires_at * 1_000),
        Id: row.id,
      }),
    ),
    ...mails.map(({ date, subject = '', text }) =>
      formatSection(subject || 'Mail', { Received: date, Text: text }),
    ),
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Your data</title>
<style>body { font: 1rem/1.5 sans-serif; max-width: 45rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere } dt { font-weight: bold } dd { margin: 0 0 0.5rem; white-space: pre-wrap }</style>
<h1>Your data, ${formatTime(copied_at)}</h1>
${sections.join('\n')}
`;
}
