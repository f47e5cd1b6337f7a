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
import { parseStage, readStageAccount } from './account.ts';
import { createInvocationChecks, createInvoke } from './invoke.ts';
import { readStateOutputs } from './outputs.ts';
import { serveForm } from './site.ts';
import { testStage } from './smoke.ts';
import { openSession, type Session } from './steps.ts';
import { listVersions, readLive, switchAlias } from './versions.ts';

const USAGE = `
Usage: npm run rollback -- STAGE [VERSION] [--list] [--yes]

  STAGE     develop, main or release
  VERSION   (default: the newest before the live one that passes its test)
  --list    test the ten newest versions, and change nothing
  --yes     switch without confirmation

The package with its settings and the form are rolled back, and nothing else (docs/runbook.md).
`;
const MOST_TESTED = 10;

function readSettings(args: string[], { stdin }: Io) {
  const options = {
    list: { type: 'boolean', default: false },
    yes: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const [name = '', version, ...others] = positionals;
  if (others.length > 0) throw new UsageError(`"${others.join(' ')}" is one argument too many.`);
  const { list, yes } = values;
  if (!list && !yes && !stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --list.');
  }
  return { stage: parseStage(name), version, list, yes };
}

/** Tests a version without making it live. @returns What is wrong with it; undefined if it passes. */
async function test(name: string, interruption: AbortSignal): Promise<string | undefined> {
  for (const [title, check] of createInvocationChecks(createInvoke(name, interruption))) {
    interruption.throwIfAborted();
    try {
      await check();
    } catch (error) {
      return `${title}: ${(error as Error).message}`;
    }
  }
  return undefined;
}

async function rollBack(
  { stage, version: wanted, list, yes }: ReturnType<typeof readSettings>,
  { io, interruption, state }: Session,
): Promise<void> {
  const { stdout } = io;
  const { accountId, region } = await readStageAccount(stage);
  const outputs = await readStateOutputs(stage);
  const { name } = outputs.function;
  const live = await readLive(name);
  const versions = await listVersions(name);
  stdout.write(`${name}:${live.version} is live, account ${accountId}, region ${region}\n`);

  const choices = versions.filter(({ version: each }) =>
    wanted === undefined ? list || Number(each) < Number(live.version) : each === wanted,
  );
  let version: string | undefined;
  for (const each of choices.slice(0, MOST_TESTED)) {
    const failure = await test(`${name}:${each.version}`, interruption);
    stdout.write(
      `${each.version.padStart(7)}  ${each.date.slice(0, 16)}  ${each.sha256}  ${failure ?? 'passes its test'}\n`,
    );
    if (failure === undefined) version ??= each.version;
    if (version !== undefined && !list) break;
  }
  if (list) return;
  if (version === undefined) {
    throw new UsageError(
      `There is no version ${wanted ?? `before ${live.version}`} that passes its test. ${state}`,
    );
  }
  const question = `Make version ${version} live instead of ${live.version}? Type ${stage} to confirm: `;
  if (!yes && !(await isConfirmed(question, stage, interruption, io))) throw new UsageError(state);

  if (version !== live.version) await switchAlias(name, version, live);
  stdout.write(`Switched: version ${version} is live.\n`);
  const { site } = outputs;
  for (const each of site ? await serveForm(site, name) : []) {
    stdout.write(`form      ${each} is served\n`);
  }
  const isPassed = await testStage(outputs, undefined, io, interruption, { wait: 30 });
  stdout.write(`
To go forward: correct or revert the commit, then npm run deploy -- ${stage}. To stay: live_version = "${version}" in its settings.
Until then the drift job reports that another version is live than the newest; it is not a fault.
`);
  if (isPassed) return;
  throw new Error(
    `The smoke test failed. Version ${version} is live; before it was ${live.version}.`,
  );
}

export const main: Main = async (args, io) => {
  const settings = readSettings(args, io);
  const session = openSession(io);
  try {
    await rollBack(settings, session);
    return 0;
  } catch (error) {
    if (typeof error === 'number') return error;
    throw error;
  } finally {
    session.close();
  }
};

if (import.meta.main) await runCommand(main);
