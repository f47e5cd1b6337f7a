/**
 * The policies of infra/terraform/bootstrap. Terraform renders them from policies.tf, which needs neither a provider nor an
 * account. docs/roles.md lists all statements, and the tests compare them as text; what IAM makes of them is for AWS's own
 * policy simulator.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { MODULE } from '../../lib/paths.ts';
import { STAGES, type Stage } from '../../lib/stages.ts';
import { readText } from '../helpers/repository.ts';

interface Statement {
  readonly Sid: string;
  readonly Effect: 'Allow' | 'Deny';
  readonly Action?: string | string[];
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
  readonly inbox: Record<`${Stage}-inbox` | `${Stage}-inbox-answer`, Policy>;
}

const account = '111122223333';
const region = 'eu-central-1';
const api_ids = { develop: ['aaaaaaaaaa'], main: ['bbbbbbbbbb'], release: ['cccccccccc'] };
const health_check_arns = Object.fromEntries(
  STAGES.map((stage) => [stage, [`arn:aws:route53:::healthcheck/of-${stage}`]]),
);
const github = { repository: 'octo/inquiries' };

async function render(variables: object, locals: object = {}): Promise<Policies> {
  const folder = mkdtempSync(join(tmpdir(), 'bootstrap-policies-'));
  try {
    for (const file of ['policies.tf', 'variables.tf']) {
      copyFileSync(join(MODULE, 'bootstrap', file), join(folder, file));
    }
    const value = {
      boundaries: '${local.boundaries}',
      read: '${local.read_policies}',
      deploy: '${local.deploy_policies}',
      trust: '${local.trust_policies}',
      inbox: '${local.inbox_policies}',
    };
    const rest = { account, partition: 'aws', region, api_ids, health_check_arns, ...locals };
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
if (!hasTerraform) {
  process.stdout.write(
    '\nSKIPPED: policies of the bootstrap, because terraform is not on the PATH.\n',
  );
}
const rendered = hasTerraform
  ? await render({ github, domains: { release: ['api.example.com', 'www.example.com'] } })
  : ({ boundaries: {}, read: {}, deploy: {}, trust: {}, inbox: {} } as Policies);

const listOf = (values: string | readonly string[] = []): readonly string[] => [values].flat();
const statementsOf = (...policies: readonly (Policy | undefined)[]) =>
  policies.flatMap((policy) => policy?.Statement ?? []);
const allowed = (statements: readonly Statement[]) =>
  statements.filter(({ Effect }) => Effect === 'Allow').flatMap(({ Action }) => listOf(Action));
const find = (policy: Policy | undefined, sid: string) =>
  policy?.Statement.find(({ Sid }) => Sid === sid);
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
const iam = (resource: string) => `arn:aws:iam::${account}:${resource}`;

describe.skipIf(!hasTerraform)(
  'the roles of develop (skipped without terraform on the PATH)',
  () => {
    const deploy = statementsOf(rendered.read.develop, rendered.deploy.develop);

    it('allow what a deployment needs, also by the boundary', () => {
      const needed = toActions([
        's3:ListBucket GetObject PutObject DeleteObject PutBucketPolicy',
        'dynamodb:CreateTable DescribeTable UpdateTable DeleteTable DescribeContinuousBackups UpdateContinuousBackups DescribeTimeToLive UpdateTimeToLive ListTagsOfResource TagResource UntagResource',
        'lambda:CreateFunction GetFunction UpdateFunctionCode UpdateFunctionConfiguration DeleteFunction ListVersionsByFunction AddPermission RemovePermission GetPolicy PublishVersion PutFunctionConcurrency DeleteFunctionConcurrency GetFunctionCodeSigningConfig TagResource UntagResource ListTags',
        'lambda:CreateAlias GetAlias UpdateAlias DeleteAlias ListAliases InvokeFunction CreateEventSourceMapping GetEventSourceMapping',
        'iam:CreateRole PutRolePolicy PutRolePermissionsBoundary GetRole UpdateRole UpdateAssumeRolePolicy DeleteRole TagRole UntagRole GetRolePolicy DeleteRolePolicy ListRolePolicies ListAttachedRolePolicies ListInstanceProfilesForRole PassRole',
        'apigateway:GET POST PATCH DELETE',
        'logs:CreateLogGroup DeleteLogGroup PutRetentionPolicy PutMetricFilter DeleteMetricFilter DescribeMetricFilters TagResource UntagResource ListTagsForResource CreateLogDelivery GetLogDelivery UpdateLogDelivery DeleteLogDelivery ListLogDeliveries PutResourcePolicy DescribeResourcePolicies DescribeLogGroups',
        'cloudwatch:PutMetricAlarm DescribeAlarms PutDashboard',
        'sns:Subscribe GetTopicAttributes',
        'events:PutRule PutTargets RemoveTargets DeleteRule DescribeRule ListTargetsByRule ListTagsForResource TagResource',
        'sqs:CreateQueue GetQueueAttributes',
        'cloudfront:CreateDistribution TagResource UpdateDistribution CreateInvalidation GetDistribution CreateOriginAccessControl UpdateResponseHeadersPolicy',
        'cognito-idp:CreateUserPool CreateUserPoolClient CreateUserPoolDomain UpdateUserPool DescribeUserPoolClient GetUserPoolMfaConfig SetUserPoolMfaConfig DeleteUserPool AdminCreateUser AdminSetUserPassword AdminInitiateAuth CreateManagedLoginBranding DescribeManagedLoginBranding',
        'acm:RequestCertificate DescribeCertificate DeleteCertificate',
        'route53:ListHostedZones GetChange CreateHealthCheck DeleteHealthCheck',
        'ses:CreateEmailIdentity DeleteEmailIdentity GetEmailIdentity CreateConfigurationSet CreateConfigurationSetEventDestination GetConfigurationSetEventDestinations',
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
        'iam:AttachRolePolicy DeleteRolePermissionsBoundary CreatePolicyVersion CreateUser AddClientIDToOpenIDConnectProvider',
        'sts:AssumeRole',
        'ses:SendEmail',
        'route53:ChangeResourceRecordSets DeleteHostedZone',
        'kms:Decrypt',
        'ec2:RunInstances',
        'secretsmanager:GetSecretValue',
      ]);
      expect(without(refused, allowed(deploy))).toEqual(refused);
    });
  },
);

/** A statement as a row of docs/roles.md, with placeholders. */
function toRow(
  policy: string,
  stage: Stage,
  { Sid, Effect, Action, Resource, Condition = {} }: Statement,
) {
  const services = Object.groupBy(listOf(Action), (action) => action.replace(/:.*/, ''));
  const actions = Object.entries(services).map(
    ([service, list = []]) =>
      `${service}:${list.map((action) => action.replace(/.*:/, '')).join(' ')}`,
  );
  const conditions = Object.entries(Condition).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, values]) => `${operator} ${key} ${listOf(values).join(' ')}`),
  );
  const cells = [actions, listOf(Resource), conditions].map((cell) =>
    cell.map((part) => `\`${part}\``).join(', '),
  );
  const text = [policy, Sid, Effect.toLowerCase(), ...cells]
    .join(' | ')
    .replaceAll(new RegExp(`\\b${stage}\\b`, 'g'), 'STAGE')
    .replaceAll(api_ids[stage][0] ?? '', 'API_ID')
    .replaceAll(/(?<=inquiries-)(develop|main|release)|(?<=of-)(develop|main|release)/g, 'OTHER');
  return text
    .replaceAll('arn:aws:', '')
    .replaceAll(account, 'ACCOUNT')
    .replaceAll(region, 'REGION')
    .replaceAll(/inquiries(?=-STAGE|`)/g, 'NAME');
}

describe.skipIf(!hasTerraform)('the policies (skipped without terraform on the PATH)', () => {
  it('have the statements that docs/roles.md lists, and no others, in every stage', async () => {
    const { boundaries, read, deploy, inbox } = await render({ github });
    const stagesOf = new Map<string, Stage[]>();
    for (const stage of STAGES) {
      const policies = {
        boundary: boundaries[stage],
        read: read[stage],
        deploy: deploy[stage],
        inbox: inbox[`${stage}-inbox`],
        'inbox-answer': inbox[`${stage}-inbox-answer`],
      };
      for (const [name, policy] of Object.entries(policies)) {
        for (const statement of policy.Statement) {
          const row = toRow(name, stage, statement);
          stagesOf.set(row, [...(stagesOf.get(row) ?? []), stage]);
        }
      }
    }
    const rows = [...stagesOf].map(
      ([row, stages]) =>
        `| ${stages.length === STAGES.length ? 'all' : stages.join(', ')} | ${row} |`,
    );
    const listed = readText('docs/roles.md').match(/^\| (all|develop|main|release).*$/gm) ?? [];
    expect(rows.toSorted()).toEqual(listed.toSorted());
    // IAM refuses a policy with another kind, such as a wildcard.
    const kinds = rows.flatMap((row) =>
      [...row.matchAll(/iam::ACCOUNT:([^/`]+)/g)].map(([, kind]) => kind),
    );
    expect(new Set(kinds)).toEqual(new Set(['policy', 'role']));
  });

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
      ...names.map((name) => `${gateway}/${name}*`),
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
        name: 'n'.repeat(32),
        bucket: 'b'.repeat(63),
        github: { repository: `${'o'.repeat(39)}/${'r'.repeat(100)}`, ...ids },
        domains: {
          release: ['a'.repeat(60), 'b'.repeat(60)].map((label) => `${label}.example.com`),
        },
      },
      {
        region: 'ap-southeast-2',
        health_check_arns: Object.fromEntries(
          STAGES.map((stage) => [
            stage,
            ['form', 'api'].map((use) => `arn:aws:route53:::healthcheck/${use.padEnd(36)}`),
          ]),
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
