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
const SETTINGS = 'bootstrap/settings.auto.tfvars.json';
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

interface More {
  readonly world?: Partial<World>;
  /** The answer about the bucket, and the states in it. */
  readonly bucket?: Parameters<typeof arrangeBucket>;
  /** What is typed at a terminal; undefined: --yes without one. */
  readonly keys?: string;
}
async function bootstrap({ world, bucket, keys }: More = {}) {
  if (bucket !== undefined) arrangeBucket(...bucket);
  const changes = [{ address: 'aws_s3_bucket_policy.state', actions: ['create'] }];
  arrange({ changes, moduleFiles: {}, outputs: { permissions_boundaries: {} }, ...world });
  return keys === undefined
    ? runCommandHere(main, '--yes')
    : runCommandHere(main, '', { stdin: typed(keys), isTTY: true });
}

const withFile = (file: string, content: string) => ({ moduleFiles: { [file]: content } });
const deletion = { changes: [{ address: 'aws_iam_role.r', actions: ['delete'] }] };
const failing = { failing: 'terraform plan' };
const bootstrapped: More['bucket'] = [200, ['inquiries/bootstrap.tfstate']];
const FAILED = 'Failed: terraform plan.\n\n';
const AGAIN = 'Run the same command again.\n';

it.each<[what: string, code: number, isApplied: boolean, says: string, more: More]>([
  [
    'a settings file without JSON',
    2,
    false,
    `infra/terraform/${SETTINGS} is not a JSON object.`,
    { world: withFile(SETTINGS, 'a = "b"') },
  ],
  [
    'a name that is too long for the bucket',
    2,
    false,
    `infra/terraform/${SETTINGS}: ${NAME_RULE}, not "inquiries-of-customers".`,
    { world: withFile(SETTINGS, '{"name":"inquiries-of-customers"}') },
  ],
  [
    'an unsaved state',
    2,
    false,
    'infra/terraform/bootstrap/errored.tfstate is a state that Terraform could not save',
    { world: withFile('bootstrap/errored.tfstate', '{}') },
  ],
  [
    'another account',
    2,
    false,
    `infra/terraform/backend.s3.tfbackend names bucket ${BUCKET}, account 4, region ${REGION}; these credentials and settings mean bucket ${BUCKET}, account ${ACCOUNT}, region ${REGION}. Nothing was changed.`,
    { world: withFile('backend.s3.tfbackend', 'allowed_account_ids = ["4"]') },
  ],
  [
    'another region',
    2,
    false,
    `account ${ACCOUNT}, region us-west-2; these`,
    { world: withFile('backend.s3.tfbackend', 'region = "us-west-2"') },
  ],
  [
    "a bucket that is another account's",
    2,
    false,
    `The bucket ${BUCKET} exists, but account ${ACCOUNT} may not read it`,
    { bucket: [403] },
  ],
  [
    'an account whose settings this checkout lacks',
    2,
    false,
    'The account was set up with settings that this checkout lacks',
    { bucket: bootstrapped },
  ],
  [
    'an account with these settings',
    0,
    true,
    '\nDone. ',
    { world: withFile(SETTINGS, '{}'), bucket: bootstrapped },
  ],
  [
    'a deletion without a confirmation',
    2,
    false,
    'The plan deletes something, which needs a confirmation',
    { world: deletion },
  ],
  ['a deletion that is confirmed', 0, true, '\nDone. ', { world: deletion, keys: `${ACCOUNT}\n` }],
  [
    'another answer than the account',
    2,
    false,
    'Apply this plan? Type the account id to confirm: ',
    { keys: 'yes\r' },
  ],
  [
    'no answer about the bucket',
    2,
    false,
    'Create the bucket? Type the account id to confirm: ',
    { bucket: [404], keys: '' },
  ],
  ['a plan that fails', 1, false, `${FAILED}Nothing was changed. ${AGAIN}`, { world: failing }],
  [
    'a plan that fails after the bucket was created',
    1,
    false,
    `${FAILED}What was created so far is kept, in the state in the bucket ${BUCKET}. ${AGAIN}`,
    { world: failing, bucket: [404] },
  ],
])('npm run bootstrap with %s', async (_, code, isApplied, says, more) => {
  expect(await bootstrap(more)).toEqual({ code, output: expect.stringContaining(says) });
  expect([hasApplied(), temporaryFiles()]).toEqual([isApplied, []]);
  // It alone is changed outside of Terraform.
  const isCreated = code === 1 && more.bucket !== undefined;
  expect(aws.state.changes.length > 0).toBe(isCreated);
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
it.each<[string, Answer, string, number]>([
  ['stops at an error', findings('ERROR'), 'ERROR: aws_iam_policy.a: The action s3:Foo does', 2],
  ['shows a warning', findings('WARNING'), 'WARNING: aws_iam_policy.a: The action s3:Foo does', 0],
  [
    'says that they were not validated',
    refusal(403, 'AccessDeniedException', 'no'),
    'The policies were not validated: AccessDeniedException.',
    0,
  ],
])('npm run bootstrap has AWS validate the policies, and %s', async (_, reply, says, code) => {
  const asked: unknown[] = [];
  aws.state.answers['POST /policy/validation'] = ({ body }) => {
    asked.push(JSON.parse(body));
    return reply;
  };
  const changes = [
    { address: 'aws_iam_policy.a', actions: ['create'], after: { policy: '{"a":1}' } },
  ];
  expect(await bootstrap({ world: { changes } })).toEqual({
    code,
    output: expect.stringContaining(says),
  });
  expect(hasApplied()).toBe(code === 0);
  expect(asked).toEqual([{ policyType: 'IDENTITY_POLICY', policyDocument: '{"a":1}' }]);
});

it('every name of a service gives a bucket whose name S3 takes, in the regions with the longest names', () => {
  const lengths = Array.from({ length: 40 }, (_, length) => 'n'.repeat(length));
  const longest = lengths.findLast(isServiceName);
  // docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  expect(`${longest}-terraform-state-${ACCOUNT}-ap-southeast-1`).toHaveLength(63);
});

describe('the first day passes npm run check:', () => {
  it('what npm run bootstrap writes passes the formatter', async () => {
    await bootstrap();
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
