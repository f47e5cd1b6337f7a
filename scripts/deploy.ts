/**
 * Deploys one stage: checks, build, plan, summary, confirmation, apply, smoke test, URL.
 *
 * Usage: see below. Exit codes: 0 deployed (or planned), 1 a step failed, 2 refused or declined, nothing changed.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { parseCommandLine, runCommand, UsageError } from './cli.ts';
import {
  MODULE,
  providerSource,
  ROOT,
  run,
  STAGES,
  terraformEnv,
  terraformUnavailableReason,
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

interface Change {
  readonly address: string;
  readonly type: string;
  readonly change: { readonly actions: readonly string[] };
}

function readSettings() {
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
async function checkAll({ stage, yes, planOnly }: ReturnType<typeof readSettings>) {
  if (!yes && !planOnly && !process.stdin.isTTY) {
    throw new UsageError('There is no terminal for the confirmation; pass --yes or --plan-only.');
  }
  const workspace = process.env['TF_WORKSPACE'];
  if (workspace !== undefined && workspace !== stage) {
    throw new UsageError(`TF_WORKSPACE is "${workspace}", which contradicts the stage ${stage}; unset it.`);
  }
  const reason = await terraformUnavailableReason();
  if (reason !== undefined) throw new UsageError(reason);

  const head = await run('git', ['rev-parse', '--short', 'HEAD']);
  const status = await run('git', ['status', '--porcelain']);
  if (head.code === 127) throw new UsageError('git is not on the PATH.');
  if (head.code !== 0 || status.code !== 0) throw new UsageError('This is not a git checkout with a commit.');
  const [dirty] = status.stdout.split('\n');
  if (stage !== 'develop' && dirty) {
    throw new UsageError(`${stage} is deployed from a commit only; commit or stash first: ${dirty.slice(3)}`);
  }
  if (stage !== 'develop' && existsSync(join(MODULE, 'backend_override.tf'))) {
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

/** Waits for a program and returns its stdout. Throws if it fails; its output is shown only then. */
async function step(title: string, outcome: Promise<Outcome>): Promise<string> {
  process.stdout.write(`${title} …\n`);
  const { code, stdout, output } = await outcome;
  if (code === 0) return stdout;
  // Terraform may print a plan before the error; show the error only.
  const error = output.slice(Math.max(0, output.indexOf('\nError: '))).trim();
  throw new Error(`${error}\n\nFailed: ${title}.`);
}

function terraform(command: string, ...args: string[]): Promise<string> {
  const env = terraformEnv({ TF_WORKSPACE: undefined });
  return step(`terraform ${command}`, run('terraform', [command, ...args], { cwd: MODULE, env }));
}

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
  await terraform('init', '-no-color', '-reconfigure', ...backendConfig(stage), ...providerSource());
  await terraform('workspace', 'select', '-or-create', stage);
  await terraform('plan', '-no-color', `-out=${file}`);
  const shown = await terraform('show', '-json', file);
  const { resource_changes: changes = [] } = JSON.parse(shown) as { resource_changes?: Change[] };
  return changes.filter(
    ({ change }) => !change.actions.every((action) => ['no-op', 'read'].includes(action)),
  );
}

const hashPackage = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(join(ROOT, file)))
    .digest('base64');

function summarise(stage: Stage, commit: string, region: string, changes: readonly Change[]): void {
  const verbs = changes.map(({ change }) =>
    change.actions.length > 1
      ? 'replace'
      : (change.actions[0] ?? '').replace('update', 'change').replace('delete', 'destroy'),
  );
  const count = (verb: string): number => verbs.filter((found) => found === verb).length;
  process.stdout.write(`
  stage     ${stage}, region ${region}, ${process.env['AWS_PROFILE'] ? `profile ${process.env['AWS_PROFILE']}` : 'credentials of the environment'}
  commit    ${commit}
  package   dist/inquiries.zip, sha256 ${hashPackage('dist/inquiries.zip')}
            dist/mailer.zip, sha256 ${hashPackage('dist/mailer.zip')}
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
  if (hasChanges) await terraform('apply', '-no-color', file);
  const outputs = JSON.parse(await terraform('output', '-json')) as Record<string, { value: string }>;
  const [url = '', origin = '', dashboard = ''] = ['api_url', 'cors_origin', 'dashboard_url'].map(
    (name) => outputs[name]?.value,
  );
  const smoke = [join(ROOT, 'scripts/smoke.ts'), '--url', url, '--origin', origin, '--wait', '60'];
  if (spawnSync(process.execPath, smoke, { stdio: 'inherit' }).status !== 0) {
    throw new Error(
      `Applied, but the smoke test failed: ${url}. To roll back, see docs/runbook.md, "Roll back".`,
    );
  }
  process.stdout.write(`\n${hasChanges ? 'Deployed' : 'Already deployed'}: ${url}/inquiries\n${dashboard}\n`);
}

await runCommand(async () => {
  const settings = readSettings();
  const { stage, yes, planOnly } = settings;
  const { region, commit } = await checkAll(settings);
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
  try {
    const file = join(folder, 'plan');
    await step('npm run build', run('npm', ['run', '--silent', 'build']));
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
