/** Refusals, `terraform apply`, form and smoke test. docs/adr/0025 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ResourceNotFoundException } from '@aws-sdk/client-lambda';
import {
  parseCommandLine,
  runCommand,
  UsageError,
  type Main,
} from '../lib/terminal/command-line.ts';
import { MODULE } from '../lib/paths.ts';
import type { Stage } from '../lib/aws/stages.ts';
import { writeLines } from '../lib/terminal/terminal-text.ts';
import {
  listDifferences,
  readForm,
  readStageForm,
  runForm,
  serveForm,
  uploadForm,
} from './form.ts';
import { LIVE, NONE, readLive, readVersion, switchAlias } from './versions.ts';
import { initialise, makePlan, readPlan, refuseOtherPackages, refuseUnsavedState } from './plan.ts';
import { testStage } from './checks/stage.ts';
import {
  findBackendFile,
  parseStage,
  readOutputs,
  readStageAccount,
  type StageOutputs,
} from './stage.ts';
import { confirm, runSession, runStep, terraform, type Session } from './steps.ts';
import { run } from './terraform.ts';

const USAGE = `
Usage: npm run deploy -- STAGE [--yes] [--plan-only | --drift] [--plan FILE]

  STAGE        develop, main or release
  --yes        apply without confirmation
  --plan-only  stop after the plan
  --drift      stop after the plan; exit code 1 if it, or the form that is served, has changes
  --plan FILE  with --plan-only: where the plan is written; otherwise: apply this plan

Ctrl-C waits for an apply to end; the last line says which versions are live.
Exit codes: 0 done, 1 a step failed (or --drift found changes), 2 refused or declined, nothing changed; 129, 130 or 143
after SIGHUP, SIGINT or SIGTERM.
`;
/** In place of what a form's first plan does not know. */
const FORM_URL = 'https://form.invalid/';
const UNKNOWN = { issuer: FORM_URL, clientId: 'unknown', apiUrl: FORM_URL };

/** @throws UsageError if main or release are not made of a commit, or a state would be here only. */
async function refuseCheckout(stage: Stage, env: NodeJS.ProcessEnv): Promise<void> {
  refuseUnsavedState(MODULE);
  if (existsSync(join(MODULE, 'backend_override.tf'))) {
    throw new UsageError('infra/terraform/backend_override.tf keeps the state on this machine.');
  }
  if (stage === 'develop') return;
  const { code, output } = await run('git', ['status', '--porcelain'], { env });
  if (code === 0 && output === '') return;
  throw new UsageError(`${stage} is deployed from a commit only; git status says: ${output}`);
}

/** Builds and plans, or takes the given plan. @throws UsageError for one that must not be applied. */
async function plan(session: Session, stage: Stage, file: string, isGiven: boolean) {
  const { accountId, region } = await readStageAccount(stage);
  session.io.stdout.write(`stage ${stage}, account ${accountId}, region ${region}\n`);
  await runStep(session, 'npm run build', 'npm', ['run', '--silent', 'build']);
  await initialise(session, findBackendFile(stage));
  await terraform(session, ['workspace', 'select', '-or-create', stage]);
  const found = await (isGiven ? readPlan(session, file) : makePlan(session, file));
  if (isGiven) refuseOtherPackages(found);
  if (found.formConfig) {
    const form = readForm({ ...UNKNOWN, ...found.formConfig }, []);
    session.io.stdout.write(`form      ${await runForm(FORM_URL, form, session.io.env)}\n`);
  }
  session.functions = found.functions;
  return found;
}

/** Whether the stage serves another form than the built one. */
async function isFormOther(stage: Stage, { io }: Session): Promise<boolean> {
  const outputs = await readOutputs(stage);
  const form = readStageForm(outputs);
  const differences = outputs.site && form ? await listDifferences(outputs.site.url, form) : [];
  for (const each of differences) io.stdout.write(`form      ${each}\n`);
  return differences.length > 0;
}

type Live = Awaited<ReturnType<typeof readLive>>;

/** @throws Error if another package is live than the built one, and no setting keeps it. */
async function refuseOtherCode({ function: own, mailer }: StageOutputs): Promise<void> {
  for (const { name, package: built, pinned } of [own, ...Object.values(mailer)]) {
    const { hash } = await readVersion(name, LIVE);
    if (pinned || hash === built) continue;
    throw new Error(`The version of ${name} that is live is not of the package in dist/.`);
  }
}

/** The live version, if any. */
async function readBefore(name: string | undefined): Promise<string | undefined> {
  if (name === undefined) return undefined;
  const { version } = await readLive(name).catch((error: unknown) => {
    if (error instanceof ResourceNotFoundException) return { version: NONE };
    throw error;
  });
  return version === NONE ? undefined : version;
}

/** Makes the version before live with its form. @returns What is true then. */
async function goBack(
  { site, function: { name } }: StageOutputs,
  live: Live,
  before: string | undefined,
): Promise<string> {
  if (before === undefined) return 'There is no version before it.';
  if (before === live.version) return `It was version ${before} before, too.`;
  await switchAlias(name, before, live, live.version);
  const form = site && (await serveForm(site, name));
  return `Version ${before} is live again${form ? ', with its form' : ''}.`;
}

/** @param before - The version live before the apply. */
async function complete(
  session: Session,
  outputs: StageOutputs,
  before: string | undefined,
): Promise<void> {
  const { site, function: own } = outputs;
  const live = await readLive(own.name);
  await refuseOtherCode(outputs);
  // An earlier version that live_version names has its own form.
  const form = own.pinned ? undefined : readStageForm(outputs);
  session.step = 'the upload of the form';
  if (site) {
    if (form) await uploadForm(site, live.version, form);
    const version = await serveForm(site, own.name);
    if (version) session.io.stdout.write(`form      that of version ${version} is served\n`);
  }
  session.step = 'the smoke test';
  const isPassed = await testStage(outputs, form, session);
  const { version } = await readLive(own.name);
  if (version !== live.version) {
    throw new Error(
      `Another command has made version ${version} of ${own.name} live since this one made ${live.version} live.`,
    );
  }
  if (!isPassed) {
    const found = await goBack(outputs, live, before);
    throw new Error(`The smoke test of version ${live.version} failed. ${found}`);
  }
  const { changes } = await makePlan(session, join(session.folder, 'again'), '-lock=false');
  if (changes.length > 0) {
    throw new Error('The plan after the apply has changes, which the plan above shows.');
  }
}

function describeStage({ site, api_url, dashboard_url, dns_records = [] }: StageOutputs): string {
  const addresses = site ? `${site.url}\nAPI ${api_url}/inquiries` : `${api_url}/inquiries`;
  const records = dns_records.map(
    ({ purpose, name, type, value, next }) =>
      `\nEnter this DNS record, which ${purpose}; once it can be resolved, ${next}, and deploy again:\n  ${name} ${type} ${value}\n`,
  );
  return `\nDeployed: ${addresses}\nDashboard ${dashboard_url}\n${records.join('')}`.trimEnd();
}

export const main: Main = async (args, io) => {
  const options = {
    yes: { type: 'boolean', default: false },
    'plan-only': { type: 'boolean', default: false },
    drift: { type: 'boolean', default: false },
    plan: { type: 'string' },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const { yes, drift, plan: given } = values;
  const planOnly = values['plan-only'] || drift;
  const stage = parseStage(positionals.join(' '));
  return runSession(io, MODULE, async (session) => {
    await refuseCheckout(stage, io.env);
    const file = given === undefined ? join(session.folder, 'plan') : resolve(given);
    const found = await plan(session, stage, file, given !== undefined && !planOnly);
    const { hasChanges } = found;
    if (drift && (hasChanges || (await isFormOther(stage, session)))) return 1;
    if (planOnly) return 0;
    const before = await readBefore(found.functionName);
    if (hasChanges) {
      if (!yes) await confirm(`Apply this plan? Type ${stage} to confirm: `, stage, session);
      session.state = 'Terraform has saved what it changed.';
      await terraform(session, ['apply', '-no-color', file]);
    }
    session.state = 'The plan is applied.';
    const outputs = await readOutputs(stage);
    await complete(session, outputs, before);
    writeLines(io.stdout, describeStage(outputs));
    return 0;
  });
};

if (import.meta.main) await runCommand(main);
