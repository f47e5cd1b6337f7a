/** `npm run deploy` in a temporary copy of scripts/ and src/, with stubs for terraform, git and npm on the PATH. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROOT, run } from '../../scripts/infra/terraform.ts';
import { close, listen } from '../../scripts/local/server.ts';

// util-linux's script gives the command a terminal.
const hasScript = (await run('script', ['--version'])).code === 0;
if (!hasScript)
  process.stdout.write('\nSKIPPED: deploy at a terminal, because `script` is not on the PATH.\n');

let folder = '';
/** Status of the stage's response to a request without a token. */
let unauthorized = 401;
const stage = createServer((request, response) => {
  if (request.method !== 'OPTIONS') return response.writeHead(unauthorized).end('{"message":"Unauthorized"}');
  const isOurs = request.headers.origin === 'https://www.example.com';
  const cors = {
    'access-control-allow-origin': 'https://www.example.com',
    'access-control-allow-methods': 'GET,POST',
    'access-control-allow-headers': 'authorization,content-type,idempotency-key',
  };
  return response.writeHead(204, isOurs ? cors : {}).end();
});
let url = '';
beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(stage, 0)}`;
});
afterAll(() => close(stage));

/** What the stubs print. The default is a clean checkout and a plan that changes the function. */
interface World {
  /** Version of terraform. */
  terraform?: string;
  /** Output of git status. */
  dirty?: string;
  /** The command that fails, such as `terraform plan`. */
  failing?: string;
  /** The program that is not on the PATH. */
  missing?: string;
  /** Empty files in infra/terraform. */
  moduleFiles?: string[];
  changes?: { address: string; type?: string; actions: string[] }[];
}

const functionChange = { address: 'aws_lambda_function.this', actions: ['update'] };

function arrange({
  terraform = '1.11.4',
  dirty = '',
  failing = 'nothing',
  missing,
  moduleFiles = [],
  changes = [functionChange],
}: World): void {
  const plan = {
    resource_changes: changes.map(({ address, actions, type = address.split('.')[0] }) => ({
      address,
      type,
      change: { actions },
    })),
  };
  const outputs = {
    api_url: { value: url },
    cors_origin: { value: 'https://www.example.com' },
    dashboard_url: { value: 'https://console.example.com/dashboard' },
  };
  const answers: Record<string, string> = {
    'terraform version': JSON.stringify({ terraform_version: terraform }),
    'terraform show': JSON.stringify(plan),
    'terraform output': JSON.stringify(outputs),
    'git rev-parse': 'abc1234',
    'git status': dirty,
  };
  const stub = `#!${process.execPath}
const { appendFileSync } = require('node:fs');
const call = [require('node:path').basename(process.argv[1]), ...process.argv.slice(2)];
appendFileSync(${JSON.stringify(join(folder, 'calls'))}, call.join(' ') + '\\n');
const key = call.slice(0, 2).join(' ');
if (key === ${JSON.stringify(failing)}) {
  console.error('what was planned\\n\\nError: it went wrong');
  process.exit(1);
}
process.stdout.write(${JSON.stringify(answers)}[key] ?? '');
`;
  for (const name of ['terraform', 'git', 'npm']) {
    writeFileSync(join(folder, 'bin', name), stub, { mode: 0o755 });
    if (name === missing) rmSync(join(folder, 'bin', name));
  }
  for (const name of moduleFiles) writeFileSync(join(folder, 'infra/terraform', name), '');
}

beforeEach(() => {
  unauthorized = 401;
  folder = mkdtempSync(join(tmpdir(), 'deploy-test-'));
  const folders = ['bin', 'dist', 'home', 'infra/terraform/.terraform'];
  for (const name of folders) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['scripts', 'src']) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'bin/package.json'), '{"type":"commonjs"}');
  for (const name of ['inquiries', 'mailer']) writeFileSync(join(folder, `dist/${name}.zip`), name);
  writeFileSync(join(folder, 'calls'), '');
  arrange({});
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'eu-central-1' };
const environment = () => ({
  PATH: join(folder, 'bin'),
  HOME: join(folder, 'home'),
  AWS_EC2_METADATA_DISABLED: 'true',
  ...credentials,
});

function deploy(args: string, env: NodeJS.ProcessEnv = {}) {
  return run(process.execPath, [join(folder, 'scripts/deploy.ts'), ...args.split(' ')], {
    cwd: folder,
    env: { ...environment(), ...env },
  });
}
const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
/** Only what reads: no build, no init, no plan. */
const changedNothing = () =>
  calls().every((call) => /^(|terraform version.*|git (rev-parse|status).*)$/.test(call));

describe('npm run deploy refuses in one line and changes nothing:', { timeout: 30_000 }, () => {
  const stages = 'stages are develop, main and release.';
  const commitFirst = 'is deployed from a commit only; commit or stash first:';
  it.each<[string, World & { env?: NodeJS.ProcessEnv }, string]>([
    ['--yes', {}, 'The stage is missing: npm run deploy -- develop|main|release'],
    ['production --yes', {}, `"production" is not a stage; ${stages}`],
    ['develop main --yes', {}, `"develop main" is not a stage; ${stages}`],
    ['develop --force', {}, "Unknown option '--force' (see --help)"],
    ['develop', {}, 'There is no terminal for the confirmation; pass --yes or --plan-only.'],
    [
      'develop --yes',
      { env: { TF_WORKSPACE: 'release' } },
      'TF_WORKSPACE is "release", which contradicts the stage develop; unset it.',
    ],
    ['develop --yes', { terraform: '1.9.8' }, 'terraform 1.9.8 is too old; version 1.10 or later is needed.'],
    [
      'develop --yes',
      { missing: 'terraform' },
      'terraform is not on the PATH; version 1.10 or later is needed.',
    ],
    ['develop --yes', { missing: 'git' }, 'git is not on the PATH.'],
    ['main --yes', { dirty: ' M src/app.ts\n?? x\n' }, `main ${commitFirst} src/app.ts`],
    ['release --plan-only', { dirty: '?? x.tfvars\n' }, `release ${commitFirst} x.tfvars`],
    [
      'release --yes',
      { moduleFiles: ['backend_override.tf'] },
      'release must not use local state; remove infra/terraform/backend_override.tf.',
    ],
    ['develop --yes', { failing: 'git rev-parse' }, 'This is not a git checkout with a commit.'],
    [
      'develop --yes',
      { env: { AWS_ACCESS_KEY_ID: '' } },
      'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).',
    ],
    ['develop --yes', { env: { AWS_REGION: '' } }, 'There is no AWS region; set AWS_REGION or AWS_PROFILE.'],
  ])('%s with %j', async (args, { env, ...world }, message) => {
    arrange(world);
    const { code, output } = await deploy(args, env);
    expect([code, output]).toEqual([2, `${message}\n`]);
    expect(changedNothing()).toBe(true);
  });
});

describe('npm run deploy', { timeout: 30_000 }, () => {
  const applied = () => calls().some((call) => call.startsWith('terraform apply'));

  it('builds, plans, prints a summary, applies the same plan, checks the stage and prints its URL', async () => {
    const { code, output } = await deploy('release --yes');
    expect(output).toContain('stage     release, region eu-central-1, credentials of the environment');
    expect(output).toContain('commit    abc1234\n');
    expect(output).toMatch(
      /package {3}dist\/inquiries\.zip, sha256 \S{44}\n {12}dist\/mailer\.zip, sha256 \S{44}\n/,
    );
    expect(output).toContain('plan      0 to create, 1 to change, 0 to replace, 0 to destroy');
    expect(output).toContain('change   aws_lambda_function.this');
    expect(output).toContain('smoke: 4 passed, 0 failed, 6 skipped');
    expect(output).toContain(`Deployed: ${url}/inquiries\nhttps://console.example.com/dashboard\n`);
    expect(code).toBe(0);
    const steps = calls().slice(3);
    const file = /-out=(\S+)/.exec(steps.join('\n'))?.[1];
    expect(steps).toEqual([
      'npm run --silent build',
      'terraform init -no-color -reconfigure',
      'terraform workspace select -or-create release',
      `terraform plan -no-color -out=${file}`,
      `terraform show -json ${file}`,
      `terraform apply -no-color ${file}`,
      'terraform output -json',
    ]);
  });

  it('stops after the summary with --plan-only, and says that the tree is dirty', async () => {
    arrange({ dirty: ' M src/app.ts\n' });
    const { code, output } = await deploy('develop --plan-only');
    expect([code, applied()]).toEqual([0, false]);
    expect(output).toContain('commit    abc1234 with uncommitted changes\n');
    expect(output).toContain('1 to change');
  });

  it('applies nothing if nothing changed, and still checks the stage', async () => {
    const table = { address: 'aws_dynamodb_table.this', actions: ['no-op'] };
    arrange({ changes: [table, { address: 'data.aws_region.current', actions: ['read'] }] });
    const { code, output } = await deploy('develop --yes');
    expect([code, applied()]).toEqual([0, false]);
    expect(output).toContain('Already deployed: ');
    expect(output).toContain('smoke: 4 passed');
  });

  it('never applies a plan that replaces the table', async () => {
    const table = { address: 'aws_dynamodb_table.this', actions: ['create', 'delete'] };
    arrange({ changes: [functionChange, table] });
    const { code, output } = await deploy('develop --yes');
    expect([code, applied()]).toEqual([2, false]);
    expect(output).toContain(
      'The plan deletes the table with its inquiries, which this command never does. Nothing was changed.\n',
    );
  });

  const steps = ['npm run', 'terraform init', 'terraform workspace', 'terraform plan', 'terraform show'];
  it.each([...steps, 'terraform apply'])('stops if %s fails, and prints its error', async (failing) => {
    arrange({ failing });
    const { code, output } = await deploy('develop --yes');
    expect([code, calls().at(-1)]).toEqual([1, expect.stringMatching(`^${failing} `)]);
    expect(output).toContain('…\nError: it went wrong\n\nFailed: ');
  });

  it('fails if the smoke test fails, and says how to roll back', async () => {
    unauthorized = 200;
    const { code, output } = await deploy('develop --yes');
    expect(code).toBe(1);
    expect(output).toContain(`Applied, but the smoke test failed: ${url}.`);
    expect(output).toContain('docs/runbook.md, "Roll back"');
  });

  it.each([
    [['backend.s3.tfbackend'], ' -backend-config=backend.s3.tfbackend'],
    [['backend.s3.tfbackend', 'develop.s3.tfbackend'], ' -backend-config=develop.s3.tfbackend'],
    [['backend.s3.tfbackend', 'backend_override.tf'], ''],
  ])('with %j, initialises with "%s"', async (names, option) => {
    arrange({ moduleFiles: names });
    await deploy('develop --plan-only');
    expect(calls()).toContain(`terraform init -no-color -reconfigure${option}`);
  });

  it.skipIf(!hasScript)('asks at a terminal, and applies only if the stage is typed', async () => {
    const ask = async (answer: string) => {
      const command = `echo ${answer} | script -qec '"${process.execPath}" scripts/deploy.ts develop' /dev/null`;
      const env = { ...environment(), PATH: `${join(folder, 'bin')}:/usr/bin:/bin` };
      return run('sh', ['-c', command], { cwd: folder, env });
    };
    const declined = await ask('yes');
    expect(declined.output).toContain('Apply this plan? Type develop to confirm: ');
    expect([declined.code, applied()]).toEqual([2, false]);
    const accepted = await ask('develop');
    expect([accepted.code, applied()]).toEqual([0, true]);
  });
});
