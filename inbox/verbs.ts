/** The verbs as data: what each does, and which options it takes. */
import { wrapLine } from '../lib/terminal-text.ts';
import { OPTIONS, type OptionName, type Run } from './options.ts';

const PLACE = ['stage', 'service', 'table', 'erasures', 'as', 'data'] as const;

export interface Verb {
  /** After the verb. */
  readonly takes?: 'ID';
  readonly summary: string;
  readonly help: string;
  readonly options: readonly OptionName[];
  readonly load: () => Promise<Run>;
}

export const VERBS: Readonly<Record<string, Verb>> = {
  list: {
    summary: 'unanswered inquiries, the oldest first',
    help: 'Lists the unanswered inquiries, the oldest first. A new inquiry is in the list after a moment.',
    options: ['all', 'order', 'text', 'email', 'sub', 'since', 'limit', 'json'],
    load: async () => (await import('./list.ts')).listInquiries,
  },
  show: {
    takes: 'ID',
    summary: 'one inquiry with its text and its answer',
    help: 'Shows one inquiry with its text and its answer. ID is a UUID in any notation, or the reference that the form shows, such as 01a201c0-abec.',
    options: ['json'],
    load: async () => (await import('./show.ts')).showInquiry,
  },
  reply: {
    takes: 'ID',
    summary: 'answer an inquiry, once',
    help: `Answers an inquiry, once. The text is UTF-8 and comes from --file, from standard input if that is no terminal, or from an editor ($VISUAL, otherwise $EDITOR): saving sends it, an empty text sends nothing. Where the stage has mail, the answer is mailed to the owner of the inquiry. If no mail can go to the address, the command says so before it opens an editor.`,
    options: ['file', 'anyway', 'json'],
    load: async () => (await import('./reply.ts')).replyToInquiry,
  },
  dismiss: {
    takes: 'ID',
    summary: 'mark an inquiry as answered without a reply',
    help: 'Marks an inquiry as answered without a reply: it was answered elsewhere or needs no answer. No mail is sent, and it cannot be undone.',
    options: ['json'],
    load: async () => (await import('./answer.ts')).dismissInquiry,
  },
  export: {
    summary: 'inquiries with their texts, as JSON lines or CSV',
    help: 'Writes inquiries with their texts and answers, in no order, exactly as stored. It reads the whole table, so that no inquiry is missing that is answered at the same time.',
    options: ['csv', 'email', 'sub', 'since', 'out', 'json'],
    load: async () => (await import('./export.ts')).exportInquiries,
  },
  erase: {
    summary: 'delete all inquiries of a user',
    help: `Deletes all inquiries of a user, with their replies and idempotency keys, under every email that the user has had, and the user's account if the stage has a user pool of its own. Takes one of --sub, --email and --replay. First it says what it finds. It deletes the account when you type "account", and all of it when you type the stage's name (local on the laptop); or with --yes. Without --yes and a terminal it only says what it finds. An erasure that was interrupted is finished by running it again. Each erasure is recorded as a keyed hash of the user's id.`,
    options: ['sub', 'email', 'keep-account', 'replay', 'yes', 'json'],
    load: async () => (await import('./erase.ts')).eraseInquiries,
  },
  stats: {
    summary: 'how many are unanswered, and how long answers take',
    help: 'Counts all inquiries, those that are unanswered, and how long answers have taken: in total and by the week in which the inquiry came (from Monday, UTC; the last ten). Dismissed ones count as answered.',
    options: ['json'],
    load: async () => (await import('./stats.ts')).printStatistics,
  },
  '--web': {
    summary: 'the inbox as a page in the browser',
    help: 'Serves a page to list, read, answer and dismiss inquiries in the browser, until Ctrl+C.',
    options: ['web', 'port', 'replies'],
    load: async () => (await import('./open-page.ts')).openPage,
  },
};

/** Whether a verb takes an option. */
export const isTaken = ({ options }: Verb, name: OptionName): boolean =>
  [...PLACE, ...options].includes(name);

/** Fits texts into 80 columns. */
const fit = (text: string, hanging = 0): string => wrapLine(text, 80, hanging);

const describe = (name: string, text: string): string => fit(`  ${name.padEnd(17)}${text}`, 19);

const nameOf = (name: string, { takes }: Verb): string => (takes ? `${name} ${takes}` : name);

/** The usage of a verb, or of the command. */
export function describeUsage(name = 'VERB'): string {
  const verb = VERBS[name];
  const verbs = Object.entries(VERBS).map(([each, one]) =>
    describe(nameOf(each, one), one.summary),
  );
  const options = (verb?.options ?? PLACE).map((each) =>
    describe(`--${each} ${OPTIONS[each].value}`, OPTIONS[each].help),
  );
  return [
    `Usage: npm run inbox -- [--stage STAGE] ${verb ? nameOf(name, verb) : name} [options]\n`,
    ...(verb ? [fit(verb.help)] : [...verbs, describe('help VERB', 'the options of a verb')]),
    '',
    ...options,
    '',
    fit('On a terminal the output is text; with --json or into a pipe it is JSON lines.'),
    fit('An ID is the id of an inquiry, or its reference, which list shows.'),
    fit(
      'Exit codes: 0 done, 1 failed, 2 bad usage, 3 already answered, 4 no mail can go to the owner.',
    ),
  ].join('\n');
}
