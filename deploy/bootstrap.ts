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
Usage: npm run bootstrap [-- [--region REGION] [--yes]]

  --region REGION  region of the bucket and of the stages; by default the one of the environment
  --yes            apply without confirmation, unless the plan deletes something

Credentials come from the environment and must be an administrator's. Roles for GitHub, domains and a budget are settings
in infra/terraform/bootstrap/settings.auto.tfvars.json (docs/deploy.md).

Exit codes: 0 done, 1 a step failed, 2 refused or declined; 129, 130 or 143 after SIGHUP, SIGINT or SIGTERM.
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

/** Writes what the stages' module reads. */
async function finish(session: Session, { accountId, bucket, region }: Place): Promise<void> {
  const { permissions_boundaries } = (await readOutputs(session)) as {
    readonly permissions_boundaries: object;
  };
  writeFileSync(
    BACKEND_FILE,
    `# Written by npm run bootstrap.\nbucket              = "${bucket}"\nregion              = "${region}"\nallowed_account_ids = ["${accountId}"]\n`,
  );
  writeJson(join(MODULE, 'bootstrap.auto.tfvars.json'), { permissions_boundaries });
  session.io.stdout.write(`
Done. Next: commit what is new in infra/terraform, and npm run deploy -- develop. The secrets AWS_ROLE_ARN of the environments
on GitHub are the output github_roles (docs/deploy.md). Run this command again after the first deployment of each stage.
`);
}

/** Creates the bucket if there is none, plans, asks and applies. */
async function bootstrap(
  session: Session,
  place: Place,
  yes: boolean,
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
      `The account was set up with settings that this checkout lacks: ${SETTINGS}. ${session.state}`,
    );
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
  if (plan.hasChanges) await confirm('Apply this plan?');
  if (!existsSync(SETTINGS_FILE)) writeJson(SETTINGS_FILE, { region });
  session.state = changed;
  if (plan.hasChanges) await terraform(session, ['apply', '-no-color', file]);
  await finish(session, place);
}

export const main: Main = async (args, io) => {
  const definitions = {
    region: { type: 'string' },
    yes: { type: 'boolean', default: false },
  } as const;
  const options = parseOptions(USAGE, definitions, args);
  if (!options.yes && !io.stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes.');
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
    await bootstrap(session, place, options.yes, folder);
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
