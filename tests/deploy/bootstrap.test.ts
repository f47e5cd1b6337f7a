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

interface Case {
  readonly world?: Partial<World>;
  readonly bucket?: { readonly status: number; readonly keys?: readonly string[] };
  /** What is typed at a terminal; undefined: --yes without one. */
  readonly keys?: string;
  readonly code: number;
  readonly isApplied: boolean;
  readonly says: string;
}
async function bootstrap({ world, keys }: Pick<Case, 'world' | 'keys'> = {}) {
  const changes = [{ address: 'aws_s3_bucket_policy.state', actions: ['create'] }];
  arrange({ changes, moduleFiles: {}, outputs: { permissions_boundaries: {} }, ...world });
  return keys === undefined
    ? runCommandHere(main, '--yes')
    : runCommandHere(main, '', { stdin: typed(keys), isTTY: true });
}

const refused = { code: 2, isApplied: false };
const done = { code: 0, isApplied: true };
const withFiles = (moduleFiles: Record<string, string>) => ({ world: { moduleFiles } });
const deletion = { world: { changes: [{ address: 'aws_iam_role.r', actions: ['delete'] }] } };
const cases: Record<string, Case> = {
  'a settings file without JSON': {
    ...refused,
    ...withFiles({ [SETTINGS]: 'a = "b"' }),
    says: `infra/terraform/${SETTINGS} is not a JSON object.`,
  },
  'a name that is too long for the bucket': {
    ...refused,
    ...withFiles({ [SETTINGS]: '{"name":"inquiries-of-customers"}' }),
    says: `infra/terraform/${SETTINGS}: ${NAME_RULE}, not "inquiries-of-customers".`,
  },
  'an unsaved state': {
    ...refused,
    ...withFiles({ 'bootstrap/errored.tfstate': '{}' }),
    says: 'infra/terraform/bootstrap/errored.tfstate is a state that Terraform could not save',
  },
  'another account': {
    ...refused,
    ...withFiles({ 'backend.s3.tfbackend': 'allowed_account_ids = ["4"]' }),
    says: `infra/terraform/backend.s3.tfbackend names bucket ${BUCKET}, account 4, region ${REGION}; these credentials and settings mean bucket ${BUCKET}, account ${ACCOUNT}, region ${REGION}. Nothing was changed.`,
  },
  'another region': {
    ...refused,
    ...withFiles({ 'backend.s3.tfbackend': 'region = "us-west-2"' }),
    says: `account ${ACCOUNT}, region us-west-2; these`,
  },
  "a bucket that is another account's": {
    ...refused,
    bucket: { status: 403 },
    says: `The bucket ${BUCKET} exists, but account ${ACCOUNT} may not read it`,
  },
  'an account whose settings this checkout lacks': {
    ...refused,
    bucket: { status: 200, keys: ['inquiries/bootstrap.tfstate'] },
    says: 'The account was set up with settings that this checkout lacks',
  },
  'an account with these settings': {
    ...done,
    ...withFiles({ [SETTINGS]: '{}' }),
    bucket: { status: 200, keys: ['inquiries/bootstrap.tfstate'] },
    says: '\nDone. ',
  },
  'a deletion without a confirmation': {
    ...refused,
    ...deletion,
    says: 'The plan deletes something, which needs a confirmation',
  },
  'a deletion that is confirmed': { ...done, ...deletion, keys: `${ACCOUNT}\n`, says: '\nDone. ' },
  'another answer than the account': {
    ...refused,
    keys: 'yes\r',
    says: 'Apply this plan? Type the account id to confirm: ',
  },
  'no answer about the bucket': {
    ...refused,
    bucket: { status: 404 },
    keys: '',
    says: 'Create the bucket? Type the account id to confirm: ',
  },
  'a plan that fails': {
    world: { failing: 'terraform plan' },
    code: 1,
    isApplied: false,
    says: 'Failed: terraform plan.\n\nNothing was changed. Run the same command again.\n',
  },
  'a plan that fails after the bucket was created': {
    world: { failing: 'terraform plan' },
    bucket: { status: 404 },
    code: 1,
    isApplied: false,
    says: `Failed: terraform plan.\n\nWhat was created so far is kept, in the state in the bucket ${BUCKET}. Run the same command again.\n`,
  },
};
it.each(Object.entries(cases))('npm run bootstrap with %s', async (_, given) => {
  const { bucket: { status, keys } = { status: 200 }, code, isApplied, says } = given;
  arrangeBucket(status, keys);
  const outcome = await bootstrap(given);
  expect(outcome).toEqual({ code, output: expect.stringContaining(says) });
  expect([hasApplied(), temporaryFiles()]).toEqual([isApplied, []]);
  const hasChanged = isApplied || (code === 1 && status === 404);
  expect(aws.state.changes.length > 0 || isApplied).toBe(hasChanged);
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
