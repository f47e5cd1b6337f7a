/**
 * The policies of infra/terraform/bootstrap, evaluated as IAM does: Terraform renders them from policies.tf, which needs
 * neither a provider nor an account.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { MODULE } from '../../lib/paths.ts';
import { STAGES } from '../../lib/stages.ts';
import type { Stage } from '../../lib/stages.ts';

type Values = string | string[];

interface Statement {
  readonly Sid: string;
  readonly Effect: 'Allow' | 'Deny';
  readonly Action?: Values;
  readonly NotAction?: Values;
  readonly Resource?: Values;
  readonly Condition?: Record<string, Record<string, Values>>;
}

interface Policy {
  readonly Statement: readonly Statement[];
}

interface Policies {
  readonly boundaries: Record<Stage, Policy>;
  readonly read: Record<Stage, Policy>;
  readonly deploy: Record<Stage, Policy>;
  readonly trust: Record<'deploy' | 'plan', Record<Stage, Policy>>;
}

/** What a request has beside its action and resource: condition keys with their values. */
type Context = Readonly<Record<string, Values>>;

const listOf = (values: Values = []): string[] => [values].flat();

const matches = (pattern: string, value: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    's',
  ).test(value);

/** A negated operator, and one with ForAllValues, is met when the key is missing; all others are not. */
function isMet(operator: string, expected: string[], actual: string[] | undefined): boolean {
  const isAny = (test: (pattern: string, value: string) => boolean) =>
    (actual ?? []).some((value) => expected.some((pattern) => test(pattern, value)));
  switch (operator) {
    case 'StringEquals':
    case 'Bool':
      return isAny((wanted, value) => wanted === value);
    case 'StringNotEquals':
      return !isAny((wanted, value) => wanted === value);
    case 'ArnLike':
      return isAny(matches);
    case 'ForAllValues:StringLike':
      return (actual ?? []).every((value) => expected.some((pattern) => matches(pattern, value)));
    case 'Null':
      return expected.includes(String(actual === undefined));
    default:
      throw new Error(`The evaluator does not know ${operator}.`);
  }
}

function applies(statement: Statement, action: string, resource: string, context: Context): boolean {
  // Actions are compared without regard to case.
  const named = listOf(statement.Action ?? statement.NotAction).some((pattern) =>
    matches(pattern.toLowerCase(), action.toLowerCase()),
  );
  return (
    named === (statement.Action !== undefined) &&
    listOf(statement.Resource ?? '*').some((pattern) => matches(pattern, resource)) &&
    Object.entries(statement.Condition ?? {}).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) =>
        isMet(operator, listOf(values), context[key] === undefined ? undefined : listOf(context[key])),
      ),
    )
  );
}

function evaluate(policies: readonly Policy[], action: string, resource: string, context: Context) {
  const applicable = policies
    .flatMap(({ Statement: statements }) => statements)
    .filter((statement) => applies(statement, action, resource, context));
  const has = (effect: Statement['Effect']) => applicable.some(({ Effect }) => Effect === effect);
  return { isAllowed: has('Allow'), isDenied: has('Deny') };
}

const account = '111122223333';
const region = 'eu-central-1';
const apiIds = { develop: ['aaaaaaaaaa'], main: ['bbbbbbbbbb'], release: ['cccccccccc'] };

async function render(variables: object, locals: object = {}): Promise<Policies> {
  const folder = mkdtempSync(join(tmpdir(), 'bootstrap-policies-'));
  try {
    for (const file of ['policies.tf', 'variables.tf'])
      copyFileSync(join(MODULE, 'bootstrap', file), join(folder, file));
    const value = {
      boundaries: '${local.boundaries}',
      read: '${local.read_policies}',
      deploy: '${local.deploy_policies}',
      trust: '${local.trust_policies}',
    };
    writeFileSync(
      join(folder, 'test.tf.json'),
      JSON.stringify({
        locals: { account, partition: 'aws', region, api_ids: apiIds, ...locals },
        output: { policies: { value } },
      }),
    );
    writeFileSync(
      join(folder, 'test.auto.tfvars.json'),
      JSON.stringify({ bucket: 'state-bucket', ...variables }),
    );
    const terraform = (...args: string[]) =>
      run('terraform', args, { cwd: folder, env: terraformEnv({ TF_WORKSPACE: undefined }) });
    const { code, output } = await terraform('apply', '-auto-approve', '-no-color');
    if (code !== 0) throw new Error(output);
    const { stdout } = await terraform('output', '-json', 'policies');
    return JSON.parse(stdout) as Policies;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const hasTerraform = (await terraformUnavailableReason()) === undefined;
if (!hasTerraform)
  process.stdout.write('\nSKIPPED: policies of the bootstrap, because terraform is not on the PATH.\n');

const github = { repository: 'octo/inquiries' };
const policies = hasTerraform
  ? await render({ github, domains: { release: ['api.example.com', 'www.example.com'] } })
  : undefined;

/** Whether a role of develop may: both its own policies and its boundary must allow it, and neither may deny it. */
function decide(
  role: 'deploy' | 'plan' | 'function',
  action: string,
  resource: string,
  context: Context = {},
) {
  if (policies === undefined) throw new Error('There are no policies.');
  const { boundaries, read, deploy } = policies;
  const everything: Policy = { Statement: [{ Sid: 'All', Effect: 'Allow', Action: '*', Resource: '*' }] };
  const own = { deploy: [read.develop, deploy.develop], plan: [read.develop], function: [everything] }[role];
  const decisions = [own, [boundaries.develop]].map((some) => evaluate(some, action, resource, context));
  return decisions.every(({ isAllowed, isDenied }) => isAllowed && !isDenied) ? 'allowed' : 'denied';
}

const arn = (service: string, resource: string, where = region) =>
  `arn:aws:${service}:${where}:${account}:${resource}`;
const iam = (resource: string) => arn('iam', resource, '');
const gateway = (path: string) => `arn:aws:apigateway:${region}::${path}`;
const table = (name: string) => arn('dynamodb', `table/${name}`);
const lambda = (name: string) => arn('lambda', `function:${name}`);
const resourceTags = (stage: string, service = 'inquiries') => ({
  'aws:ResourceTag/service': service,
  'aws:ResourceTag/stage': stage,
});
const requestTags = (stage: string) => ({
  'aws:RequestTag/service': 'inquiries',
  'aws:RequestTag/stage': stage,
});
const state = 'arn:aws:s3:::state-bucket/env:';
const boundary = (stage: string) => iam(`policy/terraform-bootstrap/inquiries-${stage}-boundary-${region}`);
const bounded = (stage: string) => ({ 'iam:PermissionsBoundary': boundary(stage) });
const distribution = arn('cloudfront', 'distribution/E1', '');
const pool = arn('cognito-idp', 'userpool/eu-central-1_Ab');
const certificate = arn('acm', 'certificate/1', 'us-east-1');
const identity = arn('ses', 'identity/example.com');
const zone = 'arn:aws:route53:::hostedzone/Z1';
const records = (...names: string[]) => ({ 'route53:ChangeResourceRecordSetsNormalizedRecordNames': names });

type Case = [action: string, resource: string, context?: Context];

describe.skipIf(!hasTerraform)(
  'the role that deploys develop (skipped without terraform on the PATH)',
  () => {
    it.each<Case>([
      ['s3:ListBucket', 'arn:aws:s3:::state-bucket'],
      ['s3:GetObject', 'arn:aws:s3:::state-bucket/inquiries/terraform.tfstate'],
      ['s3:PutObject', `${state}/develop/inquiries/terraform.tfstate`],
      ['s3:DeleteObject', `${state}/develop/inquiries/terraform.tfstate.tflock`],
      ...[
        'CreateTable',
        'DescribeTable',
        'UpdateTable',
        'DeleteTable',
        'DescribeContinuousBackups',
        'UpdateContinuousBackups',
        'DescribeTimeToLive',
        'UpdateTimeToLive',
        'ListTagsOfResource',
        'TagResource',
        'UntagResource',
      ].flatMap<Case>((action) => [
        [`dynamodb:${action}`, table('inquiries-develop'), resourceTags('develop')],
        [`dynamodb:${action}`, table('inquiries-develop-erasures')],
      ]),
      ...[
        'CreateFunction',
        'GetFunction',
        'UpdateFunctionCode',
        'UpdateFunctionConfiguration',
        'DeleteFunction',
        'ListVersionsByFunction',
        'AddPermission',
        'RemovePermission',
        'GetPolicy',
        'PublishVersion',
        'PutFunctionConcurrency',
        'DeleteFunctionConcurrency',
        'GetFunctionCodeSigningConfig',
        'TagResource',
        'UntagResource',
        'ListTags',
      ].flatMap<Case>((action) => [
        [`lambda:${action}`, lambda('inquiries-develop')],
        [`lambda:${action}`, lambda('inquiries-develop-mailer')],
      ]),
      ...[
        'CreateAlias',
        'GetAlias',
        'UpdateAlias',
        'DeleteAlias',
        'ListAliases',
        'InvokeFunction',
        'AddPermission',
      ].map<Case>((action) => [`lambda:${action}`, lambda('inquiries-develop:live')]),
      ['lambda:DeleteFunction', lambda('inquiries-develop:7')],
      ['lambda:CreateEventSourceMapping', '*', { 'lambda:FunctionArn': lambda('inquiries-develop-mailer') }],
      ['lambda:GetEventSourceMapping', arn('lambda', 'event-source-mapping:1')],
      ['lambda:TagResource', arn('lambda', 'event-source-mapping:1'), requestTags('develop')],
      ['iam:CreateRole', iam('role/inquiries-develop-function'), bounded('develop')],
      ['iam:PutRolePolicy', iam('role/inquiries-develop-function'), bounded('develop')],
      ['iam:PutRolePermissionsBoundary', iam('role/inquiries-develop-function'), bounded('develop')],
      ...[
        'GetRole',
        'UpdateRole',
        'UpdateAssumeRolePolicy',
        'DeleteRole',
        'TagRole',
        'UntagRole',
        'GetRolePolicy',
        'DeleteRolePolicy',
        'ListRolePolicies',
        'ListAttachedRolePolicies',
        'ListInstanceProfilesForRole',
      ].map<Case>((action) => [`iam:${action}`, iam('role/inquiries-develop-mailer')]),
      ...[
        'CreatePolicy',
        'GetPolicy',
        'GetPolicyVersion',
        'CreatePolicyVersion',
        'ListPolicyVersions',
        'DeletePolicyVersion',
        'DeletePolicy',
        'TagPolicy',
        'UntagPolicy',
      ].map<Case>((action) => [`iam:${action}`, iam('policy/inquiries-develop-inbox')]),
      [
        'iam:PassRole',
        iam('role/inquiries-develop-function'),
        { 'iam:PassedToService': 'lambda.amazonaws.com' },
      ],
      ['apigateway:POST', gateway('/apis'), requestTags('develop')],
      ['apigateway:PATCH', gateway('/apis/aaaaaaaaaa'), resourceTags('develop')],
      ['apigateway:DELETE', gateway('/apis/aaaaaaaaaa/routes/x')],
      ['apigateway:POST', gateway('/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fapis%2Faaaaaaaaaa')],
      ...[
        'CreateLogGroup',
        'DeleteLogGroup',
        'PutRetentionPolicy',
        'PutMetricFilter',
        'DeleteMetricFilter',
        'DescribeMetricFilters',
        'TagResource',
        'UntagResource',
        'ListTagsForResource',
      ].flatMap<Case>((action) => [
        [`logs:${action}`, arn('logs', 'log-group:/aws/lambda/inquiries-develop')],
        [`logs:${action}`, arn('logs', 'log-group:/aws/lambda/inquiries-develop-mailer:*')],
        [`logs:${action}`, arn('logs', 'log-group:/aws/vendedlogs/apigateway/inquiries-develop:*')],
      ]),
      ...[
        'CreateLogDelivery',
        'GetLogDelivery',
        'UpdateLogDelivery',
        'DeleteLogDelivery',
        'ListLogDeliveries',
        'PutResourcePolicy',
        'DescribeResourcePolicies',
        'DescribeLogGroups',
      ].map<Case>((action) => [`logs:${action}`, '*']),
      ['cloudwatch:PutMetricAlarm', arn('cloudwatch', 'alarm:inquiries-develop-errors')],
      ['cloudwatch:PutMetricAlarm', arn('cloudwatch', 'alarm:inquiries-develop-site', 'us-east-1')],
      ['cloudwatch:DescribeAlarms', '*'],
      ['cloudwatch:PutDashboard', arn('cloudwatch', 'dashboard/inquiries-develop', '')],
      ['sns:Subscribe', arn('sns', 'inquiries-develop-alarms', 'us-east-1')],
      ['sns:GetTopicAttributes', arn('sns', 'inquiries-develop-alarms')],
      ['sqs:CreateQueue', arn('sqs', 'inquiries-develop-mailer-dead-letters')],
      ['sqs:GetQueueAttributes', arn('sqs', 'inquiries-develop-mailer-dead-letters')],
      ['s3:PutBucketPolicy', `arn:aws:s3:::inquiries-develop-site-${account}`],
      ['s3:PutObject', `arn:aws:s3:::inquiries-develop-site-${account}/index.html`],
      ['cloudfront:CreateDistribution', distribution],
      ['cloudfront:TagResource', distribution, requestTags('develop')],
      ['cloudfront:UpdateDistribution', distribution, resourceTags('develop')],
      ['cloudfront:CreateInvalidation', distribution, resourceTags('develop')],
      ['cloudfront:GetDistribution', distribution, resourceTags('develop')],
      ['cloudfront:CreateOriginAccessControl', '*'],
      ['cloudfront:UpdateResponseHeadersPolicy', arn('cloudfront', 'response-headers-policy/1', '')],
      ['cognito-idp:CreateUserPool', '*', requestTags('develop')],
      ...[
        'CreateUserPoolClient',
        'CreateUserPoolDomain',
        'UpdateUserPool',
        'DescribeUserPoolClient',
        'GetUserPoolMfaConfig',
        'SetUserPoolMfaConfig',
        'DeleteUserPool',
        'AdminCreateUser',
        'AdminSetUserPassword',
        'AdminInitiateAuth',
        'CreateManagedLoginBranding',
        'DescribeManagedLoginBranding',
      ].map<Case>((action) => [`cognito-idp:${action}`, pool, resourceTags('develop')]),
      ['acm:RequestCertificate', '*', requestTags('develop')],
      ['acm:DescribeCertificate', certificate, resourceTags('develop')],
      ['acm:DeleteCertificate', certificate, resourceTags('develop')],
      ['route53:ListHostedZones', '*'],
      ['route53:GetChange', 'arn:aws:route53:::change/C1'],
      ['route53:CreateHealthCheck', '*'],
      ['route53:DeleteHealthCheck', 'arn:aws:route53:::healthcheck/1'],
      ['ses:CreateEmailIdentity', identity, requestTags('develop')],
      ['ses:DeleteEmailIdentity', identity, resourceTags('develop')],
      ['ses:GetEmailIdentity', identity, resourceTags('develop')],
      [
        'kms:CreateGrant',
        arn('kms', 'key/1'),
        { 'kms:GrantIsForAWSResource': 'true', 'aws:ResourceTag/service': 'platform' },
      ],
    ])('may call %s on %s', (action, resource, context) => {
      expect(decide('deploy', action, resource, context)).toBe('allowed');
    });

    it.each<Case>([
      ['dynamodb:DeleteTable', table('inquiries-release')],
      ['dynamodb:UpdateTable', table('inquiries-main-erasures')],
      ['dynamodb:DeleteTable', table('inquiries-develop'), resourceTags('release')],
      ['dynamodb:DeleteTable', table('inquiries-developer')],
      ...[
        'GetItem',
        'BatchGetItem',
        'Query',
        'Scan',
        'PutItem',
        'UpdateItem',
        'DeleteItem',
        'PartiQLSelect',
        'ExportTableToPointInTime',
      ].flatMap<Case>((action) => [
        [`dynamodb:${action}`, table('inquiries-develop')],
        [`dynamodb:${action}`, table('inquiries-develop/index/by-time')],
      ]),
      ['dynamodb:GetRecords', table('inquiries-develop/stream/1')],
      ['logs:FilterLogEvents', arn('logs', 'log-group:/aws/lambda/inquiries-develop:*')],
      ['sqs:ReceiveMessage', arn('sqs', 'inquiries-develop-mailer-dead-letters')],
      ['cognito-idp:ListUsers', pool, resourceTags('develop')],
      ['cognito-idp:AdminGetUser', pool, resourceTags('develop')],
      ['s3:GetObject', `${state}/release/inquiries/terraform.tfstate`],
      ['s3:PutObject', `${state}/release/inquiries/terraform.tfstate.tflock`],
      ['s3:PutObject', 'arn:aws:s3:::state-bucket/inquiries/terraform.tfstate'],
      ['s3:GetObject', 'arn:aws:s3:::state-bucket/inquiries/bootstrap.tfstate'],
      ['s3:PutObject', 'arn:aws:s3:::state-bucket/inquiries/bootstrap.tfstate'],
      ['s3:DeleteObject', `${state}/develop/inquiries/terraform.tfstate`],
      ['s3:PutBucketPolicy', 'arn:aws:s3:::state-bucket'],
      ['s3:PutObject', `arn:aws:s3:::inquiries-release-site-${account}/index.html`],
      ['lambda:UpdateFunctionCode', lambda('inquiries-release')],
      ['lambda:UpdateAlias', lambda('inquiries-release:live')],
      ['lambda:InvokeFunction', lambda('inquiries-main:live')],
      ['lambda:CreateEventSourceMapping', '*', { 'lambda:FunctionArn': lambda('inquiries-release-mailer') }],
      [
        'lambda:UpdateEventSourceMapping',
        arn('lambda', 'event-source-mapping:1'),
        { 'lambda:FunctionArn': lambda('inquiries-release-mailer') },
      ],
      ['iam:CreateRole', iam('role/inquiries-develop-function')],
      ['iam:CreateRole', iam('role/inquiries-develop-function'), bounded('release')],
      ['iam:CreateRole', iam('role/admin'), bounded('develop')],
      ['iam:PutRolePolicy', iam('role/inquiries-develop-function')],
      ['iam:PutRolePolicy', iam('role/inquiries-release-function'), bounded('develop')],
      ['iam:PutRolePolicy', iam('role/inquiries-release-function'), bounded('release')],
      ['iam:PutRolePermissionsBoundary', iam('role/inquiries-develop-function'), bounded('release')],
      ['iam:DeleteRolePermissionsBoundary', iam('role/inquiries-develop-function'), bounded('develop')],
      [
        'iam:AttachRolePolicy',
        iam('role/inquiries-develop-function'),
        { 'iam:PolicyARN': 'arn:aws:iam::aws:policy/AdministratorAccess' },
      ],
      [
        'iam:PassRole',
        iam('role/inquiries-release-function'),
        { 'iam:PassedToService': 'lambda.amazonaws.com' },
      ],
      [
        'iam:PassRole',
        iam('role/inquiries-develop-function'),
        { 'iam:PassedToService': 'ec2.amazonaws.com' },
      ],
      ['iam:UpdateAssumeRolePolicy', iam(`role/terraform-bootstrap/inquiries-develop-deploy-${region}`)],
      [
        'iam:PutRolePolicy',
        iam(`role/terraform-bootstrap/inquiries-develop-deploy-${region}`),
        bounded('develop'),
      ],
      ['iam:DeleteRole', iam(`role/terraform-bootstrap/inquiries-develop-plan-${region}`)],
      ['iam:CreatePolicyVersion', boundary('develop')],
      ['iam:DeletePolicy', boundary('release')],
      ['iam:CreatePolicyVersion', iam('policy/inquiries-release-inbox')],
      ['iam:AddClientIDToOpenIDConnectProvider', iam('oidc-provider/token.actions.githubusercontent.com')],
      ['iam:CreateUser', iam('user/inquiries-develop-x')],
      ['iam:CreateServiceLinkedRole', '*', { 'iam:AWSServiceName': 'ecs.amazonaws.com' }],
      ['sts:AssumeRole', iam('role/admin')],
      ['apigateway:DELETE', gateway('/apis/cccccccccc')],
      ['apigateway:DELETE', gateway('/apis/cccccccccc/routes/x')],
      ['apigateway:PATCH', gateway('/apis/bbbbbbbbbb/integrations/y')],
      ['apigateway:DELETE', gateway('/tags/arn%3Aaws%3Aapigateway%3Aeu-central-1%3A%3A%2Fapis%2Fcccccccccc')],
      ['apigateway:DELETE', gateway('/apis/dddddddddd'), resourceTags('release')],
      ['apigateway:DELETE', gateway('/apis/dddddddddd'), resourceTags('develop', 'orders')],
      ['apigateway:PATCH', gateway('/domainnames/api.example.com')],
      ['apigateway:POST', gateway('/domainnames/api.example.com/apimappings')],
      ['cloudfront:UpdateDistribution', distribution, resourceTags('release')],
      ['cloudfront:UpdateDistribution', distribution],
      ['cloudfront:CreateInvalidation', distribution, resourceTags('develop', 'orders')],
      ['cloudfront:TagResource', distribution, requestTags('release')],
      ['cognito-idp:CreateUserPool', '*'],
      ['cognito-idp:CreateUserPool', '*', requestTags('release')],
      ['cognito-idp:AdminSetUserPassword', pool, resourceTags('release')],
      ['cognito-idp:DeleteUserPool', pool],
      ['acm:RequestCertificate', '*'],
      ['acm:DeleteCertificate', certificate, resourceTags('main')],
      ['ses:DeleteEmailIdentity', identity, resourceTags('release')],
      ['ses:SendEmail', identity, resourceTags('develop')],
      ['route53:ChangeResourceRecordSets', zone, records('api.example.com')],
      ['route53:DeleteHostedZone', zone],
      ['cloudwatch:DeleteAlarms', arn('cloudwatch', 'alarm:inquiries-release-errors')],
      ['sns:DeleteTopic', arn('sns', 'inquiries-release-alarms')],
      ['sqs:DeleteQueue', arn('sqs', 'inquiries-release-mailer-dead-letters')],
      ['logs:DeleteLogGroup', arn('logs', 'log-group:/aws/lambda/inquiries-release')],
      ['kms:Decrypt', arn('kms', 'key/1')],
      ['kms:CreateGrant', arn('kms', 'key/1')],
      ['ec2:RunInstances', '*'],
    ])('may not call %s on %s (%j)', (action, resource, context) => {
      expect(decide('deploy', action, resource, context)).toBe('denied');
    });
  },
);

describe.skipIf(!hasTerraform)('the role that plans develop (skipped without terraform on the PATH)', () => {
  it.each<Case>([
    ['s3:GetObject', `${state}/develop/inquiries/terraform.tfstate`],
    ['s3:PutObject', `${state}/develop/inquiries/terraform.tfstate.tflock`],
    ['dynamodb:DescribeTable', table('inquiries-develop')],
    ['lambda:GetFunction', lambda('inquiries-develop')],
    ['iam:GetRolePolicy', iam('role/inquiries-develop-function')],
    ['apigateway:GET', gateway('/apis/aaaaaaaaaa/routes')],
    ['cognito-idp:DescribeUserPool', pool, resourceTags('develop')],
    ['s3:GetBucketPolicy', `arn:aws:s3:::inquiries-develop-site-${account}`],
  ])('may call %s on %s', (action, resource, context) => {
    expect(decide('plan', action, resource, context)).toBe('allowed');
  });

  it.each<Case>([
    ['s3:PutObject', `${state}/develop/inquiries/terraform.tfstate`],
    ['s3:PutObject', `arn:aws:s3:::inquiries-develop-site-${account}/index.html`],
    ['s3:GetObject', `${state}/release/inquiries/terraform.tfstate`],
    ['dynamodb:GetItem', table('inquiries-develop')],
    ['dynamodb:UpdateTable', table('inquiries-develop')],
    ['dynamodb:DescribeTable', table('inquiries-release')],
    ['lambda:InvokeFunction', lambda('inquiries-develop:live')],
    ['lambda:UpdateFunctionCode', lambda('inquiries-develop')],
    ['iam:CreateRole', iam('role/inquiries-develop-function'), bounded('develop')],
    ['apigateway:PATCH', gateway('/apis/aaaaaaaaaa')],
    ['apigateway:GET', gateway('/apis/cccccccccc/routes')],
    ['cloudfront:UpdateDistribution', distribution, resourceTags('develop')],
    ['cognito-idp:AdminInitiateAuth', pool, resourceTags('develop')],
    ['cognito-idp:DescribeUserPool', pool, resourceTags('release')],
  ])('may not call %s on %s', (action, resource, context) => {
    expect(decide('plan', action, resource, context)).toBe('denied');
  });
});

describe.skipIf(!hasTerraform)(
  'a role that develop creates, with any policy (skipped without terraform on the PATH)',
  () => {
    it.each<Case>([
      ['dynamodb:PutItem', table('inquiries-develop')],
      ['dynamodb:Query', table('inquiries-develop/index/by-time')],
      ['dynamodb:GetRecords', table('inquiries-develop/stream/1')],
      ['logs:PutLogEvents', arn('logs', 'log-group:/aws/lambda/inquiries-develop:log-stream:1')],
      ['xray:PutTraceSegments', '*'],
      ['sqs:SendMessage', arn('sqs', 'inquiries-develop-mailer-dead-letters')],
      ['ses:SendEmail', identity, resourceTags('release')],
      ['kms:Decrypt', arn('kms', 'key/1'), { 'aws:ResourceTag/service': 'platform' }],
    ])('may call %s on %s', (action, resource, context) => {
      expect(decide('function', action, resource, context)).toBe('allowed');
    });

    it.each<Case>([
      ['dynamodb:Query', table('inquiries-release')],
      ['lambda:InvokeFunction', lambda('inquiries-release')],
      ['apigateway:DELETE', gateway('/apis/cccccccccc/routes/x')],
      ['iam:CreateRole', iam('role/inquiries-develop-x')],
      ['iam:DeleteRolePermissionsBoundary', iam('role/inquiries-develop-x'), bounded('develop')],
      ['iam:CreatePolicyVersion', boundary('develop')],
      ['s3:GetObject', `${state}/release/inquiries/terraform.tfstate`],
      ['s3:GetObject', 'arn:aws:s3:::other/object'],
      ['cognito-idp:ListUsers', pool, resourceTags('release')],
      ['route53:ChangeResourceRecordSets', zone, records('api.example.com')],
      ['sts:AssumeRole', iam('role/admin')],
      ['secretsmanager:GetSecretValue', '*'],
    ])('may not call %s on %s', (action, resource, context) => {
      expect(decide('function', action, resource, context)).toBe('denied');
    });
  },
);

describe.skipIf(!hasTerraform)(
  'the policies of the bootstrap (skipped without terraform on the PATH)',
  () => {
    it('let a stage set up the domains that are listed for it, and no others', () => {
      const decideRelease = (action: string, resource: string, context: Context = {}) =>
        [policies?.deploy.release, policies?.boundaries.release].every((policy) => {
          const { isAllowed, isDenied } = evaluate(policy ? [policy] : [], action, resource, context);
          return isAllowed && !isDenied;
        });
      const change = (...names: string[]) =>
        decideRelease('route53:ChangeResourceRecordSets', zone, records(...names));
      expect(change('api.example.com')).toBe(true);
      expect(change('_0123.www.example.com', 'www.example.com')).toBe(true);
      expect(change('api.example.com', 'mail.example.com')).toBe(false);
      expect(change('example.com')).toBe(false);
      expect(decideRelease('apigateway:POST', gateway('/domainnames'))).toBe(true);
      expect(decideRelease('apigateway:POST', gateway('/domainnames/api.example.com/apimappings'))).toBe(
        true,
      );
      expect(decideRelease('apigateway:PATCH', gateway('/domainnames/other.example.com'))).toBe(false);
    });

    const sub = (role: 'deploy' | 'plan', stage: Stage, from: Policies | undefined = policies) =>
      from?.trust[role][stage].Statement[0]?.Condition?.['StringEquals']?.[
        'token.actions.githubusercontent.com:sub'
      ];

    it('trust the environments of the one repository, by complete subjects', () => {
      for (const stage of STAGES) {
        expect(sub('deploy', stage)).toEqual([`repo:octo/inquiries:environment:${stage}`]);
        expect(sub('plan', stage)).toEqual([`repo:octo/inquiries:environment:${stage}-plan`]);
      }
      expect(JSON.stringify(policies?.trust)).not.toMatch(/[*?]/);
      expect(policies?.trust.deploy.develop).toEqual({
        Version: '2012-10-17',
        Statement: [
          {
            Sid: 'GitHub',
            Effect: 'Allow',
            Action: 'sts:AssumeRoleWithWebIdentity',
            Principal: { Federated: iam('oidc-provider/token.actions.githubusercontent.com') },
            Condition: {
              StringEquals: {
                'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
                'token.actions.githubusercontent.com:sub': ['repo:octo/inquiries:environment:develop'],
              },
            },
          },
        ],
      });
    });

    it('trust subjects with ids, too, when the ids are known', async () => {
      const withIds = await render({ github: { ...github, owner_id: '1', repository_id: '23' } });
      const assume = (subject: string, audience = 'sts.amazonaws.com') =>
        evaluate([withIds.trust.deploy.release], 'sts:AssumeRoleWithWebIdentity', '*', {
          'token.actions.githubusercontent.com:sub': subject,
          'token.actions.githubusercontent.com:aud': audience,
        }).isAllowed;
      expect(assume('repo:octo/inquiries:environment:release')).toBe(true);
      expect(assume('repo:octo@1/inquiries@23:environment:release')).toBe(true);
      for (const subject of [
        'repo:octo@1/inquiries@24:environment:release',
        'repo:octo@2/inquiries@23:environment:release',
        'repo:octo/other:environment:release',
        'repo:octo/inquiries:environment:release-plan',
        'repo:octo/inquiries:environment:develop',
        'repo:octo/inquiries:ref:refs/heads/release',
        'repo:octo/inquiries:pull_request',
      ])
        expect([subject, assume(subject)]).toEqual([subject, false]);
      expect(assume('repo:octo/inquiries:environment:release', 'https://github.com/octo')).toBe(false);
    });

    it('fit into the limits of IAM with the longest names', async () => {
      const longest = await render(
        {
          name: 'n'.repeat(34),
          bucket: 'b'.repeat(63),
          github: {
            repository: `${'o'.repeat(39)}/${'r'.repeat(100)}`,
            owner_id: '1'.repeat(12),
            repository_id: '2'.repeat(12),
          },
          domains: { release: ['a'.repeat(60), 'b'.repeat(60)].map((label) => `${label}.example.com`) },
        },
        {
          region: 'ap-southeast-2',
          api_ids: { develop: ['aaaaaaaaaa'], main: ['bbbbbbbbbb'], release: ['cccccccccc'] },
        },
      );
      const size = (policy: Policy) => JSON.stringify(policy).length;
      for (const stage of STAGES) {
        expect(size(longest.boundaries[stage])).toBeLessThanOrEqual(6_144);
        expect(size(longest.read[stage])).toBeLessThanOrEqual(6_144);
        expect(size(longest.deploy[stage])).toBeLessThanOrEqual(10_240);
        expect(size(longest.trust.deploy[stage])).toBeLessThanOrEqual(2_048);
      }
    });

    it.each([
      [{ name: 'inquiries-main' }, 'A name must not contain -develop, -main or -release'],
      [{ github: { repository: 'octo/*' } }, 'A repository is OWNER/NAME, without wildcards.'],
      [{ github: { ...github, owner_id: '1' } }, 'Give both owner_id and repository_id, or neither.'],
      [
        { github: { ...github, owner_id: '*', repository_id: '1' } },
        'An owner_id and a repository_id are numbers.',
      ],
      [
        { domains: { release: ['*.example.com'] } },
        'A domain is a host name in lower case, without wildcards.',
      ],
      [{ domains: { production: ['example.com'] } }, 'Domains belong to develop, main or release.'],
      [
        { budget: { monthly_usd: 0, email: 'a@example.com' } },
        'A budget needs a sum above 0 and an e-mail address.',
      ],
      [{ bucket: 'b'.repeat(64) }, "A bucket's name is 3 to 63 lower-case letters, digits and hyphens"],
    ])('are not made from %j', async (variables, message) => {
      await expect(render({ github, ...variables })).rejects.toThrow(message);
    });
  },
);
