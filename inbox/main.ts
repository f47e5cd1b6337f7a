/**
 * The operators' inbox: lists, shows, answers, dismisses and exports the inquiries of all users. docs/adr/0082
 *
 * Usage and exit codes: see below and `help VERB`. Each failure is one line on stderr.
 */
import { parseArgs } from 'node:util';
import { closestMatch } from 'leven';
import { describeFailure } from '../lib/aws.ts';
import { parseCommandLine, parseOptions, runCommand, UsageError } from '../lib/command-line.ts';
import type { Io, Main } from '../lib/command-line.ts';
import { findDataFolder } from '../lib/running-stack.ts';
import { isServiceName, STAGES } from '../lib/stages.ts';
import { escapeUnsafe } from '../lib/terminal-text.ts';
import { connectLocally, connectToStage, type Connect, type Tables } from './connect.ts';

/** Parses the arguments after the verb and does it. It connects when they are right. @returns The exit code, by default 0. */
type Run = (connect: Connect, args: string[], io: Io) => Promise<number | void>;

interface Verb {
  readonly usage: string;
  readonly summary: string;
  readonly load: () => Promise<Run>;
}

const VERBS: Readonly<Record<string, Verb>> = {
  list: {
    usage: 'list',
    summary: 'unanswered inquiries, the oldest first',
    load: async () => (await import('./list.ts')).listInquiries,
  },
  show: {
    usage: 'show ID',
    summary: 'one inquiry with its text and its answer',
    load: async () => (await import('./show.ts')).showInquiry,
  },
  reply: {
    usage: 'reply ID',
    summary: 'answer an inquiry, once',
    load: async () => (await import('./reply.ts')).replyToInquiry,
  },
  dismiss: {
    usage: 'dismiss ID',
    summary: 'mark an inquiry as answered without a reply',
    load: async () => (await import('./answer.ts')).dismissInquiry,
  },
  export: {
    usage: 'export',
    summary: 'inquiries with their texts, as JSON lines or CSV',
    load: async () => (await import('./export.ts')).exportInquiries,
  },
  erase: {
    usage: 'erase',
    summary: 'delete all inquiries of a user',
    load: async () => (await import('./erase.ts')).eraseInquiries,
  },
  stats: {
    usage: 'stats',
    summary: 'how many are unanswered, and how long answers take',
    load: async () => (await import('./stats.ts')).printStatistics,
  },
};

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] VERB [options]
       npm run inbox -- [--stage STAGE] --web [--port N] [--replies FILE]

${Object.values(VERBS)
  .map(({ usage, summary }) => `  ${usage.padEnd(16)}${summary}`)
  .join('\n')}
  help VERB       the options of a verb

An ID is the id of an inquiry, or its reference, which list shows.

  --web           a page to list, read, answer and dismiss inquiries in the
                  browser, until Ctrl+C
  --port N        its port (default: a free one)
  --replies FILE  its saved replies, see docs/inbox.md
                  (default: saved-replies.json in this folder, if it is there)

  --stage STAGE   the tables of develop, main or release, with the AWS
                  credentials and region of the environment
                  (default: the running local stack)
  --service NAME  of the service named NAME (default: inquiries)
  --table NAME    another table than that of the stage, such as a restored one;
                  always with
  --erasures NAME the table with the records of its erasures
  --as NAME       who answers, on the local stack only
                  (default: the user of the operating system)
  --data FOLDER   the data folder of the local stack
                  (default: that of the stack on .data or in memory)

On a terminal the output is a table; with --json or into a pipe it is one JSON
object a line. Exit codes: 0 done, 1 failed, 2 bad usage, 3 already answered,
4 no mail can go to the owner.
`;

const COMMON = {
  stage: { type: 'string' },
  service: { type: 'string' },
  table: { type: 'string' },
  erasures: { type: 'string' },
  as: { type: 'string' },
  data: { type: 'string' },
  web: { type: 'boolean' },
  port: { type: 'string' },
  replies: { type: 'string' },
} as const;

/** Takes the common options, which may stand anywhere, and the verb from a command line; the rest is the verb's. */
function splitCommandLine(args: string[]) {
  const { tokens } = parseArgs({ args, options: COMMON, strict: false, tokens: true });
  const verb = tokens.find((token) => token.kind === 'positional');
  const common = tokens.filter((token) => token.kind === 'option' && token.name in COMMON);
  const taken = new Set(
    [...common, ...(verb ? [verb] : [])].flatMap(({ index, ...token }) =>
      'inlineValue' in token && token.inlineValue === false ? [index, index + 1] : [index],
    ),
  );
  const { values } = parseCommandLine(USAGE, COMMON, {
    args: args.filter((_, index) => taken.has(index) && index !== verb?.index),
  });
  return { ...values, verb: verb?.value, rest: args.filter((_, index) => !taken.has(index)) };
}

type Place = Partial<
  Record<'stage' | 'service' | keyof Tables | 'as' | 'data', string | undefined>
>;

function createConnect({ stage, service, table, erasures, as, data }: Place): Connect {
  if ((table === undefined) !== (erasures === undefined)) {
    throw new UsageError(
      '--table and --erasures belong together: what is erased from a table is recorded in, and replayed from, its own table of erasures. For another service, pass --service NAME.',
    );
  }
  if (stage === undefined) {
    if (service !== undefined) throw new UsageError('--service is for a stage; pass --stage, too.');
    return () => connectLocally(data ?? findDataFolder(), { table, erasures, respondent: as });
  }
  if (!STAGES.some((known) => known === stage)) {
    throw new UsageError(
      `"${escapeUnsafe(stage)}" is not a stage; stages are develop, main and release.`,
    );
  }
  if (as !== undefined) {
    throw new UsageError(
      '--as is for the local stack; on a stage, the AWS credentials say who answers.',
    );
  }
  if (data !== undefined) {
    throw new UsageError('--data is for the local stack; leave it out with --stage.');
  }
  if (service !== undefined && !isServiceName(service)) {
    throw new UsageError(`"${escapeUnsafe(service)}" is not the name of a service.`);
  }
  return () => connectToStage(stage, service, { table, erasures });
}

/** @throws UsageError that names the nearest verb. */
function findVerb(name: string): Verb {
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb !== undefined) return verb;
  const names = Object.keys(VERBS);
  const nearest = closestMatch(name, names, { maxDistance: 2 });
  const hint = nearest ? `did you mean ${nearest}?` : `verbs are ${names.join(', ')}.`;
  throw new UsageError(`"${escapeUnsafe(name)}" is not a verb; ${hint}`);
}

/** Turns `help` into `--help`, and `help VERB` into `VERB --help`. */
function toHelp(args: string[]): string[] {
  const [help, verb, ...others] = args;
  if (help !== 'help' || others.length > 0) return args;
  return verb === undefined ? ['--help'] : [verb, '--help'];
}

export const main: Main = async (args, io) => {
  const { verb: name, rest, web, port, replies, ...common } = splitCommandLine(toHelp(args));
  if (web === true) {
    parseOptions(USAGE, {}, rest);
    if (name !== undefined) throw new UsageError('--web takes no verb.');
    const { openPage } = await import('./open-page.ts');
    return openPage(createConnect(common), io, { port, replies });
  }
  if (port !== undefined) throw new UsageError('--port is the port of --web.');
  if (replies !== undefined) throw new UsageError('--replies is for --web.');
  if (name === undefined) {
    parseOptions(USAGE, {}, rest);
    throw new UsageError('The verb is missing, e.g. npm run inbox -- list (see --help)');
  }
  const verb = findVerb(name);
  const connect = createConnect(common);
  const run = await verb.load();
  return run(connect, rest, io).catch((error: unknown) => {
    throw describeFailure(error, common);
  });
};

if (import.meta.main) {
  // `inbox list | head` ends when the reader does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`The output cannot be written (${error.code}).\n`);
    process.exit(1);
  });
  await runCommand(main);
}
