/** `npm run deploy`: what it refuses, the steps of a deployment, the question and signals. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../deploy/deploy.ts';
import type { testStage as runSmokeTest } from '../../deploy/smoke.ts';
import {
  arrange,
  awaitCall,
  FORM_OUTPUTS,
  hasApplied,
  letEnd,
  readCalls,
  runCommandHere,
  setUpProject,
  temporaryFiles,
  typed,
} from '../helpers/programs.ts';
import type { Change, World } from '../helpers/programs.ts';
import { paths } from '../helpers/project.ts';

const testStage = vi.hoisted(() => vi.fn<typeof runSmokeTest>());
const runForm = vi.hoisted(() => vi.fn<() => Promise<string>>());
const listDifferences = vi.hoisted(() => vi.fn<() => Promise<string[]>>());
vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);
vi.mock(import('../../deploy/smoke.ts'), () => ({ testStage }));
vi.mock(import('../../deploy/form.ts'), async (original) => ({
  ...(await original()),
  runForm,
  listDifferences,
}));

const aws = await setUpProject();
beforeEach(() => {
  arrange();
  runForm.mockResolvedValue('run');
  listDifferences.mockResolvedValue([]);
  // What is at the end of the list has to be true, too.
  testStage.mockReset().mockImplementation(async (_outputs, _form, _io, _signal, { more } = {}) => {
    for (const { run } of more ?? []) await run();
    return true;
  });
  const built = ['dist/inquiries.zip', 'dist/mailer.zip', 'web/dist/inquiry-form.js'];
  for (const name of built) writeFileSync(join(paths.ROOT, name), name);
  writeFileSync(join(paths.ROOT, 'web/dist/index.html'), "connect-src 'self';");
});

/** What is run before an apply. */
const STEPS = [
  'npm run',
  'terraform init',
  'terraform workspace',
  'terraform plan',
  'terraform show',
];
const AGAIN = 'Once the cause is removed, run the same command again.';
const LIVE = 'Version 10 of inquiries-develop is live.';
const deploy = (args: string, env: NodeJS.ProcessEnv = {}) => runCommandHere(main, args, { env });
/** Another command makes a version live. */
const makeLive = (version: string): void => {
  aws.state.aliases = [{ name: 'live', version, revision: 7 }];
};

describe('npm run deploy refuses in one line and changes nothing:', () => {
  const needed = 'version 1.11 or later is needed.';
  const noPlace =
    'The place of the state is missing: run "npm run bootstrap" once, or copy infra/terraform/backend.s3.tfbackend.example to backend.s3.tfbackend and enter your bucket.';
  const otherAccount = 'bucket = "b"\nallowed_account_ids = ["444455556666"]\n';
  it.each<[string, Partial<World> & { env?: NodeJS.ProcessEnv }, string]>([
    ['--yes', {}, 'The stage is missing: npm run deploy -- develop|main|release'],
    [
      'develop main --yes',
      {},
      '"develop main" is not a stage; stages are develop, main and release.',
    ],
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
    [
      'develop --yes',
      { moduleFiles: { 'backend.s3.tfbackend': 'region = "us-west-2"\n' } },
      'The region is eu-central-1, but develop is in us-west-2 (infra/terraform/backend.s3.tfbackend); set AWS_REGION=us-west-2.',
    ],
    [
      'main --yes',
      {
        moduleFiles: {
          'backend.s3.tfbackend': '',
          'errored.tfstate': '{"tags": {"stage": "develop"}}',
        },
      },
      'infra/terraform/errored.tfstate is the state of develop that Terraform could not save; without it, Terraform would make everything in it again. Nothing was changed. Save it, and run this command again: TF_WORKSPACE=develop terraform -chdir=infra/terraform state push errored.tfstate && rm infra/terraform/errored.tfstate',
    ],
  ])('%s with %j', async (args, { env, ...world }, message) => {
    arrange(world);
    expect(await deploy(args, env)).toEqual({ code: 2, output: `${message}\n` });
    // Only what reads.
    expect(readCalls().join('\n')).not.toMatch(/^(npm|terraform (?!version))/m);
  });

  it.each([
    [
      'AWS_ACCESS_KEY_ID',
      'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).',
    ],
    ['AWS_REGION', 'There is no AWS region; set AWS_REGION or AWS_PROFILE.'],
  ] as const)('an environment without %s', async (name, message) => {
    vi.stubEnv(name, '');
    expect(await deploy('develop --yes')).toEqual({ code: 2, output: `${message}\n` });
    vi.stubEnv(name, aws.env[name]);
  });
});

describe('npm run deploy', () => {
  it('builds, shows the plan, applies the same plan, tests the stage, and prints its URL', async () => {
    const { code, output } = await deploy('release --yes');
    const diff =
      'Terraform will perform the following actions:\n\n  # aws_lambda_function.this will be updated';
    for (const part of [
      `terraform show …\n\n${diff}`,
      'stage     release\n',
      'account   111122223333, region eu-central-1, credentials of the environment\n',
      'commit    abc1234\n',
      'plan      0 to create, 1 to change, 0 to replace, 0 to destroy\n            change   aws_lambda_function.this\n',
      'Deployed: https://api.example.com/inquiries\nDashboard https://console.example.com/dashboard\n',
    ]) {
      expect(output).toContain(part);
    }
    expect(output).not.toContain('Refreshing');
    expect(output).toMatch(
      /packages {2}dist\/inquiries\.zip, sha256 \S{44}\n {12}dist\/mailer\.zip, sha256 \S{44}\n/,
    );
    expect([code, hasApplied()]).toEqual([0, true]);
    expect(output).toMatch(/\nAlarms reach nobody: .*\n$/);
    expect([aws.state.changes, temporaryFiles()]).toEqual([[], []]);
  });

  it('runs the program that TERRAFORM names, for every step', async () => {
    arrange({ programs: ['tofu', 'git', 'npm'] });
    const { code, output } = await deploy('develop --yes', { TERRAFORM: 'tofu' });
    expect([code, output]).toEqual([0, expect.stringContaining('tofu apply …\n')]);
  });

  it('with --plan-only writes the plan to the file of --plan, and later applies that file', async () => {
    arrange({ dirty: ' M src/app.ts\n' });
    const file = join(paths.ROOT, 'reviewed');
    const planned = await deploy(`develop --plan-only --plan ${file}`);
    expect([planned.code, hasApplied()]).toEqual([0, false]);
    expect(planned.output).toContain('commit    abc1234 with uncommitted changes\n');
    expect(readCalls()).toContain(`terraform plan -no-color -out=${file}`);

    arrange();
    expect((await deploy(`develop --yes --plan ${file}`)).code).toBe(0);
    expect(readCalls().filter((call) => call.endsWith(` ${file}`))).toEqual([
      `terraform show -json ${file}`,
      `terraform show -json ${file}`,
      `terraform apply -no-color ${file}`,
    ]);
  });

  it('refuses a plan that was made of another package', async () => {
    writeFileSync(join(paths.ROOT, 'dist/inquiries.zip'), 'another one');
    const { code, output } = await deploy('develop --yes --plan reviewed');
    expect([code, hasApplied()]).toEqual([2, false]);
    expect(output).toContain(
      'dist/inquiries.zip is not the package of the plan: deploy the commit that it was made from.\n',
    );
  });

  const outputs = (action: string) => ({ outputChanges: { site: { actions: [action] } } });
  it.each<[string, Partial<World>, number, string[]]>([
    ['nothing', { changes: [] }, 0, []],
    ['a resource', {}, 1, []],
    ['an output', { changes: [], ...outputs('update') }, 1, []],
    ['the form', { changes: [] }, 1, ['config.json is answered with 403']],
  ])(
    'with --drift, applies nothing; if %s has changed: %j, exits %i',
    async (_, world, expected, differences) => {
      arrange({ diff: 'the diff', outputs: FORM_OUTPUTS, ...world });
      listDifferences.mockResolvedValue(differences);
      const { code, output } = await deploy('release --drift');
      expect([code, hasApplied()]).toEqual([expected, false]);
      for (const part of ['the diff', ...differences]) expect(output).toContain(`${part}\n`);
    },
  );

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
    [
      'a plan that changes outputs only',
      { changes: [], ...outputs('create') },
      true,
      '\nDeployed: ',
    ],
    [
      'nothing, but serves a form that has changed',
      { changes: [], outputs: FORM_OUTPUTS },
      false,
      '\nDeployed: ',
    ],
  ])('applies %s, and checks the stage', async (_, world, isApplied, message) => {
    arrange(world);
    const { code, output } = await deploy('develop --yes');
    expect([code, hasApplied(), testStage.mock.calls.length]).toEqual([0, isApplied, 1]);
    expect(output).toContain(message);
  });

  const table = { address: 'aws_dynamodb_table.this', actions: ['create', 'delete'] };
  const tainted = { ...table, action_reason: 'replace_because_tainted' };
  const pool = { address: 'module.identity[0].aws_cognito_user_pool.this', actions: ['delete'] };
  const [INQUIRIES, USERS] = ['the table with its inquiries', 'the user pool with its users'];
  const deletes = (what: string, hint = '') =>
    `The plan deletes ${what}, which this command never does. Nothing was changed.${hint}`;
  const untaint = "terraform -chdir=infra/terraform untaint 'aws_dynamodb_table.this'";
  const lose = ({ address }: Change, arn: string) => ({
    changes: [{ address, actions: ['create'] }],
    lost: { [address]: arn, 'aws_iam_role.r': 'r' },
  });
  const isLost = (what: string, arn: string, { address }: Change) =>
    `The state has ${what}, ${arn}, but it is not in account 111122223333, region eu-central-1. Nothing was changed. If AWS_REGION is wrong, correct it. If it was deleted, restore it (docs/runbook.md, "Restore the table"); to begin without its data: terraform -chdir=infra/terraform state rm '${address}'`;
  const form = (after: object) => ({
    outputChanges: { form_config: { actions: ['create'], after } },
  });
  const refuses = (setting: string) => `The form would refuse its settings: ${setting}`;
  it.each<[Partial<World>, string]>([
    [{ changes: [table] }, deletes(INQUIRIES)],
    [{ changes: [pool] }, deletes(USERS)],
    [{ changes: [pool, table] }, deletes(`${USERS} and ${INQUIRIES}`)],
    [
      { changes: [tainted] },
      deletes(INQUIRIES, ` Its creation was interrupted; to keep it: ${untaint}`),
    ],
    [lose(table, 'arn:table/t'), isLost(INQUIRIES, 'arn:table/t', table)],
    [lose(pool, 'arn:userpool/p'), isLost(USERS, 'arn:userpool/p', pool)],
    [
      form({ accent: 'blue' }),
      refuses('“accent” in config.json must be a colour such as #3f4fd0, not “blue”.'),
    ],
    [
      form({ logo: 'x.svg' }),
      refuses('“logo” must be an SVG, PNG, JPEG or WebP file in web/public, not “x.svg”.'),
    ],
  ])('never applies a plan with %j', async (world, message) => {
    arrange(world);
    const { code, output } = await deploy('develop --yes');
    expect([code, hasApplied()]).toEqual([2, false]);
    expect(output).toContain(`${message}\n`);
  });

  it('never applies a form whose script throws', async () => {
    arrange(form({}));
    runForm.mockRejectedValue(new Error('the form does not run: boom'));
    const { code, output } = await deploy('develop --yes');
    expect([code, hasApplied()]).toEqual([1, false]);
    expect(output).toContain(`\nthe form does not run: boom\n\nNothing was changed. ${AGAIN}\n`);
  });

  it.each([...STEPS, 'terraform output'])(
    'stops if %s fails, and prints its error',
    async (failing) => {
      arrange({ failing });
      const { code, output } = await deploy('develop --yes');
      expect([code, readCalls().at(-1)]).toEqual([1, expect.stringMatching(`^${failing} `)]);
      expect(output).toContain('\nError: it went wrong\n\nFailed: ');
      expect(output).not.toContain('what was planned');
      expect(temporaryFiles()).toEqual([]);
    },
  );

  it.each([
    [
      'creating IAM Role: EntityAlreadyExists: Role with name inquiries-develop already exists.',
      'It exists but is not in the state: see docs/runbook.md, "Import a resource".',
    ],
    [
      'Error acquiring the state lock\n\nRequestID: r, HostID: h\nLock Info:\n  ID:        i-1\n  Operation: OperationTypeApply\n  Who:       ana@host\n  Created:   2026-11-22 10:00\n',
      'The state is locked by ana@host since 2026-11-22 10:00 (OperationTypeApply). Wait until that command has ended. If it was killed with its Terraform: terraform -chdir=infra/terraform force-unlock i-1',
    ],
  ])('shows what terraform apply prints, and if it fails what to do: %s', async (error, hint) => {
    arrange({ failing: 'terraform apply', error });
    const { code, output } = await deploy('develop --yes');
    expect([code, testStage.mock.calls, aws.state.changes]).toEqual([1, [], []]);
    expect(output).toContain(`terraform apply …\nwhat was planned\n\nError: ${error}`);
    const state = `Terraform has saved what it changed. ${LIVE}`;
    expect(output.endsWith(`\n\n${hint}\n\nFailed: terraform apply.\n\n${state} ${AGAIN}\n`)).toBe(
      true,
    );
  });

  const overtaken =
    '\nAnother command has made version 11 of inquiries-develop live since this one made 10 live.';
  it.each<[string, () => void, string]>([
    [
      'a new version fails its test',
      () => {
        aws.state.versions = ['9', '10'];
        makeLive('9');
        arrange({ failing: 'terraform apply' });
      },
      'Terraform has saved what it changed. Version 9 of inquiries-develop is live, not 10.',
    ],
    [
      'there is no alias yet',
      () => {
        aws.state.aliases = [];
        arrange({ failing: 'terraform apply' });
      },
      'Terraform has saved what it changed. No version of inquiries-develop is live yet.',
    ],
    [
      'the smoke test fails',
      () => testStage.mockResolvedValue(false),
      `The smoke test failed. The version before is live again after: npm run rollback -- develop\n\nThe plan is applied. ${LIVE}`,
    ],
    [
      'the plan after the apply has changes',
      () => arrange({ again: [{ address: 'aws_iam_role.r', actions: ['update'] }] }),
      'aws_iam_role.r would change again: npm run deploy -- STAGE --plan-only shows how',
    ],
    [
      'another deployment has ended before the form is served',
      () => makeLive('11'),
      `${overtaken}\n\nThe plan is applied. Version 11 of inquiries-develop is live, not 10.`,
    ],
    [
      'another deployment ends during the smoke test',
      () => testStage.mockImplementation(async () => (makeLive('11'), true)),
      `${overtaken}\n\nThe plan is applied. Version 11 of inquiries-develop is live, not 10.`,
    ],
  ])('if %s, says so and what is live, and moves nothing', async (_, happen, message) => {
    happen();
    const { code, output } = await deploy('develop --yes');
    expect([code, aws.state.changes]).toEqual([1, []]);
    expect(output).toContain(message);
    expect(output).not.toContain('Deployed');
  });

  it('serves the form, and lists the DNS records to be entered', async () => {
    const record = {
      domain: 'www.example.com',
      purpose: 'validates the certificate',
      name: '_1.www.example.com',
      type: 'CNAME',
      value: '_2.acm.example',
      next: 'set dns = "certificate" in site_domain',
    };
    arrange({ outputs: { ...FORM_OUTPUTS, dns_records: [record] } });
    const { code, output } = await deploy('develop --yes');
    expect([code, aws.state.changes.at(-2)]).toEqual([0, 'put /form-bucket/index.html']);
    expect(output).toContain('form      index.html is served\n');
    expect(output).toContain(
      'Deployed: https://d1.example.com/\nAPI https://api.example.com/inquiries\n',
    );
    expect(output).toContain(`
  _1.www.example.com
  CNAME  _2.acm.example
         validates the certificate of www.example.com; once it can be resolved, set dns = "certificate" in site_domain, and deploy again
`);
  });

  it('leaves the form of an earlier version that is kept live', async () => {
    const versions = { name: 'inquiries-develop', version: '10', live: '9' };
    arrange({ outputs: { ...FORM_OUTPUTS, function: versions } });
    makeLive('9');
    expect([(await deploy('develop --yes')).code, aws.state.changes]).toEqual([0, []]);
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
  it.each([
    ...STEPS.map((step) => [step, 'Nothing was changed.']),
    ['terraform apply', `Terraform has saved what it changed. ${LIVE}`],
    ['terraform output', `The plan is applied. ${LIVE}`],
  ] as [string, string][])(
    'during %s hands on nothing, waits, and says what is true',
    async (hanging, state) => {
      arrange({ hanging });
      const ended = deploy('develop --yes');
      await awaitCall(`${hanging} waits`);
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) process.emit(signal);
      letEnd(hanging);
      const { code, output } = await ended;
      expect([code, readCalls().at(-1)]).toEqual([143, `${hanging} waits`]);
      expect(output).toMatch(new RegExp(`\nSIGTERM: waiting for ${hanging}.* to end …\n`));
      expect(output.endsWith(`\nInterrupted. ${state} Run the same command again.\n`)).toBe(true);
      expect([temporaryFiles(), aws.state.changes]).toEqual([[], []]);
    },
  );

  it('during the smoke test ends it', async () => {
    testStage.mockImplementation(async (_outputs, _form, _io, interruption) => {
      process.emit('SIGHUP');
      return interruption.aborted ? Promise.reject(interruption.reason as Error) : true;
    });
    const { code, output } = await deploy('develop --yes');
    const message = `Interrupted. The plan is applied. ${LIVE} Run the same command again.\n`;
    expect([code, output]).toEqual([129, expect.stringContaining(message)]);
  });
});
