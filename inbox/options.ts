import type { parseArgs } from 'node:util';
import type { Io } from '../lib/terminal/command-line.ts';
import type { Connection } from './connect.ts';
import type { InquiryFilter } from '../src/entities/stored-inquiries.ts';

const flag = (help: string) => ({ type: 'boolean', value: '', help }) as const;
const option = (value: string, help: string) => ({ type: 'string', value, help }) as const;

/** `value`: its name in the usage. */
export const OPTIONS = {
  stage: option(
    'STAGE',
    'develop, main or release, with the AWS credentials and region of the environment (default: the local stack)',
  ),
  service: option('NAME', 'of another service than inquiries'),
  table: option('NAME', 'another table, such as a restored one, with'),
  erasures: option('NAME', 'the table of its erasures'),
  as: option('NAME', 'who answers, on the local stack only (default: you)'),
  data: option('FOLDER', 'the data folder of the local stack (default: .data)'),
  port: option('N', 'the port of the page (default: a free one)'),
  replies: option(
    'FILE',
    'saved replies, see docs/inbox.md (default: saved-replies.json in this folder)',
  ),
  all: flag('answered and dismissed ones, too, the newest first, and which replies came back'),
  order: option('O', 'newest or oldest first'),
  text: option(
    'WORDS',
    'with each of these words in email, subject or text, or 8 digits or more of the id',
  ),
  email: option('E', 'with this email, as it is written'),
  sub: option('UUID', 'of the user with this id, whatever the email'),
  since: option('WHEN', 'not older than an age (12h, 7d), a date (2026-11-01) or a date-time'),
  limit: option('N', 'at most N (default: 50 on a terminal, otherwise all)'),
  file: option('FILE', 'the text; - is standard input'),
  anyway: flag('record the answer even if no mail can go to the owner'),
  csv: flag(
    'for spreadsheets: what could be a formula gets an apostrophe, control and invisible characters are escaped',
  ),
  out: option('FILE', 'into a file that only you can read'),
  html: flag('the copy as a page to read'),
  'older-than': option('WHEN', 'sent before an age (365d), a date or a date-time'),
  accounts: flag("accounts in the stage's user pool that have sent nothing since, not inquiries"),
  'keep-account': flag("keep the account in the stage's user pool"),
  replay: flag('in a restored table: delete again what has been erased'),
  'forget-before': option('AGE', 'with --replay: delete older records, which no backup needs'),
  users: option(
    'FILE',
    'with --replay: remove who was erased from a list of users, see docs/backup.md',
  ),
  yes: flag('delete without asking'),
  json: flag('one JSON object a line on a terminal, too'),
} as const;

export type OptionName = keyof typeof OPTIONS;

export interface Command {
  values: ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];
  /** Id or reference, for a verb that takes one. */
  named: string;
  filter: Pick<InquiryFilter, 'email' | 'sub' | 'since'>;
  /** Tables and texts: at a terminal without `--json`. */
  isInteractive: boolean;
  io: Io;
  /** Called after a verb has checked its options. */
  connect: () => Connection;
}

export type Run = (command: Command) => Promise<number | void>;
