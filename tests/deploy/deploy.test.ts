/** `npm run deploy`: refusals, steps, the question and signals. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { main } from '../../deploy/deploy.ts';
import type { testStage as runSmokeTest } from '../../deploy/smoke.ts';
import {
  awaitCall,
  calls,
  FORM_OUTPUTS,
  letEnd,
  setUpProject,
  whatRan,
  type World,
} from './programs.ts';
import { paths } from './project.ts';

const testStage = vi.hoisted(() => vi.fn<typeof runSmokeTest>());
const runForm = vi.hoisted(() => vi.fn<() => Promise<string>>());
const listDifferences = vi.hoisted(() => vi.fn<() => Promise<string[]>>());
vi.mock(import('../../lib/paths.ts'), async () => (await import('./project.ts')).paths);
vi.mock(import('../../deploy/smoke.ts'), () => ({ testStage }));
vi.mock(import('../../deploy/form.ts'), async (original) => ({
  ...(await original()),
  runForm,
  listDifferences,
}));
vi.mock(import('../../deploy/terraform.ts'), async (original) => ({
  ...(await original()),
  run: (await import('./programs.ts')).run,
}));

const { arrange, command, state } = await setUpProject();
const write = (file: string, content: string) => writeFileSync(join(paths.ROOT, file), content);
beforeEach(() => {
  runForm.mockResolvedValue('run');
  listDifferences.mockResolvedValue([]);
  testStage.mockReset().mockResolvedValue(true);
  write('dist/inquiries.zip', 'dist/inquiries.zip');
  write('web/dist/index.html', "connect-src 'self';");
});

const record = {
  purpose: 'validates the certificate',
  name: '_1.www.example.com',
  type: 'CNAME',
  value: '_2.acm.example',
  next: 'set dns = "certificate" in site_domain',
};
const table = 'aws_dynamodb_table.this';
const live = (version: string) => `Version ${version} of inquiries-develop is live.`;
const APPLIED = `The plan is applied. ${live('10')}`;
const ADDRESSES =
  'https://api.example.com/inquiries\nDashboard https://console.example.com/dashboard\n';
const AGAIN = 'Run the same command again: docs/runbook.md, "A deployment was interrupted".\n';
const outputChange = (name: string, after = {}) => ({
  changes: {},
  outputs: FORM_OUTPUTS,
  outputChanges: { [name]: { actions: ['update'], after } },
});
const NO_CHANGES = { changes: {} };
const DRIFT = 'develop --drift';

interface More {
  args?: string;
  world?: Partial<World>;
  /** Before, or during the smoke test. */
  happen?: () => unknown;
}
type Row = [what: string, code: number, ran: 'apply' | 'plan' | 'nothing', says: string, More?];
const rows: Row[] = [
  [
    'what is in no commit',
    2,
    'nothing',
    'release is deployed from a commit only; git status says:  M a.ts',
    { args: 'release --plan-only', world: { dirty: ' M a.ts' } },
  ],
  [
    'a state on this machine',
    2,
    'nothing',
    'backend_override.tf keeps the state',
    { world: { files: { 'backend_override.tf': '' } } },
  ],
  [
    'another account',
    2,
    'nothing',
    'but main is in 4 and eu-central-1 (infra/terraform/main.s3.tfbackend).\n\nNothing was changed.\n',
    {
      args: 'main --drift',
      world: { files: { 'main.s3.tfbackend': 'allowed_account_ids = ["4"]' } },
    },
  ],
  [
    'another region',
    2,
    'nothing',
    'but develop is in 111122223333 and us-west-2 ',
    { world: { files: { 'backend.s3.tfbackend': ' region="us-west-2"' } } },
  ],
  [
    'an unsaved state',
    2,
    'nothing',
    'infra/terraform/errored.tfstate is a state that',
    { world: { files: { 'errored.tfstate': '' } } },
  ],
  [
    'no credentials',
    2,
    'nothing',
    'no valid AWS credentials',
    { happen: () => vi.stubEnv('AWS_ACCESS_KEY_ID', undefined) },
  ],
  ['no drift', 0, 'plan', '', { args: DRIFT, world: NO_CHANGES }],
  ['a resource that has changed', 1, 'plan', 'Terraform will perform', { args: DRIFT }],
  ['an output that has changed', 1, 'plan', '', { args: DRIFT, world: outputChange('o') }],
  [
    'another form that is served',
    1,
    'plan',
    'form      config.json is answered with 403\n',
    {
      args: DRIFT,
      world: { ...NO_CHANGES, outputs: FORM_OUTPUTS },
      happen: () => listDifferences.mockResolvedValue(['config.json is answered with 403']),
    },
  ],
  [
    'a plan of another package',
    2,
    'plan',
    'dist/inquiries.zip is not the package of the plan.\n',
    { args: 'develop --yes --plan /p', happen: () => write('dist/inquiries.zip', 'another') },
  ],
  ...[table, 'module.identity[0].aws_cognito_user_pool.this'].map((address): Row => [
    `a plan that deletes ${address}`,
    2,
    'plan',
    `The plan deletes ${address}, which`,
    { world: { changes: { [address]: ['delete create'] } } },
  ]),
  [
    'a table that is not in the account',
    2,
    'plan',
    `The state has ${table}, a, but it is not in this account and region. `,
    { world: { lost: { 'aws_iam_role.r': 'r', [table]: 'a' } } },
  ],
  [
    'settings that the form would refuse',
    2,
    'plan',
    '“accent” in config.json must be a colour',
    { world: outputChange('form_config', { accent: 'blue' }) },
  ],
  [
    'a form whose script throws',
    1,
    'plan',
    '\nboom\n\nNothing was changed.\n',
    {
      world: outputChange('form_config'),
      happen: () => runForm.mockRejectedValue(new Error('boom')),
    },
  ],
  [
    'an apply that fails before there is an alias',
    1,
    'apply',
    `terraform apply …\n\nError: it went wrong\n\nFailed: terraform apply.\n\nTerraform has saved what it changed. No live version of inquiries-develop could be read: The resource does not exist. Unless the error names what to correct, r${AGAIN.slice(1)}`,
    { world: { failing: 'terraform apply' }, happen: () => (state.live = undefined) },
  ],
  [
    'a smoke test that fails, of the version that was live before',
    1,
    'apply',
    `The smoke test of version 10 failed. It was version 10 before, too.\n\n${APPLIED}`,
    { happen: () => testStage.mockResolvedValue(false) },
  ],
  [
    'a package that is not live after the apply',
    1,
    'apply',
    'The version of inquiries-develop that is live is not of the package in dist/.',
    { happen: () => (state.hash = 'another') },
  ],
  [
    'a plan after the apply that has changes',
    1,
    'apply',
    `The plan after the apply has changes, which the plan above shows.\n\n${APPLIED}`,
    { world: { again: { 'aws_iam_role.r': ['update'] } } },
  ],
  [
    'a deployment that ends during the smoke test',
    1,
    'apply',
    `Another command has made version 11 of inquiries-develop live since this one made 10 live.\n\nThe plan is applied. ${live('11')}`,
    { happen: () => testStage.mockImplementation(async () => ((state.live = '11'), false)) },
  ],
  ['no form', 0, 'apply', `Deployed: ${ADDRESSES}`],
  [
    'nothing but a form',
    0,
    'plan',
    'form      that of version 10 is served\n',
    { world: { ...NO_CHANGES, outputs: FORM_OUTPUTS } },
  ],
  [
    'records to be entered',
    0,
    'apply',
    `Deployed: https://d1.example.com/\nAPI ${ADDRESSES}\nEnter this DNS record, which validates the certificate; once it can be resolved, set dns = "certificate" in site_domain, and deploy again:\n  _1.www.example.com CNAME _2.acm.example\n`,
    { world: { outputs: { ...FORM_OUTPUTS, dns_records: [record] } } },
  ],
];
it.each(rows)('npm run deploy with %s', async (_, code, ran, says, more = {}) => {
  const { args = 'develop --yes', world, happen } = more;
  arrange(world);
  happen?.();
  const outcome = await command(main, args);
  expect(outcome).toEqual({ code, output: expect.stringContaining(says) });
  expect(outcome.output).not.toContain('Refreshing');
  expect(whatRan()).toBe(ran);
  const plan = /-out=(\S+)/.exec(calls.join('\n'))?.[1];
  const applied = calls.filter((call) => call.startsWith('terraform apply'));
  expect(applied).toEqual(ran === 'apply' ? [`terraform apply -no-color ${plan}`] : []);
});

it('makes the version before live again, with its form, when the smoke test fails', async () => {
  arrange({
    outputs: FORM_OUTPUTS,
    happen: () => {
      state.live = '11';
    },
  });
  state.objects.set('/form-bucket/versions/10/index.html', 'before');
  testStage.mockResolvedValue(false);
  const { code, output } = await command(main, 'develop --yes');
  expect(code).toBe(1);
  expect(output).toMatch(
    /The smoke test of version 11 failed\. Version 10 is live again, with its form\.\n\nThe plan is applied\. Version 10 of inquiries-develop is live\.\n$/,
  );
  expect(state.objects.get('/form-bucket/index.html')).toBe('before');
  expect(state.description).toMatch(/^11 withdrawn at /);
});

it.each(['$LATEST', undefined])(
  'without a version before (alias %s), says so when the smoke test fails; no rollback',
  async (before) => {
    state.live = before;
    arrange({ happen: () => (state.live = '1') });
    testStage.mockResolvedValue(false);
    const { code, output } = await command(main, 'develop --yes');
    expect([code, state.live]).toEqual([1, '1']);
    expect(output).toContain(
      'The smoke test of version 1 failed. There is no version before it.\n',
    );
    expect(output).not.toMatch(/rollback|same command/);
  },
);

it('serves no form for an earlier version that is kept live and has none, and does not say so', async () => {
  state.live = '9';
  const versions = { ...FORM_OUTPUTS.function, pinned: '9' };
  const outputs = { ...FORM_OUTPUTS, function: versions };
  arrange({ outputs });
  const { code, output } = await command(main, 'develop --yes');
  expect([code, state.changes]).toEqual([0, []]);
  expect(output).not.toContain('is served');
  expect(output).toMatch(/dashboard\n$/);
});

it.each([
  ['yes\n', 2],
  ['develop\n', 0],
])('asks at a terminal, and after %j exits %i', async (keys, code) => {
  arrange();
  const outcome = await command(main, 'develop', keys);
  const says = code === 0 ? 'Deployed' : `Nothing was changed. ${live('10')}\n`;
  expect(outcome).toEqual({ code, output: expect.stringContaining(says) });
  expect(outcome.output).toContain('Apply this plan? Type develop to confirm: ');
  expect(whatRan()).toBe(code === 0 ? 'apply' : 'plan');
});

it.each([
  ['terraform plan', 'Nothing was changed.'],
  ['terraform apply', `Terraform has saved what it changed. ${live('10')}`],
  ['terraform plan -no-color -lock=false', APPLIED],
])('after signals during %s waits, and says what is true', async (hanging, end) => {
  arrange({ hanging });
  const ended = command(main, 'develop --yes');
  await awaitCall(hanging);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) process.emit(signal, signal);
  letEnd();
  const { code, output } = await ended;
  expect([code, calls.at(-1)]).toEqual([143, expect.stringContaining(hanging)]);
  expect(output).toMatch(/\nSIGTERM: waiting for (npm|terraform) \w+.* to end …\n/);
  expect(output.endsWith(`\nInterrupted. ${end} ${AGAIN}`)).toBe(true);
});
