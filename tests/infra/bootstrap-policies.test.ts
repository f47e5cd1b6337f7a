/**
 * What the policies of infra/terraform/bootstrap allow. Terraform renders them from policies.tf, which needs neither a
 * provider nor an account. `evaluate` knows the operators that these policies use; `npm run bootstrap` has AWS validate them.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
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
interface Policy {
  readonly Statement: readonly Statement[];
}
interface Policies {
  readonly boundaries: Record<Stage, Policy>;
  readonly read: Record<Stage, Policy>;
  readonly deploy: Record<Stage, Policy>;
  readonly trust: Record<'deploy' | 'plan', Record<Stage, Policy>>;
  readonly inbox: Record<`${Stage}-inbox` | `${Stage}-inbox-answer`, Policy>;
}

const REGION = 'eu-central-1';
const ACCOUNT = '111122223333';
const byStage = <T>(create: (stage: Stage) => T) =>
  Object.fromEntries(STAGES.map((stage) => [stage, create(stage)])) as Record<Stage, T>;
const github = { repository: 'octo/inquiries' };

async function render(variables: object, locals: object = {}): Promise<Policies> {
  const root = mkdtempSync(join(tmpdir(), 'bootstrap-policies-'));
  const folder = join(root, 'bootstrap');
  mkdirSync(folder);
  try {
    for (const file of ['service.json', 'bootstrap/policies.tf', 'bootstrap/variables.tf']) {
      copyFileSync(join(MODULE, file), join(root, file));
    }
    const value = {
      boundaries: '${local.boundaries}',
      read: '${local.read_policies}',
      deploy: '${local.deploy_policies}',
      trust: '${local.trust_policies}',
      inbox: '${local.inbox_policies}',
    };
    const account = {
      account: ACCOUNT,
      partition: 'aws',
      region: REGION,
      api_ids: byStage((stage) => [`api-of-${stage}`]),
      health_check_arns: byStage((stage) => [`arn:aws:route53:::healthcheck/of-${stage}`]),
    };
    writeFileSync(
      join(folder, 'test.tf.json'),
      JSON.stringify({ locals: { ...account, ...locals }, output: { policies: { value } } }),
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
    rmSync(root, { recursive: true, force: true });
  }
}

const hasTerraform = (await terraformUnavailableReason()) === undefined;
if (!hasTerraform) {
  process.stdout.write(
    '\nSKIPPED: policies of the bootstrap, because terraform is not on the PATH.\n',
  );
}
const domains = { release: ['api.example.com', 'www.example.com'] };
const none = byStage(() => ({ Statement: [] }));
const rendered = hasTerraform
  ? await render({ github, domains })
  : ({ boundaries: none, read: none, deploy: none, inbox: {} } as unknown as Policies);

const listOf = (values: string | readonly string[] = []): readonly string[] => [values].flat();
/** IAM's wildcards: `*` and `?` match every character, `/` included. */
const isLike = (pattern: string, text: string) =>
  new RegExp(
    `^${pattern
      .replaceAll(/[$()+.[\\\]^{|}]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(text);

/** Whether one operator of a condition holds. A missing key fails, except with a negation, `IfExists` or `ForAllValues`. */
function holds(operator: string, key: string, expected: readonly string[], context: Context) {
  const values = listOf(context[key]);
  const name = operator.replace('ForAllValues:', '').replace('IfExists', '');
  if (values.length === 0) return name.includes('Not') || name !== operator;
  const matches = name.includes('Like') ? isLike : (a: string, b: string) => a === b;
  return values.every(
    (value) => expected.some((each) => matches(each, value)) !== name.includes('Not'),
  );
}

function evaluate(policies: readonly Policy[], action: string, resource: string, context: Context) {
  const matching = policies
    .flatMap(({ Statement }) => Statement)
    .filter(
      ({ Action, Resource, Condition = {} }) =>
        listOf(Action).some((pattern) => isLike(pattern, action)) &&
        listOf(Resource).some((pattern) => isLike(pattern, resource)) &&
        Object.entries(Condition).every(([operator, keys]) =>
          Object.entries(keys).every(([key, expected]) =>
            holds(operator, key, listOf(expected), context),
          ),
        ),
    );
  return matching.length > 0 && matching.every(({ Effect }) => Effect === 'Allow');
}

/** What a role of the stage may do: its policies and the boundary allow it, and neither denies it. */
const may = (kind: 'deploy' | 'plan', stage: Stage) => {
  const policies =
    kind === 'plan' ? [rendered.read[stage]] : [rendered.read[stage], rendered.deploy[stage]];
  return (action: string, resource = '*', context: Context = {}) =>
    evaluate(policies, action, resource, context) &&
    evaluate([rendered.boundaries[stage]], action, resource, context);
};
/** What a role can be given that the deployment of the stage creates: all that the boundary allows. */
const canBeGiven =
  (stage: Stage) =>
  (action: string, resource = '*', context: Context = {}) =>
    evaluate([rendered.boundaries[stage]], action, resource, context);

const arn = (service: string, resource: string) =>
  `arn:aws:${service}:${REGION}:${ACCOUNT}:${resource}`;
const table = (stage: Stage) => arn('dynamodb', `table/inquiries-${stage}`);
const state = (stage: Stage) =>
  `arn:aws:s3:::state-bucket/env:/${stage}/inquiries/terraform.tfstate`;
const tags = (stage: Stage) => ({
  'aws:ResourceTag/service': 'inquiries',
  'aws:ResourceTag/stage': stage,
});
const requestTags = (stage: Stage) => ({
  'aws:RequestTag/service': 'inquiries',
  'aws:RequestTag/stage': stage,
});
/** `SERVICE:A B` → SERVICE:A, SERVICE:B. */
const toActions = (lines: readonly string[]) =>
  lines.flatMap((line) => {
    const [service = '', names = ''] = line.split(':');
    return names.split(' ').map((name) => `${service}:${name}`);
  });

describe.skipIf(!hasTerraform)('the role that deploys (skipped without terraform)', () => {
  it('may do what a deployment needs, also by the boundary', () => {
    const needed = toActions([
      's3:ListBucket GetObject PutObject DeleteObject PutBucketPolicy ListTagsForResource',
      'dynamodb:CreateTable DescribeTable UpdateTable DeleteTable DescribeContinuousBackups UpdateContinuousBackups DescribeTimeToLive UpdateTimeToLive ListTagsOfResource TagResource UntagResource',
      'lambda:CreateFunction GetFunction UpdateFunctionCode UpdateFunctionConfiguration DeleteFunction ListVersionsByFunction AddPermission RemovePermission GetPolicy PublishVersion PutFunctionConcurrency DeleteFunctionConcurrency PutFunctionEventInvokeConfig GetFunctionCodeSigningConfig TagResource UntagResource ListTags',
      'lambda:CreateAlias GetAlias UpdateAlias DeleteAlias ListAliases InvokeFunction CreateEventSourceMapping GetEventSourceMapping',
      'iam:CreateRole PutRolePolicy PutRolePermissionsBoundary GetRole UpdateRole UpdateAssumeRolePolicy DeleteRole TagRole UntagRole GetRolePolicy DeleteRolePolicy ListRolePolicies ListAttachedRolePolicies ListInstanceProfilesForRole PassRole',
      'apigateway:GET POST PATCH DELETE',
      'logs:CreateLogGroup DeleteLogGroup PutRetentionPolicy PutMetricFilter DeleteMetricFilter DescribeMetricFilters TestMetricFilter TagResource UntagResource ListTagsForResource CreateLogDelivery GetLogDelivery UpdateLogDelivery DeleteLogDelivery ListLogDeliveries PutResourcePolicy DescribeResourcePolicies DescribeLogGroups',
      'cloudwatch:PutMetricAlarm DescribeAlarms PutDashboard',
      'sns:CreateTopic Subscribe GetTopicAttributes',
      'events:PutRule PutTargets RemoveTargets DeleteRule DescribeRule ListTargetsByRule ListTagsForResource TagResource',
      'sqs:CreateQueue GetQueueAttributes',
      'cloudfront:UpdateDistribution CreateInvalidation GetDistribution UpdateResponseHeadersPolicy',
      'cognito-idp:CreateUserPoolClient CreateUserPoolDomain UpdateUserPool DescribeUserPoolClient GetUserPoolMfaConfig SetUserPoolMfaConfig DeleteUserPool AdminCreateUser AdminInitiateAuth AdminRespondToAuthChallenge CreateManagedLoginBranding DescribeManagedLoginBranding',
      'acm:DescribeCertificate DeleteCertificate',
      'route53:ListHostedZones GetChange UpdateHealthCheck DeleteHealthCheck',
      'ses:DeleteEmailIdentity GetEmailIdentity CreateConfigurationSet CreateConfigurationSetEventDestination GetConfigurationSetEventDestinations',
    ]);
    const actionsOf = (...policies: Policy[]) =>
      policies
        .flatMap(({ Statement }) => Statement)
        .filter(({ Effect }) => Effect === 'Allow')
        .flatMap(({ Action }) => listOf(Action));
    const missing = (patterns: readonly string[]) =>
      needed.filter((action) => !patterns.some((pattern) => matchesGlob(action, pattern)));
    expect(missing(actionsOf(rendered.read.develop, rendered.deploy.develop))).toEqual([]);
    expect(missing(actionsOf(rendered.boundaries.develop))).toEqual([]);
  });

  it.each(STAGES)('of %s changes what is named or tagged as the stage’s, and no other’s', (own) => {
    for (const stage of STAGES) {
      const resources: [action: string, resource: string, context?: Context][] = [
        ['lambda:UpdateFunctionCode', arn('lambda', `function:inquiries-${stage}`)],
        ['lambda:InvokeFunction', arn('lambda', `function:inquiries-${stage}-mailer:7`)],
        ['cloudwatch:PutMetricAlarm', arn('cloudwatch', `alarm:inquiries-${stage}-errors`)],
        ['sns:SetSubscriptionAttributes', arn('sns', `inquiries-${stage}-alarms:1b2c`)],
        ['sns:Unsubscribe', arn('sns', `inquiries-${stage}-alarms:1b2c`)],
        ['sqs:SetQueueAttributes', arn('sqs', `inquiries-${stage}-failed`)],
        ['logs:PutMetricFilter', arn('logs', `log-group:/aws/lambda/inquiries-${stage}:*`)],
        ['s3:PutObject', `arn:aws:s3:::inquiries-${stage}-site-${ACCOUNT}/index.html`],
        ['s3:ListTagsForResource', `arn:aws:s3:::inquiries-${stage}-site-${ACCOUNT}`],
        ['s3:PutObject', state(stage)],
        ['s3:DeleteObject', `${state(stage)}.tflock`],
        ['apigateway:PATCH', `arn:aws:apigateway:${REGION}::/apis/api-of-${stage}/routes/a`],
        ['route53:UpdateHealthCheck', `arn:aws:route53:::healthcheck/of-${stage}`],
        ['cloudfront:UpdateDistribution', 'arn:aws:cloudfront::1:distribution/E', tags(stage)],
        ['cognito-idp:UpdateUserPool', arn('cognito-idp', 'userpool/u'), tags(stage)],
        ['acm:DeleteCertificate', arn('acm', 'certificate/c'), tags(stage)],
        ['ses:DeleteEmailIdentity', arn('ses', 'identity/i'), tags(stage)],
        [
          'lambda:DeleteEventSourceMapping',
          arn('lambda', 'event-source-mapping:e'),
          { 'lambda:FunctionArn': arn('lambda', `function:inquiries-${stage}-mailer:live`) },
        ],
      ];
      const answers = resources.map(([action, ...rest]) => [
        action,
        may('deploy', own)(action, ...rest),
      ]);
      expect(answers).toEqual(resources.map(([action]) => [action, stage === own]));
      expect(resources.filter(([action, ...rest]) => may('plan', own)(action, ...rest))).toEqual(
        stage === own ? [resources.find(([action]) => action === 's3:ListTagsForResource')] : [],
      );
    }
  });

  it('creates and tags nothing that is allowed by its tags or its id, so that nothing becomes its own', () => {
    const untagged: [action: string, resource: string][] = [
      ['acm:AddTagsToCertificate', arn('acm', 'certificate/c')],
      ['acm:RequestCertificate', '*'],
      ['cloudfront:TagResource', 'arn:aws:cloudfront::1:distribution/E'],
      ['cognito-idp:TagResource', arn('cognito-idp', 'userpool/u')],
      ['ses:TagResource', arn('ses', 'identity/example.com')],
      ['route53:ChangeTagsForResource', 'arn:aws:route53:::healthcheck/of-release'],
      ['route53:ChangeTagsForResource', 'arn:aws:route53:::hostedzone/Z1'],
    ];
    for (const decide of [may('deploy', 'develop'), canBeGiven('develop')]) {
      expect(
        untagged.filter(([action, resource]) => decide(action, resource, requestTags('develop'))),
      ).toEqual([]);
    }
    const mapping = arn('lambda', 'event-source-mapping:e');
    const tag = (stage: Stage) =>
      may('deploy', 'develop')('lambda:TagResource', mapping, requestTags(stage));
    expect([tag('develop'), tag('release')]).toEqual([true, false]);
  });

  it('reads and changes no data, and takes over no user', () => {
    const decide = may('deploy', 'develop');
    const data: [actions: readonly string[], resource: string, context?: Context][] = [
      [
        toActions([
          'dynamodb:GetItem BatchGetItem Query Scan PutItem UpdateItem DeleteItem PartiQLSelect ExportTableToPointInTime GetRecords',
        ]),
        table('develop'),
      ],
      [
        toActions(['logs:FilterLogEvents GetLogEvents']),
        arn('logs', 'log-group:/aws/lambda/inquiries-develop:*'),
      ],
      [toActions(['sqs:ReceiveMessage SendMessage']), arn('sqs', 'inquiries-develop-failed')],
      [
        toActions(['cognito-idp:ListUsers AdminGetUser AdminSetUserPassword AdminDeleteUser']),
        arn('cognito-idp', 'userpool/u'),
        tags('develop'),
      ],
      [
        toActions(['iam:AttachRolePolicy DeleteRolePermissionsBoundary']),
        `arn:aws:iam::${ACCOUNT}:role/inquiries-develop-function`,
      ],
      [toActions(['iam:CreateUser AddClientIDToOpenIDConnectProvider']), '*'],
      [toActions(['ses:SendEmail']), arn('ses', 'identity/i'), tags('develop')],
      [
        toActions([
          'sts:AssumeRole',
          'route53:ChangeResourceRecordSets DeleteHostedZone',
          'kms:Decrypt',
          'ec2:RunInstances',
          'secretsmanager:GetSecretValue',
        ]),
        '*',
      ],
    ];
    const allowed = data.flatMap(([actions, resource, context]) =>
      actions.filter((action) => decide(action, resource, context)),
    );
    expect(allowed).toEqual([]);
  });

  it('creates only roles with the boundary, and changes none of bootstrap', () => {
    const role = `arn:aws:iam::${ACCOUNT}:role/inquiries-develop-function`;
    const boundary = (stage: Stage) => ({
      'iam:PermissionsBoundary': `arn:aws:iam::${ACCOUNT}:policy/terraform-bootstrap/inquiries-${stage}-boundary-${REGION}`,
    });
    for (const action of ['iam:CreateRole', 'iam:PutRolePolicy']) {
      const decide = may('deploy', 'develop');
      expect([
        decide(action, role, boundary('develop')),
        decide(action, role, boundary('release')),
        decide(action, role),
        decide(action, role.replace('role/', 'role/terraform-bootstrap/'), boundary('develop')),
      ]).toEqual([true, false, false, false]);
    }
  });

  it.each(['main', 'release'] as const)('of %s leaves the data protected', (stage) => {
    const protection: [action: string, resource: string, context?: Context][] = [
      ...toActions([
        'dynamodb:DeleteTable UpdateTable UpdateContinuousBackups UpdateTimeToLive',
      ]).map((action) => [action, table(stage)] as [string, string]),
      ['dynamodb:DeleteBackup', `${table(stage)}/backup/1`],
      ['cognito-idp:DeleteUserPool', arn('cognito-idp', 'userpool/u'), tags(stage)],
    ];
    for (const decide of [may('deploy', stage), canBeGiven(stage)]) {
      expect(protection.filter(([action, ...rest]) => decide(action, ...rest))).toEqual([]);
    }
    expect(may('deploy', 'develop')('dynamodb:UpdateTable', table('develop'))).toBe(true);
  });
});

describe.skipIf(!hasTerraform)(
  'a role that a deployment creates (skipped without terraform)',
  () => {
    it('can be given the rows of its stage, and neither old states nor users', () => {
      const decide = canBeGiven('release');
      expect([
        decide('dynamodb:PutItem', table('release')),
        decide('dynamodb:PutItem', table('main')),
        decide('ses:SendEmail', arn('ses', 'identity/i'), tags('main')),
        decide('s3:DeleteObjectVersion', state('release')),
        decide('s3:DeleteObject', state('release')),
        decide(
          'cognito-idp:AdminSetUserPassword',
          arn('cognito-idp', 'userpool/u'),
          tags('release'),
        ),
      ]).toEqual([true, false, true, false, false, false]);
    });
  },
);

describe.skipIf(!hasTerraform)('the policies (skipped without terraform)', () => {
  it('let a stage set up the domains that are listed for it, and no others', () => {
    const record = 'route53:ChangeResourceRecordSetsNormalizedRecordNames';
    const zone = 'arn:aws:route53:::hostedzone/Z1';
    const change = (stage: Stage, ...names: string[]) =>
      may('deploy', stage)('route53:ChangeResourceRecordSets', zone, { [record]: names });
    const domain = (stage: Stage, name: string) =>
      may('deploy', stage)(
        'apigateway:PATCH',
        `arn:aws:apigateway:${REGION}::/domainnames/${name}`,
      );
    expect([
      change('release', 'api.example.com', '_1.www.example.com'),
      change('release', 'api.example.com', 'example.com'),
      change('develop', 'api.example.com'),
      domain('release', 'api.example.com'),
      domain('release', 'example.com'),
      domain('develop', 'api.example.com'),
    ]).toEqual([true, false, false, true, false, false]);
  });

  it('let an operator answer, and only the larger one erase', () => {
    const decide = (policy: keyof Policies['inbox'], action: string, context: Context = {}) =>
      evaluate([rendered.inbox[policy]], action, table('main'), context);
    const answer = {
      'dynamodb:Attributes': ['pk', 'sk', 'reply', 'respondent', 'reply_at', 'inbox'],
      'dynamodb:LeadingKeys': '$inquiries#cognito_sub_1#email_a',
    };
    expect([
      decide('main-inbox-answer', 'dynamodb:UpdateItem', answer),
      decide('main-inbox-answer', 'dynamodb:UpdateItem', { 'dynamodb:Attributes': 'body' }),
      decide('main-inbox-answer', 'dynamodb:BatchWriteItem', { 'dynamodb:Attributes': ['pk'] }),
      decide('main-inbox', 'dynamodb:BatchWriteItem', { 'dynamodb:Attributes': ['pk', 'sk'] }),
      decide('main-inbox', 'dynamodb:BatchWriteItem', { 'dynamodb:Attributes': ['pk', 'body'] }),
      decide('release-inbox', 'dynamodb:Query'),
    ]).toEqual([true, false, false, true, false, false]);
    const key = arn('ssm', 'parameter/inquiries-main/erasure-key');
    const put = (context: Context) =>
      evaluate([rendered.inbox['main-inbox']], 'ssm:PutParameter', key, context);
    expect([put({}), put({ 'ssm:Overwrite': 'true' })]).toEqual([true, false]);
    // docs/runbook.md invokes the live version, whose ARN is another (docs.aws.amazon.com/lambda/latest/dg/using-aliases.html).
    const invoke = (version: string) =>
      evaluate(
        [rendered.inbox['main-inbox']],
        'lambda:InvokeFunction',
        arn('lambda', `function:inquiries-main-mailer${version}`),
        {},
      );
    expect([invoke(':live'), invoke(''), invoke(':7')]).toEqual([true, false, false]);
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
        Principal: {
          Federated: `arn:aws:iam::${ACCOUNT}:oidc-provider/token.actions.githubusercontent.com`,
        },
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
        name: 'n'.repeat(19),
        bucket: 'b'.repeat(63),
        github: { repository: `${'o'.repeat(39)}/${'r'.repeat(100)}`, ...ids },
        domains: {
          release: ['a'.repeat(60), 'b'.repeat(60)].map((label) => `${label}.example.com`),
        },
      },
      {
        region: 'ap-southeast-2',
        api_ids: byStage(() => ['a'.repeat(10)]),
        health_check_arns: byStage(() =>
          ['form', 'api'].map((use) => `arn:aws:route53:::healthcheck/${use.padEnd(36)}`),
        ),
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
});
