/**
 * Sets up an AWS account and region for the stages, with infra/terraform/bootstrap: the bucket of the state, plan,
 * confirmation, apply, and the files that the stages' module reads. It may run again at any time, also after an interruption.
 *
 * Usage: see below. Exit codes: 0 done (or planned), 1 a step failed, 2 refused or declined; 129, 130 or 143 after SIGHUP,
 * SIGINT or SIGTERM.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  isConfirmed,
  parseObject,
  parseOptions,
  readIfThere,
  runCommand,
  UsageError,
} from '../lib/command-line.ts';
import type { Io, Main } from '../lib/command-line.ts';
import { MODULE, ROOT } from '../lib/paths.ts';
import { isServiceName, NAME_RULE } from '../lib/stages.ts';
import { parseBackend, readAccount } from './account.ts';
import { makePlan, readOutputs, refuseUnsavedState } from './plan.ts';
import { validatePolicies } from './policy-validation.ts';
import {
  createStateBucket,
  hasStateBucket,
  hasStateOfBootstrap,
  type Place,
} from './state-bucket.ts';
import { openSession, terraform, type Session } from './steps.ts';
import { providerSource, terraformUnavailableReason } from './terraform.ts';

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
  --plan-only           stop after the plan; without the bucket, before it

Credentials come from the environment (AWS_PROFILE, …) and must be an administrator's. What was set is kept in
infra/terraform/bootstrap/settings.auto.tfvars.json and need not be repeated; to take something back, edit that file and run
the command again. TF_PLUGIN_DIR is a folder with the AWS provider, for use offline.
`;

const BOOTSTRAP = join(MODULE, 'bootstrap');
const SETTINGS_FILE = join(BOOTSTRAP, 'settings.auto.tfvars.json');
const BACKEND_FILE = join(MODULE, 'backend.s3.tfbackend');
/** For messages. */
const nameOf = (file: string): string => relative(ROOT, file);

/** A run of the command; `changed` is what has been begun, for the message after a failure. */
interface Bootstrap extends Session {
  readonly place: Place;
  changed: 'nothing' | 'the bucket' | 'resources';
}

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
function readSettings(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const definitions = {
    region: text,
    github: text,
    'github-ids': text,
    'existing-provider': flag,
    domain: { type: 'string', multiple: true, default: [] as string[] },
    budget: text,
    email: text,
    yes: flag,
    'plan-only': flag,
  } as const;
  const options = parseOptions(USAGE, definitions, args);
  const kept = readKeptSettings();
  const repository = options.github ?? kept.github?.repository;
  if (
    repository === undefined &&
    (options['github-ids'] !== undefined || options['existing-provider'])
  ) {
    throw new UsageError('--github-ids and --existing-provider need --github OWNER/NAME.');
  }
  const { budget, email } = options;
  if ((budget === undefined) !== (email === undefined)) {
    throw new UsageError('--budget and --email need each other.');
  }

  const domains: Record<string, string[]> = {};
  for (const domain of options.domain) {
    const [stage = '', name = ''] = domain.split(/=(.*)/);
    domains[stage] = [...(domains[stage] ?? []), name];
  }
  const [owner_id, repository_id = ''] = options['github-ids']?.split(/\/(.*)/) ?? [];

  // Another repository has other ids; the identity provider is the account's.
  const sameRepository = repository === kept.github?.repository ? kept.github : undefined;
  const settings: Settings = {
    ...kept,
    ...(options.region !== undefined && { region: options.region }),
    ...(repository !== undefined && {
      github: {
        ...sameRepository,
        repository,
        ...(owner_id !== undefined && { owner_id, repository_id }),
        ...((options['existing-provider'] || kept.github?.existing_provider) && {
          existing_provider: true,
        }),
      },
    }),
    ...(options.domain.length > 0 && { domains: { ...kept.domains, ...domains } }),
    ...(budget !== undefined &&
      email !== undefined && { budget: { monthly_usd: Number(budget), email } }),
  };
  // variables.tf checks the others. This one is part of the bucket's name, and the bucket comes before the first plan.
  if (!isServiceName(settings.name ?? 'inquiries')) {
    throw new UsageError(`${nameOf(SETTINGS_FILE)}: ${NAME_RULE}, not "${settings.name}".`);
  }
  return { settings, yes: options.yes, planOnly: options['plan-only'] };
}

/** Adds the ids of the repository, for subjects with ids, if GitHub's API gives them. */
async function addIds(settings: Settings, { env, stdout }: Io): Promise<Settings> {
  const { github } = settings;
  if (!github || github.repository_id !== undefined) return settings;
  const token = env['GITHUB_TOKEN'];
  const url = `${env['GITHUB_API_URL'] ?? 'https://api.github.com'}/repos/${github.repository}`;
  const headers = { ...(token && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) })
    .then((response) => response.text())
    .catch(() => '');
  const { id, owner } = { ...parseObject(answer) } as { id?: number; owner?: { id?: number } };
  if (id !== undefined && owner?.id !== undefined) {
    const ids = { owner_id: String(owner.id), repository_id: String(id) };
    return { ...settings, github: { ...github, ...ids } };
  }
  stdout.write(
    `GitHub does not give the ids of ${github.repository}, so that only subjects without ids are trusted. Repositories created or renamed since 15 July 2026 need --github-ids.\n`,
  );
  return settings;
}

const describePlace = ({ accountId, bucket, region }: Place): string =>
  `the bucket ${bucket} in account ${accountId}, region ${region}`;

/** Refuses a checkout whose stages have their state elsewhere. */
function checkBackendFile({ accountId, bucket, region }: Place): void {
  const text = readIfThere(BACKEND_FILE);
  if (text === undefined) return;
  const found = parseBackend(text);
  const [account = accountId] = found.accounts ?? [];
  const ours = describePlace({ accountId, bucket, region });
  const theirs = describePlace({
    accountId: account,
    bucket: found.bucket ?? bucket,
    region: found.region ?? region,
  });
  if (theirs === ours) return;
  throw new UsageError(
    `${nameOf(BACKEND_FILE)} names ${theirs}; these credentials and settings mean ${ours}. Nothing was changed.`,
  );
}

/** Without its settings, the plan would take back what the account has been given: domains, roles, a budget. */
async function checkSettingsFile(place: Place): Promise<void> {
  if (existsSync(SETTINGS_FILE) || !(await hasStateOfBootstrap(place))) return;
  throw new UsageError(
    `The account was set up with settings that this checkout lacks: ${nameOf(SETTINGS_FILE)}. Take the file from the repository; if it is lost, write it again: {"domains": …, "github": …, "budget": …}, with the names in infra/terraform/bootstrap/variables.tf. Nothing was changed.`,
  );
}

const writeJson = (file: string, value: object) =>
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);

/** What is true after a failure or an interruption. */
function describeState({ place, changed }: Bootstrap): string {
  if (changed === 'nothing') return 'Nothing was changed.';
  if (changed === 'the bucket') {
    return `The bucket ${place.bucket} was created; nothing else was changed.`;
  }
  return `What was created so far is in the state in the bucket ${place.bucket}; run the command again to continue.`;
}

interface Outputs {
  readonly permissions_boundaries: Readonly<Record<string, string>>;
  readonly github_roles: Readonly<Record<string, string>>;
}

/** Writes what the stages' module reads, and says what comes next. */
async function finish(session: Bootstrap): Promise<void> {
  const { accountId, bucket, region } = session.place;
  const { permissions_boundaries: boundaries, github_roles: roles } =
    await readOutputs<Outputs>(session);
  writeFileSync(
    BACKEND_FILE,
    `# Written by npm run bootstrap.\nbucket              = "${bucket}"\nregion              = "${region}"\nallowed_account_ids = ["${accountId}"]\n`,
  );
  const boundariesFile = join(MODULE, 'bootstrap.auto.tfvars.json');
  const hasRoles = Object.keys(roles).length > 0;
  if (hasRoles) writeJson(boundariesFile, { permissions_boundaries: boundaries });
  else rmSync(boundariesFile, { force: true });
  const environments = Object.entries(roles).map(
    ([name, role]) => `  ${name.padEnd(13)} ${role}\n`,
  );
  session.io.stdout.write(`
Done. The state of all stages goes to ${bucket}.

Next:
- Commit infra/terraform/backend.s3.tfbackend, the files settings.auto.tfvars.json and .terraform.lock.hcl in infra/terraform/bootstrap${hasRoles ? ', infra/terraform/bootstrap.auto.tfvars.json' : ''}.
- npm run deploy -- develop
${
  hasRoles
    ? `- Create these environments in the repository on GitHub, each with the secret AWS_ROLE_ARN (docs/deploy.md):
${environments.join('')}- Run this command again after the first deployment of each stage: GitHub can deploy a stage only once its roles are allowed its API, by the id.
`
    : ''
}`);
}

/** Creates the bucket if there is none, plans, asks and applies. */
async function bootstrap(
  session: Bootstrap,
  { settings, yes, planOnly }: ReturnType<typeof readSettings>,
): Promise<void> {
  const { io, place, interruption } = session;
  const { accountId, bucket, region } = place;
  const confirm = async (question: string): Promise<void> => {
    const asked = `${question} Type the account id to confirm: `;
    if (!yes && !(await isConfirmed(asked, accountId, interruption, io))) {
      throw new UsageError(describeState(session));
    }
  };
  const folder = mkdtempSync(join(tmpdir(), 'bootstrap-'));
  try {
    io.stdout.write(`  account   ${accountId}\n  region    ${region}\n  bucket    ${bucket}\n\n`);
    if (!(await hasStateBucket(place))) {
      if (planOnly) {
        io.stdout.write(
          'The bucket does not exist. It is created first, and the plan made after that.\n',
        );
        return;
      }
      await confirm('Create the bucket?');
      session.changed = 'the bucket';
      await createStateBucket(place);
    }
    await checkSettingsFile(place);
    const backend = [
      `bucket=${bucket}`,
      `region=${region}`,
      `allowed_account_ids=["${accountId}"]`,
    ].map((setting) => `-backend-config=${setting}`);
    const source = providerSource(io.env);
    await terraform(session, ['init', '-no-color', '-reconfigure', ...backend, ...source]);

    const variables = join(folder, 'variables.tfvars.json');
    writeJson(variables, { ...settings, bucket });
    const file = join(folder, 'plan');
    const plan = await makePlan(session, file, `-var-file=${variables}`);
    io.stdout.write(`\n${plan.text}\n\n`);
    const deleted = plan.changes.filter(({ change }) => change.actions.includes('delete')).length;
    if (deleted > 0 && yes) {
      throw new UsageError(
        `The plan deletes ${deleted} resources, which needs a confirmation at a terminal. Nothing was changed.`,
      );
    }
    for (const line of await validatePolicies(plan.changes, region)) io.stdout.write(`${line}\n`);
    if (planOnly) return;
    if (plan.hasChanges) await confirm('Apply this plan?');
    // Before the first change, so that a second run after an interruption continues with the same settings.
    writeJson(SETTINGS_FILE, settings);
    session.changed = 'resources';
    if (plan.hasChanges) await terraform(session, ['apply', '-no-color', file]);
    await finish(session);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const main: Main = async (args, io) => {
  const options = readSettings(args);
  if (!options.yes && !options.planOnly && !io.stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --plan-only.');
  }
  const reason = await terraformUnavailableReason(io.env);
  if (reason !== undefined) throw new UsageError(reason);
  refuseUnsavedState(BOOTSTRAP, io.env);
  const { accountId, region } = await readAccount(options.settings.region);
  const settings = await addIds({ ...options.settings, region }, io);
  const bucket =
    settings.bucket ?? `${settings.name ?? 'inquiries'}-terraform-state-${accountId}-${region}`;
  const place = { accountId, region, bucket };
  checkBackendFile(place);
  const { stdin, stdout, stderr } = io;
  const inRegion = { stdin, stdout, stderr, env: { ...io.env, AWS_REGION: region } };
  const session: Bootstrap = { ...openSession(inRegion, BOOTSTRAP), place, changed: 'nothing' };
  const { interruption } = session;
  try {
    await bootstrap(session, { ...options, settings });
    return 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const detail = error instanceof Error ? `${error.message}\n\n` : '';
    io.stderr.write(
      `\n${detail}${interruption.aborted ? 'Interrupted. ' : ''}${describeState(session)}\n`,
    );
    return interruption.aborted ? (interruption.reason as number) : 1;
  } finally {
    session.close();
  }
};

if (import.meta.main) await runCommand(main);
