/**
 * Deploys one stage: what must be refused, `terraform apply`, which tests new versions and makes them live, then the form and
 * the smoke test. docs/adr/0025
 *
 * Usage: see below.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ResourceNotFoundException } from '@aws-sdk/client-lambda';
import {
  isConfirmed,
  parseCommandLine,
  runCommand,
  UsageError,
  type Io,
  type Main,
} from '../lib/command-line.ts';
import { MODULE } from '../lib/paths.ts';
import type { Stage } from '../lib/stages.ts';
import { describeReach } from './alarms.ts';
import { findBackendFile, hasLocalState, parseStage, readStageAccount } from './account.ts';
import { listDifferences, readForm, runForm, type Form } from './form.ts';
import type { StageOutputs } from './outputs.ts';
import {
  initialise,
  makePlan,
  readOutputs,
  readPlan,
  refuseLoss,
  refuseOtherPackages,
  refuseUnsavedState,
} from './plan.ts';
import { serveForm, uploadForm } from './site.ts';
import { testStage } from './smoke.ts';
import { explainEnd, openSession, runStep, terraform, type Session } from './steps.ts';
import { run } from './terraform.ts';
import { readLive } from './versions.ts';

const USAGE = `
Usage: npm run deploy -- STAGE [--yes] [--plan-only | --drift] [--plan FILE]

  STAGE        develop, main or release
  --yes        apply without confirmation
  --plan-only  stop after the plan
  --drift      stop after the plan; exit code 1 if it, or the form that is served, has changes
  --plan FILE  with --plan-only: where the plan is written; otherwise: apply this plan

Credentials and region come from the environment, whose other variables are in docs/configuration.md.
Ctrl-C waits for an apply to end; the last line says which versions are live.
Exit codes: 0 done, 1 a step failed (or --drift found changes), 2 refused or declined, nothing changed; 129, 130 or 143
after SIGHUP, SIGINT or SIGTERM.
`;
/** Stands for what the first plan of a form does not know yet. */
const FORM_URL = 'https://form.invalid/';
const UNKNOWN = { issuer: FORM_URL, clientId: 'unknown', apiUrl: FORM_URL };

function readSettings(args: string[], { stdin }: Io) {
  const options = {
    yes: { type: 'boolean', default: false },
    'plan-only': { type: 'boolean', default: false },
    drift: { type: 'boolean', default: false },
    plan: { type: 'string' },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const { yes, drift, plan } = values;
  const planOnly = values['plan-only'] || drift;
  if (!yes && !planOnly && !stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --plan-only.');
  }
  const stage = parseStage(positionals.join(' '));
  return { stage, yes, drift, planOnly, file: plan === undefined ? undefined : resolve(plan) };
}
type Settings = ReturnType<typeof readSettings>;

/** @throws UsageError if main or release were made of something that is in no commit, or their state were here only. */
async function refuseUncommitted(stage: Stage, { env }: Io): Promise<void> {
  if (stage === 'develop') return;
  const { code, output } = await run('git', ['status', '--porcelain'], { env });
  if (code === 0 && output === '' && !hasLocalState()) return;
  throw new UsageError(
    `${stage} is deployed from a commit only, and without infra/terraform/backend_override.tf; git status says: ${output}`,
  );
}

/** Plans, or takes the plan that is given, and refuses it or has it confirmed. @returns The exit code, if it ends here. */
async function review(session: Session, settings: Settings, folder: string) {
  const { stage, yes, planOnly, drift } = settings;
  const { io, interruption } = session;
  const { accountId, region } = await readStageAccount(stage);
  const place = `account ${accountId}, region ${region}`;
  io.stdout.write(`stage ${stage}, ${place}\n`);
  await runStep(session, 'npm run build', 'npm', ['run', '--silent', 'build']);
  const backend = findBackendFile(stage);
  await initialise(session, backend === undefined ? [] : [backend]);
  await terraform(session, ['workspace', 'select', '-or-create', stage]);
  const file = settings.file ?? join(folder, 'plan');
  const isGiven = settings.file !== undefined && !planOnly;
  const plan = await (isGiven ? readPlan(session, file) : makePlan(session, file));
  refuseLoss(plan, place);
  if (isGiven) refuseOtherPackages(plan);
  if (plan.formConfig) {
    const form = readForm({ ...UNKNOWN, ...plan.formConfig }, []);
    io.stdout.write(`form      ${await runForm(FORM_URL, form, io.env)}\n`);
  }
  const isOther = drift && (plan.hasChanges || (await isFormOther(session)));
  if (planOnly) return { plan, file, exitCode: isOther ? 1 : 0 };
  const question = `Apply this plan? Type ${stage} to confirm: `;
  if (plan.hasChanges && !yes && !(await isConfirmed(question, stage, interruption, io))) {
    throw new UsageError(session.state);
  }
  return { plan, file };
}

const buildForm = ({ form_config: config, connect_origins = [] }: StageOutputs): Form | undefined =>
  config ? readForm(config, connect_origins) : undefined;

/** Whether the stage serves another form than the one built. */
async function isFormOther(session: Session): Promise<boolean> {
  const outputs = await readOutputs<StageOutputs>(session);
  const form = buildForm(outputs);
  const differences = outputs.site && form ? await listDifferences(outputs.site.url, form) : [];
  for (const each of differences) session.io.stdout.write(`form      ${each}\n`);
  return differences.length > 0;
}

/** @throws Error if another command has made another version live since the apply. */
async function refuseOvertaken({ function: { name, live } }: StageOutputs): Promise<void> {
  const { version } = await readLive(name);
  if (version === live) return;
  throw new Error(
    `Another command has made version ${version} of ${name} live since this one made ${live} live.`,
  );
}

/** Serves the form, and tests the stage. @returns Whether users get another form than before. */
async function complete(
  session: Session,
  stage: Stage,
  outputs: StageOutputs,
  folder: string,
): Promise<boolean> {
  const { io, interruption, current } = session;
  const { site } = outputs;
  const { name, live, version } = outputs.function;
  // An earlier version that live_version names has the form it was deployed with.
  const form = live === version ? buildForm(outputs) : undefined;
  await refuseOvertaken(outputs);
  current.step = 'the upload of the form';
  if (site && form) await uploadForm(site, live, form, interruption);
  const served = site ? await serveForm(site, name) : [];
  for (const each of served) io.stdout.write(`form      ${each} is served\n`);
  current.step = 'the smoke test';
  const isPassed = await testStage(outputs, form, io, interruption);
  const { changes } = await makePlan(session, join(folder, 'again'), '-lock=false');
  await refuseOvertaken(outputs);
  if (!isPassed) {
    throw new Error(
      `The smoke test failed. The version before is live again after: npm run rollback -- ${stage}`,
    );
  }
  if (changes.length > 0) {
    throw new Error('The plan after the apply has changes, which the plan above shows.');
  }
  return served.length > 0;
}

function report({ stdout }: Io, isChanged: boolean, outputs: StageOutputs): void {
  const { site, api_url, dashboard_url, dns_records = [] } = outputs;
  const done = isChanged ? 'Deployed' : 'Already deployed';
  const addresses = site ? `${site.url}\nAPI ${api_url}/inquiries` : `${api_url}/inquiries`;
  stdout.write(`\n${done}: ${addresses}\nDashboard ${dashboard_url}\n`);
  for (const { purpose, name, type, value, next } of dns_records) {
    stdout.write(
      `\nEnter this DNS record, which ${purpose}; once it can be resolved, ${next}, and deploy again:\n  ${name} ${type} ${value}\n`,
    );
  }
}

/** Which versions are live, as AWS says now. */
async function describeLive(functions: readonly string[]): Promise<string> {
  const lines = functions.map(async (name) => {
    try {
      return `Version ${(await readLive(name)).version} of ${name} is live.`;
    } catch (error) {
      return error instanceof ResourceNotFoundException
        ? `No version of ${name} is live yet.`
        : `Which version of ${name} is live could not be read: ${(error as Error).message}`;
    }
  });
  return (await Promise.all(lines)).join(' ');
}

export const main: Main = async (args, io) => {
  const settings = readSettings(args, io);
  const { stage } = settings;
  await refuseUncommitted(stage, io);
  refuseUnsavedState(MODULE);
  const session = openSession(io);
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
  let functions: readonly string[] = [];
  try {
    const { plan, file, exitCode } = await review(session, settings, folder);
    if (exitCode !== undefined) return exitCode;
    ({ functions } = plan);
    if (plan.hasChanges) {
      session.state = 'Terraform has saved what it changed.';
      await terraform(session, ['apply', '-no-color', file]);
    }
    session.state = 'The plan is applied.';
    const outputs = await readOutputs<StageOutputs>(session);
    const isServed = await complete(session, stage, outputs, folder);
    report(io, plan.hasChanges || isServed, outputs);
    io.stdout.write(describeReach(plan));
    return 0;
  } catch (error) {
    // Nothing was changed before the plan was accepted.
    if (error instanceof UsageError && functions.length === 0) throw error;
    return explainEnd(session, error, `${session.state} ${await describeLive(functions)}`.trim());
  } finally {
    rmSync(folder, { recursive: true, force: true });
    session.close();
  }
};

if (import.meta.main) await runCommand(main);
