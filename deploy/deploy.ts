/**
 * Deploys one stage: checks, build, plan, confirmation, apply; then the new version of the function is tested, made live, tested
 * through the API, and its form served. docs/adr/0025
 *
 * Usage: see below.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isConfirmed,
  parseCommandLine,
  runCommand,
  UsageError,
  type Io,
  type Main,
} from '../lib/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import type { Stage } from '../lib/stages.ts';
import { findBackendFile, hasLocalState, parseStage, readStageAccount } from './account.ts';
import { describeNotifications } from './notifications.ts';
import { toSmokeOptions, type StageOutputs } from './outputs.ts';
import {
  initialise,
  makePlan,
  readOutputs,
  refuseLoss,
  refuseUnsavedState,
  type Plan,
} from './plan.ts';
import { checkConfig, deleteForm, serveForm, uploadForm } from './site.ts';
import { main as smoke } from './smoke.ts';
import { openSession, runStep, terraform, type Session } from './steps.ts';
import { run, terraformUnavailableReason } from './terraform.ts';
import { listVersions, pruneVersions, readLive, switchAlias, type Live } from './versions.ts';

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

A test that fails puts the version before back, with its form. Ctrl-C (or SIGTERM) does so, too, and waits for an apply to end;
the last line says what state the stage is in.
Exit codes: 0 deployed (or planned), 1 a step failed (or --drift found changes), 2 refused or declined, nothing changed;
129, 130 or 143 after SIGHUP, SIGINT or SIGTERM.
`;
const KEPT_VERSIONS = 10;
/** In the place of what the first plan of a form does not know yet. */
const UNKNOWN = {
  issuer: 'https://unknown.invalid',
  clientId: 'unknown',
  apiUrl: 'https://unknown.invalid',
};
const NOTHING = 'Nothing was changed.';

/** A run of the command; `state` says what is true if it ends now. */
interface Deployment extends Session {
  state: string;
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
async function checkAll(
  { stage, yes, planOnly }: ReturnType<typeof readSettings>,
  { env, stdin }: Io,
) {
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

  // A plan has it: the same length in every clone.
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
  await initialise(deployment, stage);
  const plan = await makePlan(deployment, file, `-var=commit=${account.commit}`);
  // Before the change, so that a deployment that somebody else completes meanwhile is noticed.
  const live = plan.function && (await readLive(plan.function.name));
  summarise(io, stage, account, plan);
  const isBehind = live !== undefined && live.version !== plan.function?.version;
  if (isBehind) {
    io.stdout.write(
      `  live      version ${live.version}, not ${plan.function?.version}: it was rolled back, or a deployment has failed\n\n`,
    );
  }

  refuseLoss(plan, deployment, `account ${account.accountId}, region ${account.region}`);
  if (plan.formConfig) checkConfig({ ...UNKNOWN, ...plan.formConfig });
  // What another deployment has done meanwhile needs no review here.
  if (expect !== undefined && plan.hasChanges && plan.sha256 !== expect) {
    throw new UsageError(
      `The plan is not the one that was reviewed (${expect}). Nothing was changed.`,
    );
  }
  if (planOnly) return drift && (plan.hasChanges || isBehind) ? 1 : 0;
  if (
    plan.hasChanges &&
    !yes &&
    !(await isConfirmed(`Apply this plan? Type ${stage} to confirm: `, stage, interruption, io))
  ) {
    throw new UsageError(NOTHING);
  }
  return { ...plan, live };
}

/** Runs the smoke test. @throws Error if it fails. */
async function test(
  { io, interruption }: Session,
  what: string,
  args: readonly string[],
): Promise<void> {
  if ((await smoke([...args, '--wait', '60'], io, interruption)) !== 0) {
    throw new Error(`The smoke test of ${what} failed.`);
  }
}

/**
 * Tests the version that was published, makes it live, tests the stage, and serves the form. After a failure or an interruption
 * the version from before is live again, with its form.
 *
 * @param before - What was live when the plan was made; undefined before the first deployment.
 */
async function release(
  deployment: Deployment,
  commit: string,
  before: Live | undefined,
  outputs: StageOutputs,
): Promise<void> {
  const { io, interruption, current } = deployment;
  const {
    function: { name, version },
    mailer,
    site,
    form_config,
    connect_origins = [],
  } = outputs;
  const live = before ?? (await readLive(name));
  const newest = (await listVersions(name)).find((each) => each.version === version);
  // A commit that changes nothing of the function may leave its version, which names an earlier one.
  if (newest?.commit !== commit && newest?.sha256 !== hashPackage('dist/inquiries.zip')) {
    throw new Error(
      `Somebody else has published version ${version} of ${name} meanwhile (commit ${newest?.commit}).`,
    );
  }

  current.step = 'the test of the new version';
  await test(deployment, `version ${version}`, [
    '--function',
    `${name}:${version}`,
    ...(mailer ? ['--mailer', mailer] : []),
  ]);
  if (site) {
    io.stdout.write(`upload of the form to ${site.bucket} …\n`);
    const uploaded = await uploadForm(site, version, form_config, connect_origins, interruption);
    io.stdout.write(
      uploaded.length === 0
        ? 'no file has changed\n'
        : uploaded.map((key) => `  ${key}\n`).join(''),
    );
  }

  current.step = 'the test of the stage';
  if (live.version !== version) await switchAlias(name, version, live.revisionId);
  try {
    deployment.state = `Version ${version} is live, but not tested.`;
    await test(deployment, outputs.api_url, toSmokeOptions(name, outputs));
    if (site) await serveForm(site, name);
    deployment.state = `Version ${version} is live.`;
  } catch (error) {
    deployment.state = await goBack(outputs, live).catch(
      ({ message }: Error) =>
        `Version ${version} may be live, because going back failed, too: ${message}`,
    );
    throw error;
  }
  const pruned = await pruneVersions(name, KEPT_VERSIONS);
  if (pruned.length > 0) io.stdout.write(`deleted versions ${pruned.join(', ')} of the function\n`);
  if (site) for (const each of pruned) await deleteForm(site, each);
}

/** Makes a version live again, unless somebody else has made another one live. @returns What is true then. */
async function goBack(
  { function: { name, version }, site }: StageOutputs,
  before: Live,
): Promise<string> {
  if (before.version === version) {
    return `Version ${version} is live; there is none from before to go back to.`;
  }
  const now = await readLive(name);
  if (now.version === version) await switchAlias(name, before.version, now.revisionId);
  if (site) await serveForm(site, name);
  return now.version === version
    ? `Version ${before.version} is live again${site ? ', with its form' : ''}.`
    : `Version ${now.version} is live, by somebody else.`;
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
  settings: ReturnType<typeof readSettings>,
  account: Awaited<ReturnType<typeof checkAll>>,
): Promise<number> {
  const { io } = deployment;
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
  try {
    const reviewed = await review(deployment, settings, account, join(folder, 'plan'));
    if (typeof reviewed === 'number') return reviewed;
    const { file, hasChanges, live } = reviewed;
    const asBefore =
      live === undefined ? 'No version is tested yet' : `Version ${live.version} is still live`;
    if (hasChanges) {
      deployment.state = `Terraform has saved what it changed. ${asBefore}.`;
      await terraform(deployment, ['apply', '-no-color', file]);
    }
    deployment.state = `The plan is applied. ${asBefore}.`;
    const outputs = await readOutputs<StageOutputs>(deployment);
    await release(deployment, account.commit, live, outputs);
    report(io, hasChanges || live?.version !== outputs.function.version, outputs);
    io.stdout.write(describeNotifications(await terraform(deployment, ['show', '-json', file])));
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const main: Main = async (args, io) => {
  const settings = readSettings(args);
  const account = await checkAll(settings, io);
  const deployment: Deployment = { ...openSession(io), state: NOTHING };
  const { interruption } = deployment;
  try {
    return await deploy(deployment, settings, account);
  } catch (error) {
    const { state } = deployment;
    if (error instanceof UsageError && state === NOTHING) throw error;
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
