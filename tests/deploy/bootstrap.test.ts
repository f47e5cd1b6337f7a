import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { main } from '../../deploy/bootstrap.ts';
import { isServiceName, NAME_RULE } from '../../lib/stages.ts';
import { ACCOUNT, refusal, type Answer } from '../helpers/aws.ts';
import { unless } from '../helpers/needs.ts';
import { setUpProject, whatRan, type World } from './programs.ts';
import { paths } from './project.ts';

vi.mock(import('../../lib/paths.ts'), async () => (await import('./project.ts')).paths);
vi.mock(import('../../deploy/terraform.ts'), async (original) => ({
  ...(await original()),
  run: (await import('./programs.ts')).run,
}));
const { run, terraformUnavailableReason } = await vi.importActual<
  typeof import('../../deploy/terraform.ts')
>('../../deploy/terraform.ts');

const BUCKET = `inquiries-terraform-state-${ACCOUNT}-eu-central-1`;
const SETTINGS = 'bootstrap/settings.auto.tfvars.json';
const BOOTSTRAPPED = '<Contents><Key>inquiries/bootstrap.tfstate</Key></Contents>';
const { arrange, command, state } = await setUpProject();

/** S3's answers about the bucket. */
const arrangeBucket = (status: number, contents = ''): void => {
  state.answers[`GET /${BUCKET}/`] = ({ headers }) => ({
    status: headers.get('x-amz-expected-bucket-owner') === ACCOUNT ? status : 403,
    body: `<ListBucketResult>${contents}</ListBucketResult>`,
  });
};
/** Access Analyzer's. */
const arrangeFindings = (reply: Answer): void => {
  state.answers['POST /policy/validation'] = ({ body }) => {
    expect(JSON.parse(body)).toEqual({ policyType: 'IDENTITY_POLICY', policyDocument: '{"a":1}' });
    return reply;
  };
};
/** SES's about the active receipt rule set. */
const arrangeRuleSet = (name: string) => () => {
  const body = `<R><DescribeActiveReceiptRuleSetResult><Metadata><Name>${name}</Name></Metadata></DescribeActiveReceiptRuleSetResult></R>`;
  state.answers['DescribeActiveReceiptRuleSet'] = () => ({ status: 200, body });
};
const find = (findingType: string): Answer => ({
  status: 200,
  body: {
    findings: [
      { findingType, findingDetails: 'The action s3:Foo does not exist.' },
      { findingType: 'SUGGESTION', findingDetails: 'An empty list.' },
    ],
  },
});
beforeEach(() => arrangeBucket(200));

interface More {
  world?: Partial<World>;
  happen?: () => void;
  /** Typed at a terminal; undefined: --yes without one. */
  keys?: string;
}
async function bootstrap({ world, happen, keys }: More = {}) {
  const changes = { 'aws_iam_policy.a': ['create', { policy: '{"a":1}' }] } as const;
  arrange({ changes, files: {}, ...world });
  happen?.();
  return command(main, keys === undefined ? '--yes' : '', keys);
}
const withFile = (file: string, content: string) => ({ world: { files: { [file]: content } } });
const deletion = { changes: { 'aws_iam_role.r': ['delete'] as const } };
const receiving = {
  changes: {
    'aws_ses_active_receipt_rule_set.this': ['create', { rule_set_name: 'inquiries' }] as const,
  },
};
const failing = { failing: 'terraform plan' };
const FAILED = '\n\nError: it went wrong\n\nFailed: terraform plan.\n\n';
const policyError = 'aws_iam_policy.a: The action s3:Foo does not exist.\n';

type Row = [what: string, code: number, ran: 'apply' | 'plan' | 'nothing', says: string, More?];
const rows: Row[] = [
  [
    'settings that are not JSON',
    2,
    'nothing',
    `infra/terraform/${SETTINGS} is not a JSON object.`,
    withFile(SETTINGS, 'a = "b"'),
  ],
  [
    'a name that is too long for the bucket',
    2,
    'nothing',
    `infra/terraform/${SETTINGS}: ${NAME_RULE}, not "inquiries-of-customers".`,
    withFile(SETTINGS, '{"name":"inquiries-of-customers"}'),
  ],
  [
    'an unsaved state',
    2,
    'nothing',
    'bootstrap/errored.tfstate is a state',
    withFile('bootstrap/errored.tfstate', '{}'),
  ],
  [
    'another account',
    2,
    'nothing',
    `account 4, region eu-central-1; these credentials and settings mean bucket ${BUCKET}, account ${ACCOUNT}, region eu-central-1.`,
    withFile('backend.s3.tfbackend', 'allowed_account_ids = ["4"]'),
  ],
  [
    'another region',
    2,
    'nothing',
    `account ${ACCOUNT}, region us-west-2; these`,
    withFile('backend.s3.tfbackend', 'region = "us-west-2"'),
  ],
  [
    "a bucket that is another account's",
    2,
    'nothing',
    `The bucket ${BUCKET} exists, but account ${ACCOUNT} may not read it`,
    { happen: () => arrangeBucket(403) },
  ],
  [
    'an account whose settings this checkout lacks',
    2,
    'nothing',
    'settings that this checkout lacks',
    { happen: () => arrangeBucket(200, BOOTSTRAPPED) },
  ],
  [
    'an account with these settings',
    0,
    'apply',
    '\nDone. ',
    { ...withFile(SETTINGS, '{}'), happen: () => arrangeBucket(200, BOOTSTRAPPED) },
  ],
  [
    'a deletion without a confirmation',
    2,
    'plan',
    'The plan deletes something',
    { world: deletion },
  ],
  [
    'a deletion that is confirmed',
    0,
    'apply',
    '\nDone. ',
    { world: deletion, keys: `${ACCOUNT}\n` },
  ],
  [
    "another's active receipt rule set",
    2,
    'plan',
    'The receipt rule set helpdesk is active in eu-central-1, and would receive no more mails.',
    { world: receiving, happen: arrangeRuleSet('helpdesk') },
  ],
  [
    'its own active receipt rule set',
    0,
    'apply',
    '\nDone. ',
    { world: receiving, happen: arrangeRuleSet('inquiries') },
  ],
  ['a plan that changes nothing', 0, 'plan', '\nDone. ', { world: { changes: {} }, keys: '' }],
  [
    'another answer',
    2,
    'plan',
    'Apply this plan? Type the account id to confirm: ',
    { keys: 'y\n' },
  ],
  [
    'no answer about the bucket',
    2,
    'nothing',
    'Create the bucket? Type the account id to confirm: ',
    { happen: () => arrangeBucket(404), keys: '' },
  ],
  ['a plan that fails', 1, 'plan', `${FAILED}Nothing was changed. Unless`, { world: failing }],
  [
    'a plan that fails after the bucket was created',
    1,
    'plan',
    `${FAILED}What was created so far is kept, in the state in the bucket ${BUCKET}. Unless`,
    { world: failing, happen: () => arrangeBucket(404) },
  ],
  [
    'an error in a policy',
    2,
    'plan',
    `ERROR: ${policyError}Correct`,
    { happen: () => arrangeFindings(find('ERROR')) },
  ],
  [
    'a warning about a policy',
    0,
    'apply',
    `\nWARNING: ${policyError}terraform apply`,
    { happen: () => arrangeFindings(find('WARNING')) },
  ],
  [
    'policies that it may not have validated',
    0,
    'apply',
    'The policies were not validated: AccessDeniedException.',
    { happen: () => arrangeFindings(refusal(403, 'AccessDeniedException', 'no')) },
  ],
];
it.each(rows)('npm run bootstrap with %s', async (_, code, ran, says, more) => {
  expect(await bootstrap(more)).toEqual({ code, output: expect.stringContaining(says) });
  expect(whatRan()).toBe(ran);
  // Alone changed outside of Terraform.
  const isCreated = says.includes('What was created');
  expect(state.changes.length > 0).toBe(isCreated);
});

it('every name of a service gives a bucket whose name S3 takes, in any region', () => {
  const lengths = Array.from({ length: 40 }, (_, length) => 'n'.repeat(length));
  const longest = lengths.findLast(isServiceName);
  // docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  expect(`${longest}-terraform-state-${ACCOUNT}-ap-southeast-1`).toHaveLength(63);
});

it(
  'a copy of the example of settings passes terraform fmt',
  unless(await terraformUnavailableReason()),
  async () => {
    const copy = join(paths.MODULE, 'stages.auto.tfvars');
    copyFileSync('infra/terraform/stages.auto.tfvars.example', copy);
    const { code, output } = await run('terraform', ['fmt', '-check', '-diff', copy]);
    expect(code, `the output was: ${output}`).toBe(0);
  },
);
