/**
 * Puts an earlier version of a stage's function back, within seconds and without a build: switches the alias that the
 * gateway calls, serves the form of that version, and runs the smoke test. docs/adr/0025
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
import { readStateOutputs, toSmokeOptions, type StageOutputs } from './outputs.ts';
import { serveForm } from './site.ts';
import { main as smoke } from './smoke.ts';
import { openSession, type Session } from './steps.ts';
import { ALIAS, listVersions, readLive, switchAlias, type Live, type Version } from './versions.ts';

const USAGE = `
Usage: npm run rollback -- STAGE [VERSION] [--list] [--yes]

  STAGE            develop, main or release
  VERSION          a version that --list shows (default: the newest one before the live one)
  --list           list the versions, newest first, and change nothing
  --yes            switch without confirmation

Credentials and region come from the environment (AWS_PROFILE, AWS_REGION, …). SMOKE_TOKEN is an ID token for the smoke test of a
stage with an issuer of its own. A version is the package with its environment variables, memory and timeout as they were when
it was published, and the form that was uploaded with it. Nothing else is rolled back: not the mailer, which has no versions,
and not the table, the API and other infrastructure. The outputs in the stage's state name the function, the form and the API;
if the state cannot be read, the function is inquiries-STAGE, the form stays, and only the function is tested.
The next deployment goes forward again, also one of the same commit: fix or revert it before anybody deploys.
`;

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

/** The version to switch to. @throws UsageError when there is none. */
function choose(versions: readonly Version[], live: Live, wanted: string | undefined): Version {
  const found = versions.find(({ version }) =>
    wanted === undefined ? Number(version) < Number(live.version) : version === wanted,
  );
  if (found !== undefined) return found;
  throw new UsageError(
    wanted === undefined
      ? `There is no version before ${live.version}, which is live.`
      : `There is no version ${wanted}; there are ${versions.map(({ version }) => version).join(', ')}.`,
  );
}

function toLine({ version, date, sha256, commit = '' }: Version, live: Live): string {
  const mark = version === live.version ? 'live' : '';
  return `  ${version.padStart(5)}  ${date.slice(0, 16).replace('T', ' ')}  ${sha256}  ${commit.padEnd(12)}  ${mark}`.trimEnd();
}

/** The outputs of the stage, and the function's name; without the state, what is known without it. */
async function readStage(
  stage: Stage,
  { stderr }: Io,
): Promise<Partial<StageOutputs> & { readonly name: string }> {
  try {
    const outputs = await readStateOutputs(stage);
    return { ...outputs, name: outputs.function?.name ?? tableOf(stage) };
  } catch (error) {
    stderr.write(
      `The state of ${stage} cannot be read (${(error as Error).message}): the form stays, and only the function is tested.\n`,
    );
    return { name: tableOf(stage) };
  }
}

async function rollBack(
  { stage, version, list, yes }: ReturnType<typeof readSettings>,
  { io, interruption }: Session,
): Promise<void> {
  const { stdout } = io;
  const { accountId, region } = await readStageAccount(stage);
  const { name, ...outputs } = await readStage(stage, io);
  const live = await readLive(name);
  const versions = await listVersions(name);
  stdout.write(`${name}, stage ${stage}, account ${accountId}, region ${region}\n`);
  if (list) {
    for (const each of versions) stdout.write(`${toLine(each, live)}\n`);
    return;
  }
  const target = choose(versions, live, version);
  for (const each of versions.filter(
    (found) => found === target || found.version === live.version,
  )) {
    stdout.write(`${toLine(each, live)}${each === target ? '  <- switch to this version' : ''}\n`);
  }
  if (
    !yes &&
    !(await isConfirmed(`Switch to it? Type ${stage} to confirm: `, stage, interruption, io))
  ) {
    throw new UsageError('Nothing was changed.');
  }

  if (target.version !== live.version) await switchAlias(name, target.version, live.revisionId);
  stdout.write(`Switched: version ${target.version} is live.\n`);
  const { site } = outputs;
  if (site) {
    const changed = await serveForm(site, name);
    stdout.write(
      changed
        ? `Its form is served at ${site.url}.\n`
        : 'It was deployed without a form: the form stays as it is.\n',
    );
  }
  stdout.write('\n');
  const failures = await smoke(
    ['--wait', '30', ...toSmokeOptions(name, outputs)],
    io,
    interruption,
  );
  stdout.write(`
To go forward: correct or revert the commit, then npm run deploy -- ${stage}.
Until then the drift job reports that another version is live than the newest; it is not a fault.
`);
  if (failures === 0) return;
  throw new Error(
    `The smoke test failed. Version ${target.version} is live; before it was ${live.version}. --list shows all versions.`,
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
        `There is no function of ${stage} with an alias ${ALIAS} in this account and region; npm run deploy -- ${stage} makes it.`,
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
