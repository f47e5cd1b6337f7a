/**
 * The policies of infra/terraform/bootstrap. Terraform renders them from policies.tf, which needs neither a provider nor an
 * account. The tests compare actions and resources as text; what IAM makes of them is for AWS's own policy simulator.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { MODULE } from '../../lib/paths.ts';
import { STAGES } from '../../lib/stages.ts';
import type { Stage } from '../../lib/stages.ts';

interface Statement {
  readonly Sid: string;
  readonly Effect: 'Allow' | 'Deny';
  readonly Action?: string | string[];
  readonly NotAction?: string[];
  readonly Resource?: string | string[];
  readonly Condition?: Record<string, Record<string, string | string[]>>;
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

const account = '111122223333';
const region = 'eu-central-1';
const api_ids = { develop: ['aaaaaaaaaa'], main: ['bbbbbbbbbb'], release: ['cccccccccc'] };
const github = { repository: 'octo/inquiries' };

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
    const rest = { account, partition: 'aws', region, api_ids, ...locals };
    writeFileSync(
      join(folder, 'test.tf.json'),
      JSON.stringify({ locals: rest, output: { policies: { value } } }),
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
const rendered = hasTerraform
  ? await render({ github, domains: { release: ['api.example.com', 'www.example.com'] } })
  : ({ boundaries: {}, read: {}, deploy: {}, trust: {} } as Policies);

const listOf = (values: string | readonly string[] = []): readonly string[] => [values].flat();
const statementsOf = (...policies: readonly (Policy | undefined)[]) =>
  policies.flatMap((policy) => policy?.Statement ?? []);
const allowed = (statements: readonly Statement[]) =>
  statements.filter(({ Effect }) => Effect === 'Allow').flatMap(({ Action }) => listOf(Action));
const find = (policy: Policy | undefined, sid: string) => policy?.Statement.find(({ Sid }) => Sid === sid);
/** `SERVICE:A B` → SERVICE:A, SERVICE:B. */
const toActions = (lines: readonly string[]) =>
  lines.flatMap((line) => {
    const [service = '', names = ''] = line.split(':');
    return names.split(' ').map((name) => `${service}:${name}`);
  });
/** Which of the actions no pattern matches. */
const without = (actions: readonly string[], patterns: readonly string[]) =>
  actions.filter((action) => !patterns.some((pattern) => matchesGlob(action, pattern)));

const { develop } = rendered.boundaries;
const boundaryArn = (stage: string) =>
  `arn:aws:iam::${account}:policy/terraform-bootstrap/inquiries-${stage}-boundary-${region}`;
const state = 'arn:aws:s3:::state-bucket/env:/develop/inquiries/terraform.tfstate';
const iam = (resource: string) => `arn:aws:iam::${account}:${resource}`;
const tagsOf = (key: string) => ({
  StringEquals: { [`aws:${key}/service`]: 'inquiries', [`aws:${key}/stage`]: 'develop' },
});

describe.skipIf(!hasTerraform)('the roles of develop (skipped without terraform on the PATH)', () => {
  const read = statementsOf(rendered.read.develop);
  const deploy = statementsOf(rendered.read.develop, rendered.deploy.develop);

  it('allow what a deployment needs, also by the boundary', () => {
    const needed = toActions([
      's3:ListBucket GetObject PutObject DeleteObject PutBucketPolicy',
      'dynamodb:CreateTable DescribeTable UpdateTable DeleteTable DescribeContinuousBackups UpdateContinuousBackups DescribeTimeToLive UpdateTimeToLive ListTagsOfResource TagResource UntagResource',
      'lambda:CreateFunction GetFunction UpdateFunctionCode UpdateFunctionConfiguration DeleteFunction ListVersionsByFunction AddPermission RemovePermission GetPolicy PublishVersion PutFunctionConcurrency DeleteFunctionConcurrency GetFunctionCodeSigningConfig TagResource UntagResource ListTags',
      'lambda:CreateAlias GetAlias UpdateAlias DeleteAlias ListAliases InvokeFunction CreateEventSourceMapping GetEventSourceMapping',
      'iam:CreateRole PutRolePolicy PutRolePermissionsBoundary GetRole UpdateRole UpdateAssumeRolePolicy DeleteRole TagRole UntagRole GetRolePolicy DeleteRolePolicy ListRolePolicies ListAttachedRolePolicies ListInstanceProfilesForRole PassRole',
      'iam:CreatePolicy GetPolicy GetPolicyVersion CreatePolicyVersion ListPolicyVersions DeletePolicyVersion DeletePolicy TagPolicy UntagPolicy',
      'apigateway:GET POST PATCH DELETE',
      'logs:CreateLogGroup DeleteLogGroup PutRetentionPolicy PutMetricFilter DeleteMetricFilter DescribeMetricFilters TagResource UntagResource ListTagsForResource CreateLogDelivery GetLogDelivery UpdateLogDelivery DeleteLogDelivery ListLogDeliveries PutResourcePolicy DescribeResourcePolicies DescribeLogGroups',
      'cloudwatch:PutMetricAlarm DescribeAlarms PutDashboard',
      'sns:Subscribe GetTopicAttributes',
      'sqs:CreateQueue GetQueueAttributes',
      'cloudfront:CreateDistribution TagResource UpdateDistribution CreateInvalidation GetDistribution CreateOriginAccessControl UpdateResponseHeadersPolicy',
      'cognito-idp:CreateUserPool CreateUserPoolClient CreateUserPoolDomain UpdateUserPool DescribeUserPoolClient GetUserPoolMfaConfig SetUserPoolMfaConfig DeleteUserPool AdminCreateUser AdminSetUserPassword AdminInitiateAuth CreateManagedLoginBranding DescribeManagedLoginBranding',
      'acm:RequestCertificate DescribeCertificate DeleteCertificate',
      'route53:ListHostedZones GetChange CreateHealthCheck DeleteHealthCheck',
      'ses:CreateEmailIdentity DeleteEmailIdentity GetEmailIdentity',
      'kms:CreateGrant',
    ]);
    expect(without(needed, allowed(deploy))).toEqual([]);
    expect(without(needed, allowed(statementsOf(develop)))).toEqual([]);
  });

  it('allow nothing that reads or changes data, and nothing of other services', () => {
    const refused = toActions([
      'dynamodb:GetItem BatchGetItem Query Scan PutItem UpdateItem DeleteItem PartiQLSelect ExportTableToPointInTime GetRecords',
      'logs:FilterLogEvents GetLogEvents',
      'sqs:ReceiveMessage SendMessage',
      'cognito-idp:ListUsers AdminGetUser',
      'iam:AttachRolePolicy DeleteRolePermissionsBoundary CreateUser AddClientIDToOpenIDConnectProvider',
      'sts:AssumeRole',
      'ses:SendEmail',
      'route53:ChangeResourceRecordSets DeleteHostedZone',
      'kms:Decrypt',
      'ec2:RunInstances',
      'secretsmanager:GetSecretValue',
    ]);
    expect(without(refused, allowed(deploy))).toEqual(refused);
  });

  it('are limited to the names of develop, to its tags, or to what has neither', () => {
    const isOwn = (arn: string) =>
      /[:/]inquiries-develop([-:/*]|$)/.test(arn) ||
      arn.startsWith(state) ||
      /^arn:aws:apigateway:eu-central-1::\/(apis|tags)/.test(arn);
    const listOpen = (statements: readonly Statement[]) =>
      statements
        .filter(({ Effect, Condition }) => Effect === 'Allow' && Condition === undefined)
        .filter(({ Resource }) => !listOf(Resource).every(isOwn))
        .map(({ Sid }) => Sid);
    expect(listOpen(statementsOf(develop))).toEqual(['State', 'Unnamed']);
    expect(listOpen(deploy)).toEqual(['ReadUnnamed', 'State', 'StateBucket', 'WriteUnnamed']);
    // What has neither names nor tags.
    expect(find(rendered.deploy.develop, 'WriteUnnamed')?.Action).toEqual(
      toActions([
        'cloudfront:*CachePolicy *OriginAccessControl *ResponseHeadersPolicy CreateDistribution',
        'logs:*LogDelivery PutResourcePolicy',
        'route53:*HealthCheck ChangeTagsForResource',
        'sns:SetSubscriptionAttributes Unsubscribe',
      ]),
    );
    const stateArns = ['arn:aws:s3:::state-bucket', 'arn:aws:s3:::state-bucket/inquiries/terraform.tfstate'];
    expect(find(develop, 'State')?.Resource).toEqual(stateArns);
    expect(find(rendered.read.develop, 'State')?.Resource).toEqual([state, stateArns[1]]);
    expect(find(rendered.deploy.develop, 'WriteState')).toMatchObject({
      Action: 's3:PutObject',
      Resource: state,
    });
  });

  it.each([
    ['PassRole', { StringEquals: { 'iam:PassedToService': 'lambda.amazonaws.com' } }],
    ['ServiceLinkedRole', { StringEquals: { 'iam:AWSServiceName': 'ops.apigateway.amazonaws.com' } }],
    ['Grants', { Bool: { 'kms:GrantIsForAWSResource': 'true' } }],
    ['CreateTagged', tagsOf('RequestTag')],
    ['WriteTagged', tagsOf('ResourceTag')],
    ['ReadTagged', tagsOf('ResourceTag')],
    [
      'Streams',
      {
        ArnLike: {
          'lambda:FunctionArn': ['', ':*', '-*'].map(
            (suffix) => `arn:aws:lambda:${region}:${account}:function:inquiries-develop${suffix}`,
          ),
        },
      },
    ],
  ])('allow %s on their condition only', (sid, condition) => {
    expect(deploy.find(({ Sid }) => Sid === sid)?.Condition).toEqual(condition);
  });

  it('deny by the boundary other stages, roles without the boundary, and changes of the bootstrap', () => {
    const denied = develop.Statement.filter(({ Effect }) => Effect === 'Deny');
    const otherTag = (tag: string, value: string) => ({
      NotAction: ['kms:*', 'ses:SendEmail'],
      Resource: '*',
      Condition: {
        Null: { [`aws:ResourceTag/${tag}`]: 'false' },
        StringNotEquals: { [`aws:ResourceTag/${tag}`]: value },
      },
    });
    const gateway = `arn:aws:apigateway:${region}::`;
    const Effect = 'Deny';
    const expected = [
      { Sid: 'OtherService', Effect, ...otherTag('service', 'inquiries') },
      { Sid: 'OtherStage', Effect, ...otherTag('stage', 'develop') },
      {
        Sid: 'Bootstrap',
        Effect,
        Action: 'iam:*',
        Resource: ['oidc-provider/*', 'policy/terraform-bootstrap/*', 'role/terraform-bootstrap/*'].map(iam),
      },
      { Sid: 'BoundariesStay', Effect, Action: 'iam:DeleteRolePermissionsBoundary', Resource: '*' },
      {
        Sid: 'BoundedRolesOnly',
        Effect,
        Action: toActions(['iam:AttachRolePolicy CreateRole PutRolePermissionsBoundary PutRolePolicy']),
        Resource: '*',
        Condition: { StringNotEquals: { 'iam:PermissionsBoundary': boundaryArn('develop') } },
      },
      {
        Sid: 'OtherApis',
        Effect,
        Action: 'apigateway:*',
        Resource: ['bbbbbbbbbb', 'cccccccccc'].flatMap((id) => [
          `${gateway}/apis/${id}*`,
          `${gateway}/tags/*${id}*`,
        ]),
      },
    ];
    expect(denied).toEqual(expected);
  });

  it('that only plan read the configuration, and write nothing but the lock', () => {
    const writes = read.filter(({ Action }) =>
      listOf(Action).some((action) => !/:(Get|List|Describe|GET)/.test(action)),
    );
    expect(writes.map(({ Sid, Resource }) => [Sid, Resource])).toEqual([['Lock', `${state}.tflock`]]);
  });

  it('have functions that may use the tables, the logs and the queue of develop by the boundary', () => {
    const needed = [
      `arn:aws:dynamodb:${region}:${account}:table/inquiries-develop/*`,
      `arn:aws:logs:${region}:${account}:log-group:/aws/*/inquiries-develop:*`,
      `arn:aws:sqs:${region}:${account}:inquiries-develop-*`,
    ];
    expect(find(develop, 'Named')?.Resource).toEqual(expect.arrayContaining(needed));
    const other = ['kms:Decrypt', 'ses:SendEmail', 'xray:PutTraceSegments'];
    expect(without(other, listOf(find(develop, 'Unnamed')?.Action))).toEqual([]);
  });
});

describe.skipIf(!hasTerraform)('the policies (skipped without terraform on the PATH)', () => {
  it('let a stage set up the domains that are listed for it, and no others', () => {
    const names = ['api.example.com', 'www.example.com'];
    for (const policy of [rendered.deploy.release, rendered.boundaries.release]) {
      expect(find(policy, 'Records')).toMatchObject({
        Action: 'route53:ChangeResourceRecordSets',
        Condition: {
          'ForAllValues:StringLike': {
            'route53:ChangeResourceRecordSetsNormalizedRecordNames': names.flatMap((name) => [
              name,
              `*.${name}`,
            ]),
          },
        },
      });
    }
    const gateway = `arn:aws:apigateway:${region}::/domainnames`;
    const listDomains = (policy: Policy | undefined) =>
      listOf(find(policy, 'Gateway')?.Resource).filter((arn) => arn.startsWith(gateway));
    expect(listDomains(rendered.boundaries.release)).toEqual([
      gateway,
      ...names.flatMap((name) => [`${gateway}/${name}`, `${gateway}/${name}/*`]),
    ]);
    expect([listDomains(develop), find(develop, 'Records')]).toEqual([[], undefined]);
  });

  it('trust the environments of the one repository, by complete subjects, with ids when they are known', async () => {
    const withIds = await render({ github: { ...github, owner_id: '1', repository_id: '23' } });
    const subject = 'token.actions.githubusercontent.com:sub';
    const subjects = STAGES.flatMap((stage) =>
      [rendered.trust.deploy, rendered.trust.plan].map(
        (trust) => trust[stage].Statement[0]?.Condition?.['StringEquals']?.[subject],
      ),
    );
    expect(subjects).toEqual(
      STAGES.flatMap((stage) =>
        ['', '-plan'].map((suffix) => [`repo:octo/inquiries:environment:${stage}${suffix}`]),
      ),
    );
    expect(withIds.trust.plan.main.Statement).toEqual([
      {
        Sid: 'GitHub',
        Effect: 'Allow',
        Action: 'sts:AssumeRoleWithWebIdentity',
        Principal: { Federated: iam('oidc-provider/token.actions.githubusercontent.com') },
        Condition: {
          StringEquals: {
            'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
            [subject]: ['octo/inquiries', 'octo@1/inquiries@23'].map(
              (repository) => `repo:${repository}:environment:main-plan`,
            ),
          },
        },
      },
    ]);
  });

  it('fit into the limits of IAM with the longest names', async () => {
    const ids = { owner_id: '1'.repeat(12), repository_id: '2'.repeat(12) };
    const longest = await render(
      {
        name: 'n'.repeat(34),
        bucket: 'b'.repeat(63),
        github: { repository: `${'o'.repeat(39)}/${'r'.repeat(100)}`, ...ids },
        domains: { release: ['a'.repeat(60), 'b'.repeat(60)].map((label) => `${label}.example.com`) },
      },
      { region: 'ap-southeast-2' },
    );
    const size = (policy: Policy) => JSON.stringify(policy).length;
    for (const stage of STAGES) {
      expect(size(longest.boundaries[stage])).toBeLessThanOrEqual(6_144);
      expect(size(longest.read[stage])).toBeLessThanOrEqual(6_144);
      expect(size(longest.deploy[stage])).toBeLessThanOrEqual(10_240);
      expect(size(longest.trust.deploy[stage])).toBeLessThanOrEqual(2_048);
    }
  });
});
