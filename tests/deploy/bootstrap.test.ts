/** `npm run bootstrap`: what it refuses, its steps and files, the questions and signals. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../deploy/bootstrap.ts';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { isServiceName, NAME_RULE } from '../../lib/stages.ts';
import { ACCOUNT, refusal, type Answer } from '../helpers/aws.ts';
import {
  arrange,
  hasApplied,
  readCalls,
  readModuleFiles,
  runCommandHere,
  setUpProject,
  temporaryFiles,
  typed,
} from '../helpers/programs.ts';
import type { World } from '../helpers/programs.ts';
import { paths } from '../helpers/project.ts';

vi.mock(import('../../lib/paths.ts'), async () => (await import('../helpers/project.ts')).paths);

const REGION = 'eu-central-1';
const BUCKET = `inquiries-terraform-state-${ACCOUNT}-${REGION}`;
const PLACE = `bucket ${BUCKET}, account ${ACCOUNT}, region ${REGION}`;
const BACKEND = `# Written by npm run bootstrap.
bucket              = "${BUCKET}"
region              = "${REGION}"
allowed_account_ids = ["${ACCOUNT}"]
`;
const SETTINGS = 'bootstrap/settings.auto.tfvars.json';
const KEPT = `What was created so far is kept, in the state in the bucket ${BUCKET}.`;
const OUTPUTS = { permissions_boundaries: { develop: 'arn:boundary' }, github_roles: {} };

const hasTerraform = (await terraformUnavailableReason()) === undefined;
const aws = await setUpProject();

/** The account has the bucket, unless another status says otherwise. */
const arrangeBucket = (status: number, keys: readonly string[] = []) => {
  aws.state.answers[`GET /${BUCKET}/`] = ({ headers }) => ({
    status: headers['x-amz-expected-bucket-owner'] === ACCOUNT ? status : 403,
    body: `<ListBucketResult>${keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')}</ListBucketResult>`,
  });
};
beforeEach(() => arrangeBucket(200));

/** Runs the command in a world that is arranged otherwise; at a terminal, if something is typed. */
async function bootstrap(args: string, world: Partial<World> = {}, keys?: string) {
  arrange({
    changes: [{ address: 'aws_s3_bucket_policy.state', actions: ['create'] }],
    moduleFiles: {},
    outputs: OUTPUTS,
    ...world,
  });
  const terminal = keys === undefined ? {} : { stdin: typed(keys), isTTY: true };
  return { ...(await runCommandHere(main, args, terminal)), isApplied: hasApplied() };
}

it.each<[string, Record<string, string>, string]>([
  [
    'a settings file without JSON',
    { [SETTINGS]: 'a = "b"' },
    `infra/terraform/${SETTINGS} is not a JSON object.`,
  ],
  [
    'a name that is too long for the bucket',
    { [SETTINGS]: '{"name":"inquiries-of-customers"}' },
    `infra/terraform/${SETTINGS}: ${NAME_RULE}, not "inquiries-of-customers".`,
  ],
  [
    'an unsaved state',
    { 'bootstrap/errored.tfstate': '{}' },
    'infra/terraform/bootstrap/errored.tfstate is a state that Terraform could not save',
  ],
  [
    'another account',
    { 'backend.s3.tfbackend': BACKEND.replace(`["${ACCOUNT}`, '["4') },
    `infra/terraform/backend.s3.tfbackend names bucket ${BUCKET}, account 4, region ${REGION}; these credentials and settings mean ${PLACE}. Nothing was changed.`,
  ],
  [
    'another region',
    { 'backend.s3.tfbackend': 'region = "us-west-2"' },
    `names bucket ${BUCKET}, account ${ACCOUNT}, region us-west-2; these`,
  ],
])('npm run bootstrap refuses %s, and changes nothing', async (_, moduleFiles, message) => {
  const { code, output } = await bootstrap('--yes', { moduleFiles });
  expect([code, output]).toEqual([2, expect.stringContaining(message)]);
  expect([readModuleFiles(), aws.state.changes, readCalls()]).toEqual([moduleFiles, [], []]);
});

describe('npm run bootstrap', () => {
  it("refuses a bucket that is another account's", async () => {
    arrangeBucket(403);
    const { code, output } = await bootstrap('--yes');
    expect([code, output]).toEqual([
      2,
      expect.stringContaining(
        `The bucket ${BUCKET} exists, but account ${ACCOUNT} may not read it`,
      ),
    ]);
    expect([readCalls(), aws.state.changes]).toEqual([[], []]);
  });

  it('takes nothing back from an account whose settings this checkout lacks', async () => {
    arrangeBucket(200, ['inquiries/bootstrap.tfstate']);
    const { code, output } = await bootstrap('--yes');
    expect([code, readCalls(), readModuleFiles()]).toEqual([2, [], {}]);
    expect(output).toContain('The account was set up with settings that this checkout lacks');
    expect(await bootstrap('--yes', { moduleFiles: { [SETTINGS]: '{}' } })).toMatchObject({
      code: 0,
    });
  });

  it('deletes nothing without a confirmation', async () => {
    const world = { changes: [{ address: 'aws_iam_role.r', actions: ['delete'] }] };
    const { output, ...found } = await bootstrap('--yes', world);
    expect([found, output]).toEqual([
      { code: 2, isApplied: false },
      expect.stringContaining('The plan deletes something, which needs a confirmation'),
    ]);
    expect(await bootstrap('', world, `${ACCOUNT}\n`)).toMatchObject({ code: 0, isApplied: true });
  });

  const findings = (findingType: string): Answer => ({
    status: 200,
    body: {
      findings: [
        { findingType, findingDetails: 'The action s3:Foo does not exist.' },
        { findingType: 'SUGGESTION', findingDetails: 'An empty list.' },
      ],
    },
  });
  it.each<[string, Answer, string, { code: number; isApplied: boolean }]>([
    [
      'stops at an error',
      findings('ERROR'),
      'ERROR: aws_iam_policy.read["main"]: The action s3:Foo does not exist.\nERROR: aws_iam_role.plan["main"]: The',
      { code: 2, isApplied: false },
    ],
    [
      'shows a warning',
      findings('SECURITY_WARNING'),
      'SECURITY_WARNING: aws_iam_policy.read["main"]: The action s3:Foo does not exist.\n',
      { code: 0, isApplied: true },
    ],
    [
      'says that they were not validated',
      refusal(403, 'AccessDeniedException', 'no'),
      'The policies were not validated: AccessDeniedException.',
      { code: 0, isApplied: true },
    ],
  ])('has AWS validate the policies of the plan, and %s', async (_, reply, line, expected) => {
    const asked: unknown[] = [];
    aws.state.answers['POST /policy/validation'] = ({ body }) => {
      asked.push(JSON.parse(body));
      return reply;
    };
    const changes = [
      {
        address: 'aws_iam_policy.read["main"]',
        actions: ['create'],
        after: { policy: '{"a":1}' },
      },
      {
        address: 'aws_iam_role.plan["main"]',
        actions: ['update'],
        after: { assume_role_policy: '{}' },
      },
    ];
    const { output, ...found } = await bootstrap('--yes', { changes });
    expect([found, output]).toEqual([expected, expect.stringContaining(line)]);
    expect(output).not.toContain('An empty list');
    expect(asked[0]).toEqual({ policyType: 'IDENTITY_POLICY', policyDocument: '{"a":1}' });
  });

  it.each([
    ['Apply this plan?', 'yes\r', 200],
    ['Create the bucket?', '', 404],
  ])('asks %s at a terminal, and changes nothing after %j', async (question, keys, status) => {
    arrangeBucket(status);
    const { output, ...found } = await bootstrap('', {}, keys);
    expect(output).toContain(`${question} Type the account id to confirm: `);
    expect([found, output]).toEqual([
      { code: 2, isApplied: false },
      expect.stringMatching(/Nothing was changed\.\n$/),
    ]);
    expect([aws.state.changes, readModuleFiles()]).toEqual([[], {}]);
  });

  it.each([
    ['terraform plan', 'Nothing was changed.', 200],
    ['terraform plan', KEPT, 404],
  ])('says what is true if %s fails: %s', async (failing, state, status) => {
    arrangeBucket(status);
    const { code, output } = await bootstrap('--yes', { failing });
    expect([code, temporaryFiles()]).toEqual([1, []]);
    expect(output).toContain(`Failed: ${failing}.\n\n${state} Run the same command again.\n`);
  });
});

it('every name of a service gives a bucket whose name S3 takes, in the regions with the longest names', () => {
  const lengths = Array.from({ length: 40 }, (_, length) => 'n'.repeat(length));
  const longest = lengths.findLast(isServiceName);
  // docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  expect(`${longest}-terraform-state-${ACCOUNT}-ap-southeast-1`).toHaveLength(63);
});

describe('the first day passes npm run check:', () => {
  it('what npm run bootstrap writes passes the formatter', async () => {
    await bootstrap('--yes');
    copyFileSync('.oxfmtrc.json', join(paths.ROOT, '.oxfmtrc.json'));
    const program = join(process.cwd(), 'node_modules/.bin/oxfmt');
    const args = ['--check', '--no-error-on-unmatched-pattern', 'infra'];
    const { code, output } = await run(program, args, { cwd: paths.ROOT });
    expect(code === 0 ? '' : output).toBe('');
  });

  it.skipIf(!hasTerraform)(
    'a copy of the example passes terraform fmt (skipped without terraform)',
    async () => {
      const copy = join(paths.ROOT, 'stages.auto.tfvars');
      copyFileSync('infra/terraform/stages.auto.tfvars.example', copy);
      const { code, output } = await run('terraform', ['fmt', '-check', '-diff', copy], {
        env: terraformEnv(),
      });
      expect(code === 0 ? '' : output).toBe('');
    },
  );
});
