/** `npm run deploy`: what it refuses, the steps of a deployment, and the question. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeployment, FORM_OUTPUTS, hasScript } from '../helpers/deployment.ts';
import type { Deployment, World } from '../helpers/deployment.ts';

let deployment: Deployment;
beforeEach(async () => {
  deployment = await createDeployment();
});
afterEach(() => deployment.remove());

/** Only what reads: no build, no init, no plan. */
const changedNothing = () =>
  deployment.calls().every((call) => /^(|(terraform|tofu) version.*|git (rev-parse|status).*)$/.test(call));

describe('npm run deploy refuses in one line and changes nothing:', { timeout: 30_000 }, () => {
  const stages = 'stages are develop, main and release.';
  const commitFirst = 'is deployed from a commit only; commit or stash first:';
  const noPlace =
    'The place of the state is missing: run "npm run bootstrap" once, or copy infra/terraform/backend.s3.tfbackend.example to backend.s3.tfbackend and enter your bucket.';
  const otherAccount = 'bucket = "b"\nallowed_account_ids = ["444455556666"]\n';
  it.each<[string, Partial<World> & { env?: NodeJS.ProcessEnv }, string]>([
    ['--yes', {}, 'The stage is missing: npm run deploy -- develop|main|release'],
    ['production --yes', {}, `"production" is not a stage; ${stages}`],
    ['develop main --yes', {}, `"develop main" is not a stage; ${stages}`],
    ['develop --force', {}, "Unknown option '--force' (see --help)"],
    ['develop', {}, 'There is no terminal for the confirmation; pass --yes or --plan-only.'],
    ['develop --expect abc', {}, "--expect must be the sha256 that --plan-only printed, not 'abc'"],
    ['develop --gradual soon', {}, "--gradual must be a number of minutes, not 'soon'"],
    ['develop --gradual 0', {}, "--gradual must be a number of minutes, not '0'"],
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
    [
      'develop --yes',
      { env: { TERRAFORM: 'tofu' } },
      'tofu is not on the PATH; version 1.10 or later is needed.',
    ],
    [
      'develop --yes',
      { program: 'tofu', terraform: '1.9.1', env: { TERRAFORM: 'tofu' } },
      'tofu 1.9.1 is too old; version 1.10 or later is needed.',
    ],
    ['develop --yes', { missing: 'git' }, 'git is not on the PATH.'],
    ['main --yes', { dirty: ' M src/app.ts\n?? x\n' }, `main ${commitFirst} src/app.ts`],
    ['release --plan-only', { dirty: '?? x.tfvars\n' }, `release ${commitFirst} x.tfvars`],
    [
      'release --yes',
      { moduleFiles: { 'backend_override.tf': '' } },
      'release must not use local state; remove infra/terraform/backend_override.tf.',
    ],
    ['develop --yes', { failing: 'git rev-parse' }, 'This is not a git checkout with a commit.'],
    ['develop --yes', { moduleFiles: {} }, noPlace],
    [
      'develop --yes',
      { env: { AWS_ACCESS_KEY_ID: '' } },
      'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).',
    ],
    ['develop --yes', { env: { AWS_REGION: '' } }, 'There is no AWS region; set AWS_REGION or AWS_PROFILE.'],
    [
      'develop --yes',
      { moduleFiles: { 'backend.s3.tfbackend': otherAccount } },
      'The credentials are of account 111122223333, but develop is in 444455556666 (infra/terraform/backend.s3.tfbackend).',
    ],
    [
      'main --drift',
      { moduleFiles: { 'main.s3.tfbackend': otherAccount, 'backend.s3.tfbackend': '' } },
      'The credentials are of account 111122223333, but main is in 444455556666 (infra/terraform/main.s3.tfbackend).',
    ],
  ])('%s with %j', async (args, { env, ...world }, message) => {
    deployment.arrange(world);
    const { code, output } = await deployment.run(args, env);
    expect([code, output]).toEqual([2, `${message}\n`]);
    expect(changedNothing()).toBe(true);
  });
});

describe('npm run deploy', { timeout: 30_000 }, () => {
  it('builds, plans, shows the plan, applies the same plan, checks the stage and prints its URL', async () => {
    const { code, output } = await deployment.run('release --yes');
    const diff =
      'Terraform will perform the following actions:\n\n  # aws_lambda_function.this will be updated';
    expect(output).toContain(`terraform show …\n\n${diff}`);
    expect(output).toContain('stage     release\n');
    expect(output).toContain('account   111122223333, region eu-central-1, credentials of the environment\n');
    expect(output).toContain('commit    abc1234\n');
    expect(output).toMatch(
      /package {3}dist\/inquiries\.zip, sha256 \S{44}\n {12}dist\/mailer\.zip, sha256 \S{44}\n/,
    );
    expect(output).toContain('plan      0 to create, 1 to change, 0 to replace, 0 to destroy');
    expect(output).toContain('change   aws_lambda_function.this');
    expect(output).toContain(
      'Deployed: https://api.example.com/inquiries\nDashboard https://console.example.com/dashboard\n',
    );
    expect(code).toBe(0);
    const steps = deployment.calls().slice(3);
    const file = /-out=(\S+)/.exec(steps.join('\n'))?.[1];
    expect(steps).toEqual([
      'npm run --silent build',
      'terraform init -no-color -reconfigure -backend-config=backend.s3.tfbackend',
      'terraform workspace select -or-create release',
      `terraform plan -no-color -out=${file}`,
      `terraform show -json ${file}`,
      `terraform show -no-color ${file}`,
      `terraform apply -no-color ${file}`,
      'terraform output -json',
      'smoke.ts --url https://api.example.com --origin https://www.example.com --wait 60',
    ]);
    expect(deployment.aws.writes).toEqual([]);
    expect(readdirSync(join(deployment.folder, 'tmp'))).toEqual([]);
  });

  it('runs the program that TERRAFORM names, for every step', async () => {
    deployment.arrange({ program: 'tofu' });
    const { code, output } = await deployment.run('develop --yes', { TERRAFORM: 'tofu' });
    expect([code, output]).toEqual([0, expect.stringContaining('tofu apply …\n')]);
    expect(deployment.calls().join('\n')).not.toContain('terraform ');
  });

  it('stops after the plan with --plan-only, and says that the tree is dirty', async () => {
    deployment.arrange({ dirty: ' M src/app.ts\n' });
    const { code, output } = await deployment.run('develop --plan-only');
    expect([code, deployment.applied()]).toEqual([0, false]);
    expect(output).toContain('commit    abc1234 with uncommitted changes\n');
    expect(output).toContain('1 to change');
  });

  const readSha256 = (output: string) => /^ {2}sha256 {4}([0-9a-f]{64})$/m.exec(output)?.[1];
  it('with --expect, applies the plan that was reviewed, and refuses any other', async () => {
    const reviewed = readSha256((await deployment.run('develop --plan-only')).output);
    const same = await deployment.run(`develop --yes --expect ${reviewed}`);
    expect([same.code, deployment.applied()]).toEqual([0, true]);

    deployment.arrange({ diff: 'another diff' });
    const applied = () => deployment.calls().filter((call) => call.startsWith('terraform apply'));
    const { code, output } = await deployment.run(`develop --yes --expect ${reviewed}`);
    expect([code, applied().length]).toEqual([2, 1]);
    expect(output).toContain('\nanother diff\n');
    expect(readSha256(output)).not.toBe(reviewed);
    expect(output).toContain(
      `The plan is not the one that was reviewed (${reviewed}). Nothing was changed.\n`,
    );

    // Another deployment has made the changes meanwhile.
    deployment.arrange({ diff: 'No changes.', changes: [] });
    expect((await deployment.run(`develop --yes --expect ${reviewed}`)).code).toBe(0);
  });

  it.each<[string, Partial<World>, number]>([
    ['nothing', { changes: [] }, 0],
    ['a resource', {}, 1],
    ['an output', { changes: [], outputChanges: { site: { actions: ['update'] } } }, 1],
  ])('with --drift, applies nothing; if %s has changed: %j, exits %i', async (_, world, expected) => {
    deployment.arrange({ diff: 'the diff', ...world });
    const { code, output } = await deployment.run('release --drift');
    expect([code, deployment.applied()]).toEqual([expected, false]);
    expect(output).toContain('\nthe diff\n');
  });

  it('applies nothing if nothing changed, and still checks the stage', async () => {
    const table = { address: 'aws_dynamodb_table.this', actions: ['no-op'] };
    const changes = [table, { address: 'data.aws_region.current', actions: ['read'] }];
    deployment.arrange({ changes, outputChanges: { site: { actions: ['no-op'] } } });
    const { code, output } = await deployment.run('develop --yes');
    expect([code, deployment.applied()]).toEqual([0, false]);
    expect(output).toContain('Already deployed: ');
    expect(deployment.calls().at(-1)).toMatch(/^smoke/);
  });

  it('applies a plan that changes outputs only', async () => {
    deployment.arrange({ changes: [], outputChanges: { site: { actions: ['create'] } } });
    const { code } = await deployment.run('develop --yes');
    expect([code, deployment.applied()]).toEqual([0, true]);
  });

  const table = { address: 'aws_dynamodb_table.this', actions: ['create', 'delete'] };
  const pool = { address: 'aws_cognito_user_pool.this[0]', actions: ['delete'] };
  it.each([
    [[table], 'the table with its inquiries'],
    [[pool], 'the user pool with its users'],
    [[pool, table], 'the user pool with its users and the table with its inquiries'],
  ])('never applies a plan with %j', async (changes, loss) => {
    deployment.arrange({ changes });
    const { code, output } = await deployment.run('develop --yes');
    expect([code, deployment.applied()]).toEqual([2, false]);
    expect(output).toContain(
      `The plan deletes ${loss}, which this command never does. Nothing was changed.\n`,
    );
  });

  it('says how to keep a table whose creation was interrupted', async () => {
    deployment.arrange({ changes: [{ ...table, action_reason: 'replace_because_tainted' }] });
    const { code, output } = await deployment.run('develop --yes');
    expect([code, deployment.applied()]).toEqual([2, false]);
    expect(output).toContain(
      "Its creation was interrupted; to keep it: terraform -chdir=infra/terraform untaint 'aws_dynamodb_table.this'\n",
    );
  });

  const steps = ['npm run', 'terraform init', 'terraform workspace', 'terraform plan', 'terraform show'];
  it.each([...steps, 'terraform output'])('stops if %s fails, and prints its error', async (failing) => {
    deployment.arrange({ failing });
    const { code, output } = await deployment.run('develop --yes');
    expect([code, deployment.calls().at(-1)]).toEqual([1, expect.stringMatching(`^${failing} `)]);
    expect(output).toContain('…\nError: it went wrong\n\nFailed: ');
    expect(readdirSync(join(deployment.folder, 'tmp'))).toEqual([]);
  });

  it('stops if terraform apply fails, and keeps a new table that Terraform would replace', async () => {
    const resources = [
      { address: 'aws_dynamodb_table.this', type: 'aws_dynamodb_table', tainted: true },
      { address: 'aws_dynamodb_table.erasures', type: 'aws_dynamodb_table' },
      { address: 'aws_iam_role.function', type: 'aws_iam_role', tainted: true },
    ];
    deployment.arrange({ failing: 'terraform apply', resources });
    const { code, output } = await deployment.run('develop --yes');
    expect([code, deployment.calls().slice(-2)]).toEqual([
      1,
      ['terraform show -json', 'terraform untaint aws_dynamodb_table.this'],
    ]);
    expect(output).toContain('…\nError: it went wrong\n\nFailed: terraform apply.\n');
  });

  it.each([
    'creating IAM Role (inquiries-develop): EntityAlreadyExists: Role with name inquiries-develop already exists.',
    'creating Lambda Function: ResourceConflictException: Function already exist: inquiries-develop',
  ])('says what to do if %s', async (error) => {
    deployment.arrange({ failing: 'terraform apply', error });
    const { output } = await deployment.run('develop --yes');
    expect(output).toContain(
      `${error}\n\nIt exists but is not in the state: see docs/runbook.md, "Import a resource".\n`,
    );
  });

  it('fails if the smoke test fails, and says how to roll back', async () => {
    deployment.arrange({ isBroken: true });
    const { code, output } = await deployment.run('develop --yes');
    expect(code).toBe(1);
    expect(output).toContain('Applied, but the smoke test failed: https://api.example.com.');
    expect(output).toContain('npm run rollback -- develop\n');
    expect(output).not.toContain('Deployed');
  });

  it('tests the alias and signs in to the pool, deletes old versions, and lists the DNS records to be entered', async () => {
    const record = {
      domain: 'www.example.com',
      purpose: 'validates the certificate',
      name: '_1.www.example.com',
      type: 'CNAME',
      value: '_2.acm.example',
      next: 'set dns = "certificate" in site_domain',
    };
    deployment.arrange({ outputs: { ...FORM_OUTPUTS, dns_records: [record] } });
    const { code, output } = await deployment.run('develop --yes');
    expect(code).toBe(0);
    expect(deployment.calls().slice(-2)).toEqual([
      'prune inquiries-develop 10',
      'smoke.ts --url https://api.example.com --origin https://www.example.com --wait 60 --function inquiries-develop:live --user-pool eu_1 --client c2',
    ]);
    expect(output).toContain('deleted versions 1, 2 of the function\n');
    expect(output).toContain('Deployed: https://d1.example.com/\nAPI https://api.example.com/inquiries\n');
    expect(output).toContain(`
  _1.www.example.com
  CNAME  _2.acm.example
         validates the certificate of www.example.com; once it can be resolved, set dns = "certificate" in site_domain, and deploy again
`);
  });

  const anyAccount = { 'backend.s3.tfbackend': '' };
  it.each<[Record<string, string>, NodeJS.ProcessEnv, string]>([
    [anyAccount, {}, ' -backend-config=backend.s3.tfbackend'],
    [{ ...anyAccount, 'develop.s3.tfbackend': '' }, {}, ' -backend-config=develop.s3.tfbackend'],
    [{ ...anyAccount, 'backend_override.tf': '' }, {}, ''],
    [{}, { TF_CLI_ARGS_init: '-backend-config=bucket=b' }, ''],
  ])('with the files %j and %j, initialises with "%s"', async (moduleFiles, env, option) => {
    deployment.arrange({ moduleFiles });
    await deployment.run('develop --plan-only', env);
    expect(deployment.calls()).toContain(`terraform init -no-color -reconfigure${option}`);
  });

  it.skipIf(!hasScript)('asks at a terminal, and applies only if the stage is typed', async () => {
    const { press, applied } = deployment;
    const question = 'Apply this plan? Type develop to confirm: ';
    const ask = async (answer: string) =>
      (await press(`${answer}\r`, 'develop', (output) => output.includes(question))).ended;
    expect([(await ask('yes')).code, applied()]).toEqual([2, false]);
    expect([(await ask('develop')).code, applied()]).toEqual([0, true]);
  });
});
