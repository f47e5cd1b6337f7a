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
import { assert } from '../lib/contract-checks.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import type { Stage } from '../lib/stages.ts';
import { describeReach } from './alarms.ts';
import { findBackendFile, hasLocalState, parseStage, readStageAccount } from './account.ts';
import { listDifferences, readForm, runForm, type Form } from './form.ts';
import type { StageOutputs } from './outputs.ts';
import {
  hashOf,
  initialise,
  makePlan,
  readOutputs,
  readPlan,
  refuseLoss,
  refuseOtherPackages,
  refuseUnsavedState,
  type Plan,
} from './plan.ts';
import { serveForm, uploadForm } from './site.ts';
import { testStage } from './smoke.ts';
import { openSession, runStep, terraform, type Session } from './steps.ts';
import { run, terraformUnavailableReason } from './terraform.ts';
import { listVersions, readLive } from './versions.ts';

const USAGE = `
Usage: npm run deploy -- STAGE [--yes] [--plan-only | --drift] [--plan FILE]

  STAGE        develop, main or release; it is the Terraform workspace, too
  --yes        apply without confirmation
  --plan-only  stop after the plan
  --drift      stop after the plan; exit code 1 if it has changes, or another form is served than the one built
  --plan FILE  with --plan-only: where the plan is written; otherwise: apply this plan, made of the same commit

Credentials and region come from the environment (AWS_PROFILE, AWS_REGION, …). STAGE.s3.tfbackend or backend.s3.tfbackend
in infra/terraform, or TF_CLI_ARGS_init, names the place of the state. SMOKE_TOKEN is an ID token for the smoke test of a
stage with an issuer of its own; without it, the checks that need one are skipped. TERRAFORM=tofu runs OpenTofu.
TF_PLUGIN_DIR is a folder with the AWS provider, for use offline. CHROMIUM_PATH names the browser that opens the form.

Ctrl-C (or SIGTERM) waits for an apply to end; the last line says which versions are live.
Exit codes: 0 deployed (or planned), 1 a step failed (or --drift found changes), 2 refused or declined, nothing changed;
129, 130 or 143 after SIGHUP, SIGINT or SIGTERM.
`;
/** Stands for what the first plan of a form does not know yet. */
const FORM_URL = 'https://form.invalid/';
const UNKNOWN = { issuer: FORM_URL, clientId: 'unknown', apiUrl: FORM_URL };
const NOTHING = 'Nothing was changed.';

/** A run of the command. */
interface Deployment extends Session {
  /** What Terraform has done so far; empty before the apply. */
  applied: string;
  /** The functions of the stage that an alias makes live. */
  functions: readonly string[];
}

function readSettings(args: string[]) {
  const options = {
    yes: { type: 'boolean', default: false },
    'plan-only': { type: 'boolean', default: false },
    drift: { type: 'boolean', default: false },
    plan: { type: 'string' },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const stage = parseStage('deploy', positionals.join(' '));
  const { yes, drift, plan } = values;
  return {
    stage,
    yes,
    drift,
    planOnly: values['plan-only'] || drift,
    file: plan === undefined ? undefined : resolve(plan),
  };
}
type Settings = ReturnType<typeof readSettings>;
type Account = Awaited<ReturnType<typeof checkAll>>;

/** Checks everything that can be checked before the first change. */
async function checkAll({ stage, yes, planOnly }: Settings, { env, stdin }: Io) {
  if (!yes && !planOnly && !stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --plan-only.');
  }
  const workspace = env['TF_WORKSPACE'];
  if (workspace !== undefined && workspace !== stage) {
    throw new UsageError(
      `TF_WORKSPACE is "${workspace}", which contradicts the stage ${stage}; unset it.`,
    );
  }
  const reason = await terraformUnavailableReason(env);
  if (reason !== undefined) throw new UsageError(reason);

  const head = await run('git', ['rev-parse', '--short=12', 'HEAD'], { env });
  const status = await run('git', ['status', '--porcelain'], { env });
  if (head.code === 127) throw new UsageError('git is not on the PATH.');
  if (head.code !== 0 || status.code !== 0) {
    throw new UsageError('This is not a git checkout with a commit.');
  }
  const [dirty] = status.stdout.split('\n');
  if (stage !== 'develop' && dirty) {
    throw new UsageError(
      `${stage} is deployed from a commit only; commit or stash first: ${dirty.slice(3)}`,
    );
  }
  if (stage !== 'develop' && hasLocalState()) {
    throw new UsageError(
      `${stage} must not use local state; remove infra/terraform/backend_override.tf.`,
    );
  }
  if (!hasLocalState() && findBackendFile(stage) === undefined && !env['TF_CLI_ARGS_init']) {
    throw new UsageError(
      'The place of the state is missing: run "npm run bootstrap" once, or copy infra/terraform/backend.s3.tfbackend.example to backend.s3.tfbackend and enter your bucket.',
    );
  }

  refuseUnsavedState(MODULE, env);
  const account = await readStageAccount(stage);
  return { ...account, commit: `${head.stdout.trim()}${dirty ? ' with uncommitted changes' : ''}` };
}

function summarise(
  { env, stdout }: Io,
  stage: Stage,
  { accountId, region, commit }: Account,
  { changes }: Plan,
): void {
  const verbs = changes.map(({ change }) =>
    change.actions.length > 1
      ? 'replace'
      : (change.actions[0] ?? '').replace('update', 'change').replace('delete', 'destroy'),
  );
  const counts = ['create', 'change', 'replace', 'destroy'].map(
    (verb) => `${verbs.filter((each) => each === verb).length} to ${verb}`,
  );
  const packages = ['dist/inquiries.zip', 'dist/mailer.zip'].map(
    (file) => `${file}, sha256 ${hashOf(join(ROOT, file))}`,
  );
  stdout.write(`
  stage     ${stage}
  account   ${accountId}, region ${region}, ${env['AWS_PROFILE'] ? `profile ${env['AWS_PROFILE']}` : 'credentials of the environment'}
  commit    ${commit}
  packages  ${packages.join('\n            ')}
  plan      ${counts.join(', ')}
${changes.map(({ address }, index) => `            ${(verbs[index] ?? '').padEnd(8)} ${address}\n`).join('')}
`);
}

/** Plans, or takes the plan that is given, and refuses it or has it confirmed. */
async function review(
  deployment: Deployment,
  { stage, yes, planOnly, drift, file: given }: Settings,
  account: Account,
  file: string,
) {
  const { io, interruption } = deployment;
  await runStep(deployment, 'npm run build', 'npm', ['run', '--silent', 'build']);
  await initialise(deployment, stage);
  const isGiven = given !== undefined && !planOnly;
  const plan = isGiven
    ? { text: '', ...(await readPlan(deployment, file)) }
    : await makePlan(deployment, file);
  io.stdout.write(`\n${plan.text}\n`);
  deployment.functions = plan.functions;
  summarise(io, stage, account, plan);
  refuseLoss(plan, deployment, `account ${account.accountId}, region ${account.region}`);
  if (isGiven) refuseOtherPackages(plan);
  if (plan.formConfig) {
    const form = readForm({ ...UNKNOWN, ...plan.formConfig }, []);
    io.stdout.write(`form      ${await runForm(FORM_URL, form, io.env)}\n`);
  }
  if (drift) return { plan, exitCode: plan.hasChanges || (await isFormOther(deployment)) ? 1 : 0 };
  if (planOnly) return { plan, exitCode: 0 };
  const question = `Apply this plan? Type ${stage} to confirm: `;
  if (plan.hasChanges && !yes && !(await isConfirmed(question, stage, interruption, io))) {
    throw new UsageError(NOTHING);
  }
  return { plan };
}

const buildForm = ({ form_config: config, connect_origins = [] }: StageOutputs): Form | undefined =>
  config ? readForm(config, connect_origins) : undefined;

/** Whether the stage serves another form than the one built. */
async function isFormOther(deployment: Deployment): Promise<boolean> {
  const outputs = await readOutputs<StageOutputs>(deployment);
  const form = buildForm(outputs);
  const differences = outputs.site && form ? await listDifferences(outputs.site.url, form) : [];
  deployment.io.stdout.write(differences.map((each) => `form      ${each}\n`).join(''));
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

async function checkPlan(deployment: Deployment, file: string): Promise<void> {
  const { changes } = await makePlan(deployment, file, '-lock=false');
  const addresses = changes.map(({ address }) => address);
  assert(
    addresses.length === 0,
    `${addresses.join(', ')} would change again: npm run deploy -- STAGE --plan-only shows how`,
  );
}

/** Serves the form, and tests the stage. @returns Whether users get another form than before. */
async function complete(
  deployment: Deployment,
  stage: Stage,
  outputs: StageOutputs,
  file: string,
): Promise<boolean> {
  const { io, interruption, current } = deployment;
  const {
    function: { name, live, version },
    site,
  } = outputs;
  await refuseOvertaken(outputs);
  // An earlier version that live_version names has the form it was deployed with.
  const form = live === version ? buildForm(outputs) : undefined;
  let served: string[] = [];
  if (site) {
    current.step = 'the upload of the form';
    if (form) await uploadForm(site, live, form, interruption);
    served = (await serveForm(site, name)) ?? [];
    io.stdout.write(served.map((each) => `form      ${each} is served\n`).join(''));
  }
  current.step = 'the smoke test';
  const isPassed = await testStage(outputs, form, io, interruption, {
    more: [
      {
        title: 'the plan after the apply is empty',
        async run() {
          // Otherwise it is that of another deployment.
          await refuseOvertaken(outputs);
          await checkPlan(deployment, file);
        },
      },
    ],
  });
  await refuseOvertaken(outputs);
  if (!isPassed) {
    throw new Error(
      `The smoke test failed. The version before is live again after: npm run rollback -- ${stage}`,
    );
  }
  return served.length > 0;
}

function report(
  { stdout }: Io,
  isChanged: boolean,
  { site, api_url, dashboard_url, dns_records = [] }: StageOutputs,
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

async function deploy(
  deployment: Deployment,
  settings: Settings,
  account: Account,
): Promise<number> {
  const { io } = deployment;
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
  try {
    const file = settings.file ?? join(folder, 'plan');
    const { plan, exitCode } = await review(deployment, settings, account, file);
    if (exitCode !== undefined) return exitCode;
    if (plan.hasChanges) {
      deployment.applied = 'Terraform has saved what it changed.';
      await terraform(deployment, ['apply', '-no-color', file]);
    }
    deployment.applied = 'The plan is applied.';
    const outputs = await readOutputs<StageOutputs>(deployment);
    const isServed = await complete(deployment, settings.stage, outputs, join(folder, 'again'));
    report(io, plan.hasChanges || isServed, outputs);
    io.stdout.write(describeReach(plan));
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Which versions are live, as AWS says now. */
async function describeLive(functions: readonly string[]): Promise<string> {
  const lines = functions.map(async (name) => {
    try {
      const [{ version }, [newest]] = await Promise.all([readLive(name), listVersions(name)]);
      const other = newest?.version === version ? '' : `, not ${newest?.version}`;
      return `Version ${version} of ${name} is live${other}.`;
    } catch (error) {
      return error instanceof ResourceNotFoundException
        ? `No version of ${name} is live yet.`
        : `Which version of ${name} is live could not be read: ${(error as Error).message}`;
    }
  });
  return (await Promise.all(lines)).join(' ');
}

export const main: Main = async (args, io) => {
  const settings = readSettings(args);
  const account = await checkAll(settings, io);
  const deployment: Deployment = { ...openSession(io), applied: '', functions: [] };
  const { interruption } = deployment;
  try {
    return await deploy(deployment, settings, account);
  } catch (error) {
    const { applied, functions } = deployment;
    if (error instanceof UsageError && applied === '') throw error;
    const state = applied === '' ? NOTHING : `${applied} ${await describeLive(functions)}`;
    const detail = error instanceof Error ? `${error.message}\n\n` : '';
    const end = interruption.aborted
      ? `Interrupted. ${state} Run the same command again.`
      : `${state} Once the cause is removed, run the same command again.`;
    io.stderr.write(`\n${detail}${end}\n`);
    return interruption.aborted ? (interruption.reason as number) : 1;
  } finally {
    deployment.close();
  }
};

if (import.meta.main) await runCommand(main);
