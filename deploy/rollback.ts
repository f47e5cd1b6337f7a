/**
 * Makes an earlier version live without a build or Terraform (docs/adr/0025). Exit codes: 0 switched, 1 a step failed,
 * 2 refused or declined, nothing changed.
 */
import {
  parseCommandLine,
  runCommand,
  UsageError,
  type Main,
} from '../lib/terminal/command-line.ts';
import { ACCOUNT, describeFailure } from '../lib/aws/aws.ts';
import { writeLines } from '../lib/terminal/terminal-text.ts';
import { runChecks, type Context } from './checks/run-checks.ts';
import { testStage } from './checks/stage.ts';
import { createVersionChecks } from './checks/version.ts';
import { serveForm } from './form.ts';
import { parseStage, readOutputs, readStageAccount, type StageOutputs } from './stage.ts';
import { confirm } from './steps.ts';
import { describeWithdrawal, listVersions, readLive, updateLive } from './versions.ts';

const USAGE = `
Usage: npm run rollback -- STAGE [VERSION | --mailer | --inbox] [--yes]

  STAGE     develop, main or release
  VERSION   (default: the newest before the live one that passes its test)
  --mailer  the functions that mail and receive mails, each to its newest version that passes
  --inbox   the function of the team's pages, to its newest version that passes
  --yes     switch without confirmation

The package with its settings and, of the API, the form are rolled back, and nothing else (docs/runbook.md).
`;

/** @returns The newest version before the live one, or the wanted one, that passes its test. */
async function choose(
  name: string,
  live: string,
  wanted: string | undefined,
  context: Context,
): Promise<string | undefined> {
  for (const { version, date } of await listVersions(name)) {
    const isMeant = wanted === undefined ? version < Number(live) : String(version) === wanted;
    if (!isMeant) continue;
    context.io.stdout.write(`\nVersion ${version} of ${name}, ${date}\n`);
    const failed = await runChecks(await createVersionChecks(name, `${version}`), context);
    if (failed.length === 0) return `${version}`;
  }
  return undefined;
}

/** The functions to roll back. @throws UsageError */
function listFunctions(
  { function: own, mailer, inbox }: StageOutputs,
  wanted: string | undefined,
  kind: 'mailer' | 'inbox' | undefined,
): string[] {
  if (kind === undefined) return [own.name];
  const functions = kind === 'mailer' ? Object.values(mailer) : inbox ? [inbox] : [];
  if (functions.length === 0) throw new UsageError(`The stage has no ${kind}.`);
  if (wanted === undefined) return functions.map(({ name }) => name);
  throw new UsageError(`--${kind} takes no VERSION: its functions have versions of their own.`);
}

export const main: Main = async (args, io) => {
  const options = {
    yes: { type: 'boolean', default: false },
    mailer: { type: 'boolean', default: false },
    inbox: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const [named, wanted, ...others] = positionals;
  const kind = values.mailer ? 'mailer' : values.inbox ? 'inbox' : undefined;
  const stage = parseStage([named, ...others].join(' '));
  const { accountId, region } = await readStageAccount(stage);
  const outputs = await readOutputs(stage);
  const context = { io, interruption: new AbortController().signal };
  const choices = [];
  for (const name of listFunctions(outputs, wanted, kind)) {
    const missing = `${name} has no live version in this account and region; deploy the stage: npm run deploy -- ${stage}`;
    const live = await readLive(name).catch((error: unknown) => {
      throw describeFailure(error, { ...ACCOUNT, missing });
    });
    writeLines(
      io.stdout,
      `${name}:${live.version} is live, account ${accountId}, region ${region}`,
    );
    const version = await choose(name, live.version, wanted, context);
    if (version !== undefined) choices.push({ name, live, version });
    else writeLines(io.stdout, `No version ${wanted ?? `before ${live.version}`} passes its test.`);
  }
  if (choices.length === 0) throw new UsageError('Nothing was changed.');
  const listed = choices.map(
    ({ name, version, live }) => `${version} of ${name} instead of ${live.version}`,
  );
  writeLines(io.stdout, `\nTo be made live: version ${listed.join(', ')}.`);
  if (!values.yes) await confirm(`Switch? Type ${stage} to confirm: `, stage, context);
  for (const { name, live, version } of choices) {
    const withdrawn = describeWithdrawal(live.version);
    const passed = kind === undefined ? version : live.passed;
    if (version !== live.version) await updateLive(name, live, { version, passed, withdrawn });
    io.stdout.write(`Switched: version ${version} of ${name} is live.\n`);
  }
  if (outputs.site && kind === undefined) await serveForm(outputs.site, outputs.function.name);
  const failed = await testStage(outputs, undefined, context, { wait: 30 });
  writeLines(
    io.stdout,
    `To go forward: npm run deploy -- ${stage} of a corrected commit. To stay: docs/runbook.md, "Roll back".`,
  );
  if (failed.length === 0) return;
  throw new Error(`The smoke test failed. Live now: version ${listed.join(', ')}.`);
};

if (import.meta.main) await runCommand(main);
