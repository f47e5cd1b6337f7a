/**
 * Deploys one stage: checks, build, plan, confirmation, apply, upload of the form, smoke test, addresses.
 *
 * Usage: see below.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isConfirmed, parseCommandLine, runCommand, UsageError } from '../lib/command-line.ts';
import type { Io, Main } from '../lib/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import type { Stage } from '../lib/stages.ts';
import { findBackendFile, hasLocalState, parseStage, readStageAccount } from './account.ts';
import { describeNotifications } from './notifications.ts';
import { initialise, keepInterrupted, makePlan, readOutputs, refuseLoss } from './plan.ts';
import type { Plan } from './plan.ts';
import { checkConfig, uploadForm } from './site.ts';
import type { Site } from './site.ts';
import { main as smoke } from './smoke.ts';
import { openSession, runStep, terraform } from './steps.ts';
import type { Session } from './steps.ts';
import { run, terraformUnavailableReason } from './terraform.ts';
import { pruneVersions } from './versions.ts';

const USAGE = `
Usage: npm run deploy -- STAGE [--yes] [--plan-only | --drift] [--expect SHA256]

  STAGE            develop, main or release; it is the Terraform workspace, too
  --yes            apply without confirmation
  --plan-only      stop after the plan; its sha256 is for --expect
  --drift          stop after the plan; exit code 1 if it has changes
  --expect SHA256  refuse a plan with changes other than those that were reviewed

Credentials and region come from the environment (AWS_PROFILE, AWS_REGION, …). STAGE.s3.tfbackend or backend.s3.tfbackend
in infra/terraform, or TF_CLI_ARGS_init, names the place of the state. SMOKE_TOKEN is an ID token for the smoke test of a
stage with an issuer of its own; without it, the checks that need one are skipped. TERRAFORM=tofu runs OpenTofu.
TF_PLUGIN_DIR is a folder with the AWS provider, for use offline.

Ctrl-C (or SIGTERM) lets Terraform end what it has begun and save its state; the last line says what state the stage is in.
Exit codes: 0 deployed (or planned), 1 a step failed (or --drift found changes), 2 refused or declined, nothing changed;
129, 130 or 143 after SIGHUP, SIGINT or SIGTERM.
`;
const KEPT_VERSIONS = 10;
/** In the place of what the first plan of a form does not know yet. */
const UNKNOWN = { issuer: 'https://unknown.invalid', clientId: 'unknown', apiUrl: 'https://unknown.invalid' };
const AGAIN = 'Run the same command again.';

/** What a signal leaves behind during each phase. */
const INTERRUPTED = {
  building: 'nothing was changed.',
  planning: 'nothing was changed.',
  applying: `Terraform saved what it had changed. ${AGAIN}`,
  'uploading the form': `the plan is applied; the form may be the one from before. ${AGAIN}`,
  'testing the stage': `everything is deployed, but not tested. ${AGAIN}`,
};

/** A run of the command; `phase` is what a signal interrupts. */
interface Deployment extends Session {
  phase: keyof typeof INTERRUPTED;
}

interface Outputs {
  readonly api_url: string;
  readonly cors_origin: string;
  readonly dashboard_url: string;
  readonly live_alias?: { readonly function_name: string; readonly name: string };
  readonly site?: Site | null;
  readonly form_config?: unknown;
  readonly connect_origins?: readonly string[];
  readonly smoke_sign_in?: { readonly user_pool_id: string; readonly client_id: string } | null;
  readonly dns_records?: readonly Readonly<
    Record<'domain' | 'purpose' | 'name' | 'type' | 'value' | 'next', string>
  >[];
}

function readSettings(args: string[]) {
  const options = {
    yes: { type: 'boolean', default: false },
    'plan-only': { type: 'boolean', default: false },
    drift: { type: 'boolean', default: false },
    expect: { type: 'string' },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const stage = parseStage('deploy', positionals.join(' '));
  const { yes, drift, expect } = values;
  if (expect !== undefined && !/^[0-9a-f]{64}$/.test(expect)) {
    throw new UsageError(`--expect must be the sha256 that --plan-only printed, not '${expect}'`);
  }
  return { stage, yes, planOnly: values['plan-only'] || drift, drift, expect };
}

/** Checks everything that can be checked before the first change. */
async function checkAll({ stage, yes, planOnly }: ReturnType<typeof readSettings>, { env, stdin }: Io) {
  if (!yes && !planOnly && !stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --plan-only.');
  }
  const workspace = env['TF_WORKSPACE'];
  if (workspace !== undefined && workspace !== stage) {
    throw new UsageError(`TF_WORKSPACE is "${workspace}", which contradicts the stage ${stage}; unset it.`);
  }
  const reason = await terraformUnavailableReason(env);
  if (reason !== undefined) throw new UsageError(reason);

  const head = await run('git', ['rev-parse', '--short', 'HEAD'], { env });
  const status = await run('git', ['status', '--porcelain'], { env });
  if (head.code === 127) throw new UsageError('git is not on the PATH.');
  if (head.code !== 0 || status.code !== 0) throw new UsageError('This is not a git checkout with a commit.');
  const [dirty] = status.stdout.split('\n');
  if (stage !== 'develop' && dirty) {
    throw new UsageError(`${stage} is deployed from a commit only; commit or stash first: ${dirty.slice(3)}`);
  }
  if (stage !== 'develop' && hasLocalState()) {
    throw new UsageError(`${stage} must not use local state; remove infra/terraform/backend_override.tf.`);
  }
  if (!hasLocalState() && findBackendFile(stage) === undefined && !env['TF_CLI_ARGS_init']) {
    throw new UsageError(
      'The place of the state is missing: run "npm run bootstrap" once, or copy infra/terraform/backend.s3.tfbackend.example to backend.s3.tfbackend and enter your bucket.',
    );
  }

  const account = await readStageAccount(stage);
  return { ...account, commit: `${head.stdout.trim()}${dirty ? ' with uncommitted changes' : ''}` };
}

const hashPackage = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(join(ROOT, file)))
    .digest('base64');

function summarise(
  { env, stdout }: Io,
  stage: Stage,
  { accountId, region, commit }: Awaited<ReturnType<typeof checkAll>>,
  { changes, text, sha256 }: Plan,
): void {
  const verbs = changes.map(({ change }) =>
    change.actions.length > 1
      ? 'replace'
      : (change.actions[0] ?? '').replace('update', 'change').replace('delete', 'destroy'),
  );
  const count = (verb: string): number => verbs.filter((found) => found === verb).length;
  stdout.write(`
${text}

  stage     ${stage}
  account   ${accountId}, region ${region}, ${env['AWS_PROFILE'] ? `profile ${env['AWS_PROFILE']}` : 'credentials of the environment'}
  commit    ${commit}
  package   dist/inquiries.zip, sha256 ${hashPackage('dist/inquiries.zip')}
            dist/mailer.zip, sha256 ${hashPackage('dist/mailer.zip')}
  plan      ${['create', 'change', 'replace', 'destroy'].map((verb) => `${count(verb)} to ${verb}`).join(', ')}
${changes.map(({ address }, index) => `            ${(verbs[index] ?? '').padEnd(8)} ${address}\n`).join('')}\
  sha256    ${sha256}

`);
}

/** Builds and plans, prints the plan, and refuses it or has it confirmed. @returns The exit code if nothing is to be applied. */
async function review(
  deployment: Deployment,
  { stage, yes, planOnly, drift, expect }: ReturnType<typeof readSettings>,
  account: Awaited<ReturnType<typeof checkAll>>,
  file: string,
) {
  const { io, interruption } = deployment;
  await runStep(deployment, 'npm run build', 'npm', ['run', '--silent', 'build']);
  deployment.phase = 'planning';
  await initialise(deployment, stage);
  const plan = await makePlan(deployment, file);
  summarise(io, stage, account, plan);

  refuseLoss(plan, deployment);
  if (plan.formConfig) checkConfig({ ...UNKNOWN, ...plan.formConfig });
  // What another deployment has done meanwhile needs no review here.
  if (expect !== undefined && plan.hasChanges && plan.sha256 !== expect) {
    throw new UsageError(`The plan is not the one that was reviewed (${expect}). Nothing was changed.`);
  }
  if (planOnly) return drift && plan.hasChanges ? 1 : 0;
  if (
    plan.hasChanges &&
    !yes &&
    !(await isConfirmed(`Apply this plan? Type ${stage} to confirm: `, stage, interruption, io))
  )
    throw new UsageError('Nothing was changed.');
  return plan;
}

async function apply(session: Session, { file }: Plan): Promise<void> {
  try {
    await terraform(session, ['apply', '-no-color', file]);
  } catch (error) {
    await keepInterrupted(session);
    throw error;
  }
}

/** Uploads the form of a stage that has one, and deletes old versions of the function. */
async function finish(
  { io: { stdout }, interruption }: Session,
  { site, form_config, connect_origins = [], live_alias }: Outputs,
): Promise<void> {
  if (site) {
    stdout.write(`upload of the form to ${site.bucket} …\n`);
    const uploaded = await uploadForm(site, form_config, connect_origins, interruption);
    stdout.write(
      uploaded.length === 0 ? 'no file has changed\n' : uploaded.map((key) => `  ${key}\n`).join(''),
    );
  }
  if (live_alias) {
    const pruned = await pruneVersions(live_alias.function_name, KEPT_VERSIONS);
    if (pruned.length > 0) stdout.write(`deleted versions ${pruned.join(', ')} of the function\n`);
  }
}

async function test(
  { io, interruption }: Session,
  stage: Stage,
  { api_url, cors_origin, live_alias, smoke_sign_in }: Outputs,
): Promise<void> {
  const alias = live_alias ? ['--function', `${live_alias.function_name}:${live_alias.name}`] : [];
  const signIn = smoke_sign_in
    ? ['--user-pool', smoke_sign_in.user_pool_id, '--client', smoke_sign_in.client_id]
    : [];
  const args = ['--url', api_url, '--origin', cors_origin, '--wait', '60', ...alias, ...signIn];
  const code = await smoke(args, io, interruption);
  if (code !== 0) {
    throw new Error(
      `Applied, but the smoke test failed: ${api_url}. To go back to the version before: npm run rollback -- ${stage}`,
    );
  }
}

function report(
  { stdout }: Io,
  isChanged: boolean,
  { site, api_url, dashboard_url, dns_records = [] }: Outputs,
): void {
  const done = isChanged ? 'Deployed' : 'Already deployed';
  const addresses = site ? `${site.url}\nAPI ${api_url}/inquiries` : `${api_url}/inquiries`;
  stdout.write(`\n${done}: ${addresses}\nDashboard ${dashboard_url}\n`);
  if (dns_records.length === 0) return;
  stdout.write('\nEnter these DNS records where the domain is managed:\n');
  for (const { domain, purpose, name, type, value, next } of dns_records) {
    stdout.write(`
  ${name}
  ${type.padEnd(6)} ${value}
         ${purpose} of ${domain}; once it can be resolved, ${next}, and deploy again
`);
  }
}

/** What is true after a signal, in one or two sentences. */
function describeInterruption(error: unknown, phase: Deployment['phase']): string {
  const detail = error instanceof Error ? error.message : '';
  const state = existsSync(join(MODULE, 'errored.tfstate'))
    ? 'Terraform could not save its state, which is in infra/terraform/errored.tfstate; see docs/runbook.md.'
    : / was ended by SIG/.test(detail)
      ? 'Terraform was killed, so that its lock and resources that its state lacks may be left; see docs/runbook.md.'
      : INTERRUPTED[phase];
  return `${phase === 'applying' ? detail : ''}\n\nInterrupted while ${phase}: ${state}\n`.trimStart();
}

async function deploy(
  deployment: Deployment,
  settings: ReturnType<typeof readSettings>,
  account: Awaited<ReturnType<typeof checkAll>>,
): Promise<number> {
  const { io } = deployment;
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
  try {
    const reviewed = await review(deployment, settings, account, join(folder, 'plan'));
    if (typeof reviewed === 'number') return reviewed;
    deployment.phase = 'applying';
    if (reviewed.hasChanges) await apply(deployment, reviewed);
    deployment.phase = 'uploading the form';
    const outputs = await readOutputs<Outputs>(deployment);
    await finish(deployment, outputs);
    deployment.phase = 'testing the stage';
    await test(deployment, settings.stage, outputs);
    const notifications = describeNotifications(
      await terraform(deployment, ['show', '-json', reviewed.file]),
    );
    report(io, reviewed.hasChanges, outputs);
    io.stdout.write(notifications);
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const main: Main = async (args, io) => {
  const settings = readSettings(args);
  const account = await checkAll(settings, io);
  const deployment: Deployment = { ...openSession(io), phase: 'building' };
  try {
    return await deploy(deployment, settings, account);
  } catch (error) {
    const { interruption, phase } = deployment;
    if (!interruption.aborted || error instanceof UsageError) throw error;
    io.stderr.write(describeInterruption(error, phase));
    return interruption.reason as number;
  } finally {
    deployment.close();
  }
};

if (import.meta.main) await runCommand(main);
