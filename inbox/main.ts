/**
 * The operators' inbox: lists, shows, answers, dismisses and exports the inquiries of all users. docs/adr/0082
 *
 * Usage and exit codes: see below and `VERB --help`. Each failure is one line on stderr.
 */
import { parseArgs } from 'node:util';
import {
  onEndOfNpm,
  parseCommandLine,
  parseOptions,
  runCommand,
  UsageError,
} from '../lib/command-line.ts';
import type { Io, Main } from '../lib/command-line.ts';
import { describeFailure } from '../lib/aws.ts';
import { connectLocally, connectToStage, type Connect, type Tables } from './connect.ts';
import { escapeUnsafe } from '../lib/terminal-text.ts';
import { isServiceName, STAGES } from '../lib/stages.ts';
import { findDataFolder } from '../lib/running-stack.ts';
import { readSavedReplies } from './saved-replies.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] VERB [options]
       npm run inbox -- [--stage STAGE] --web [--port N] [--replies FILE]

  list                  unanswered inquiries, newest first
  show ID               one inquiry with its text and its answer
  reply ID              answer an inquiry, once; an ID is an id or a reference, as in list
  dismiss ID            mark an inquiry as answered without a reply
  export                inquiries with their texts, as JSON lines or CSV
  erase                 delete all inquiries of a user
  stats                 how many are unanswered, and how long answers take

  VERB --help           the options of a verb

  --web                 a page to list, read, answer and dismiss inquiries in the browser, until Ctrl+C
  --port N              its port (default: a free one)
  --replies FILE        its saved replies (default: saved-replies.json in this folder, if it is there); see docs/inbox.md

  --stage STAGE         the tables of develop, main or release, with the AWS credentials and region of the environment
                        (default: the running local stack)
  --service NAME        of the service named NAME (default: inquiries)
  --table NAME          another table than that of the stage, e.g. a restored one; always with
  --erasures NAME       the table with the records of erasures that belong to it
  --as NAME             who answers, on the local stack only (default: the user of the operating system)
  --data FOLDER         the data folder of the local stack (default: that of the stack on .data or in memory)

On a terminal the output is a table; with --json or into a pipe it is one JSON object a line.
Exit codes: 0 done, 1 failed, 2 bad usage, 3 already answered, 4 no mail can go to the owner.
`;

/** Parses the arguments after the verb and does it. It connects when they are right. @returns The exit code, by default 0. */
type Verb = (connect: Connect, args: string[], io: Io) => Promise<number | void>;

const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  list: async () => (await import('./list.ts')).listInquiries,
  show: async () => (await import('./show.ts')).showInquiry,
  reply: async () => (await import('./reply.ts')).replyToInquiry,
  dismiss: async () => (await import('./answer.ts')).dismissInquiry,
  export: async () => (await import('./export.ts')).exportInquiries,
  erase: async () => (await import('./erase.ts')).eraseInquiries,
  stats: async () => (await import('./stats.ts')).printStatistics,
};

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

/** Serves the page until the process is ended. It is not started when an option or the connection is wrong. */
async function openPage(
  connect: Connect,
  { stdout, stderr, env }: Io,
  {
    port = '0',
    replies,
  }: { readonly port: string | undefined; readonly replies: string | undefined },
): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`The port must be a number from 0 to 65535, not "${escapeUnsafe(port)}".`);
  }
  const savedReplies = await readSavedReplies(replies);
  const connection = connect();
  const { serveInbox } = await import('./server.ts');
  const options = { port: Number(port), savedReplies };
  const { url } = await serveInbox(connection, options).catch((error: Error) => {
    if (!('code' in error) || error.code !== 'EADDRINUSE') throw error;
    throw new UsageError(`Port ${port} is in use; choose another with --port.`);
  });
  stdout.write(`Inbox     ${url}\n`);
  stderr.write('Whoever has this address can read and answer inquiries as you, until Ctrl+C.\n');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => process.exit());
  }
  onEndOfNpm(env, () => process.exit());
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

export const main: Main = async (args, io) => {
  const { verb: name, rest, web, port, replies, ...common } = splitCommandLine(args);
  if (web === true) {
    parseOptions(USAGE, {}, rest);
    if (name !== undefined) throw new UsageError('--web takes no verb.');
    return openPage(createConnect(common), io, { port, replies });
  }
  if (port !== undefined) throw new UsageError('--port is the port of --web.');
  if (replies !== undefined) throw new UsageError('--replies is for --web.');
  if (name === undefined) {
    parseOptions(USAGE, {}, rest);
    throw new UsageError('The verb is missing, e.g. npm run inbox -- list (see --help)');
  }
  const load = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (load === undefined) {
    const verbs = Object.keys(VERBS).join(', ');
    throw new UsageError(`"${escapeUnsafe(name)}" is not a verb; verbs are ${verbs}.`);
  }
  const connect = createConnect(common);
  const run = await load();
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
