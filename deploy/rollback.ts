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
import { writeLines } from '../lib/terminal/terminal-text.ts';
import { runChecks } from './checks/run-checks.ts';
import { testStage } from './checks/stage.ts';
import { createVersionChecks } from './checks/version.ts';
import { serveForm } from './form.ts';
import { parseStage, readOutputs, readStageAccount } from './stage.ts';
import { confirm } from './steps.ts';
import { listVersions, readLive, switchAlias } from './versions.ts';

const USAGE = `
Usage: npm run rollback -- STAGE [VERSION] [--yes]

  STAGE     develop, main or release
  VERSION   (default: the newest before the live one that passes its test)
  --yes     switch without confirmation

The package with its settings and the form are rolled back, and nothing else (docs/runbook.md).
`;

export const main: Main = async (args, io) => {
  const { values, positionals } = parseCommandLine(
    USAGE,
    { yes: { type: 'boolean', default: false } },
    { args },
  );
  const [named, wanted, ...others] = positionals;
  const stage = parseStage([named, ...others].join(' '));
  const { accountId, region } = await readStageAccount(stage);
  const outputs = await readOutputs(stage);
  const { name } = outputs.function;
  const live = await readLive(name);
  writeLines(io.stdout, `${name}:${live.version} is live, account ${accountId}, region ${region}`);

  const context = { io, interruption: AbortSignal.any([]) };
  /** The newest that passes its test. */
  const choose = async (): Promise<string> => {
    for (const { version, date } of await listVersions(name)) {
      const isMeant =
        wanted === undefined ? version < Number(live.version) : String(version) === wanted;
      if (!isMeant) continue;
      io.stdout.write(`\nVersion ${version} of ${date}\n`);
      const checks = await createVersionChecks(name, `${version}`);
      if (await runChecks(checks, context)) return `${version}`;
    }
    const which = wanted ?? `before ${live.version}`;
    throw new UsageError(`There is no version ${which} that passes its test. Nothing was changed.`);
  };
  const version = await choose();
  const question = `Make version ${version} live instead of ${live.version}? Type ${stage} to confirm: `;
  if (!values.yes) await confirm(question, stage, context);
  if (version !== live.version) await switchAlias(name, version, live, live.version);
  io.stdout.write(`Switched: version ${version} is live.\n`);
  if (outputs.site) await serveForm(outputs.site, name);
  const isPassed = await testStage(outputs, undefined, context, { wait: 30 });
  writeLines(
    io.stdout,
    `To go forward: npm run deploy -- ${stage} of a corrected commit. To stay: docs/runbook.md, "Roll back".`,
  );
  if (isPassed) return;
  throw new Error(
    `The smoke test failed. Version ${version} is live; before it was ${live.version}.`,
  );
};

if (import.meta.main) await runCommand(main);
