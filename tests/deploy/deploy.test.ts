/** `npm run deploy`: refusals, steps, the question and signals. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync, type Zippable } from 'fflate';
import { expect, it, vi } from 'vitest';
import { calls, FORM_OUTPUTS, setUpProject, type World } from './programs.ts';
import { testStage } from './smoke-test.ts';
import { main } from '../../deploy/deploy.ts';
import { refusal } from '../local/aws.ts';
import { paths } from './project.ts';

const runForm = vi.hoisted(() => vi.fn<() => Promise<string>>());
const listDifferences = vi.hoisted(() => vi.fn<() => Promise<string[]>>());
vi.mock(import('../../deploy/form.ts'), async (original) => ({
  ...(await original()),
  runForm,
  listDifferences,
}));

const write = (file: string, content: string) => writeFileSync(join(paths.ROOT, file), content);
const { arrange, command, transcribe, state } = await setUpProject(() => {
  runForm.mockReset().mockResolvedValue('run');
  listDifferences.mockReset().mockResolvedValue([]);
  testStage.mockReset().mockResolvedValue([]);
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
const outputChange = (name: string, after = {}) => ({
  changes: {},
  outputs: FORM_OUTPUTS,
  outputChanges: { [name]: { actions: ['update'], after } },
});
const deletion = (address: string) => ({ changes: { [address]: ['delete create'] as const } });
const NO_CHANGES = { changes: {} };
const DRIFT = 'develop --drift';

const CHECK = '405 for PUT';
const OTHER = '413 for a body of 6.5 MB';
const ALIAS = 'PUT /2015-03-31/functions/inquiries-develop/aliases/live';
const refuse = (action: string, times = Infinity): void => {
  let count = 0;
  state.answers[action] = () =>
    (count += 1) > times
      ? undefined
      : refusal(400, 'InvalidRequest', 'no\n  Deserialization error');
};
const newVersion = (happen: () => void = () => {}): Partial<World> => ({
  outputs: FORM_OUTPUTS,
  happen: () => {
    state.objects.set('/form-bucket/versions/10/index.html', 'before');
    state.live = '11';
    happen();
  },
});

const STATED = { release: { retention_days: null } };
const OWN_FILE = 'infra/terraform/stages.auto.tfvars\n';
/** What `gh release download` writes: the package of the plan. */
const writeBuild = (): void => {
  rmSync(join(paths.ROOT, 'dist'), { recursive: true });
  const zip = /--output=(.+\.zip)/.exec(calls.at(-1) ?? '')?.[1] ?? '';
  const files = { 'dist/inquiries.zip': 'dist/inquiries.zip', 'src/app.ts': 'not built' };
  const contents = Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]);
  writeFileSync(zip, zipSync(Object.fromEntries(contents) as Zippable));
};

interface Case {
  args?: string;
  world?: Partial<World>;
  /** Before, or during the smoke test. */
  happen?: () => unknown;
  keys?: string;
}
const sendSignals = (): void => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) process.emit(signal, signal);
};
const CASES: Record<string, Case> = {
  'what is in no commit': { args: 'release --plan-only', world: { dirty: ' M a.ts' } },
  'a state on this machine': { world: { files: { 'backend_override.tf': '' } } },
  'another account': {
    args: 'main --drift',
    world: { files: { 'backend.s3.tfbackend': 'bucket = "b"\nallowed_account_ids = ["4"]' } },
  },
  'another region': {
    world: { files: { 'backend.s3.tfbackend': 'bucket = "b"\n region="us-west-2"' } },
  },
  'no place of the state': { world: { files: {} } },
  'an unsaved state': {
    world: { files: { 'errored.tfstate': '{"tags_all":{"stage": "release"}}' } },
  },
  'no credentials': { happen: () => vi.stubEnv('AWS_ACCESS_KEY_ID', undefined) },
  'a plan of another package': {
    args: 'develop --yes --plan /p',
    happen: () => write('dist/inquiries.zip', 'another'),
  },
  'a plan that deletes the table': { world: deletion(table) },
  'a plan that deletes the user pool': {
    world: deletion('module.identity[0].aws_cognito_user_pool.this'),
  },
  'a table that is not in the account': {
    world: { lost: { 'aws_iam_role.r': 'r', [table]: 'a' } },
  },
  'settings that the form would refuse': { world: outputChange('form_config', { accent: 'blue' }) },
  'a release that does not state how long inquiries are kept': { args: 'release --yes' },
  'a release with a form without a privacy notice': {
    args: 'release --yes',
    world: { ...outputChange('form_config', FORM_OUTPUTS.form_config), settings: STATED },
  },
  'a release that states both': {
    args: 'release --plan-only',
    world: {
      ...outputChange('form_config', {
        ...FORM_OUTPUTS.form_config,
        privacy: 'https://a.example/',
      }),
      settings: STATED,
    },
  },
  'the build of a release': {
    args: 'develop --yes --release v0.2.0',
    world: { during: 'gh release download', happen: writeBuild, differing: OWN_FILE },
  },
  'the build of another version': {
    args: 'develop --yes --release v0.2.0',
    world: { differing: `${OWN_FILE}src/app.ts\n` },
  },
  'a build that nobody has attested': {
    args: 'develop --yes --release v0.2.0',
    world: { failing: 'gh attestation', during: 'gh release download', happen: writeBuild },
  },
  'another answer at a terminal': { args: 'develop', keys: 'yes\n' },
  'the name of the stage at a terminal': { args: 'develop', keys: 'develop\n' },
  'no drift': { args: DRIFT, world: NO_CHANGES },
  'a resource that has changed': { args: DRIFT },
  'an output that has changed': { args: DRIFT, world: outputChange('o') },
  'another form that is served': {
    args: DRIFT,
    world: { ...NO_CHANGES, outputs: FORM_OUTPUTS },
    happen: () => listDifferences.mockResolvedValue(['config.json is answered with 403']),
  },
  'a form whose script throws': {
    world: outputChange('form_config'),
    happen: () => runForm.mockRejectedValue(new Error('boom')),
  },
  'an apply that fails before there is an alias': {
    world: { failing: 'terraform apply' },
    happen: () => (state.live = undefined),
  },
  'what only the new version fails': {
    world: newVersion(),
    happen: () => testStage.mockResolvedValueOnce([CHECK, OTHER]).mockResolvedValueOnce([OTHER]),
  },
  'what the version before fails as well': {
    world: newVersion(),
    happen: () => testStage.mockResolvedValueOnce([CHECK]).mockResolvedValueOnce([CHECK, OTHER]),
  },
  'an upload of the form that is refused': {
    world: newVersion(),
    happen: () => refuse('PUT /form-bucket/versions/11/index.html'),
  },
  'a way back that is refused once': {
    world: newVersion(() => refuse(ALIAS, 1)),
    happen: () => testStage.mockRejectedValue(new Error('the browser has crashed')),
  },
  'a way back that is refused': {
    world: newVersion(() => refuse(ALIAS)),
    happen: () => testStage.mockRejectedValue(new Error('the browser has crashed')),
  },
  'a state that cannot be read after the apply': {
    world: newVersion(() => refuse('GET /b/env:/develop/inquiries/terraform.tfstate')),
  },
  'a signal during the smoke test': {
    world: newVersion(),
    happen: () =>
      testStage.mockImplementation(async (_, _form, { interruption }) => {
        sendSignals();
        interruption.throwIfAborted();
        return [];
      }),
  },
  'a version that a killed command left, and which passes': {
    world: NO_CHANGES,
    happen: () => (state.description = 'Passed its smoke test: 9.'),
  },
  'a version that a killed command left, and which fails': {
    args: 'develop',
    happen: () => {
      state.description = 'Passed its smoke test: 9.';
      testStage.mockResolvedValueOnce([CHECK]);
    },
  },
  'a smoke test that fails, of the version that was live before': {
    happen: () => testStage.mockResolvedValue(['405 for PUT']),
  },
  ...Object.fromEntries(
    ['$LATEST', undefined].map((before) => [
      `a smoke test that fails, of the first version (alias ${before})`,
      {
        world: { happen: () => (state.live = '1') },
        happen: () => {
          state.live = before;
          testStage.mockResolvedValue(['405 for PUT']);
        },
      },
    ]),
  ),
  'a version that somebody made live instead': {
    happen: () => Object.assign(state, { live: '3', hashes: { 3: 'another' } }),
  },
  'an alias that no version is live by': { happen: () => (state.live = '$LATEST') },
  'a plan after the apply that has changes': {
    world: { again: { 'aws_iam_role.r': ['update'] } },
  },
  'a deployment that ends during the smoke test': {
    happen: () => testStage.mockImplementation(async () => ((state.live = '11'), ['405 for PUT'])),
  },
  ...Object.fromEntries(
    ['terraform plan', 'terraform apply', 'terraform plan -no-color -lock=false'].map((during) => [
      `signals during ${during}`,
      { world: { during, failing: during, happen: sendSignals } },
    ]),
  ),
  'no form': {},
  'nothing but a form': { world: { ...NO_CHANGES, outputs: FORM_OUTPUTS } },
  'an earlier version that is kept live and has no form': {
    world: { outputs: { ...FORM_OUTPUTS, function: { ...FORM_OUTPUTS.function, pinned: '9' } } },
    happen: () => (state.live = '9'),
  },
  'records to be entered': { world: { outputs: { ...FORM_OUTPUTS, dns_records: [record] } } },
};

it.each(Object.entries(CASES))('%s', async (_, { args = 'develop --yes', world, happen, keys }) => {
  arrange(world);
  happen?.();
  const outcome = await command(main, args, keys);
  // It applies the plan that it has shown.
  const plan = /-out=(.+)/.exec(calls.join('\n'))?.[1];
  for (const call of calls.filter((each) => each.startsWith('terraform apply'))) {
    expect(call).toBe(`terraform apply -no-color ${plan}`);
  }
  // A release's build replaces nothing but what a build writes.
  expect(existsSync(join(paths.ROOT, 'src'))).toBe(false);
  expect(transcribe(outcome)).toMatchSnapshot();
});
