/**
 * Makes an earlier version of a stage's function live again, within seconds, without a build or Terraform: tests it as a
 * deployment does, switches the alias that the gateway calls, serves the form of that version, and runs the smoke test.
 * docs/adr/0025
 *
 * Usage: see below. Exit codes: 0 switched (or listed), 1 a step failed, 2 refused or declined, nothing changed.
 */
import {
  isConfirmed,
  parseCommandLine,
  runCommand,
  UsageError,
  type Io,
  type Main,
} from '../lib/command-line.ts';
import { describeFailure, tableOf } from '../lib/aws.ts';
import type { Stage } from '../lib/stages.ts';
import { parseStage, readStageAccount } from './account.ts';
import { createInvocationChecks, createInvoke } from './invoke.ts';
import { readStateOutputs, type StageOutputs } from './outputs.ts';
import { serveForm } from './site.ts';
import { testStage } from './smoke.ts';
import { openSession, type Session } from './steps.ts';
import { listVersions, readLive, switchAlias, type Version } from './versions.ts';

const USAGE = `
Usage: npm run rollback -- STAGE [VERSION] [--list] [--yes]

  STAGE     develop, main or release
  VERSION   a version that --list shows (default: the newest before the live one that passes its test)
  --list    test the ten newest versions, list those that pass, and change nothing
  --yes     switch without confirmation

Credentials and region come from the environment (AWS_PROFILE, AWS_REGION, …). SMOKE_TOKEN is an ID token for the smoke test of a
stage with an issuer of its own. A version is the package with its environment variables, memory and timeout as they were when
it was published, and the form that was uploaded with it. Nothing else is rolled back. The outputs in the stage's state name the
function, the form and the API; if the state cannot be read, the function is inquiries-STAGE and the form stays.
The next deployment makes the newest version live again, unless live_version names another one (docs/deploy.md).
`;
const MOST_LISTED = 10;

function readSettings(args: string[], { stdin }: Io) {
  const options = {
    list: { type: 'boolean', default: false },
    yes: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const [name = '', version, ...others] = positionals;
  const stage = parseStage('rollback', name);
  if (others.length > 0 || (version !== undefined && !/^[1-9]\d*$/.test(version))) {
    throw new UsageError(
      `"${[version, ...others].join(' ')}" is not a version; a version is a number.`,
    );
  }
  const { list, yes } = values;
  if (!list && !yes && !stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --list.');
  }
  return { stage, version, list, yes };
}

/** Tests a version without making it live. @returns What is wrong with it; undefined if it passes. */
async function test(
  functionName: string,
  version: string,
  interruption: AbortSignal,
): Promise<string | undefined> {
  for (const [title, check] of createInvocationChecks(
    createInvoke(`${functionName}:${version}`, interruption),
  )) {
    interruption.throwIfAborted();
    try {
      await check();
    } catch (error) {
      return `${title}: ${(error as Error).message}`;
    }
  }
  return undefined;
}

const toLine = ({ version, date, sha256 }: Version): string =>
  `  ${version.padStart(5)}  ${date.slice(0, 16).replace('T', ' ')}  ${sha256}`;

/** The outputs of the stage; without the state, undefined. */
async function readStage(stage: Stage, { stderr }: Io): Promise<StageOutputs | undefined> {
  try {
    return await readStateOutputs(stage);
  } catch (error) {
    stderr.write(
      `The state of ${stage} cannot be read (${(error as Error).message}): the form stays, and the API is not tested.\n`,
    );
    return undefined;
  }
}

async function rollBack(
  { stage, version: wanted, list, yes }: ReturnType<typeof readSettings>,
  { io, interruption }: Session,
): Promise<void> {
  const { stdout } = io;
  const { accountId, region } = await readStageAccount(stage);
  const outputs = await readStage(stage, io);
  const name = outputs?.function.name ?? tableOf(stage);
  const live = await readLive(name);
  const versions = await listVersions(name);
  stdout.write(`${name}, stage ${stage}, account ${accountId}, region ${region}\n`);

  const passes = async (each: Version): Promise<boolean> => {
    const failure = await test(name, each.version, interruption);
    const mark = each.version === live.version ? '  live' : '';
    stdout.write(
      failure === undefined
        ? `${toLine(each)}${mark}\n`
        : `         Version ${each.version} fails its test, and is no choice: ${failure}\n`,
    );
    return failure === undefined;
  };
  if (list) {
    for (const each of versions.slice(0, MOST_LISTED)) await passes(each);
    return;
  }
  const choices = versions.filter(({ version }) =>
    wanted === undefined ? Number(version) < Number(live.version) : version === wanted,
  );
  let target: Version | undefined;
  for (const each of choices) if (target === undefined && (await passes(each))) target = each;
  if (target === undefined) {
    throw new UsageError(
      `${wanted === undefined ? `No version before ${live.version}, which is live,` : `No version ${wanted}`} is there and passes its test. Nothing was changed.`,
    );
  }
  const question = `Make version ${target.version} live instead of ${live.version}? Type ${stage} to confirm: `;
  if (!yes && !(await isConfirmed(question, stage, interruption, io))) {
    throw new UsageError('Nothing was changed.');
  }

  if (target.version !== live.version) await switchAlias(name, target.version, live);
  stdout.write(`Switched: version ${target.version} is live.\n`);
  if (outputs === undefined) return;
  const { site } = outputs;
  if (site) {
    stdout.write(
      (await serveForm(site, name))
        ? `Its form is served at ${site.url}.\n`
        : 'It was deployed without a form: the form stays as it is.\n',
    );
  }
  const isPassed = await testStage(outputs, undefined, io, interruption, { wait: 30 });
  stdout.write(`
To go forward: correct or revert the commit, then npm run deploy -- ${stage}. To stay: live_version = "${target.version}" in its settings.
Until then the drift job reports that another version is live than the newest; it is not a fault.
`);
  if (isPassed) return;
  throw new Error(
    `The smoke test failed. Version ${target.version} is live; before it was ${live.version}.`,
  );
}

export const main: Main = async (args, io) => {
  const settings = readSettings(args, io);
  const { stage } = settings;
  const session = openSession(io);
  try {
    await rollBack(settings, session);
  } catch (error) {
    if (typeof error === 'number') return error;
    const { name, message } = error as Error;
    if (name === 'ResourceNotFoundException') {
      throw new UsageError(
        `There is no function of ${stage} with an alias live in this account and region; npm run deploy -- ${stage} makes it.`,
        { cause: error },
      );
    }
    const [, action] = /to perform: (\S+)/.exec(message) ?? [];
    if (action !== undefined) {
      throw new Error(`The AWS credentials do not allow ${action}.`, { cause: error });
    }
    throw describeFailure(error, { stage });
  } finally {
    session.close();
  }
  return 0;
};

if (import.meta.main) await runCommand(main);
