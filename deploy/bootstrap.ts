/**
 * Sets up an AWS account and region with infra/terraform/bootstrap. May run again at any time, also after an
 * interruption.
 */
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  parseObject,
  parseOptions,
  readIfThere,
  runCommand,
  UsageError,
  type Main,
} from '../lib/terminal/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import { isServiceName, NAME_RULE, STAGES } from '../lib/aws/stages.ts';
import { writeLines } from '../lib/terminal/terminal-text.ts';
import {
  createStateBucket,
  inspectStateBucket,
  refuseOtherRuleSet,
  validatePolicies,
  type StateBucket,
} from './bootstrap-aws.ts';
import { createAccountChecks } from './checks/account.ts';
import { createRoleChecks } from './checks/role.ts';
import { runChecks } from './checks/run-checks.ts';
import { initialise, makePlan, refuseUnsavedState } from './plan.ts';
import { confirm, runSession, terraform, type Session } from './steps.ts';
import { BACKEND_FILE, readAccount, readBackend, readResources } from './stage.ts';

const USAGE = `
Usage: npm run bootstrap [-- [--region REGION] [--yes]]

  --region REGION  region of the bucket and of the stages; by default the one of the environment
  --yes            apply without confirmation, unless the plan deletes something

Needs the credentials of an administrator. Settings: docs/deploy.md.

Exit codes: 0 done, 1 a step failed, 2 refused or declined; 129, 130 or 143 after SIGHUP, SIGINT or SIGTERM.
`;

const BOOTSTRAP = join(MODULE, 'bootstrap');
const SETTINGS = 'infra/terraform/bootstrap/settings.auto.tfvars.json';
const SETTINGS_FILE = join(ROOT, SETTINGS);

/** The settings that this command reads; Terraform reads the others, too. */
interface Settings {
  name?: string;
  bucket?: string;
  region?: string;
  budget?: unknown;
  github?: unknown;
  receives_mail?: boolean;
}

const describeBucket = ({ bucket, accountId, region }: StateBucket): string =>
  `bucket ${bucket}, account ${accountId}, region ${region}`;

/** @throws UsageError if the name of the service makes no name of a bucket. */
function readSettings() {
  const settings: Settings | undefined = parseObject(readIfThere(SETTINGS_FILE) ?? '{}');
  if (settings === undefined) throw new UsageError(`${SETTINGS} is not a JSON object.`);
  const { name = 'inquiries' } = settings;
  if (!isServiceName(name)) throw new UsageError(`${SETTINGS}: ${NAME_RULE}, not "${name}".`);
  return { ...settings, name };
}

/**
 * Finds where the state is to be.
 *
 * @throws UsageError if this checkout's stages have their state elsewhere.
 */
async function findBucket(
  { name, bucket: given, region }: Settings & { name: string },
  givenRegion: string | undefined,
): Promise<StateBucket> {
  const found = await readAccount(givenRegion ?? region);
  const bucket = given ?? `${name}-terraform-state-${found.accountId}-${found.region}`;
  const state = { ...found, bucket };
  const theirs = readBackend();
  const known = describeBucket({
    bucket: theirs.bucket ?? bucket,
    accountId: theirs.allowed_account_ids ?? state.accountId,
    region: theirs.region ?? state.region,
  });
  if (known === describeBucket(state)) return state;
  throw new UsageError(
    `infra/terraform/backend.s3.tfbackend names ${known}; these credentials and settings mean ${describeBucket(state)}.`,
  );
}

const write = (file: string, value: object) =>
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);

/** Asks IAM what GitHub's roles may do with what their stages have. A refusal is printed only. */
async function simulateRoles(session: Session, { accountId, region }: StateBucket): Promise<void> {
  const { name, github } = readSettings();
  if (!github) return;
  for (const stage of STAGES) {
    const role = `role/terraform-bootstrap/${name}-${stage}-deploy-${region}`;
    const resources = await readResources(stage).catch(() => []);
    const checks = createRoleChecks(`arn:aws:iam::${accountId}:${role}`, stage, name, resources);
    if (checks.length === 0) continue;
    session.io.stdout.write(`\nWhat GitHub's role may do on ${stage}:\n`);
    await runChecks(checks, session);
  }
}

async function bootstrap(session: Session, state: StateBucket, yes: boolean): Promise<number> {
  const { io } = session;
  const { accountId, bucket, region } = state;
  const ask = async (question: string): Promise<void> => {
    if (!yes) await confirm(`${question} Type the account id to confirm: `, accountId, session);
    session.state = `What was created so far is kept, in the state in the bucket ${bucket}.`;
  };
  writeLines(io.stdout, describeBucket(state));
  const { exists, isBootstrapped } = await inspectStateBucket(state);
  if (isBootstrapped && !existsSync(SETTINGS_FILE)) {
    // Without the settings, the plan would delete domains, roles and the budget.
    throw new UsageError(
      `The account was set up with settings that this checkout lacks: ${SETTINGS}.`,
    );
  }
  if (!exists) {
    await ask('Create the bucket?');
    await createStateBucket(state);
  }
  const backend = join(session.folder, 'backend');
  writeFileSync(
    backend,
    `# Written by npm run bootstrap.\nbucket              = "${bucket}"\nregion              = "${region}"\nallowed_account_ids = ["${accountId}"]\n`,
  );
  await initialise(session, backend);
  const file = join(session.folder, 'plan');
  const plan = await makePlan(session, file, `-var=bucket=${bucket}`, `-var=region=${region}`);
  if (yes && plan.changes.some(({ change }) => change.actions.includes('delete'))) {
    throw new UsageError('The plan deletes something, which needs a confirmation at a terminal.');
  }
  await refuseOtherRuleSet(plan, region);
  const findings = await validatePolicies(plan, region);
  if (findings !== '') writeLines(io.stdout, findings.trimEnd());
  if (plan.hasChanges) await ask('Apply this plan?');
  if (!existsSync(SETTINGS_FILE)) write(SETTINGS_FILE, { region });
  if (plan.hasChanges) await terraform(session, ['apply', '-no-color', file]);
  const boundaries = await terraform(session, ['output', '-json', 'permissions_boundaries']);
  copyFileSync(backend, BACKEND_FILE);
  write(join(MODULE, 'bootstrap.auto.tfvars.json'), {
    permissions_boundaries: parseObject(boundaries),
  });
  await simulateRoles(session, state);
  writeLines(
    io.stdout,
    `
Done. Next: commit what is new in infra/terraform, and npm run deploy -- develop. The secrets AWS_ROLE_ARN of the environments on GitHub are the output github_roles (docs/deploy.md). Run this command again after the first deployment of each stage.`,
  );
  return 0;
}

export const main: Main = async (args, io) => {
  const definitions = {
    region: { type: 'string' },
    yes: { type: 'boolean', default: false },
  } as const;
  const options = parseOptions(USAGE, definitions, args);
  refuseUnsavedState(BOOTSTRAP);
  const settings = readSettings();
  const state = await findBucket(settings, options.region);
  const account = { ...settings, ...state, receivesMail: settings.receives_mail ?? false };
  const context = { io, interruption: new AbortController().signal };
  const checks = createAccountChecks({ ...account, env: io.env });
  if ((await runChecks(checks, context)).length > 0) {
    throw new UsageError('Nothing was changed. Correct what failed, and run the command again.');
  }
  const session = { module: BOOTSTRAP, variables: { TF_WORKSPACE: 'default' } };
  return runSession(io, 'npm run bootstrap', session, (each) =>
    bootstrap(each, state, options.yes),
  );
};

if (import.meta.main) await runCommand(main);
