/**
 * Sets up an AWS account and region for the stages, with infra/terraform/bootstrap: the bucket of the state, plan,
 * confirmation, apply, and the files that the stages' module reads. It may run again at any time, also after an interruption.
 *
 * Usage: see below.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isConfirmed,
  parseObject,
  parseOptions,
  readIfThere,
  runCommand,
  UsageError,
} from '../lib/command-line.ts';
import type { Main } from '../lib/command-line.ts';
import { MODULE } from '../lib/paths.ts';
import { isServiceName, NAME_RULE } from '../lib/stages.ts';
import { parseBackend, readAccount } from './account.ts';
import { initialise, makePlan, readOutputs, refuseUnsavedState } from './plan.ts';
import { validatePolicies } from './policy-validation.ts';
import { createStateBucket, inspectStateBucket, type Place } from './state-bucket.ts';
import { explainEnd, openSession, terraform, type Session } from './steps.ts';

const USAGE = `
Usage: npm run bootstrap [-- [--region REGION] [--yes] [--plan-only]]

  --region REGION  region of the bucket and of the stages; by default the one of the environment
  --yes            apply without confirmation, unless the plan deletes something
  --plan-only      stop after the plan; without the bucket, before it

Credentials come from the environment and must be an administrator's. Roles for GitHub, domains and a budget are settings
in infra/terraform/bootstrap/settings.auto.tfvars.json (docs/deploy.md).

Exit codes: 0 done (or planned), 1 a step failed, 2 refused or declined; 129, 130 or 143 after SIGHUP, SIGINT or SIGTERM.
`;

const BOOTSTRAP = join(MODULE, 'bootstrap');
const SETTINGS = 'infra/terraform/bootstrap/settings.auto.tfvars.json';
const SETTINGS_FILE = join(BOOTSTRAP, 'settings.auto.tfvars.json');
const BACKEND_FILE = join(MODULE, 'backend.s3.tfbackend');

/** The variables of infra/terraform/bootstrap that the bucket's name and place are made of; Terraform reads the others. */
interface Settings {
  readonly name?: string;
  readonly bucket?: string;
  readonly region?: string;
}

function readSettings(): Settings {
  const settings: Settings | undefined = parseObject(readIfThere(SETTINGS_FILE) ?? '{}');
  if (settings === undefined) throw new UsageError(`${SETTINGS} is not a JSON object.`);
  // The name is part of the bucket's, and the bucket comes before the first plan.
  if (isServiceName(settings.name ?? 'inquiries')) return settings;
  throw new UsageError(`${SETTINGS}: ${NAME_RULE}, not "${settings.name}".`);
}

const describePlace = ({ bucket, accountId, region }: Place): string =>
  `bucket ${bucket}, account ${accountId}, region ${region}`;

/** @throws UsageError if the stages of this checkout have their state elsewhere. */
function refuseOtherPlace(place: Place): void {
  const { bucket, account, region } = parseBackend(readIfThere(BACKEND_FILE) ?? '');
  const theirs = describePlace({
    bucket: bucket ?? place.bucket,
    accountId: account ?? place.accountId,
    region: region ?? place.region,
  });
  if (theirs === describePlace(place)) return;
  throw new UsageError(
    `infra/terraform/backend.s3.tfbackend names ${theirs}; these credentials and settings mean ${describePlace(place)}. Nothing was changed.`,
  );
}

const writeJson = (file: string, value: object) =>
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);

interface Outputs {
  readonly permissions_boundaries: Readonly<Record<string, string>>;
  readonly github_roles: Readonly<Record<string, string>>;
}

/** Writes what the stages' module reads, and says what comes next. */
async function finish(session: Session, { accountId, bucket, region }: Place): Promise<void> {
  const { permissions_boundaries, github_roles } = await readOutputs<Outputs>(session);
  writeFileSync(
    BACKEND_FILE,
    `# Written by npm run bootstrap.\nbucket              = "${bucket}"\nregion              = "${region}"\nallowed_account_ids = ["${accountId}"]\n`,
  );
  writeJson(join(MODULE, 'bootstrap.auto.tfvars.json'), { permissions_boundaries });
  session.io.stdout.write(`
Done. The state of all stages goes to ${bucket}.

Next:
- Commit what is new in infra/terraform.
- npm run deploy -- develop
`);
  const roles = Object.entries(github_roles);
  if (roles.length === 0) return;
  session.io.stdout
    .write(`- Create these environments in the repository on GitHub, each with the secret AWS_ROLE_ARN (docs/deploy.md):
${roles.map(([name, role]) => `  ${name.padEnd(13)} ${role}\n`).join('')}- Run this command again after the first deployment of each stage: GitHub can deploy a stage only once its roles are allowed its API, by the id.
`);
}

/** Creates the bucket if there is none, plans, asks and applies. */
async function bootstrap(
  session: Session,
  place: Place,
  { yes, 'plan-only': planOnly }: { readonly yes: boolean; readonly 'plan-only': boolean },
  folder: string,
): Promise<void> {
  const { io, interruption } = session;
  const { accountId, bucket, region } = place;
  const confirm = async (question: string): Promise<void> => {
    const asked = `${question} Type the account id to confirm: `;
    if (!yes && !(await isConfirmed(asked, accountId, interruption, io))) {
      throw new UsageError(session.state);
    }
  };
  io.stdout.write(`${describePlace(place)}\n`);
  const { exists, isBootstrapped } = await inspectStateBucket(place);
  if (isBootstrapped && !existsSync(SETTINGS_FILE)) {
    // Without them, the plan would take back what the account has been given: domains, roles, a budget.
    throw new UsageError(
      `The account was set up with settings that this checkout lacks: ${SETTINGS}. Take the file from the repository, or write it again. Nothing was changed.`,
    );
  }
  if (!exists && planOnly) {
    io.stdout.write('The bucket does not exist. It is created before the first plan.\n');
    return;
  }
  const changed = `What was created so far is kept, in the state in the bucket ${bucket}.`;
  if (!exists) {
    await confirm('Create the bucket?');
    session.state = changed;
    await createStateBucket(place);
  }
  await initialise(session, [
    `bucket=${bucket}`,
    `region=${region}`,
    `allowed_account_ids=["${accountId}"]`,
  ]);
  const file = join(folder, 'plan');
  const plan = await makePlan(session, file, `-var=bucket=${bucket}`, `-var=region=${region}`);
  if (yes && plan.changes.some(({ change }) => change.actions.includes('delete'))) {
    throw new UsageError('The plan deletes something, which needs a confirmation at a terminal.');
  }
  io.stdout.write(await validatePolicies(plan, region));
  if (planOnly) return;
  if (plan.hasChanges) await confirm('Apply this plan?');
  if (!existsSync(SETTINGS_FILE)) writeJson(SETTINGS_FILE, { region });
  session.state = changed;
  if (plan.hasChanges) await terraform(session, ['apply', '-no-color', file]);
  await finish(session, place);
}

export const main: Main = async (args, io) => {
  const flag = { type: 'boolean', default: false } as const;
  const definitions = { region: { type: 'string' }, yes: flag, 'plan-only': flag } as const;
  const options = parseOptions(USAGE, definitions, args);
  if (!options.yes && !options['plan-only'] && !io.stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --plan-only.');
  }
  refuseUnsavedState(BOOTSTRAP);
  const settings = readSettings();
  const account = await readAccount(options.region ?? settings.region);
  const { accountId, region } = account;
  const { name = 'inquiries', bucket = `${name}-terraform-state-${accountId}-${region}` } =
    settings;
  const place = { ...account, bucket };
  refuseOtherPlace(place);
  const { stdin, stdout, stderr } = io;
  const env = { ...io.env, AWS_REGION: region };
  const session = openSession({ stdin, stdout, stderr, env }, BOOTSTRAP);
  const folder = mkdtempSync(join(tmpdir(), 'bootstrap-'));
  try {
    await bootstrap(session, place, options, folder);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return explainEnd(session, error, session.state);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    session.close();
  }
};

if (import.meta.main) await runCommand(main);
