/** `npm run deploy`: what it refuses, the steps of a deployment, the question and signals. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../deploy/deploy.ts';
import type { main as runSmokeTest } from '../../deploy/smoke.ts';
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

const smoke = vi.hoisted(() => vi.fn<typeof runSmokeTest>());
vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);
vi.mock(import('../../deploy/smoke.ts'), () => ({ main: smoke }));

const aws = await setUpProject();
beforeEach(() => {
  arrange();
  // Version 10 is published by the apply.
  aws.state.aliases = [{ name: 'live', version: '9', revision: 1 }];
  aws.state.commits = { 10: 'abc1234' };
  smoke.mockReset().mockResolvedValue(0);
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
const deploy = (args: string, env: NodeJS.ProcessEnv = {}) => runCommandHere(main, args, { env });
/** The options of the smoke tests. */
const readTests = () => smoke.mock.calls.map(([given]) => given.join(' '));

describe('npm run deploy refuses in one line and changes nothing:', () => {
  const needed = 'version 1.10 or later is needed.';
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
  it('builds, plans, shows the plan, applies the same plan, tests the new version, makes it live, tests the stage and prints its URL', async () => {
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
    ]) {
      expect(output).toContain(part);
    }
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
        `terraform plan -no-color -var=commit=abc1234 -out=${file}`,
        `terraform show -json ${file}`,
        `terraform show -no-color ${file}`,
        `terraform apply -no-color ${file}`,
        'terraform output -json',
        `terraform show -json ${file}`,
      ],
    ]);
    expect(output).toMatch(/\nAlarms are mailed to nobody: .*\n$/);
    expect(readTests()).toEqual([
      '--function inquiries-develop:10 --wait 60',
      '--function inquiries-develop:live --url https://api.example.com --origin https://www.example.com --wait 60',
    ]);
    expect([aws.state.changes, temporaryFiles()]).toEqual([['switch 10'], []]);
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
  ])(
    'with --drift, applies nothing; if %s has changed: %j, exits %i',
    async (_, world, expected) => {
      arrange({ diff: 'the diff', ...world });
      const { code, output } = await deploy('release --drift');
      expect([code, hasApplied()]).toEqual([expected, false]);
      expect(output).toContain('\nthe diff\n');
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
  ])('applies %s, and checks the stage', async (_, world, isApplied, message) => {
    arrange(world);
    aws.state.aliases = [{ name: 'live', version: '10', revision: 1 }];
    const { code, output } = await deploy('develop --yes');
    expect([code, hasApplied(), aws.state.changes]).toEqual([0, isApplied, []]);
    expect([output, readTests().length]).toEqual([expect.stringContaining(message), 2]);
  });

  it('completes a deployment that ended before its version was live, and --drift reports it', async () => {
    arrange({ changes: [] });
    aws.state.aliases = [{ name: 'live', version: '3', revision: 1 }];
    const drift = await deploy('release --drift');
    expect(drift).toMatchObject({
      code: 1,
      output: expect.stringContaining('live      version 3, not 9: it was'),
    });
    const { code, output } = await deploy('develop --yes');
    expect([code, output]).toEqual([0, expect.stringContaining('\nDeployed: ')]);
    expect(aws.state.changes).toEqual(['switch 10']);
  });

  const table = { address: 'aws_dynamodb_table.this', actions: ['create', 'delete'] };
  const tainted = { ...table, action_reason: 'replace_because_tainted' };
  const pool = { address: 'aws_cognito_user_pool.this[0]', actions: ['delete'] };
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
  const refuses = (setting: string) =>
    `The form would refuse its settings: ${setting} Nothing was changed.`;
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
    expect([code, readTests(), aws.state.changes]).toEqual([1, [], []]);
    expect(output).toContain(`terraform apply …\nwhat was planned\n\nError: ${error}`);
    const state = 'Terraform has saved what it changed. Version 9 is still live.';
    expect(output.endsWith(`\n\n${hint}\n\nFailed: terraform apply.\n\n${state} ${AGAIN}\n`)).toBe(
      true,
    );
  });

  it('leaves what is live if the test of the new version fails', async () => {
    arrange({ outputs: { ...FORM_OUTPUTS, mailer: 'inquiries-develop-mailer' } });
    smoke.mockResolvedValue(1);
    const { code, output } = await deploy('develop --yes');
    expect(output).toContain(
      `\nThe smoke test of version 10 failed.\n\nThe plan is applied. Version 9 is still live. ${AGAIN}\n`,
    );
    const options = '--function inquiries-develop:10 --mailer inquiries-develop-mailer --wait 60';
    expect([code, aws.state.changes, readTests()]).toEqual([1, [], [options]]);
  });

  /** Version 9 is live with its form. */
  const arrangeForm = (): void => {
    arrange({ outputs: FORM_OUTPUTS });
    for (const folder of ['versions/9/', '']) {
      for (const [name, body] of [
        ['index.html', 'nine'],
        ['inquiry-form.js', 'nine'],
      ]) {
        aws.state.objects.set(`/form-bucket/${folder}${name}`, {
          body: body ?? '',
          type: '',
          cache: '',
        });
      }
    }
  };
  const readPage = () => aws.state.objects.get('/form-bucket/index.html')?.body;

  it.each([
    [
      'the test of the stage',
      () => smoke.mockResolvedValueOnce(0).mockResolvedValueOnce(1),
      'The smoke test of https://api.example.com failed.',
    ],
    [
      'a file of the form',
      () => {
        let hasFailed = false;
        aws.state.answers['PUT /form-bucket/index.html'] = () => {
          if (hasFailed) return undefined;
          hasFailed = true;
          return {
            status: 403,
            body: '<Error><Code>AccessDenied</Code><Message>denied</Message></Error>',
          };
        };
      },
      'denied',
    ],
  ])(
    'makes the version before live again, with its form, if %s fails',
    async (_, fail, message) => {
      arrangeForm();
      fail();
      const { code, output } = await deploy('develop --yes');
      expect(output).toContain(
        `\n${message}\n\nVersion 9 is live again, with its form. ${AGAIN}\n`,
      );
      expect([
        code,
        readPage(),
        aws.state.objects.get('/form-bucket/inquiry-form.js')?.body,
      ]).toEqual([1, 'nine', 'nine']);
      expect(aws.state.changes.filter((change) => change.startsWith('switch'))).toEqual([
        'switch 10',
        'switch 9',
      ]);
      expect(output).not.toContain('Deployed');
    },
  );

  it.each<[string, () => void, string]>([
    [
      'has published another version',
      () => (aws.state.commits = { 10: 'def5678' }),
      'Somebody else has published version 10 of inquiries-develop meanwhile (commit def5678).',
    ],
    [
      'has made another version live',
      () =>
        smoke.mockImplementation(async () => {
          aws.state.aliases = [{ name: 'live', version: '3', revision: 7 }];
          return 0;
        }),
      'The alias live of inquiries-develop was changed by somebody else meanwhile and names version 3; it was not switched.',
    ],
  ])(
    'changes nothing that is live if somebody else %s meanwhile',
    async (_, interfere, message) => {
      arrangeForm();
      interfere();
      const { code, output } = await deploy('develop --yes');
      expect([code, output]).toEqual([
        1,
        expect.stringContaining(`\n${message}\n\nThe plan is applied.`),
      ]);
      expect([
        readPage(),
        aws.state.changes.filter((change) => change.startsWith('switch')),
      ]).toEqual(['nine', []]);
    },
  );

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
    aws.state.objects.set('/form-bucket/versions/1/index.html', {
      body: 'one',
      type: '',
      cache: '',
    });
    aws.state.versions = Array.from({ length: 12 }, (_, index) => String(index + 1));
    const { code, output } = await deploy('develop --yes');
    const deleted = ['delete 2', 'delete 1', 'delete /form-bucket/versions/1/index.html'];
    expect([code, aws.state.changes.slice(-3)]).toEqual([0, deleted]);
    expect(readTests()[1]).toContain('--function inquiries-develop:live');
    expect(readTests()[1]).toContain('--user-pool eu_1 --client c2');
    expect(output).toContain('deleted versions 2, 1 of the function\n');
    expect(output).toContain(
      'Deployed: https://d1.example.com/\nAPI https://api.example.com/inquiries\n',
    );
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
  it.each([
    ...STEPS.map((step) => [step, 'Nothing was changed.']),
    ['terraform apply', 'Terraform has saved what it changed. Version 9 is still live.'],
    ['terraform output', 'The plan is applied. Version 9 is still live.'],
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

  it('during the test of the stage ends it, and makes the version before live again', async () => {
    smoke.mockResolvedValueOnce(0).mockImplementation(async (_, __, interruption) => {
      process.emit('SIGHUP');
      return interruption?.aborted ? Promise.reject(interruption.reason as Error) : 0;
    });
    const { code, output } = await deploy('develop --yes');
    expect([code, output]).toEqual([
      129,
      expect.stringContaining(
        `Interrupted. Version 9 is live again. Run the same command again.\n`,
      ),
    ]);
    expect(aws.state.changes).toEqual(['switch 10', 'switch 9']);
  });
});
