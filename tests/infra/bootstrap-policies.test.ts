/**
 * What the policies of infra/terraform/bootstrap allow. Terraform renders them from policies.tf, which needs neither a
 * provider nor an account. `allows` knows the operators that these policies use; `npm run bootstrap` has AWS validate them.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { MODULE } from '../../lib/paths.ts';
import { STAGES, type Stage } from '../../lib/stages.ts';

type Context = Readonly<Record<string, string | readonly string[]>>;
interface Statement {
  readonly Sid: string;
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Context>>;
}
/** Policies by their names, without that of the service. */
type Policies = Readonly<Record<string, { readonly Statement: readonly Statement[] }>>;
type Request = readonly [action: string, resource?: string, context?: Context];

const byStage = <T>(create: (stage: Stage) => T) =>
  Object.fromEntries(STAGES.map((stage) => [stage, create(stage)]));
const github = { repository: 'octo/inquiries' };

async function render(
  variables: object,
  locals: object = {},
): Promise<{ policies: Policies; trust: Policies }> {
  const root = mkdtempSync(join(tmpdir(), 'bootstrap-policies-'));
  const cwd = join(root, 'bootstrap');
  mkdirSync(cwd);
  for (const file of ['service.json', 'bootstrap/policies.tf', 'bootstrap/variables.tf']) {
    copyFileSync(join(MODULE, file), join(root, file));
  }
  const account = {
    account: '1',
    partition: 'aws',
    region: 'r',
    api_ids: byStage((stage) => [`api-of-${stage}`]),
    health_check_arns: byStage((stage) => [`arn:aws:route53:::healthcheck/of-${stage}`]),
  };
  const value = { policies: '${local.policies}', trust: '${local.trust}' };
  writeFileSync(
    join(cwd, 'test.tf.json'),
    JSON.stringify({ locals: { ...account, ...locals }, output: { rendered: { value } } }),
  );
  writeFileSync(
    join(cwd, 'test.auto.tfvars.json'),
    JSON.stringify({ bucket: 'state-bucket', ...variables }),
  );
  const args = ['apply', '-auto-approve', '-json'];
  const { stdout } = await run('terraform', args, {
    cwd,
    env: terraformEnv({ TF_WORKSPACE: undefined }),
  });
  rmSync(root, { recursive: true, force: true });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '').outputs.rendered.value;
}

const reason = await terraformUnavailableReason();
const { policies, trust } =
  reason === undefined
    ? await render({ github, domains: { release: ['api.example.com', 'www.example.com'] } })
    : { policies: {}, trust: {} };

/** IAM's wildcard matches every character, `/` included; `$` and `.` stand for themselves. */
const isLike = (pattern: string, text: string) =>
  new RegExp(`^${pattern.replaceAll(/[$.]/g, String.raw`\$&`).replaceAll('*', '.*')}$`).test(text);

/** Whether an operator of a condition holds. A missing key fails, except with a negation or `ForAllValues`. */
function holds(operator: string, key: string, expected: readonly string[], context: Context) {
  const values = [context[key] ?? []].flat();
  const isNegated = operator.includes('Not');
  if (values.length === 0) return isNegated || operator.startsWith('ForAllValues');
  const matches = operator.includes('Like') ? isLike : (a: string, b: string) => a === b;
  return values.every((value) => expected.some((each) => matches(each, value)) !== isNegated);
}

function allows(names: readonly string[], [action, resource = '*', context = {}]: Request) {
  const matching = names
    .flatMap((name) => policies[name]?.Statement ?? [])
    .filter(
      ({ Action, Resource, Condition = {} }) =>
        [Action].flat().some((pattern) => isLike(pattern, action)) &&
        [Resource].flat().some((pattern) => isLike(pattern, resource)) &&
        Object.entries(Condition).every(([operator, keys]) =>
          Object.entries(keys).every(([key, expected]) =>
            holds(operator, key, [expected].flat(), context),
          ),
        ),
    );
  return matching.length > 0 && matching.every(({ Effect }) => Effect === 'Allow');
}
/** What a role can be given that the deployment of the stage creates: all that the boundary allows. */
const canBeGiven = (stage: Stage, request: Request) => allows([`${stage}-boundary`], request);
const mayPlan = (stage: Stage, request: Request) =>
  allows([`${stage}-read`], request) && canBeGiven(stage, request);
const mayDeploy = (stage: Stage, request: Request) =>
  allows([`${stage}-read`, `${stage}-deploy`], request) && canBeGiven(stage, request);

const arn = (service: string, resource: string) => `arn:aws:${service}:r:1:${resource}`;
const table = (stage: Stage) => arn('dynamodb', `table/inquiries-${stage}`);
const role = (stage: Stage) => `arn:aws:iam::1:role/inquiries-${stage}-function`;
const pool = arn('cognito-idp', 'userpool/u');
const tags = (stage: Stage, kind = 'Resource'): Context => ({
  [`aws:${kind}Tag/service`]: 'inquiries',
  [`aws:${kind}Tag/stage`]: stage,
});
const bounded = (stage: Stage): Context => ({
  'iam:PermissionsBoundary': `arn:aws:iam::1:policy/terraform-bootstrap/inquiries-${stage}-boundary-r`,
});
/** `SERVICE:A B` → SERVICE:A, SERVICE:B, each with the rest of the request. */
const toRequests = (rows: readonly Request[]) =>
  rows.flatMap(([actions, resource = '*', context = {}]) => {
    const [service, names = ''] = actions.split(':');
    return names.split(' ').map((name): Request => [`${service}:${name}`, resource, context]);
  });
/** What a deployment of a stage asks for, by the kinds of its resources. */
const needed = (stage: Stage) =>
  toRequests([
    ['s3:ListBucket ListTagsForResource PutObject', `arn:aws:s3:::inquiries-${stage}-site-1`],
    [
      's3:GetObject PutObject',
      `arn:aws:s3:::state-bucket/env:/${stage}/inquiries/terraform.tfstate`,
    ],
    [
      'dynamodb:CreateTable DescribeTimeToLive TagResource UpdateTimeToLive UpdateTable',
      table(stage),
    ],
    ['iam:CreateRole PutRolePolicy', role(stage), bounded(stage)],
    ['iam:UpdateAssumeRolePolicy ListAttachedRolePolicies GetRole', role(stage)],
    ['iam:PassRole', role(stage), { 'iam:PassedToService': 'lambda.amazonaws.com' }],
    ['lambda:UpdateFunctionCode InvokeFunction', arn('lambda', `function:inquiries-${stage}`)],
    [
      'logs:PutRetentionPolicy PutMetricFilter ListTagsForResource',
      arn('logs', `log-group:/aws/lambda/inquiries-${stage}`),
    ],
    ['events:PutRule DescribeRule', arn('events', `rule/inquiries-${stage}-mailer-digests`)],
    ['cloudwatch:PutMetricAlarm', arn('cloudwatch', `alarm:inquiries-${stage}-function-errors`)],
    ['cloudwatch:GetDashboard PutDashboard', `arn:aws:cloudwatch::1:dashboard/inquiries-${stage}`],
    ['sns:Subscribe GetTopicAttributes', arn('sns', `inquiries-${stage}-alarms`)],
    ['sqs:CreateQueue GetQueueAttributes', arn('sqs', `inquiries-${stage}-failed`)],
    ['ses:CreateConfigurationSet', arn('ses', `configuration-set/inquiries-${stage}`)],
    [
      'cognito-idp:CreateUserPoolClient SetUserPoolMfaConfig AdminCreateUser AdminInitiateAuth AdminRespondToAuthChallenge',
      pool,
      tags(stage),
    ],
    ['cloudfront:CreateInvalidation UpdateDistribution', '*', tags(stage)],
    ['acm:DeleteCertificate', '*', tags(stage)],
    ['route53:UpdateHealthCheck', `arn:aws:route53:::healthcheck/of-${stage}`],
    [
      'lambda:CreateEventSourceMapping',
      '*',
      { 'lambda:FunctionArn': arn('lambda', `function:inquiries-${stage}-mailer:live`) },
    ],
    ['lambda:TagResource', arn('lambda', 'event-source-mapping:e'), tags(stage, 'Request')],
    ['apigateway:GET PATCH', `arn:aws:apigateway:r::/apis/api-of-${stage}/routes/a`],
  ]);
const isRead = ([action]: Request) => /:(Describe|Get|GET|List|Test)/.test(action);

describe.skipIf(reason !== undefined)('the policies (skipped without terraform)', () => {
  it.each(STAGES)('of %s reach nothing of another stage, and little without its name', (stage) => {
    const others = STAGES.filter((other) => other !== stage).flatMap(needed);
    expect(others.filter((request) => mayDeploy(stage, request))).toEqual([]);
    const loose = ['read', 'deploy', 'boundary']
      .flatMap((kind) => policies[`${stage}-${kind}`]?.Statement ?? [])
      .filter(({ Effect, Resource, Condition = {} }) => {
        const names = JSON.stringify(Condition).includes(stage) ? [] : [Resource].flat();
        return Effect === 'Allow' && !names.every((name) => name.includes(stage));
      });
    // docs/roles.md says what follows from each. The gateway's is the creation of APIs.
    expect(new Set(loose.map(({ Sid }) => Sid))).toEqual(
      new Set(
        'Gateway Keys Mail ReadGateway ReadUnnamed State StateBucket Unnamed WriteGateway WriteUnnamed'
          .split(' ')
          .concat(stage === 'release' ? ['Records'] : []),
      ),
    );
  });

  it('let a deployment do what it needs, and a plan read it', () => {
    const requests = needed('develop').concat(
      toRequests([['logs:TestMetricFilter UpdateLogDelivery PutResourcePolicy DescribeLogGroups']]),
    );
    expect(requests.filter((request) => !mayDeploy('develop', request))).toEqual([]);
    expect(requests.filter((request) => mayPlan('develop', request))).toEqual(
      requests.filter(isRead),
    );
  });

  it('let no role tag or make what is allowed by its tags or id, touch data, or free another', () => {
    const asked = tags('develop', 'Request');
    const refused = toRequests([
      ['acm:AddTagsToCertificate RequestCertificate', '*', asked],
      ['cloudfront:TagResource', 'arn:aws:cloudfront::1:distribution/E', asked],
      ['cognito-idp:TagResource', pool, asked],
      ['ses:TagResource', arn('ses', 'identity/example.com'), asked],
      ['route53:ChangeTagsForResource', 'arn:aws:route53:::hostedzone/Z1', asked],
      ['route53:ChangeTagsForResource', 'arn:aws:route53:::healthcheck/of-release', asked],
      ['sns:SetSubscriptionAttributes Unsubscribe', arn('sns', 'inquiries-release-alarms:1b2c')],
      [
        's3:DeleteObject DeleteObjectVersion',
        'arn:aws:s3:::state-bucket/env:/develop/inquiries/terraform.tfstate',
      ],
      ['cognito-idp:AdminSetUserPassword AdminDeleteUser', pool, tags('develop')],
      [
        'iam:AttachRolePolicy DeleteRolePermissionsBoundary CreateRole PutRolePolicy',
        role('develop'),
      ],
      ['iam:CreateRole PutRolePolicy', role('develop'), bounded('release')],
      [
        'iam:CreateRole PutRolePolicy',
        'arn:aws:iam::1:role/terraform-bootstrap/inquiries-develop-deploy-r',
        bounded('develop'),
      ],
      ['iam:CreateUser AddClientIDToOpenIDConnectProvider'],
      ['sts:AssumeRole'],
      ['kms:Decrypt'],
      ['ec2:RunInstances'],
    ]);
    // A function's role may be given these.
    const data = toRequests([
      ['dynamodb:GetItem Query Scan PutItem DeleteItem ExportTableToPointInTime', table('develop')],
      ['logs:GetLogEvents', arn('logs', 'log-group:/aws/lambda/inquiries-develop:*')],
      ['sqs:ReceiveMessage PurgeQueue', arn('sqs', 'inquiries-develop-failed')],
      ['ses:SendEmail', arn('ses', 'identity/i'), tags('develop')],
    ]);
    const all = [...refused, ...data];
    expect(all.filter((request) => mayDeploy('develop', request))).toEqual([]);
    expect(all.filter((request) => canBeGiven('develop', request))).toEqual(data);
  });

  it.each(['main', 'release'] as const)('let no role of %s end the protection of data', (stage) => {
    const requests = toRequests([
      ['dynamodb:DeleteTable UpdateTable UpdateTimeToLive UpdateContinuousBackups', table(stage)],
      ['dynamodb:DeleteBackup', `${table(stage)}/backup/1`],
      ['cognito-idp:DeleteUserPool', pool, tags(stage)],
    ]);
    expect(requests.filter((request) => mayDeploy(stage, request))).toEqual([]);
    expect(requests.filter((request) => canBeGiven(stage, request))).toEqual([]);
  });

  it('let a stage set up the domains that are listed for it, and no others', () => {
    const change = (stage: Stage, ...names: string[]) =>
      mayDeploy(stage, [
        'route53:ChangeResourceRecordSets',
        'arn:aws:route53:::hostedzone/Z1',
        { 'route53:ChangeResourceRecordSetsNormalizedRecordNames': names },
      ]);
    expect([
      change('release', 'api.example.com', '_1.www.example.com'),
      change('release', 'api.example.com', 'example.com'),
      change('develop', 'api.example.com'),
      mayDeploy('release', ['apigateway:PATCH', 'arn:aws:apigateway:r::/domainnames/other.com']),
    ]).toEqual([true, false, false, false]);
  });

  it('let an operator answer, and only the larger one erase', () => {
    const attributes = (...names: string[]) => ({ 'dynamodb:Attributes': names });
    const answer = {
      ...attributes('pk', 'sk', 'reply', 'respondent', 'reply_at', 'inbox'),
      'dynamodb:LeadingKeys': '$inquiries#cognito_sub_1#email_a',
    };
    const key = arn('ssm', 'parameter/inquiries-main/erasure-key');
    const mailer = arn('lambda', 'function:inquiries-main-mailer');
    const answers: Request[] = [['dynamodb:UpdateItem', table('main'), answer]];
    const erasures: Request[] = [
      ['dynamodb:BatchWriteItem', table('main'), attributes('pk', 'sk')],
      ['ssm:PutParameter', key],
      // docs/runbook.md invokes the live version, whose ARN is another (docs.aws.amazon.com/lambda/latest/dg/using-aliases.html).
      ['lambda:InvokeFunction', `${mailer}:live`],
    ];
    const refused: Request[] = [
      ['dynamodb:UpdateItem', table('main'), attributes('body')],
      ['dynamodb:BatchWriteItem', table('main'), attributes('pk', 'body')],
      ['dynamodb:Query', table('release')],
      ['ssm:PutParameter', key, { 'ssm:Overwrite': 'true' }],
      ['lambda:InvokeFunction', mailer],
    ];
    const all = [...answers, ...erasures, ...refused];
    expect(all.filter((each) => allows(['main-inbox-answer'], each))).toEqual(answers);
    expect(all.filter((each) => allows(['main-inbox'], each))).toEqual([...answers, ...erasures]);
  });

  it('trust the environments of the one repository, by complete subjects, with ids when they are known', async () => {
    const ids = { owner_id: '1', repository_id: '23' };
    const withIds = await render({ github: { ...github, ...ids } });
    const subjects = (trusts: Policies) =>
      Object.fromEntries(
        Object.entries(trusts).map(([name, { Statement }]) => [
          name,
          Statement.map(({ Condition }) => Condition),
        ]),
      );
    /** With what the subjects of each role's environment begin. */
    const only = (...repositories: string[]) =>
      Object.fromEntries(
        STAGES.flatMap((stage) => [
          [`${stage}-deploy`, stage],
          [`${stage}-plan`, `${stage}-plan`],
        ]).map(([name, environment]) => [
          name,
          [
            {
              StringEquals: {
                'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
                'token.actions.githubusercontent.com:sub': repositories.map(
                  (repository) => `repo:${repository}:environment:${environment}`,
                ),
              },
            },
          ],
        ]),
      );
    expect(subjects(trust)).toEqual(only('octo/inquiries'));
    expect(subjects(withIds.trust)).toEqual(only('octo/inquiries', 'octo@1/inquiries@23'));
  });

  it('fit into the limits of IAM with the longest names', async () => {
    const longest = await render(
      {
        name: 'n'.repeat(19),
        bucket: 'b'.repeat(63),
        github,
        domains: { release: ['a', 'b'].map((one) => `${one.repeat(60)}.example.com`) },
      },
      {
        account: '1'.repeat(12),
        region: 'ap-southeast-2',
        api_ids: byStage(() => ['a'.repeat(10)]),
        health_check_arns: byStage(() =>
          Array(4).fill(`arn:aws:route53:::healthcheck/${'a'.repeat(36)}`),
        ),
      },
    );
    const sizes = Object.entries(longest.policies).map(
      ([name, policy]) => [name, JSON.stringify(policy).length] as const,
    );
    // Of policies of their own, and of one in a role.
    const most = (name: string) => (name.endsWith('-deploy') ? 10_240 : 6_144);
    expect(sizes.filter(([name, size]) => size > most(name))).toEqual([]);
  });
});
