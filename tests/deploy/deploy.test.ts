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
import type { World } from '../helpers/programs.ts';
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
  testStage.mockReset().mockResolvedValue(true);
  for (const built of ['dist/inquiries.zip', 'web/dist/inquiry-form.js']) {
    writeFileSync(join(paths.ROOT, built), built);
  }
  writeFileSync(join(paths.ROOT, 'web/dist/index.html'), "connect-src 'self';");
});

const LIVE = 'Version 10 of inquiries-develop is live.';
const AGAIN = 'Run the same command again.\n';

/** Runs the command in a world that is arranged otherwise. */
async function deploy(args: string, world: Partial<World> = {}) {
  arrange(world);
  return { ...(await runCommandHere(main, args)), isApplied: hasApplied() };
}
/** Another command makes a version live. */
const makeLive = (version: string): void => {
  aws.state.live = { FunctionVersion: version, RevisionId: '7' };
};

it.each<[string, Partial<World>, string]>([
  ['--yes', {}, '"" is not a stage; stages are develop, main, release.'],
  [
    'release --plan-only',
    { dirty: ' M src/app.ts\n' },
    'release is deployed from a commit only, and without infra/terraform/backend_override.tf; git status says:  M src/app.ts\n',
  ],
  [
    'release --yes',
    { moduleFiles: { 'backend_override.tf': '' } },
    'release is deployed from a commit only, and without infra/terraform/backend_override.tf; git status says: ',
  ],
  [
    'main --drift',
    { moduleFiles: { 'main.s3.tfbackend': 'allowed_account_ids = ["4"]' } },
    'The credentials are of account 111122223333 and region eu-central-1, but main is in 4 and eu-central-1 (infra/terraform/main.s3.tfbackend).',
  ],
  [
    'develop --yes',
    { moduleFiles: { 'backend.s3.tfbackend': 'region = "us-west-2"\n' } },
    'The credentials are of account 111122223333 and region eu-central-1, but develop is in 111122223333 and us-west-2 (infra/terraform/backend.s3.tfbackend).',
  ],
  [
    'main --yes',
    { moduleFiles: { 'errored.tfstate': '' } },
    'infra/terraform/errored.tfstate is a state that Terraform could not save: see docs/runbook.md, "A deployment was interrupted".',
  ],
])('npm run deploy -- %s is refused before anything is run, with %j', async (args, world, line) => {
  expect(await deploy(args, world)).toEqual({ code: 2, output: `${line}\n`, isApplied: false });
  expect(readCalls().join('\n')).not.toMatch(/^(npm|terraform)/m);
});

it('npm run deploy is refused without credentials', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  const { code, output } = await deploy('develop --yes');
  vi.stubEnv('AWS_ACCESS_KEY_ID', aws.env.AWS_ACCESS_KEY_ID);
  expect([code, output]).toEqual([2, expect.stringContaining('no valid AWS credentials')]);
});

describe('npm run deploy', () => {
  it('builds, shows the plan, applies the same plan, tests the stage, and prints its URL', async () => {
    const { code, output } = await deploy('release --yes');
    const plan = /-out=(\S+)/.exec(readCalls().join('\n'))?.[1];
    expect(readCalls().filter((call) => !call.startsWith('git'))).toEqual([
      'npm run --silent build',
      'terraform init -no-color -reconfigure -backend-config=backend.s3.tfbackend',
      'terraform workspace select -or-create release',
      `terraform plan -no-color -out=${plan}`,
      `terraform show -json ${plan}`,
      `terraform apply -no-color ${plan}`,
      'terraform output -json',
      expect.stringMatching(/^terraform plan -no-color -lock=false -out=\S+again$/),
      expect.stringMatching(/^terraform show -json \S+again$/),
    ]);
    for (const part of [
      'stage release, account 111122223333, region eu-central-1\n',
      '\n\nTerraform will perform the following actions:\n\n  # aws_lambda_function.this will be updated',
      'Deployed: https://api.example.com/inquiries\nDashboard https://console.example.com/dashboard\nNobody gets mails',
    ]) {
      expect(output).toContain(part);
    }
    expect(output).not.toContain('Refreshing');
    expect([code, aws.state.changes, temporaryFiles()]).toEqual([0, [], []]);
  });

  interface More {
    readonly args?: string;
    readonly world?: Partial<World>;
    /** What has happened before, or happens during the smoke test. */
    readonly happen?: () => void;
  }
  const table = 'aws_dynamodb_table.this';
  const pool = 'module.identity[0].aws_cognito_user_pool.this';
  const output = (name: string, action: string, after = {}) => ({
    changes: [],
    outputs: FORM_OUTPUTS,
    outputChanges: { [name]: { actions: [action], after } },
  });
  const drift = 'release --drift';
  const APPLIED = `The plan is applied. ${LIVE}`;
  it.each<[name: string, code: number, isApplied: boolean, says: string, more?: More]>([
    ['drift: nothing has changed', 0, false, '', { args: drift, world: { changes: [] } }],
    ['drift: a resource has changed', 1, false, 'will be updated', { args: drift }],
    ['drift: an output has changed', 1, false, '', { args: drift, world: output('o', 'update') }],
    [
      'drift: another form is served',
      1,
      false,
      'form      config.json is answered with 403\n',
      {
        args: drift,
        world: { changes: [], outputs: FORM_OUTPUTS },
        happen: () => listDifferences.mockResolvedValue(['config.json is answered with 403']),
      },
    ],
    ['nothing has changed', 0, false, 'Already deployed: ', { world: { changes: [] } }],
    [
      'the form alone has changed',
      0,
      false,
      '\nDeployed: ',
      { world: { changes: [], outputs: FORM_OUTPUTS } },
    ],
    [
      'the plan that is given was made of another package',
      2,
      false,
      'dist/inquiries.zip is not the package of the plan.\n',
      {
        args: 'develop --yes --plan /p',
        happen: () => writeFileSync(join(paths.ROOT, 'dist/inquiries.zip'), 'another one'),
      },
    ],
    ...[table, pool].map((address): [string, number, boolean, string, More] => [
      `the plan deletes ${address}`,
      2,
      false,
      `The plan deletes ${address}, which`,
      { world: { changes: [{ address, actions: ['delete', 'create'] }] } },
    ]),
    [
      'the table is not in the account',
      2,
      false,
      `The state has ${table}, a, but it is not in account 111122223333, region eu-central-1. `,
      { world: { lost: { 'aws_iam_role.r': 'r', [table]: 'a' } } },
    ],
    [
      'the form would refuse its settings',
      2,
      false,
      '“accent” in config.json must be a colour',
      { world: output('form_config', 'create', { accent: 'blue' }) },
    ],
    [
      'the script of the form throws',
      1,
      false,
      `\nboom\n\nNothing was changed. ${AGAIN}`,
      {
        world: output('form_config', 'create'),
        happen: () => runForm.mockRejectedValue(new Error('boom')),
      },
    ],
    [
      'the apply fails, and there is no alias yet',
      1,
      true,
      `terraform apply …\nwhat was planned\n\nError: Role r already exists.\n\nIt is not in the state: see docs/runbook.md, "Import a resource".\n\nFailed: terraform apply.\n\nTerraform has saved what it changed. No version of inquiries-develop is live yet. ${AGAIN}`,
      {
        world: { failing: 'terraform apply', error: 'Role r already exists.' },
        happen: () => (aws.state.live = undefined),
      },
    ],
    [
      'the smoke test fails',
      1,
      true,
      `The smoke test failed. The version before is live again after: npm run rollback -- develop\n\n${APPLIED}`,
      { happen: () => testStage.mockResolvedValue(false) },
    ],
    [
      'the plan after the apply has changes',
      1,
      true,
      `The plan after the apply has changes, which the plan above shows.\n\n${APPLIED}`,
      { world: { again: [{ address: 'aws_iam_role.r', actions: ['update'] }] } },
    ],
    [
      'another deployment ends during the smoke test',
      1,
      true,
      'Another command has made version 11 of inquiries-develop live since this one made 10 live.\n\nThe plan is applied. Version 11 of inquiries-develop is live.',
      { happen: () => testStage.mockImplementation(async () => (makeLive('11'), false)) },
    ],
  ])('%s', async (_, code, isApplied, says, { args = 'develop --yes', world, happen } = {}) => {
    happen?.();
    expect(await deploy(args, world)).toEqual({
      code,
      isApplied,
      output: expect.stringContaining(says),
    });
  });

  it('serves the form, and lists the DNS records to be entered', async () => {
    const record = {
      purpose: 'validates the certificate',
      name: '_1.www.example.com',
      type: 'CNAME',
      value: '_2.acm.example',
      next: 'set dns = "certificate" in site_domain',
    };
    const world = { outputs: { ...FORM_OUTPUTS, dns_records: [record] } };
    const { code, output: printed } = await deploy('develop --yes', world);
    expect([code, aws.state.changes.at(-2)]).toEqual([0, 'put /form-bucket/index.html']);
    for (const part of [
      'form      index.html is served\n',
      'Deployed: https://d1.example.com/\nAPI https://api.example.com/inquiries\n',
      'once it can be resolved, set dns = "certificate" in site_domain, and deploy again:\n  _1.www.example.com CNAME _2.acm.example\n',
    ]) {
      expect(printed).toContain(part);
    }
  });

  it('leaves the form of an earlier version that is kept live', async () => {
    makeLive('9');
    const versions = { name: 'inquiries-develop', version: '10', live: '9' };
    const { code } = await deploy('develop --yes', {
      outputs: { ...FORM_OUTPUTS, function: versions },
    });
    expect([code, aws.state.changes]).toEqual([0, []]);
  });

  it.each([
    ['yes\n', 2, false],
    ['develop\n', 0, true],
  ])('asks at a terminal, and after %j exits %i', async (stdin, code, isApplied) => {
    const outcome = await runCommandHere(main, 'develop', { stdin: typed(stdin), isTTY: true });
    expect([outcome.code, hasApplied()]).toEqual([code, isApplied]);
    expect(outcome.output).toContain('Apply this plan? Type develop to confirm: ');
    expect(outcome.output.includes('Nothing was changed.')).toBe(!isApplied);
  });

  it.each<[string, string]>([
    ['npm run', 'Nothing was changed.'],
    ['terraform plan', 'Nothing was changed.'],
    ['terraform apply', `Terraform has saved what it changed. ${LIVE}`],
    ['terraform output', `The plan is applied. ${LIVE}`],
  ])(
    'after a signal during %s hands on nothing, waits, and says what is true',
    async (hanging, state) => {
      const ended = deploy('develop --yes', { hanging });
      await awaitCall(`${hanging} waits`);
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) process.emit(signal);
      letEnd(hanging);
      const { code, output: printed } = await ended;
      expect([code, readCalls().at(-1)]).toEqual([143, `${hanging} waits`]);
      expect(printed).toMatch(new RegExp(`\nSIGTERM: waiting for ${hanging}.* to end …\n`));
      expect(printed.endsWith(`\nInterrupted. ${state} ${AGAIN}`)).toBe(true);
      expect([temporaryFiles(), aws.state.changes]).toEqual([[], []]);
    },
  );
});
