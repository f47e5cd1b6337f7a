/** `npm run deploy`: what it refuses, the steps of a deployment, the question and signals. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../deploy/deploy.ts';
import type { main as runSmokeTest } from '../../deploy/smoke.ts';
import { startAws } from '../helpers/aws.ts';
import {
  arrange,
  awaitCall,
  FORM_OUTPUTS,
  hasApplied,
  letEnd,
  readCalls,
  runCommandHere,
  typed,
} from '../helpers/programs.ts';
import type { Change, World } from '../helpers/programs.ts';
import { paths, removeProject, resetProject } from '../helpers/project.ts';

const smoke = vi.hoisted(() => vi.fn<typeof runSmokeTest>());
vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);
vi.mock(import('../../deploy/smoke.ts'), () => ({ main: smoke }));

const aws = await startAws();
vi.stubEnv('TMPDIR', join(paths.ROOT, 'tmp'));
beforeEach(() => {
  resetProject();
  aws.reset();
  arrange();
  smoke.mockReset().mockResolvedValue(0);
  const built = ['dist/inquiries.zip', 'dist/mailer.zip', 'web/dist/inquiry-form.js'];
  for (const name of built) writeFileSync(join(paths.ROOT, name), name);
  writeFileSync(join(paths.ROOT, 'web/dist/index.html'), "connect-src 'self';");
});
afterAll(async () => {
  await aws.close();
  removeProject();
});

const deploy = (args: string, env: NodeJS.ProcessEnv = {}) => runCommandHere(main, args, { env });
const temporaryFiles = (): string[] => readdirSync(join(paths.ROOT, 'tmp'));

describe('npm run deploy refuses in one line and changes nothing:', () => {
  const needed = 'version 1.10 or later is needed.';
  const noPlace =
    'The place of the state is missing: run "npm run bootstrap" once, or copy infra/terraform/backend.s3.tfbackend.example to backend.s3.tfbackend and enter your bucket.';
  const otherAccount = 'bucket = "b"\nallowed_account_ids = ["444455556666"]\n';
  it.each<[string, Partial<World> & { env?: NodeJS.ProcessEnv }, string]>([
    ['--yes', {}, 'The stage is missing: npm run deploy -- develop|main|release'],
    ['develop main --yes', {}, '"develop main" is not a stage; stages are develop, main and release.'],
    ['develop --force', {}, "Unknown option '--force' (see --help)"],
    ['develop', {}, 'There is no terminal for the confirmation; pass --yes or --plan-only.'],
    ['develop --expect abc', {}, "--expect must be the sha256 that --plan-only printed, not 'abc'"],
    [
      'develop --yes',
      { env: { TF_WORKSPACE: 'release' } },
      'TF_WORKSPACE is "release", which contradicts the stage develop; unset it.',
    ],
    ['develop --yes', { version: '1.9.8' }, `terraform 1.9.8 is too old; ${needed}`],
    ['develop --yes', { env: { TERRAFORM: 'tofu' } }, `tofu is not on the PATH; ${needed}`],
    ['develop --yes', { programs: ['terraform', 'npm'] }, 'git is not on the PATH.'],
    [
      'release --plan-only',
      { dirty: ' M src/app.ts\n?? x\n' },
      'release is deployed from a commit only; commit or stash first: src/app.ts',
    ],
    [
      'release --yes',
      { moduleFiles: { 'backend_override.tf': '' } },
      'release must not use local state; remove infra/terraform/backend_override.tf.',
    ],
    ['develop --yes', { failing: 'git rev-parse' }, 'This is not a git checkout with a commit.'],
    ['develop --yes', { moduleFiles: {} }, noPlace],
    [
      'main --drift',
      { moduleFiles: { 'main.s3.tfbackend': otherAccount, 'backend.s3.tfbackend': '' } },
      'The credentials are of account 111122223333, but main is in 444455556666 (infra/terraform/main.s3.tfbackend).',
    ],
  ])('%s with %j', async (args, { env, ...world }, message) => {
    arrange(world);
    expect(await deploy(args, env)).toEqual({ code: 2, output: `${message}\n` });
    // Only what reads.
    expect(readCalls().join('\n')).not.toMatch(/^(npm|terraform (?!version))/m);
  });

  it.each([
    ['AWS_ACCESS_KEY_ID', 'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).'],
    ['AWS_REGION', 'There is no AWS region; set AWS_REGION or AWS_PROFILE.'],
  ] as const)('an environment without %s', async (name, message) => {
    vi.stubEnv(name, '');
    expect(await deploy('develop --yes')).toEqual({ code: 2, output: `${message}\n` });
    vi.stubEnv(name, aws.env[name]);
  });
});

describe('npm run deploy', () => {
  it('builds, plans, shows the plan, applies the same plan, checks the stage and prints its URL', async () => {
    const { code, output } = await deploy('release --yes');
    const diff =
      'Terraform will perform the following actions:\n\n  # aws_lambda_function.this will be updated';
    for (const part of [
      `terraform show …\n\n${diff}`,
      'stage     release\n',
      'account   111122223333, region eu-central-1, credentials of the environment\n',
      'commit    abc1234\n',
      'plan      0 to create, 1 to change, 0 to replace, 0 to destroy',
      'change   aws_lambda_function.this',
      'Deployed: https://api.example.com/inquiries\nDashboard https://console.example.com/dashboard\n',
    ])
      expect(output).toContain(part);
    expect(output).toMatch(
      /package {3}dist\/inquiries\.zip, sha256 \S{44}\n {12}dist\/mailer\.zip, sha256 \S{44}\n/,
    );
    const file = /-out=(\S+)/.exec(readCalls().join('\n'))?.[1];
    expect([code, readCalls().slice(3)]).toEqual([
      0,
      [
        'npm run --silent build',
        'terraform init -no-color -reconfigure -backend-config=backend.s3.tfbackend',
        'terraform workspace select -or-create release',
        `terraform plan -no-color -out=${file}`,
        `terraform show -json ${file}`,
        `terraform show -no-color ${file}`,
        `terraform apply -no-color ${file}`,
        'terraform output -json',
        `terraform show -json ${file}`,
      ],
    ]);
    expect(output).toMatch(/\nAlarms are mailed to nobody: .*\n$/);
    const args = '--url https://api.example.com --origin https://www.example.com --wait 60';
    expect(smoke.mock.calls.map(([given]) => given.join(' '))).toEqual([args]);
    expect([aws.state.changes, temporaryFiles()]).toEqual([[], []]);
  });

  it.each<[object, string]>([
    [{ accent: 'blue' }, '“accent” in config.json must be a colour such as #3f4fd0, not “blue”.'],
    [{ logo: 'x.svg' }, '“logo” must be an SVG, PNG, JPEG or WebP file in web/public, not “x.svg”.'],
  ])('applies no plan with a form that the page would refuse: %j', async (form, message) => {
    arrange({ outputChanges: { form_config: { actions: ['create'], after: form } } });
    const { code, output } = await deploy('develop --yes');
    expect([code, hasApplied()]).toEqual([2, false]);
    expect(output).toContain(`The form would refuse its settings: ${message} Nothing was changed.\n`);
  });

  it('runs the program that TERRAFORM names, for every step', async () => {
    arrange({ programs: ['tofu', 'git', 'npm'] });
    const { code, output } = await deploy('develop --yes', { TERRAFORM: 'tofu' });
    expect([code, output]).toEqual([0, expect.stringContaining('tofu apply …\n')]);
  });

  it('stops after the plan with --plan-only, and says that the tree is dirty', async () => {
    arrange({ dirty: ' M src/app.ts\n' });
    const { code, output } = await deploy('develop --plan-only');
    expect([code, hasApplied()]).toEqual([0, false]);
    expect(output).toContain('commit    abc1234 with uncommitted changes\n');
    expect(output).toContain('1 to change');
  });

  const readSha256 = (output: string) => /^ {2}sha256 {4}([0-9a-f]{64})$/m.exec(output)?.[1];
  it('with --expect, applies the plan that was reviewed, and refuses any other', async () => {
    const reviewed = readSha256((await deploy('develop --plan-only')).output);
    arrange({ diff: 'another diff' });
    const { code, output } = await deploy(`develop --yes --expect ${reviewed}`);
    expect([code, hasApplied()]).toEqual([2, false]);
    expect(output).toContain('\nanother diff\n');
    expect(readSha256(output)).not.toBe(reviewed);
    expect(output).toContain(
      `The plan is not the one that was reviewed (${reviewed}). Nothing was changed.\n`,
    );
    // Another deployment has made the changes meanwhile.
    arrange({ diff: 'No changes.', changes: [] });
    expect((await deploy(`develop --yes --expect ${reviewed}`)).code).toBe(0);

    arrange();
    const same = await deploy(`develop --yes --expect ${reviewed}`);
    expect([same.code, hasApplied()]).toEqual([0, true]);
  });

  const outputs = (action: string) => ({ outputChanges: { site: { actions: [action] } } });
  it.each<[string, Partial<World>, number]>([
    ['nothing', { changes: [] }, 0],
    ['a resource', {}, 1],
    ['an output', { changes: [], ...outputs('update') }, 1],
  ])('with --drift, applies nothing; if %s has changed: %j, exits %i', async (_, world, expected) => {
    arrange({ diff: 'the diff', ...world });
    const { code, output } = await deploy('release --drift');
    expect([code, hasApplied()]).toEqual([expected, false]);
    expect(output).toContain('\nthe diff\n');
  });

  const unchanged = [
    { address: 'aws_dynamodb_table.this', actions: ['no-op'] },
    { address: 'data.aws_region.current', actions: ['read'] },
  ];
  it.each<[string, Partial<World>, boolean, string]>([
    [
      'nothing if nothing has changed',
      { changes: unchanged, ...outputs('no-op') },
      false,
      'Already deployed: ',
    ],
    ['a plan that changes outputs only', { changes: [], ...outputs('create') }, true, '\nDeployed: '],
  ])('applies %s, and checks the stage', async (_, world, isApplied, message) => {
    arrange(world);
    const { code, output } = await deploy('develop --yes');
    expect([code, hasApplied(), smoke.mock.calls.length]).toEqual([0, isApplied, 1]);
    expect(output).toContain(message);
  });

  const table = { address: 'aws_dynamodb_table.this', actions: ['create', 'delete'] };
  const pool = { address: 'aws_cognito_user_pool.this[0]', actions: ['delete'] };
  const untaint = "terraform -chdir=infra/terraform untaint 'aws_dynamodb_table.this'";
  it.each<[Change[], string, string?]>([
    [[table], 'the table with its inquiries'],
    [[pool], 'the user pool with its users'],
    [[pool, table], 'the user pool with its users and the table with its inquiries'],
    [
      [{ ...table, action_reason: 'replace_because_tainted' }],
      'the table with its inquiries',
      ` Its creation was interrupted; to keep it: ${untaint}`,
    ],
  ])('never applies a plan with %j', async (changes, loss, hint = '') => {
    arrange({ changes });
    const { code, output } = await deploy('develop --yes');
    expect([code, hasApplied()]).toEqual([2, false]);
    expect(output).toContain(
      `The plan deletes ${loss}, which this command never does. Nothing was changed.${hint}\n`,
    );
  });

  const steps = ['npm run', 'terraform init', 'terraform workspace', 'terraform plan', 'terraform show'];
  it.each([...steps, 'terraform output'])('stops if %s fails, and prints its error', async (failing) => {
    arrange({ failing });
    const { code, output } = await deploy('develop --yes');
    expect([code, readCalls().at(-1)]).toEqual([1, expect.stringMatching(`^${failing} `)]);
    expect(output).toContain('\nError: it went wrong\n\nFailed: ');
    expect(output).not.toContain('what was planned');
    expect(temporaryFiles()).toEqual([]);
  });

  it('stops if terraform apply fails, and keeps a new table that Terraform would replace', async () => {
    const resources = [
      { address: 'aws_dynamodb_table.this', type: 'aws_dynamodb_table', tainted: true },
      { address: 'aws_dynamodb_table.erasures', type: 'aws_dynamodb_table' },
      { address: 'aws_iam_role.function', type: 'aws_iam_role', tainted: true },
    ];
    const error = 'creating IAM Role: EntityAlreadyExists: Role with name inquiries-develop already exists.';
    arrange({ failing: 'terraform apply', error, resources });
    const { code, output } = await deploy('develop --yes');
    const untaintTable = 'terraform untaint aws_dynamodb_table.this';
    expect([code, readCalls().slice(-2)]).toEqual([1, ['terraform show -json', untaintTable]]);
    expect(output).toContain(
      `Error: ${error}\n\nIt exists but is not in the state: see docs/runbook.md, "Import a resource".\n\nFailed: terraform apply.\n`,
    );
  });

  it('fails if the smoke test fails, and says how to roll back', async () => {
    smoke.mockResolvedValue(1);
    const { code, output } = await deploy('develop --yes');
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(
        'Applied, but the smoke test failed: https://api.example.com. To go back to the version before: npm run rollback -- develop\n',
      ),
    ]);
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
    arrange({ outputs: { ...FORM_OUTPUTS, dns_records: [record] } });
    aws.state.versions = Array.from({ length: 12 }, (_, index) => String(index + 1));
    const { code, output } = await deploy('develop --yes');
    expect([code, aws.state.changes.slice(-2)]).toEqual([0, ['delete 2', 'delete 1']]);
    expect(smoke.mock.lastCall?.[0].slice(6).join(' ')).toBe(
      '--function inquiries-develop:live --user-pool eu_1 --client c2',
    );
    expect(output).toContain('deleted versions 2, 1 of the function\n');
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
    [{}, { TF_CLI_ARGS_init: '-backend-config=bucket=b', TF_PLUGIN_DIR: '/p' }, ' -plugin-dir=/p'],
  ])('with the files %j and %j, initialises with "%s"', async (moduleFiles, env, option) => {
    arrange({ moduleFiles });
    await deploy('develop --plan-only', env);
    expect(readCalls()).toContain(`terraform init -no-color -reconfigure${option}`);
  });

  it.each([
    ['yes\n', 2, false],
    ['', 2, false],
    ['develop\n', 0, true],
  ])('asks at a terminal, and after %j exits %i', async (stdin, code, isApplied) => {
    const outcome = await runCommandHere(main, 'develop', { stdin: typed(stdin), isTTY: true });
    expect([outcome.code, hasApplied()]).toEqual([code, isApplied]);
    expect(outcome.output).toContain('Apply this plan? Type develop to confirm: ');
    expect(outcome.output.includes('Nothing was changed.')).toBe(!isApplied);
  });
});

describe('npm run deploy after a signal', () => {
  const nothing = 'nothing was changed.';
  it.each([
    ['npm run', 'building', nothing],
    ['terraform init', 'planning', nothing],
    ['terraform workspace', 'planning', nothing],
    ['terraform plan', 'planning', nothing],
    ['terraform show', 'planning', nothing],
    ['terraform apply', 'applying', 'Terraform saved what it had changed. Run the same command again.'],
    [
      'terraform output',
      'uploading the form',
      'the plan is applied; the form may be the one from before. Run the same command again.',
    ],
  ])('during %s hands on one SIGINT, waits, and says what is true', async (hanging, phase, state) => {
    arrange({ hanging });
    const ended = deploy('develop --yes');
    await awaitCall(`${hanging} waits`);
    process.emit('SIGTERM');
    await awaitCall(`${hanging} got SIGINT`);
    // Impatient: what ends Terraform without saving its state must not reach it.
    process.emit('SIGINT');
    process.emit('SIGTERM');
    letEnd(hanging);
    const { code, output } = await ended;
    const signals = readCalls().filter((call) => call.includes(' got '));
    expect([code, signals]).toEqual([143, [`${hanging} got SIGINT`]]);
    expect(output).toContain('\nSIGTERM: waiting for the current step to end …\n');
    expect(output.endsWith(`\nInterrupted while ${phase}: ${state}\n`)).toBe(true);
    expect(temporaryFiles()).toEqual([]);
    const after = readCalls().slice(readCalls().indexOf(signals[0] ?? '') + 1);
    // Whether a table was being created.
    expect(after).toEqual(hanging === 'terraform apply' ? ['terraform show -json'] : []);
  });

  it('during the smoke test ends it', async () => {
    smoke.mockImplementation(async (_, __, interruption) => {
      process.emit('SIGHUP');
      return interruption?.aborted ? Promise.reject(interruption.reason as Error) : 0;
    });
    const { code, output } = await deploy('develop --yes');
    expect(code).toBe(129);
    expect(output).toContain(
      'Interrupted while testing the stage: everything is deployed, but not tested. Run the same command again.\n',
    );
  });

  it("prints Terraform's error, and says where a state is that could not be saved", async () => {
    arrange({ hanging: 'terraform apply', error: 'Failed to save state' });
    const ended = deploy('develop --yes');
    await awaitCall('terraform apply waits');
    process.emit('SIGINT');
    writeFileSync(join(paths.MODULE, 'errored.tfstate'), '');
    letEnd('terraform apply');
    const { code, output } = await ended;
    expect([code, output]).toEqual([130, expect.stringContaining('Error: Failed to save state')]);
    expect(output).toContain('Interrupted while applying: Terraform could not save its state');
  });
});
