/** Deploys a stage: what it refuses, `terraform apply`, the form and the smoke test. docs/adr/0025 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
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
import {
  describeWayBack,
  findUntested,
  Overtaken,
  readLastPassed,
  refuseSwitched,
  testLive,
} from './last-passed.ts';
import {
  initialise,
  makePlan,
  readPlan,
  refuseOtherPackages,
  refuseUnsavedState,
  refuseUnstated,
  type Plan,
} from './plan.ts';
import { fetchBuild } from './release-build.ts';
import {
  BACKEND_FILE,
  parseStage,
  readBucket,
  readOutputs,
  readStageAccount,
  type StageOutputs,
} from './stage.ts';
import { confirm, runSession, runStep, terraform, type Session } from './steps.ts';
import { run } from '../lib/terminal/run.ts';
import {
  describeWithdrawal,
  listVersions,
  LIVE,
  NONE,
  readLive,
  readVersion,
  updateLive,
} from './versions.ts';

const USAGE = `
Usage: npm run deploy -- STAGE [--yes] [--plan-only | --drift] [--plan FILE] [--release TAG]

  STAGE          develop, main or release
  --yes          apply without confirmation
  --plan-only    stop after the plan
  --drift        stop after the plan; exit code 1 if it, or the form that is served, has changes
  --plan FILE    with --plan-only: where the plan is written; otherwise: apply this plan
  --release TAG  deploy the build of a release on GitHub, by its command gh, instead of building

Ctrl-C waits for an apply to end; the last line says which versions are live.
Exit codes: 0 done, 1 a step failed (or --drift found changes), 2 refused or declined, nothing changed; 129, 130 or 143
after SIGHUP, SIGINT or SIGTERM.
`;
/** Stands for the values that the first plan of a form does not know yet. */
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

interface Source {
  file: string;
  isGiven: boolean;
  release: string | undefined;
}

/** Builds and plans, or takes what is given. @throws UsageError for a plan that must not be applied. */
async function plan(session: Session, stage: Stage, { file, isGiven, release }: Source) {
  session.step = 'the plan';
  if (release === undefined) {
    await runStep(session, 'npm run build', 'npm', ['run', '--silent', 'build']);
  } else {
    await fetchBuild(session, release);
  }
  readBucket();
  await initialise(session, BACKEND_FILE);
  await terraform(session, ['workspace', 'select', '-or-create', stage]);
  const found = await (isGiven ? readPlan(session, file) : makePlan(session, file));
  refuseUnstated(found, stage);
  if (isGiven) refuseOtherPackages(found);
  if (found.formConfig) {
    session.step = 'opening the form';
    const form = readForm({ ...UNKNOWN, ...found.formConfig }, []);
    session.io.stdout.write(`form      ${await runForm(FORM_URL, form, session.io.env)}\n`);
  }
  session.functions = found.functions;
  return found;
}

async function isFormOther(stage: Stage, { io }: Session): Promise<boolean> {
  const outputs = await readOutputs(stage);
  const form = readStageForm(outputs);
  const differences = outputs.site && form ? await listDifferences(outputs.site.url, form) : [];
  for (const each of differences) io.stdout.write(`form      ${each}\n`);
  return differences.length > 0;
}

/**
 * Refuses another version than the apply has made live. If somebody has moved the alias, the next apply runs its gate
 * again.
 *
 * @throws Error
 */
async function refuseOther(
  stage: Stage,
  { function: own, mailer, inbox }: StageOutputs,
): Promise<void> {
  const functions = [own, ...Object.values(mailer), ...(inbox ? [inbox] : [])];
  for (const { name, package: built, pinned } of functions) {
    const live = await readLive(name);
    const { hash } = await readVersion(name, LIVE);
    if (live.version !== NONE && (pinned || hash === built)) continue;
    const versions = await listVersions(name);
    const gated = versions.find((each) => each.hash === built)?.version ?? 'the newest';
    if (Number(live.version) > Number(gated)) await refuseSwitched(name, `${gated}`);
    await updateLive(name, live, { withdrawn: describeWithdrawal(live.version) });
    throw new Error(
      `Version ${live.version} of ${name} is live instead of ${gated}: somebody has moved the alias. To check the package and make it live: npm run deploy -- ${stage}`,
    );
  }
}

/** @param before - The version to which to go back. */
async function complete(
  session: Session,
  stage: Stage,
  outputs: StageOutputs,
  before: string | undefined,
): Promise<number> {
  const { io, folder } = session;
  const { site, function: own } = outputs;
  session.step = 'reading what is live';
  await refuseOther(stage, outputs);
  // An earlier version that live_version names has its own form.
  const form = own.pinned ? undefined : readStageForm(outputs);
  session.step = 'the upload of the form';
  if (site) {
    const live = await readLive(own.name);
    if (form) await uploadForm(site, live.version, form);
    const version = await serveForm(site, own.name);
    if (version) io.stdout.write(`form      that of version ${version} is served\n`);
  }
  const { version, worse, failing } = await testLive(session, outputs, form, before);
  if (worse.length > 0) {
    const instead =
      before === version
        ? 'It was live before, too.'
        : `Version ${before}, which passes, is live again.`;
    throw new Error(
      `Version ${version} fails the smoke test: ${worse.join('; ')}. ${before === undefined ? 'There is none before it.' : instead}`,
    );
  }
  session.step = 'the plan after the apply';
  const { changes } = await makePlan(session, join(folder, 'again'), '-lock=false');
  if (changes.length > 0) {
    throw new Error('The plan after the apply has changes, which the plan above shows.');
  }
  writeLines(io.stdout, describeStage(outputs));
  if (failing.length === 0) return 0;
  writeLines(
    io.stderr,
    `\nVersion ${version} is live, but the stage fails, with the version before as well: ${failing.join('; ')}. What to do is said above.`,
  );
  return 1;
}

/** Tests a version that an earlier command made live and did not test to the end. */
async function testUntested(session: Session, stage: Stage): Promise<void> {
  const { io } = session;
  // If the state cannot be read, Terraform says later what is wrong with it.
  const outputs = await readOutputs(stage).catch(() => undefined);
  if (outputs === undefined) return;
  const { name } = outputs.function;
  const untested = await findUntested(name);
  if (untested === undefined) return;
  const { version, passed } = untested;
  io.stdout.write(`Version ${version} of ${name} is live, and was not tested to the end.\n`);
  if (outputs.site) await serveForm(outputs.site, name);
  const { worse } = await testLive(session, outputs, undefined, passed);
  if (worse.length > 0) session.state = `Version ${passed} is live again.`;
}

/** Applies the plan and tests the stage; if that ends otherwise than well, the version before is live again. */
async function deploy(
  session: Session,
  stage: Stage,
  { functionName: name, packages, hasChanges }: Plan,
  file: string,
): Promise<number> {
  const before = name === undefined ? undefined : await readLastPassed(name);
  try {
    session.state = 'Terraform has saved what it changed.';
    if (hasChanges) await terraform(session, ['apply', '-no-color', file]);
    session.state = 'The plan is applied.';
    session.step = 'reading the state';
    return await complete(session, stage, await readOutputs(stage), before);
  } catch (error) {
    const built = packages.find((each) => each['function_name'] === name)?.['source_code_hash'];
    if (!(error instanceof Overtaken)) {
      session.state += await describeWayBack(stage, name, String(built), before);
    }
    throw error;
  }
}

function describeStage({ site, api_url, dashboard_url, dns_records = [] }: StageOutputs): string {
  const addresses = site ? `${site.url}\nAPI ${api_url}/inquiries` : `${api_url}/inquiries`;
  const records = dns_records.map(
    ({ purpose, name, type, value, next }) =>
      `\nEnter this DNS record, which ${purpose}; once it can be resolved, ${next}, and deploy again:\n  ${name} ${type} ${value}\n`,
  );
  const dashboard = dashboard_url ? `Dashboard ${dashboard_url}\n` : '';
  return `\nDeployed: ${addresses}\n${dashboard}${records.join('')}`.trimEnd();
}

export const main: Main = async (args, io) => {
  const options = {
    yes: { type: 'boolean', default: false },
    'plan-only': { type: 'boolean', default: false },
    drift: { type: 'boolean', default: false },
    plan: { type: 'string' },
    release: { type: 'string' },
  } as const;
  const { values, positionals } = parseCommandLine(USAGE, options, { args });
  const { yes, drift, plan: given, release } = values;
  const planOnly = values['plan-only'] || drift;
  const stage = parseStage(positionals.join(' '));
  const name = `npm run deploy -- ${args.join(' ')}`;
  const variables = { TF_WORKSPACE: stage, TF_DATA_DIR: join('.terraform', stage) };
  return runSession(io, name, { module: MODULE, variables }, async (session) => {
    await refuseCheckout(stage, io.env);
    const { accountId, region } = await readStageAccount(stage);
    io.stdout.write(`stage ${stage}, account ${accountId}, region ${region}\n`);
    if (!planOnly) await testUntested(session, stage);
    const file = given === undefined ? join(session.folder, 'plan') : resolve(given);
    const isGiven = given !== undefined && !planOnly;
    const found = await plan(session, stage, { file, isGiven, release });
    const { hasChanges } = found;
    if (drift && (hasChanges || (await isFormOther(stage, session)))) return 1;
    if (planOnly) return 0;
    if (hasChanges && !yes) {
      session.step = 'the confirmation';
      await confirm(`Apply this plan? Type ${stage} to confirm: `, stage, session);
    }
    return deploy(session, stage, found, file);
  });
};

if (import.meta.main) await runCommand(main);
