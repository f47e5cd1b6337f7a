import { expect, it, vi } from 'vitest';
import { setUpProject, type World } from './programs.ts';
import { main } from '../../deploy/bootstrap.ts';
import { createAccountChecks } from '../../deploy/checks/account.ts';
import { isServiceName } from '../../lib/aws/stages.ts';
import { ACCOUNT, refusal, type Answer } from '../local/aws.ts';

vi.mock(import('../../deploy/checks/account.ts'), { spy: true });

const BUCKET = `inquiries-terraform-state-${ACCOUNT}-eu-central-1`;
const SETTINGS = 'bootstrap/settings.auto.tfvars.json';
const BOOTSTRAPPED = '<Contents><Key>inquiries/bootstrap.tfstate</Key></Contents>';
const { arrange, command, transcribe, state } = await setUpProject(() => {
  vi.mocked(createAccountChecks).mockReturnValue([]);
  arrangeBucket(200);
});

const arrangeBucket = (status: number, contents = ''): void => {
  state.answers[`GET /${BUCKET}/`] = ({ headers }) => ({
    status: headers.get('x-amz-expected-bucket-owner') === ACCOUNT ? status : 403,
    body: `<ListBucketResult>${contents}</ListBucketResult>`,
  });
};
const arrangeFindings = (reply: Answer): void => {
  state.answers['POST /policy/validation'] = ({ body }) => {
    expect(JSON.parse(body)).toEqual({ policyType: 'IDENTITY_POLICY', policyDocument: '{"a":1}' });
    return reply;
  };
};
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

interface Case {
  world?: Partial<World>;
  happen?: () => unknown;
  /** Typed at a terminal; undefined: --yes without one. */
  keys?: string;
}
const withFile = (file: string, content: string) => ({ world: { files: { [file]: content } } });
const deletion = { changes: { 'aws_iam_role.r': ['delete'] as const } };
const receiving = {
  changes: {
    'aws_ses_active_receipt_rule_set.this': ['create', { rule_set_name: 'inquiries' }] as const,
  },
};
const failing = { failing: 'terraform plan' };

const stateOf = (stage: string) => `GET /${BUCKET}/env:/${stage}/inquiries/terraform.tfstate`;
/** A stage is deployed, and IAM refuses its role an action on each resource. */
const arrangeRole = (): void => {
  const never = '<Error><Code>NoSuchKey</Code></Error>';
  for (const stage of ['main', 'release']) {
    state.answers[stateOf(stage)] = () => ({ status: 404, body: never });
  }
  const toResource = (type: string, arn: string) => ({
    type,
    instances: [{ attributes: { arn } }],
  });
  const resources = [
    toResource('aws_lambda_function', 'arn:aws:lambda:eu-central-1:1:function:inquiries-develop'),
    toResource('aws_s3_bucket', 'arn:aws:s3:::inquiries-develop-site-1'),
    toResource('terraform_data', 'arn:none'),
  ];
  state.answers[stateOf('develop')] = () => ({ status: 200, body: { outputs: {}, resources } });
  state.answers['SimulatePrincipalPolicy'] = ({ body }) => {
    const asked = new URLSearchParams(body);
    expect(asked.get('PolicySourceArn')).toBe(
      `arn:aws:iam::${ACCOUNT}:role/terraform-bootstrap/inquiries-develop-deploy-eu-central-1`,
    );
    expect(asked.get('ContextEntries.member.2.ContextKeyValues.member.1')).toBe('develop');
    const results = [...asked].flatMap(([key, name]) => {
      const decision = name === 'lambda:PublishVersion' ? 'implicitDeny' : 'allowed';
      return key.startsWith('ActionNames')
        ? `<member><EvalActionName>${name}</EvalActionName><EvalDecision>${decision}</EvalDecision></member>`
        : [];
    });
    const inner = `<EvaluationResults>${results.join('')}</EvaluationResults>`;
    const found = `<SimulatePrincipalPolicyResult>${inner}</SimulatePrincipalPolicyResult>`;
    return { status: 200, body: `<R>${found}</R>` };
  };
};

/** What the account checks ask, which other stories do without. */
const arrangeAccount = (region: string, answers: Record<string, object | string>) => (): void => {
  vi.mocked(createAccountChecks).mockRestore();
  const name = `<PolicyName>inquiries-develop-boundary-${region}</PolicyName>`;
  const policies = `<Policies><member>${name}</member></Policies>`;
  const all = {
    ListPolicies: `<R><ListPoliciesResult>${policies}</ListPoliciesResult></R>`,
    ...answers,
  };
  for (const [action, body] of Object.entries(all)) {
    state.answers[action] = () => ({ status: 200, body });
  }
};
const DISTRIBUTIONS = 'GET /2020-05-31/distribution';
const LIMITS = 'GET /2016-08-19/account-settings';
const SES = 'GET /v2/email/account';
const withAccount = (account: object) => ({
  files: { [SETTINGS]: '{"budget":{},"receives_mail":true}' },
  account: JSON.stringify(account),
});

const CASES: Record<string, Case> = {
  'an account that has all': {
    world: withAccount({ accountPlanType: 'PAID' }),
    happen: arrangeAccount('eu-central-1', {
      [DISTRIBUTIONS]:
        '<DistributionList><Items><DistributionSummary><Id>E1</Id></DistributionSummary></Items></DistributionList>',
      [LIMITS]: { AccountLimit: { ConcurrentExecutions: 1000 } },
      [SES]: { ProductionAccessEnabled: true, PricingAttributes: { CurrentPlan: 'ESSENTIALS' } },
      DescribeBudgets: {},
    }),
  },
  'a new account, with the service in another region, without access to Billing': {
    world: withAccount({
      accountPlanType: 'FREE',
      accountPlanExpirationDate: '2027-05-28T00:00:00Z',
    }),
    happen: () => {
      vi.stubEnv('AWS_REGION', 'eu-west-3');
      arrangeAccount('eu-central-1', {
        [DISTRIBUTIONS]: '<DistributionList/>',
        [LIMITS]: { AccountLimit: { ConcurrentExecutions: 10 } },
        [SES]: { ProductionAccessEnabled: false },
      })();
      state.answers['DescribeBudgets'] = () => refusal(400, 'AccessDeniedException', 'no');
    },
  },
  'an account that answers nothing': {
    world: { failing: 'aws' },
    happen: () => vi.mocked(createAccountChecks).mockRestore(),
  },
  'a role that may not publish a version': {
    ...withFile(SETTINGS, '{"github":{}}'),
    happen: arrangeRole,
  },
  'settings that are not JSON': withFile(SETTINGS, 'a = "b"'),
  'a name that is too long for the bucket': withFile(SETTINGS, '{"name":"inquiries-of-customers"}'),
  'an unsaved state': withFile('bootstrap/errored.tfstate', '{}'),
  'another account': withFile('backend.s3.tfbackend', 'allowed_account_ids = ["4"]'),
  'another region': withFile('backend.s3.tfbackend', 'region = "us-west-2"'),
  "a bucket that is another account's": { happen: () => arrangeBucket(403) },
  'an account whose settings this checkout lacks': {
    happen: () => arrangeBucket(200, BOOTSTRAPPED),
  },
  'an account with these settings': {
    ...withFile(SETTINGS, '{}'),
    happen: () => arrangeBucket(200, BOOTSTRAPPED),
  },
  'a region that is not enabled': {
    happen: () => {
      state.answers['GetCallerIdentity'] = ({ headers }) =>
        headers.get('authorization')?.includes('/us-east-1/')
          ? undefined
          : { status: 403, body: '<R><Error><Code>InvalidClientTokenId</Code></Error></R>' };
    },
  },
  'a deletion without a confirmation': { world: deletion },
  'a deletion that is confirmed': { world: deletion, keys: `${ACCOUNT}\n` },
  "another's active receipt rule set": { world: receiving, happen: arrangeRuleSet('helpdesk') },
  'its own active receipt rule set': { world: receiving, happen: arrangeRuleSet('inquiries') },
  'a plan that changes nothing': { world: { changes: {} }, keys: '' },
  'another answer': { keys: 'y\n' },
  'no answer about the bucket': { happen: () => arrangeBucket(404), keys: '' },
  'a plan that fails': { world: failing },
  'a plan that fails after the bucket was created': {
    world: failing,
    happen: () => arrangeBucket(404),
  },
  'an error in a policy': { happen: () => arrangeFindings(find('ERROR')) },
  'a warning about a policy': { happen: () => arrangeFindings(find('WARNING')) },
  'policies that it may not have validated': {
    happen: () => arrangeFindings(refusal(403, 'AccessDeniedException', 'no')),
  },
};

it.each(Object.entries(CASES))('%s', async (_, { world, happen, keys }) => {
  const changes = { 'aws_iam_policy.a': ['create', { policy: '{"a":1}' }] } as const;
  arrange({ changes, files: {}, ...world });
  happen?.();
  const outcome = await command(main, keys === undefined ? '--yes' : '', keys);
  expect(transcribe(outcome)).toMatchSnapshot();
});

it('every name of a service gives a bucket whose name S3 takes, in any region', () => {
  const lengths = Array.from({ length: 40 }, (_, length) => 'n'.repeat(length));
  const longest = lengths.findLast(isServiceName);
  // docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  expect(`${longest}-terraform-state-${ACCOUNT}-ap-southeast-1`).toHaveLength(63);
});
