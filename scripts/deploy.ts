/**
 * Deploys one stage: checks, build, plan, summary, confirmation, apply, smoke test, URL.
 *
 * Usage: see below. Exit codes: 0 deployed (or planned), 1 a step failed, 2 refused or declined, nothing changed.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { parseCommandLine, runCommand, UsageError } from './cli.ts';
import {
  isRecentEnough,
  MODULE,
  providerSource,
  ROOT,
  run,
  STAGES,
  terraformEnv,
  terraformVersion,
} from './infra/terraform.ts';
import type { Outcome, Stage } from './infra/terraform.ts';

const USAGE = `
Usage: npm run deploy -- STAGE [--yes] [--plan-only]

  STAGE        develop, main or release; it is the Terraform workspace, too
  --yes        apply without confirmation
  --plan-only  stop after the summary of the plan

Credentials and region come from the environment (AWS_PROFILE, AWS_REGION, …). STAGE.s3.tfbackend or backend.s3.tfbackend
in infra/terraform, or TF_CLI_ARGS_init, names the place of the state. SMOKE_TOKEN is an ID token for the smoke test;
without it, the checks that need one are skipped. TF_PLUGIN_DIR is a folder with the AWS provider, for use offline.
`;

interface Settings {
  readonly stage: Stage;
  readonly yes: boolean;
  readonly planOnly: boolean;
}

interface Change {
  readonly address: string;
  readonly type: string;
  readonly change: { readonly actions: readonly string[] };
}

function readSettings(): Settings {
  const { values, positionals } = parseCommandLine(USAGE, {
    yes: { type: 'boolean', default: false },
    'plan-only': { type: 'boolean', default: false },
  });
  const [name, ...others] = positionals;
  if (name === undefined) throw new UsageError(`The stage is missing: npm run deploy -- ${STAGES.join('|')}`);
  const stage = STAGES.find((known) => known === name);
  if (stage === undefined || others.length > 0) {
    throw new UsageError(`"${positionals.join(' ')}" is not a stage; stages are develop, main and release.`);
  }
  return { stage, yes: values.yes, planOnly: values['plan-only'] };
}

/** Checks everything that can be checked before the first change. */
async function checkAll({ stage, yes, planOnly }: Settings): Promise<{ region: string; commit: string }> {
  const isProtected = stage !== 'develop';
  if (!yes && !planOnly && !process.stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --plan-only.');
  }
  const workspace = process.env['TF_WORKSPACE'];
  if (workspace !== undefined && workspace !== stage) {
    throw new UsageError(`TF_WORKSPACE is "${workspace}", which contradicts the stage ${stage}; unset it.`);
  }
  const version = await terraformVersion();
  if (version === undefined)
    throw new UsageError('terraform is not on the PATH; version 1.10 or later is needed.');
  if (!isRecentEnough(version))
    throw new UsageError(`terraform ${version} is too old; version 1.10 or later is needed.`);

  const head = await run('git', ['rev-parse', '--short', 'HEAD']);
  const status = await run('git', ['status', '--porcelain']);
  if (head.code === 127) throw new UsageError('git is not on the PATH.');
  if (head.code !== 0 || status.code !== 0) throw new UsageError('This is not a git checkout with a commit.');
  const [dirty] = status.stdout.split('\n');
  if (isProtected && dirty) {
    throw new UsageError(`${stage} is deployed from a commit only; commit or stash first: ${dirty.slice(3)}`);
  }
  if (isProtected && existsSync(join(MODULE, 'backend_override.tf'))) {
    throw new UsageError(`${stage} must not use local state; remove infra/terraform/backend_override.tf.`);
  }

  const { config } = new DynamoDBClient({});
  const region = await config.region().catch(() => {
    throw new UsageError('There is no AWS region; set AWS_REGION or AWS_PROFILE.');
  });
  await config.credentials().catch(() => {
    throw new UsageError('There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).');
  });
  return { region, commit: `${head.stdout.trim()}${dirty ? ' with uncommitted changes' : ''}` };
}

/** Runs a step and throws if it fails. Its output is shown only then. */
async function step(title: string, work: () => Promise<Outcome>): Promise<Outcome> {
  process.stdout.write(`${title} …\n`);
  const outcome = await work();
  if (outcome.code === 0) return outcome;
  // Terraform may print a plan before the error; show the error only.
  const error = outcome.output.slice(Math.max(0, outcome.output.indexOf('\nError: '))).trim();
  throw new Error(`${error}\n\nFailed: ${title}.`);
}

const terraform = (...args: string[]): Promise<Outcome> => {
  const env = terraformEnv();
  delete env['TF_WORKSPACE'];
  return run('terraform', args, { cwd: MODULE, env });
};

/** Option of `terraform init` for the stage's backend; none with a local backend_override.tf. */
function backendConfig(stage: Stage): string[] {
  const file = [`${stage}.s3.tfbackend`, 'backend.s3.tfbackend'].find((name) =>
    existsSync(join(MODULE, name)),
  );
  return file === undefined || existsSync(join(MODULE, 'backend_override.tf'))
    ? []
    : [`-backend-config=${file}`];
}

async function plan(stage: Stage, file: string): Promise<Change[]> {
  // The last selected workspace may not exist in this stage's backend, which would make init fail.
  rmSync(join(MODULE, '.terraform/environment'), { force: true });
  await step('terraform init', () =>
    terraform('init', '-no-color', '-reconfigure', ...backendConfig(stage), ...providerSource()),
  );
  await step(`terraform workspace ${stage}`, () => terraform('workspace', 'select', '-or-create', stage));
  await step('terraform plan', () => terraform('plan', '-no-color', `-out=${file}`));
  const shown = await step('terraform show', () => terraform('show', '-json', file));
  const { resource_changes: changes = [] } = JSON.parse(shown.stdout) as { resource_changes?: Change[] };
  return changes.filter(
    ({ change }) => !change.actions.every((action) => ['no-op', 'read'].includes(action)),
  );
}

function summarise(stage: Stage, commit: string, region: string, changes: readonly Change[]): void {
  const zip = createHash('sha256')
    .update(readFileSync(join(ROOT, 'dist/inquiries.zip')))
    .digest('base64');
  const verbs = changes.map(({ change }) =>
    change.actions.length > 1
      ? 'replace'
      : (change.actions[0] ?? '').replace('update', 'change').replace('delete', 'destroy'),
  );
  const count = (verb: string): number => verbs.filter((found) => found === verb).length;
  process.stdout.write(`
  stage     ${stage}, region ${region}, ${process.env['AWS_PROFILE'] ? `profile ${process.env['AWS_PROFILE']}` : 'credentials of the environment'}
  commit    ${commit}
  package   dist/inquiries.zip, sha256 ${zip}
  plan      ${['create', 'change', 'replace', 'destroy'].map((verb) => `${count(verb)} to ${verb}`).join(', ')}
${changes.map(({ address }, index) => `            ${(verbs[index] ?? '').padEnd(8)} ${address}\n`).join('')}
`);
}

async function isConfirmed(stage: Stage): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Apply this plan? Type ${stage} to confirm: `);
  terminal.close();
  return answer.trim() === stage;
}

async function applyAndCheck(file: string, hasChanges: boolean): Promise<void> {
  if (hasChanges) await step('terraform apply', () => terraform('apply', '-no-color', file));
  const { stdout } = await step('terraform output', () => terraform('output', '-json'));
  const outputs = JSON.parse(stdout) as Record<string, { value: string } | undefined>;
  const url = outputs['api_url']?.value ?? '';
  const origin = outputs['cors_origin']?.value ?? '';
  const smoke = await run(
    process.execPath,
    [join(ROOT, 'scripts/smoke.ts'), '--url', url, '--origin', origin, '--wait', '60'],
    { inherit: true },
  );
  if (smoke.code !== 0) {
    throw new Error(
      `Applied, but the smoke test failed: ${url}. To roll back, see docs/runbook.md, "Roll back".`,
    );
  }
  process.stdout.write(
    `\n${hasChanges ? 'Deployed' : 'Already deployed'}: ${url}/inquiries\n${outputs['dashboard_url']?.value}\n`,
  );
}

await runCommand(async () => {
  const settings = readSettings();
  const { stage, yes, planOnly } = settings;
  const { region, commit } = await checkAll(settings);
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
  try {
    const file = join(folder, 'plan');
    await step('npm run build', () => run('npm', ['run', '--silent', 'build']));
    const changes = await plan(stage, file);
    summarise(stage, commit, region, changes);
    if (
      changes.some(({ type, change }) => type === 'aws_dynamodb_table' && change.actions.includes('delete'))
    ) {
      throw new UsageError(
        'The plan deletes the table with its inquiries, which this command never does. Nothing was changed.',
      );
    }
    if (planOnly) return;
    if (changes.length > 0 && !yes && !(await isConfirmed(stage)))
      throw new UsageError('Nothing was changed.');
    await applyAndCheck(file, changes.length > 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
