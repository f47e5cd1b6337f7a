/** The operators' inbox. Usage and exit codes: `help`, `help VERB`. docs/adr/0082 */
import { createTarget, describeFailure } from '../lib/aws/aws.ts';
import {
  parseCommandLine,
  runCommand,
  UsageError,
  type Main,
} from '../lib/terminal/command-line.ts';
import { DATA_FOLDER } from '../lib/paths.ts';
import { isServiceName, STAGES } from '../lib/aws/stages.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';
import { parseId, parseTime, parseUuid } from './arguments.ts';
import { connectLocally, connectToStage, type Connection } from './connect.ts';
import { OPTIONS, type Command } from './options.ts';
import { describeUsage, CONNECTION_OPTIONS, VERBS, type Verb } from './verbs.ts';

function findVerb(name: string): Verb {
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb !== undefined) return verb;
  const verbs = Object.keys(VERBS).join(', ');
  throw new UsageError(`"${escapeUnsafe(name)}" is not a verb; verbs are ${verbs}.`);
}

function checkOptions(name: string, { options }: Verb, values: Command['values']): void {
  const taken = new Set<string>([...CONNECTION_OPTIONS, ...options]);
  const wrong = Object.keys(values).find((each) => !taken.has(each));
  const { stage, service, table, erasures, as, data } = values;
  if (wrong !== undefined) throw new UsageError(`--${wrong} is no option of ${name} (see --help)`);
  if ((table === undefined) !== (erasures === undefined)) {
    throw new UsageError(
      '--table and --erasures belong together: what is erased from a table is recorded in, and replayed from, its own table of erasures.',
    );
  }
  if (stage === undefined) {
    if (service === undefined) return;
    throw new UsageError('--service is for a stage; pass --stage, too.');
  }
  if (!STAGES.some((known) => known === stage)) {
    throw new UsageError(
      `"${escapeUnsafe(stage)}" is not a stage; stages are ${STAGES.join(', ')}.`,
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
}

const connect = ({ stage, service, as, data, ...tables }: Command['values']): Connection =>
  stage === undefined
    ? connectLocally(data ?? DATA_FOLDER, { ...tables, respondent: as })
    : connectToStage(stage, service, tables);

export const main: Main = async (line, io) => {
  const args = line[0] === 'help' ? [...line.slice(1), '--help'] : line;
  if (line[0] === 'help' && line[1] !== undefined) findVerb(line[1]);
  const usage = describeUsage(args.find((word) => Object.hasOwn(VERBS, word)));
  const { values, positionals } = parseCommandLine(usage, OPTIONS, { args });
  const [name = 'page', ...others] = positionals;
  const verb = findVerb(name);
  checkOptions(name, verb, values);
  const { email, sub, since, json } = values;
  const command: Command = {
    values,
    named: parseId(others, name, verb.takes),
    filter: {
      email,
      sub: sub === undefined ? undefined : parseUuid(sub, '--sub'),
      since: since === undefined ? undefined : parseTime(since, '--since'),
    },
    isInteractive: json !== true && io.stdout.isTTY === true,
    io,
    connect: () => connect(values),
  };
  const { run } = await verb.load();
  return run(command).catch((error: unknown) => {
    throw describeFailure(error, createTarget(values));
  });
};

if (import.meta.main) {
  // `inbox list | head` closes the pipe.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`The output cannot be written (${error.code}).\n`);
    process.exit(1);
  });
  await runCommand(main);
}
