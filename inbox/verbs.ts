import { wrapLine } from '../lib/terminal/terminal-text.ts';
import { OPTIONS, type OptionName, type Run } from './options.ts';

/** Taken by every verb. */
export const CONNECTION_OPTIONS: OptionName[] = [
  'stage',
  'service',
  'table',
  'erasures',
  'as',
  'data',
];

export interface Verb {
  takes?: 'ID';
  /** Its first sentence is in the list of verbs. */
  help: string;
  options: OptionName[];
  load: () => Promise<{ run: Run }>;
}

export const VERBS: Record<string, Verb> = {
  list: {
    help: 'Lists the unanswered inquiries, the oldest first. A new inquiry is in the list after a moment.',
    options: ['all', 'order', 'text', 'email', 'sub', 'since', 'limit', 'json'],
    load: () => import('./list.ts'),
  },
  show: {
    takes: 'ID',
    help: 'Shows one inquiry with its text and its answer.',
    options: ['json'],
    load: () => import('./show.ts'),
  },
  reply: {
    takes: 'ID',
    help: 'Answers an inquiry, once. The text comes from --file, from standard input if that is no terminal, or from $VISUAL or $EDITOR: saving sends it, an empty text sends nothing. Where the stage has mail, the answer is mailed.',
    options: ['file', 'anyway', 'json'],
    load: () => import('./reply.ts'),
  },
  dismiss: {
    takes: 'ID',
    help: 'Marks an inquiry as answered without a reply. It was answered elsewhere or needs no answer. No mail is sent.',
    options: ['json'],
    load: () => import('./dismiss.ts'),
  },
  reopen: {
    takes: 'ID',
    help: 'Makes a dismissed inquiry unanswered again. A reply that was recorded stays.',
    options: ['json'],
    load: () => import('./reopen.ts'),
  },
  export: {
    help: "Writes inquiries as JSON lines or CSV. They have no order. It reads the whole table, so that none is missing. With --sub or --email it writes a copy for the user instead: all that erase would delete, without colleagues' names, as JSON or --html.",
    options: ['csv', 'html', 'email', 'sub', 'since', 'out', 'json'],
    load: () => import('./export.ts'),
  },
  erase: {
    help: `Deletes all inquiries of a user. With them go replies and idempotency keys, under every email of the user, received mails, the address in SES's suppression list, and the account in the stage's user pool. Takes --sub, --email or both (the user's mails under one more address), or --replay. It lists addresses that are spelt nearly so. It says what it finds, and deletes after a question each or with --yes. An interrupted erasure is finished by running it again. Each is recorded as a keyed hash of the user's id.`,
    options: ['sub', 'email', 'keep-account', 'replay', 'forget-before', 'users', 'yes', 'json'],
    load: () => import('./erase.ts'),
  },
  expire: {
    help: 'Deletes old inquiries, or accounts without new ones. It says what it finds, and deletes after a question or with --yes. Run it again in a restored table.',
    options: ['older-than', 'accounts', 'yes', 'json'],
    load: () => import('./expire.ts'),
  },
  page: {
    help: 'Serves the inbox as a page on this machine. Inquiries are listed, read, answered and dismissed there, until Ctrl+C. This is what a line without a verb does, too.',
    options: ['port', 'replies'],
    load: () => import('./serve-page.ts'),
  },
};

const wrap = (text: string, hanging = 0): string => wrapLine(text, 80, hanging);

const describe = (name: string, text: string): string => wrap(`  ${name.padEnd(20)}${text}`, 22);

export function describeUsage(name = 'VERB'): string {
  const verb = VERBS[name];
  const verbs = Object.entries(VERBS).map(([each, { takes = '', help }]) =>
    describe(`${each} ${takes}`, help.slice(0, help.indexOf('.'))),
  );
  const options = (verb?.options ?? CONNECTION_OPTIONS).map((each) =>
    describe(`--${each} ${OPTIONS[each].value}`, OPTIONS[each].help),
  );
  return [
    `Usage: npm run inbox -- [--stage STAGE] ${name} ${verb?.takes ?? ''}`.trimEnd() +
      ' [options]\n',
    ...(verb ? [wrap(verb.help)] : [...verbs, describe('help VERB', 'the options of a verb')]),
    '',
    ...options,
    '',
    wrap('On a terminal the output is text; with --json or into a pipe it is JSON lines.'),
    wrap('An ID is a UUID, or the reference that the form and list show, such as 01a201c0-abec.'),
    wrap(
      'Exit codes: 0 done, 1 failed, 2 bad usage, 3 already answered, 4 no mail can go to the owner.',
    ),
  ].join('\n');
}
