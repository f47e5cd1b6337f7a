/** `npm run deploy` with stand-ins for terraform, git and npm on the PATH, in a copy of the scripts in a folder of its own. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROOT, run } from '../../scripts/infra/terraform.ts';

let folder = '';
let stage: Server;
/** What the stage answers to a request without a token. */
let unauthorized = 401;

beforeAll(async () => {
  stage = createServer((request, response) => {
    if (request.method !== 'OPTIONS')
      return response.writeHead(unauthorized).end('{"message":"Unauthorized"}');
    const isOurs = request.headers.origin === 'https://www.example.com';
    const cors = {
      'access-control-allow-origin': 'https://www.example.com',
      'access-control-allow-methods': 'GET,POST',
      'access-control-allow-headers': 'authorization,content-type',
    };
    return response.writeHead(204, isOurs ? cors : {}).end();
  });
  await new Promise<void>((resolve) => {
    stage.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => {
  stage.close();
});

/** What the stand-ins answer; every test starts from a clean checkout and a plan that changes the function. */
interface World {
  terraform?: string;
  dirty?: string;
  failing?: string;
  changes?: { address: string; type?: string; actions: string[] }[];
}

const functionChange = { address: 'aws_lambda_function.this', actions: ['update'] };

function arrange({
  terraform = '1.11.4',
  dirty = '',
  failing = 'nothing',
  changes = [functionChange],
}: World): void {
  const plan = {
    resource_changes: changes.map(({ address, actions, type = address.split('.')[0] }) => ({
      address,
      type,
      change: { actions },
    })),
  };
  const { port } = stage.address() as AddressInfo;
  const outputs = {
    api_url: { value: `http://127.0.0.1:${port}` },
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
    const file = join(folder, 'bin', name);
    writeFileSync(file, stub);
    chmodSync(file, 0o755);
  }
}

beforeEach(() => {
  unauthorized = 401;
  folder = mkdtempSync(join(tmpdir(), 'deploy-test-'));
  for (const name of ['bin', 'dist', 'home', 'infra/terraform/.terraform'])
    mkdirSync(join(folder, name), { recursive: true });
  cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'bin/package.json'), '{"type":"commonjs"}');
  writeFileSync(join(folder, 'dist/inquiries.zip'), 'zip');
  writeFileSync(join(folder, 'calls'), '');
  arrange({});
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'eu-central-1' };

function deploy(args: string[], env: NodeJS.ProcessEnv = credentials) {
  return run(process.execPath, [join(folder, 'scripts/deploy.ts'), ...args], {
    cwd: folder,
    env: { PATH: join(folder, 'bin'), HOME: join(folder, 'home'), AWS_EC2_METADATA_DISABLED: 'true', ...env },
  });
}
const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
/** Nothing beyond looking: no build, no init, no plan. */
const changedNothing = () =>
  calls().every((call) => /^(|terraform version.*|git (rev-parse|status).*)$/.test(call));

describe('npm run deploy refuses, in one line and without touching anything,', { timeout: 30_000 }, () => {
  it.each<[string, string[], World & { env?: NodeJS.ProcessEnv }, string]>([
    ['no stage', ['--yes'], {}, 'Which stage? npm run deploy -- develop|main|release'],
    [
      'a stage there is not',
      ['production', '--yes'],
      {},
      '"production" is not a stage; stages are develop, main and release.',
    ],
    [
      'two stages',
      ['develop', 'main', '--yes'],
      {},
      '"develop main" is not a stage; stages are develop, main and release.',
    ],
    ['an option there is not', ['develop', '--force'], {}, "Unknown option '--force' (see --help)"],
    ['no terminal to ask at', ['develop'], {}, 'There is no terminal to ask at; pass --yes or --plan-only.'],
    [
      'another workspace in the environment',
      ['develop', '--yes'],
      { env: { ...credentials, TF_WORKSPACE: 'release' } },
      'TF_WORKSPACE is "release", which contradicts the stage develop; unset it.',
    ],
    [
      'an old terraform',
      ['develop', '--yes'],
      { terraform: '1.9.8' },
      'terraform 1.9.8 is too old; version 1.10 or later is needed.',
    ],
    [
      'a dirty tree on main',
      ['main', '--yes'],
      { dirty: ' M src/app.ts\n?? x\n' },
      'main is deployed from a commit only; commit or stash first: src/app.ts',
    ],
    [
      'a dirty tree on release, even to plan',
      ['release', '--plan-only'],
      { dirty: '?? stages.auto.tfvars\n' },
      'release is deployed from a commit only; commit or stash first: stages.auto.tfvars',
    ],
    [
      'a folder that is no checkout',
      ['develop', '--yes'],
      { failing: 'git rev-parse' },
      'This is not a git checkout with a commit.',
    ],
    [
      'missing credentials',
      ['develop', '--yes'],
      { env: { AWS_REGION: 'eu-central-1' } },
      'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).',
    ],
    [
      'a missing region',
      ['develop', '--yes'],
      { env: { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' } },
      'There is no AWS region; set AWS_REGION or AWS_PROFILE.',
    ],
  ])('%s', async (_, args, { env, ...world }, line) => {
    arrange(world);
    const { code, output } = await deploy(args, env);
    expect([code, output]).toEqual([2, `${line}\n`]);
    expect(changedNothing()).toBe(true);
  });

  it.each(['terraform', 'git'])('a missing %s', async (tool) => {
    rmSync(join(folder, 'bin', tool));
    const { code, output } = await deploy(['develop', '--yes']);
    expect([code, output]).toEqual([
      2,
      expect.stringMatching(new RegExp(`^${tool} is not on the PATH.*\\n$`)),
    ]);
    expect(changedNothing()).toBe(true);
  });

  it('a state on this machine, for main and release', async () => {
    writeFileSync(join(folder, 'infra/terraform/backend_override.tf'), '');
    const { code, output } = await deploy(['release', '--yes']);
    expect([code, output]).toEqual([
      2,
      'release does not keep its state on this machine; remove infra/terraform/backend_override.tf.\n',
    ]);
    expect(changedNothing()).toBe(true);
  });
});

describe('npm run deploy', { timeout: 30_000 }, () => {
  const applied = () => calls().some((call) => call.startsWith('terraform apply'));

  it('builds, plans, sums up, applies that very plan, checks the stage and prints its URL', async () => {
    const { code, output } = await deploy(['release', '--yes']);
    const { port } = stage.address() as AddressInfo;
    expect(output).toContain('stage     release, region eu-central-1, credentials of the environment');
    expect(output).toContain('commit    abc1234\n');
    expect(output).toContain('plan      0 to create, 1 to change, 0 to replace, 0 to destroy');
    expect(output).toContain('change   aws_lambda_function.this');
    expect(output).toContain('smoke: 4 passed, 0 failed, 4 skipped');
    expect(output).toContain(
      `Deployed: http://127.0.0.1:${port}/inquiries\nhttps://console.example.com/dashboard\n`,
    );
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

  it('stops after the summary with --plan-only', async () => {
    const { code, output } = await deploy(['develop', '--plan-only']);
    expect([code, applied()]).toEqual([0, false]);
    expect(output).toContain('1 to change');
  });

  it('deploys develop from a dirty tree and says so', async () => {
    arrange({ dirty: ' M src/app.ts\n' });
    const { code, output } = await deploy(['develop', '--yes']);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining('commit    abc1234 with uncommitted changes\n'),
    ]);
  });

  it('applies nothing where nothing changed, and still checks the stage', async () => {
    arrange({
      changes: [
        { address: 'aws_dynamodb_table.this', actions: ['no-op'] },
        { address: 'data.aws_region.current', actions: ['read'] },
      ],
    });
    const { code, output } = await deploy(['develop', '--yes']);
    expect([code, applied()]).toEqual([0, false]);
    expect(output).toContain('Already deployed: ');
    expect(output).toContain('smoke: 4 passed');
  });

  it.each([[['delete']], [['delete', 'create']], [['create', 'delete']]])(
    'never applies a plan that does %j to the table',
    async (actions) => {
      arrange({ changes: [functionChange, { address: 'aws_dynamodb_table.this', actions }] });
      const { code, output } = await deploy(['develop', '--yes']);
      expect([code, applied()]).toEqual([2, false]);
      expect(output).toContain(
        'The plan deletes the table with its inquiries; no deployment does that. Nothing was changed.\n',
      );
    },
  );

  it.each(['npm run', 'terraform init', 'terraform workspace', 'terraform plan', 'terraform show'])(
    'changes nothing where %s fails, and shows its error',
    async (failing) => {
      arrange({ failing });
      const { code, output } = await deploy(['develop', '--yes']);
      expect([code, applied()]).toEqual([1, false]);
      expect(output).toContain('…\nError: it went wrong\n\nFailed: ');
    },
  );

  it('fails where the apply fails', async () => {
    arrange({ failing: 'terraform apply' });
    const { code, output } = await deploy(['develop', '--yes']);
    expect([code, output]).toEqual([1, expect.stringContaining('Failed: terraform apply.\n')]);
  });

  it('fails where the stage does not keep its contract, and says how to go back', async () => {
    unauthorized = 200;
    const { code, output } = await deploy(['develop', '--yes']);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('Applied, but the smoke test failed: http://127.0.0.1:'),
    ]);
    expect(output).toContain('docs/runbook.md, "Roll back"');
  });

  it.each([
    [['backend.s3.tfbackend'], ' -backend-config=backend.s3.tfbackend'],
    [['backend.s3.tfbackend', 'develop.s3.tfbackend'], ' -backend-config=develop.s3.tfbackend'],
    [['backend.s3.tfbackend', 'backend_override.tf'], ''],
  ])('with %j, initialises with "%s"', async (names, option) => {
    for (const name of names) writeFileSync(join(folder, 'infra/terraform', name), '');
    await deploy(['develop', '--plan-only']);
    expect(calls()).toContain(`terraform init -no-color -reconfigure${option}`);
  });

  it('says how it is used', async () => {
    const { code, output } = await deploy(['--help']);
    expect([code, output]).toEqual([0, expect.stringContaining('Usage: npm run deploy -- STAGE')]);
  });

  it('asks at a terminal, and applies only where the stage is typed', async () => {
    // `script` gives the command a terminal; where there is none, this much cannot be shown.
    const { code } = await run('script', ['--version']);
    if (code !== 0) return;
    const ask = async (answer: string) => {
      const command = `echo ${answer} | script -qec '"${process.execPath}" scripts/deploy.ts develop' /dev/null`;
      return run('sh', ['-c', command], {
        cwd: folder,
        env: {
          ...credentials,
          PATH: [join(folder, 'bin'), dirname('/usr/bin/script'), '/bin'].join(delimiter),
          HOME: join(folder, 'home'),
        },
      });
    };
    const declined = await ask('yes');
    expect(declined.output).toContain('Apply this? Type develop to go on: ');
    expect([declined.code, applied()]).toEqual([2, false]);
    const accepted = await ask('develop');
    expect([accepted.code, applied()]).toEqual([0, true]);
  });
});
