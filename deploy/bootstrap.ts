/**
 * Sets up an AWS account and region for the stages, with infra/terraform/bootstrap: plan, confirmation, apply, and the files
 * that the stages' module reads. It may run again at any time, also after an interruption.
 *
 * Usage: see below. Exit codes: 0 done (or planned), 1 a step failed, 2 refused or declined, nothing changed; 129, 130 or 143 after
 * SIGHUP, SIGINT or SIGTERM.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { HeadBucketCommand, HeadObjectCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import {
  isConfirmed,
  parseObject,
  parseOptions,
  readIfThere,
  runCommand,
  UsageError,
} from '../lib/command-line.ts';
import { NETWORK } from '../lib/aws.ts';
import { readAccount } from './account.ts';
import { makePlan, readOutputs } from './plan.ts';
import { exitCodeOfInterruption, handleSignals, interruption, terraform as runTerraform } from './steps.ts';
import { providerSource, TERRAFORM, terraformUnavailableReason } from './terraform.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import { STAGES } from '../lib/stages.ts';

const USAGE = `
Usage: npm run bootstrap -- [--region REGION] [--github OWNER/NAME] [--github-ids OWNER_ID/REPOSITORY_ID]
                            [--existing-provider] [--domain STAGE=NAME]… [--budget USD --email ADDRESS]
                            [--yes] [--plan-only]

  --region REGION       region of the bucket and of the stages; by default the one of the environment
  --github OWNER/NAME   repository whose workflows deploy: an identity provider, and two roles per stage
  --github-ids IDS      ids of the owner and of the repository, by default as GitHub's API gives them (GITHUB_TOKEN if the
                        repository is private)
  --existing-provider   the account has the identity provider of GitHub already
  --domain STAGE=NAME   a domain name that the stage's role may set up; may be repeated
  --budget USD          costs of the account in a month above which a mail is sent to
  --email ADDRESS       this address
  --yes                 apply without confirmation
  --plan-only           stop after the plan

Credentials come from the environment (AWS_PROFILE, …) and must be an administrator's. What was set is kept in
infra/terraform/bootstrap/settings.auto.tfvars.json and need not be repeated; to take something back, edit that file and run
the command again. TF_PLUGIN_DIR is a folder with the AWS provider, for use offline.
`;

const BOOTSTRAP = join(MODULE, 'bootstrap');
const SETTINGS_FILE = join(BOOTSTRAP, 'settings.auto.tfvars.json');
/** Not terraform.tfstate, which init in the bucket would ask to migrate. */
const LOCAL_STATE = join(BOOTSTRAP, 'first.tfstate');
const LOCAL_BACKEND = join(BOOTSTRAP, 'backend_override.tf');
const BACKEND_FILE = join(MODULE, 'backend.s3.tfbackend');
/** Terraform writes it when it cannot save its state where it belongs. */
const UNSAVED_STATE = join(BOOTSTRAP, 'errored.tfstate');
/** For messages. */
const nameOf = (file: string): string => relative(ROOT, file);
/** Where the state is; undefined before the first change. */
let stateAt: string | undefined;
/** As in infra/terraform/bootstrap/versions.tf. */
const STATE_KEY = 'inquiries/bootstrap.tfstate';

/** The variables of infra/terraform/bootstrap. */
interface Settings {
  readonly name?: string;
  readonly bucket?: string;
  readonly region?: string;
  readonly github?: {
    readonly repository: string;
    readonly owner_id?: string;
    readonly repository_id?: string;
    readonly existing_provider?: boolean;
  };
  readonly domains?: Readonly<Record<string, readonly string[]>>;
  readonly budget?: { readonly monthly_usd: number; readonly email: string };
}

function readKeptSettings(): Settings {
  const text = readIfThere(SETTINGS_FILE);
  const kept = text === undefined ? {} : parseObject(text);
  if (kept === undefined) throw new UsageError(`${nameOf(SETTINGS_FILE)} is not a JSON object.`);
  return kept;
}

/** The kept settings with what the options change. */
function readSettings() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = parseOptions(USAGE, {
    region: text,
    github: text,
    'github-ids': text,
    'existing-provider': flag,
    domain: { type: 'string', multiple: true, default: [] },
    budget: text,
    email: text,
    yes: flag,
    'plan-only': flag,
  });
  const kept = readKeptSettings();
  const repository = options.github ?? kept.github?.repository;
  if (repository === undefined && (options['github-ids'] !== undefined || options['existing-provider'])) {
    throw new UsageError('--github-ids and --existing-provider need --github OWNER/NAME.');
  }
  if (options.github !== undefined && !/^[\dA-Za-z-]+\/[\w.-]+$/.test(options.github)) {
    throw new UsageError(`"${options.github}" is not OWNER/NAME of a repository.`);
  }
  const ids = options['github-ids'] === undefined ? undefined : /^(\d+)\/(\d+)$/.exec(options['github-ids']);
  if (ids === null) throw new UsageError(`"${options['github-ids']}" is not OWNER_ID/REPOSITORY_ID.`);
  const { budget, email } = options;
  if ((budget === undefined) !== (email === undefined))
    throw new UsageError('--budget and --email need each other.');
  if (budget !== undefined && !(/^\d+(\.\d+)?$/.test(budget) && Number(budget) > 0))
    throw new UsageError(`"${budget}" is not a sum above 0.`);

  const domains: Record<string, string[]> = {};
  for (const domain of options.domain) {
    const [, stage = '', name = ''] = /^(\w+)=([\da-z-]+(?:\.[\da-z-]+)+)$/.exec(domain) ?? [];
    if (!STAGES.some((known) => known === stage)) throw new UsageError(`"${domain}" is not STAGE=NAME.`);
    domains[stage] = [...(domains[stage] ?? []), name];
  }

  // Another repository has other ids; the identity provider is the account's.
  const sameRepository = repository === kept.github?.repository ? kept.github : undefined;
  const settings: Settings = {
    ...kept,
    ...(options.region !== undefined && { region: options.region }),
    ...(repository !== undefined && {
      github: {
        ...sameRepository,
        repository,
        ...(ids && { owner_id: ids[1] ?? '', repository_id: ids[2] ?? '' }),
        ...((options['existing-provider'] || kept.github?.existing_provider) && { existing_provider: true }),
      },
    }),
    ...(options.domain.length > 0 && { domains: { ...kept.domains, ...domains } }),
    ...(budget !== undefined && email !== undefined && { budget: { monthly_usd: Number(budget), email } }),
  };
  return { settings, yes: options.yes, planOnly: options['plan-only'] };
}

/** Adds the ids of the repository, for subjects with ids, as far as GitHub says them. */
async function addIds({ github, ...settings }: Settings): Promise<Settings> {
  if (!github || github.repository_id !== undefined) return { ...settings, ...(github && { github }) };
  const token = process.env['GITHUB_TOKEN'];
  const answer = await fetch(
    `${process.env['GITHUB_API_URL'] ?? 'https://api.github.com'}/repos/${github.repository}`,
    {
      headers: { accept: 'application/vnd.github+json', ...(token && { authorization: `Bearer ${token}` }) },
      signal: AbortSignal.timeout(10_000),
    },
  )
    .then((response) => response.text())
    .catch(() => '');
  const { id, owner } = { ...parseObject(answer) } as { id?: number; owner?: { id?: number } };
  if (id === undefined || owner?.id === undefined) {
    process.stdout.write(
      `GitHub does not give the ids of ${github.repository}, so that only subjects without ids are trusted. Repositories created or renamed since 15 July 2026 need --github-ids.\n`,
    );
    return { ...settings, github };
  }
  return { ...settings, github: { ...github, owner_id: String(owner.id), repository_id: String(id) } };
}

interface Place {
  readonly accountId: string;
  readonly region: string;
  readonly bucket: string;
}

/** Refuses a checkout whose stages have their state elsewhere. */
function checkBackendFile({ accountId, bucket, region }: Place): void {
  const text = readIfThere(BACKEND_FILE);
  if (text === undefined) return;
  const read = (name: string) => new RegExp(`^\\s*${name}\\s*=\\s*\\[?\\s*"([^"]*)"`, 'm').exec(text)?.[1];
  const found = { bucket: read('bucket'), account: read('allowed_account_ids'), region: read('region') };
  const describe = (account = accountId, name = bucket, where = region) =>
    `the bucket ${name} in account ${account}, region ${where}`;
  const theirs = describe(found.account, found.bucket, found.region);
  const ours = describe();
  if (theirs === ours) return;
  throw new UsageError(
    `infra/terraform/backend.s3.tfbackend names ${theirs}; these credentials and settings mean ${ours}. Nothing was changed.`,
  );
}

/** Whether the bucket is there, and whether it has the bootstrap's state. */
async function findState({ accountId, bucket }: Place): Promise<'no bucket' | 'no state' | 'state'> {
  const client = new S3Client(NETWORK);
  const isThere = async (request: Promise<unknown>): Promise<boolean> => {
    try {
      await request;
      return true;
    } catch (error) {
      const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
      if (status === 404) return false;
      if (status !== 403) throw error;
      throw new UsageError(
        `The bucket ${bucket} exists, but account ${accountId} may not read it: it is another account's, or these credentials may too little. Nothing was changed.`,
        { cause: error },
      );
    }
  };
  const place = { Bucket: bucket, ExpectedBucketOwner: accountId };
  try {
    if (!(await isThere(client.send(new HeadBucketCommand(place))))) return 'no bucket';
    return (await isThere(client.send(new HeadObjectCommand({ ...place, Key: STATE_KEY }))))
      ? 'state'
      : 'no state';
  } finally {
    client.destroy();
  }
}

const terraform = (...args: string[]): Promise<string> => runTerraform(args, {}, BOOTSTRAP);

const removeLocalState = () => {
  for (const file of [LOCAL_STATE, `${LOCAL_STATE}.backup`]) rmSync(file, { force: true });
};

function initLocal(): Promise<string> {
  writeFileSync(LOCAL_BACKEND, 'terraform {\n  backend "local" {\n    path = "first.tfstate"\n  }\n}\n');
  return terraform('init', '-no-color', '-reconfigure', ...providerSource());
}

function initInBucket({ accountId, bucket, region }: Place): Promise<string> {
  rmSync(LOCAL_BACKEND, { force: true });
  const backend = [`bucket=${bucket}`, `region=${region}`, `allowed_account_ids=["${accountId}"]`];
  return terraform(
    'init',
    '-no-color',
    '-reconfigure',
    ...backend.map((setting) => `-backend-config=${setting}`),
    ...providerSource(),
  );
}

/** Uses the state in the bucket. A local file with the same resources is left over from an interruption. */
async function useStateInBucket(place: Place): Promise<void> {
  await initInBucket(place);
  const text = readIfThere(LOCAL_STATE);
  if (text === undefined) return;
  // A pushed state has a new lineage.
  const [local, remote] = [text, await terraform('state', 'pull')].map(
    (state) => parseObject(state)?.['resources'],
  );
  if (!isDeepStrictEqual(local, remote)) {
    throw new UsageError(
      `${nameOf(LOCAL_STATE)} differs from the state in the bucket ${place.bucket}; compare them and remove one. Nothing was changed.`,
    );
  }
  removeLocalState();
}

/** Opens the state, wherever it is. @returns whether it is still in a local file. */
async function openState(place: Place, variables: string): Promise<boolean> {
  const found = await findState(place);
  if (found === 'state') {
    await useStateInBucket(place);
    return false;
  }
  if (existsSync(LOCAL_STATE)) {
    process.stdout.write('The local state of an interrupted run is used.\n');
    await initLocal();
    return true;
  }
  await initLocal();
  if (found === 'no state') {
    process.stdout.write(`The bucket ${place.bucket} exists without a state: it is taken into a new one.\n`);
    await terraform('import', '-no-color', `-var-file=${variables}`, 'aws_s3_bucket.state', place.bucket);
  }
  return true;
}

const writeJson = (file: string, value: object) =>
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);

/** Applies the plan; then the state goes to the bucket, if it is in a local file. */
async function apply(plan: string | undefined, isLocal: boolean, place: Place): Promise<void> {
  const inBucket = `the bucket ${place.bucket}`;
  stateAt = isLocal ? nameOf(LOCAL_STATE) : inBucket;
  if (plan !== undefined) await terraform('apply', '-no-color', plan);
  if (!isLocal) return;
  process.stdout.write(`Moving the state to ${inBucket} …\n`);
  await initInBucket(place);
  await terraform('state', 'push', LOCAL_STATE);
  removeLocalState();
  stateAt = inBucket;
}

/** What is true after a failure or an interruption. */
function describeState(): string {
  if (stateAt === undefined) return 'Nothing was changed.';
  if (existsSync(UNSAVED_STATE)) {
    return `Terraform could not save its state, which is in ${nameOf(UNSAVED_STATE)}. In that folder, run "${TERRAFORM} state push errored.tfstate" and delete the file; then run this command again.`;
  }
  return `What was created so far is in the state in ${stateAt}; run the command again to continue.`;
}

interface Outputs {
  readonly permissions_boundaries: Readonly<Record<string, string>>;
  readonly github_roles: Readonly<Record<string, string>>;
}

/** Writes what the stages' module reads, and says what comes next. */
async function finish({ accountId, bucket, region }: Place): Promise<void> {
  const { permissions_boundaries: boundaries, github_roles: roles } = await readOutputs<Outputs>(BOOTSTRAP);
  writeFileSync(
    BACKEND_FILE,
    `# Written by npm run bootstrap.\nbucket              = "${bucket}"\nregion              = "${region}"\nallowed_account_ids = ["${accountId}"]\n`,
  );
  const boundariesFile = join(MODULE, 'bootstrap.auto.tfvars.json');
  const hasRoles = Object.keys(roles).length > 0;
  if (hasRoles) writeJson(boundariesFile, { permissions_boundaries: boundaries });
  else rmSync(boundariesFile, { force: true });
  const environments = Object.entries(roles).map(([name, role]) => `  ${name.padEnd(13)} ${role}\n`);
  process.stdout.write(`
Done. The state of all stages goes to ${bucket}.

Next:
- Commit infra/terraform/backend.s3.tfbackend, the files settings.auto.tfvars.json and .terraform.lock.hcl in infra/terraform/bootstrap${hasRoles ? ', infra/terraform/bootstrap.auto.tfvars.json' : ''}.
- npm run deploy -- develop
${
  hasRoles
    ? `- Create these environments in the repository on GitHub, each with the secret AWS_ROLE_ARN (docs/deploy.md):
${environments.join('')}- Run this command again after the first deployment of each stage: the other stages' roles are then denied its API.
`
    : ''
}`);
}

/** Plans, asks and applies. */
async function bootstrap(
  { settings, yes, planOnly }: ReturnType<typeof readSettings>,
  place: Place,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bootstrap-'));
  const hasLocalState = existsSync(LOCAL_STATE);
  try {
    const variables = join(folder, 'variables.tfvars.json');
    writeJson(variables, { ...settings, bucket: place.bucket });
    const isLocal = await openState(place, variables);
    const file = join(folder, 'plan');
    const plan = await makePlan(file, { args: [`-var-file=${variables}`], cwd: BOOTSTRAP });
    process.stdout.write(`\n${plan.text}\n\n`);
    process.stdout.write(
      `  account   ${place.accountId}\n  region    ${place.region}\n  bucket    ${place.bucket}\n\n`,
    );
    if (planOnly) return;
    if (
      plan.hasChanges &&
      !yes &&
      !(await isConfirmed('Apply this plan? Type the account id to confirm: ', place.accountId, interruption))
    ) {
      throw new UsageError('Nothing was changed.');
    }
    // Before the first change, so that a second run after an interruption continues with the same settings.
    writeJson(SETTINGS_FILE, settings);
    await apply(plan.hasChanges ? file : undefined, isLocal, place);
    await finish(place);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(LOCAL_BACKEND, { force: true });
    // The import of a bucket, which was not confirmed.
    if (stateAt === undefined && !hasLocalState) removeLocalState();
  }
}

await runCommand(async () => {
  const options = readSettings();
  if (!options.yes && !options.planOnly && !process.stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --plan-only.');
  }
  const reason = await terraformUnavailableReason();
  if (reason !== undefined) throw new UsageError(reason);
  // Terraform, its backend and the clients of this command read the region from here.
  if (options.settings.region !== undefined) process.env['AWS_REGION'] = options.settings.region;
  const { accountId, region } = await readAccount();
  const settings = await addIds({ ...options.settings, region });
  const bucket = settings.bucket ?? `${settings.name ?? 'inquiries'}-terraform-state-${accountId}-${region}`;
  const place = { accountId, region, bucket };
  checkBackendFile(place);
  handleSignals();
  try {
    await bootstrap({ ...options, settings }, place);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const detail = error instanceof Error ? `${error.message}\n\n` : '';
    const isInterrupted = interruption.aborted;
    process.stderr.write(`\n${detail}${isInterrupted ? 'Interrupted. ' : ''}${describeState()}\n`);
    process.exitCode = isInterrupted ? exitCodeOfInterruption() : 1;
  }
});
