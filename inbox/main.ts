/**
 * The operators' inbox: lists, shows, answers, dismisses and exports the inquiries of all users. docs/adr/0082
 *
 * Usage and exit codes: `help` and `help VERB`. Each failure is one line on stderr.
 */
import { closestMatch } from 'leven';
import { describeFailure } from '../lib/aws.ts';
import { parseCommandLine, runCommand, UsageError, type Main } from '../lib/command-line.ts';
import { DATA_FOLDER } from '../lib/paths.ts';
import { isServiceName, STAGES } from '../lib/stages.ts';
import { escapeUnsafe } from '../lib/terminal-text.ts';
import { parseId, parseSince, parseUuid } from './arguments.ts';
import { connectLocally, connectToStage, type Connection } from './connect.ts';
import { OPTIONS, type Command, type OptionName } from './options.ts';
import { describeUsage, isTaken, VERBS, type Verb } from './verbs.ts';

/** @throws UsageError that names the nearest verb. */
function findVerb(name: string): Verb {
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb !== undefined) return verb;
  const names = Object.keys(VERBS);
  const nearest = closestMatch(name, names, { maxDistance: 2 });
  const hint = nearest ? `did you mean ${nearest}?` : `verbs are ${names.join(', ')}.`;
  throw new UsageError(`"${escapeUnsafe(name)}" is not a verb; ${hint}`);
}

/** Turns `help VERB` into `VERB --help`. */
function toHelp([verb, ...others]: string[]): string[] {
  if (verb !== undefined) findVerb(verb);
  return [...(verb === undefined ? [] : [verb]), ...others, '--help'];
}

/** What is wrong with the options of a place. */
function findMistake({ stage, service, table, erasures, as, data }: Command['values']) {
  if ((table === undefined) !== (erasures === undefined)) {
    return '--table and --erasures belong together: what is erased from a table is recorded in, and replayed from, its own table of erasures. For another service, pass --service NAME.';
  }
  if (stage === undefined) {
    return service === undefined ? undefined : '--service is for a stage; pass --stage, too.';
  }
  if (!STAGES.some((known) => known === stage)) {
    return `"${escapeUnsafe(stage)}" is not a stage; stages are ${STAGES.join(', ')}.`;
  }
  if (as !== undefined) {
    return '--as is for the local stack; on a stage, the AWS credentials say who answers.';
  }
  if (data !== undefined) return '--data is for the local stack; leave it out with --stage.';
  return service === undefined || isServiceName(service)
    ? undefined
    : `"${escapeUnsafe(service)}" is not the name of a service.`;
}

function connect({ stage, service, as, data, ...tables }: Command['values']): Connection {
  return stage === undefined
    ? connectLocally(data ?? DATA_FOLDER, { ...tables, respondent: as })
    : connectToStage(stage, service, tables);
}

export const main: Main = async (args, io) => {
  const line = args[0] === 'help' ? toHelp(args.slice(1)) : args;
  const usage = describeUsage(line.find((word) => Object.hasOwn(VERBS, word)));
  const { values, positionals } = parseCommandLine(usage, OPTIONS, { args: line });
  const [name, ...others] = values.web === true ? ['--web', ...positionals] : positionals;
  if (name === undefined) {
    throw new UsageError('The verb is missing, e.g. npm run inbox -- list (see --help)');
  }
  const verb = findVerb(name);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the values are those of OPTIONS
  const wrong = (Object.keys(values) as OptionName[]).find((each) => !isTaken(verb, each));
  if (wrong !== undefined) throw new UsageError(`--${wrong} is no option of ${name} (see --help)`);
  if (verb.takes === undefined && others.length > 0) {
    throw new UsageError(`${name} takes options only (see --help)`);
  }
  const mistake = findMistake(values);
  if (mistake !== undefined) throw new UsageError(mistake);
  const { email, sub, since, json } = values;
  const command: Command = {
    values,
    named: verb.takes === undefined ? '' : parseId(others, name),
    filter: {
      email,
      sub: sub === undefined ? undefined : parseUuid(sub, '--sub'),
      since: since === undefined ? undefined : parseSince(since),
    },
    isInteractive: json !== true && io.stdout.isTTY === true,
    io,
    connect: () => connect(values),
  };
  const run = await verb.load();
  return run(command).catch((error: unknown) => {
    throw describeFailure(error, values);
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
