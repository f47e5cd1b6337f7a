/** What the policies of infra/terraform/bootstrap allow. `npm run bootstrap` has AWS validate them. */
import { describe, expect, it } from 'vitest';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { STAGES, type Stage } from '../../lib/aws/stages.ts';
import { answerById } from '../function/test-inquiries.ts';
import { createOwnStore } from '../helpers/engines.ts';
import { INQUIRY, makeCall } from '../helpers/events.ts';
import { readImports } from '../helpers/repository.ts';
import { ofType, readGolden } from './golden.ts';
import { ACCOUNT, arn, iamArn, REGION, type Json } from './planned-module.ts';
import { recordRequests } from './recorded-requests.ts';

type Context = Record<string, string | readonly string[]>;
type Request = readonly [action: string, resource: string, context: Context];

const golden = readGolden('bootstrap-stages');
/** The policies by their names without the service's. */
const policies: Record<string, Json> = Object.fromEntries(
  ['aws_iam_policy', 'aws_iam_role_policy'].flatMap((type) =>
    Object.entries(ofType(golden, type)).map(([name, { policy }]) => [
      name.replace(/^.*\["(.*)"\]$/, '$1'),
      policy,
    ]),
  ),
);

/** IAM's wildcard matches every character, also `/`. */
const isLike = (pattern: string, text: string) =>
  new RegExp(`^${pattern.replaceAll(/[$.]/g, String.raw`\$&`).replaceAll('*', '.*')}$`).test(text);
const isAnyLike = (patterns: Json, text: string) =>
  [patterns].flat().some((pattern) => isLike(pattern, text));

/** A missing key fails, except with a negation or `ForAllValues`. */
function holds(operator: string, key: string, expected: readonly string[], context: Context) {
  const values = [context[key] ?? []].flat();
  const isNegated = operator.includes('Not');
  if (values.length === 0) return isNegated || operator.startsWith('ForAllValues');
  const matches = operator.includes('Like') ? isLike : (a: string, b: string) => a === b;
  return values.every((value) => expected.some((each) => matches(each, value)) !== isNegated);
}

function allows(names: readonly string[], [action, resource, context]: Request) {
  const matching = names
    .flatMap((name) => policies[name]?.Statement ?? [])
    .filter(
      ({ Action, Resource, NotResource = [], Condition = {} }: Json) =>
        isAnyLike(Action, action) &&
        (Resource ? isAnyLike(Resource, resource) : !isAnyLike(NotResource, resource)) &&
        Object.entries(Condition).every(([operator, keys]) =>
          Object.entries<Json>(Object(keys)).every(([key, expected]) =>
            holds(operator, key, [expected].flat(), context),
          ),
        ),
    );
  return matching.length > 0 && matching.every(({ Effect }) => Effect === 'Allow');
}

/** Who has which policies. All that GitHub has, and each role that a deployment makes, is within the boundary. */
const WHO: Record<string, readonly string[][]> = {
  role: [['boundary']],
  plan: [['boundary'], ['read']],
  deploy: [['boundary'], ['read', 'deploy']],
  answer: [['inbox-answer']],
  inbox: [['inbox']],
  on_call: [['on-call']],
};
const listWho = (stage: Stage, request: Request) =>
  Object.keys(WHO)
    .filter((who) =>
      WHO[who]?.every((kinds) =>
        allows(
          kinds.map((kind) => `${stage}-${kind}`),
          request,
        ),
      ),
    )
    .join(' ');

const STATE = 'arn:aws:s3:::state-bucket/env:/STAGE/inquiries/terraform.tfstate';
/**
 * Who may request what, of each stage or of those that are named: lines of `SERVICE:ACTION … | RESOURCE | CONTEXT`. OWN
 * begins ARNs of the account and region, which are of the action's service if none is named.
 */
const RULES: readonly (readonly [who: string, requests: string, stages?: readonly string[]])[] = [
  // What a deployment reads, and a plan.
  [
    'role plan deploy',
    `s3:ListBucket | arn:aws:s3:::NAME-site-ACCOUNT
s3:GetObject | ${STATE}
dynamodb:DescribeTimeToLive | table/NAME
iam:GetRole | role/NAME-function
apigateway:GET | arn:aws:apigateway:REGION::/apis/api-of-STAGE/routes/a
logs:TestMetricFilter DescribeLogGroups`,
  ],
  // What a deployment needs, of each way in which a policy limits it.
  [
    'role deploy',
    `s3:PutObject | arn:aws:s3:::NAME-site-ACCOUNT
s3:PutObject | ${STATE}
s3:PutBucketPolicy | arn:aws:s3:::NAME-mails-ACCOUNT
dynamodb:CreateTable | table/NAME
iam:CreateRole PutRolePolicy | role/NAME-function | bounded
iam:PassRole | role/NAME-function | iam:PassedToService=lambda.amazonaws.com
iam:CreateServiceLinkedRole | role/aws-service-role/r | iam:AWSServiceName=email.cognito-idp.amazonaws.com
lambda:UpdateFunctionCode | function:NAME
lambda:InvokeFunction | function:NAME:17
lambda:InvokeFunction | function:NAME-mailer:17
lambda:AddPermission | function:NAME-mailer | lambda:Principal=events.amazonaws.com
lambda:CreateEventSourceMapping | * | lambda:FunctionArn=OWN:lambda:function:NAME-mailer:live
lambda:TagResource | event-source-mapping:e | asked
logs:PutRetentionPolicy | log-group:/aws/lambda/NAME
logs:UpdateLogDelivery PutResourcePolicy
events:PutRule | rule/NAME-mailer-digests
cloudwatch:PutMetricAlarm | alarm:NAME-function-errors
cloudwatch:PutDashboard | arn:aws:cloudwatch::ACCOUNT:dashboard/NAME
sns:Subscribe | NAME-alarms | sns:Endpoint=oncall@example.com
sns:Subscribe | NAME-receiver-events | sns:Endpoint=OWN:sqs:NAME-receiver-events
sqs:CreateQueue | NAME-failed
ses:CreateConfigurationSet | configuration-set/NAME
cognito-idp:CreateUserPoolClient AdminCreateUser | userpool/u | tagged
cloudfront:UpdateDistribution | * | tagged
acm:DeleteCertificate | * | tagged
route53:UpdateHealthCheck | arn:aws:route53:::healthcheck/of-STAGE
apigateway:PATCH | arn:aws:apigateway:REGION::/apis/api-of-STAGE/routes/a`,
  ],
  // What ends the protection of data.
  [
    'role deploy',
    `dynamodb:DeleteTable UpdateTable UpdateTimeToLive UpdateContinuousBackups | table/NAME
cognito-idp:DeleteUserPool | userpool/u | tagged`,
    ['develop'],
  ],
  // The domains that are listed for a stage.
  [
    'role deploy',
    'route53:ChangeResourceRecordSets | arn:aws:route53:::hostedzone/Z1 | DOMAINS=api.example.com,_1.www.example.com',
    ['release'],
  ],
  [
    '',
    `route53:ChangeResourceRecordSets | arn:aws:route53:::hostedzone/Z1 | DOMAINS=api.example.com,example.com
apigateway:PATCH | arn:aws:apigateway:REGION::/domainnames/other.com`,
  ],
  // A function touches data, and no deployment: neither does it invoke one with invented claims or records, nor
  // subscribe to what SES tells of mails.
  [
    'role',
    `dynamodb:PutItem DeleteItem | table/NAME
dynamodb:UpdateItem | table/NAME | dynamodb:Attributes=subject
dynamodb:UpdateItem | table/NAME | dynamodb:Attributes=body
dynamodb:UpdateItem | table/NAME | dynamodb:Attributes=expires_at
dynamodb:UpdateItem | table/NAME | dynamodb:LeadingKeys=$inquiries#quota_1
dynamodb:BatchWriteItem | table/NAME | dynamodb:Attributes=pk,body
logs:GetLogEvents | log-group:/aws/lambda/NAME:*
sqs:ReceiveMessage PurgeQueue | NAME-failed
sqs:ReceiveMessage | NAME-receiver-events
ses:SendEmail | identity/i | tagged
iam:PassRole | role/NAME-function | iam:PassedToService=ec2.amazonaws.com
lambda:InvokeFunction | function:NAME
lambda:InvokeFunction | function:NAME:live
lambda:InvokeFunction | function:NAME:$LATEST
lambda:InvokeFunction | function:NAME-mailer
sns:Subscribe | NAME-receiver-events | sns:Endpoint=ana@example.com
sns:Subscribe | NAME-receiver-events | sns:Endpoint=OWN:sqs:inquiries-OTHER-x`,
  ],
  // People: who answers, who also exports and erases, and who is on call (docs/runbook.md).
  ['role answer inbox', 'dynamodb:GetItem Query | table/NAME'],
  [
    'role inbox',
    `s3:GetObject DeleteObject | arn:aws:s3:::NAME-mails-ACCOUNT/mail
dynamodb:Scan | table/NAME
dynamodb:BatchWriteItem | table/NAME | dynamodb:Attributes=pk,sk`,
  ],
  [
    'inbox',
    `ses:DeleteSuppressedDestination
ssm:PutParameter | parameter/NAME/erasure-key
cognito-idp:AdminDeleteUser | userpool/u | tagged`,
  ],
  ['role inbox on_call', 'lambda:InvokeFunction | function:NAME-mailer:live'],
  [
    'role on_call',
    `logs:StartQuery | log-group:/aws/lambda/NAME-mailer:*
logs:StartQuery | log-group:/aws/vendedlogs/apigateway/NAME:*
sqs:ReceiveMessage ChangeMessageVisibility DeleteMessage | NAME-mailer-dead-letters
sqs:SendMessage | NAME-receiver-events`,
  ],
  ['on_call', 'logs:GetQueryResults'],
  [
    'role plan deploy on_call',
    `cloudwatch:DescribeAlarms
lambda:ListEventSourceMappings
sqs:GetQueueUrl | NAME-mailer-dead-letters`,
  ],
  [
    'role deploy on_call',
    'lambda:UpdateEventSourceMapping | * | lambda:FunctionArn=OWN:lambda:function:NAME-mailer:live',
  ],
  // Nobody tags or makes what is allowed by its tags or id, or changes what is another stage's.
  [
    '',
    `acm:AddTagsToCertificate RequestCertificate | * | asked
cloudfront:TagResource | arn:aws:cloudfront::ACCOUNT:distribution/E | asked
cognito-idp:TagResource | userpool/u | asked
ses:TagResource | identity/example.com | asked
route53:ChangeTagsForResource | arn:aws:route53:::hostedzone/Z1 | asked
route53:ChangeTagsForResource | arn:aws:route53:::healthcheck/of-OTHER | asked
sns:SetSubscriptionAttributes Unsubscribe | inquiries-OTHER-alarms:1b2c
ses:CreateReceiptRule UpdateReceiptRule DeleteReceiptRule SetActiveReceiptRuleSet
logs:StartQuery | log-group:/aws/lambda/inquiries-OTHER:*
dynamodb:Query | table/inquiries-OTHER
lambda:UpdateEventSourceMapping`,
  ],
  // Nobody frees a role of its boundary.
  [
    '',
    `iam:AttachRolePolicy DeleteRolePermissionsBoundary CreateRole PutRolePolicy | role/NAME-function
iam:CreateRole PutRolePolicy | role/NAME-function | iam:PermissionsBoundary=OWN:iam:policy/terraform-bootstrap/inquiries-OTHER-boundary-REGION
iam:CreateRole PutRolePolicy | role/terraform-bootstrap/NAME-deploy-REGION | bounded
iam:CreateUser AddClientIDToOpenIDConnectProvider
iam:CreateServiceLinkedRole | role/aws-service-role/r | iam:AWSServiceName=ecs.amazonaws.com
sts:AssumeRole
ec2:RunInstances`,
  ],
  // Nobody loses data or users, opens them to others, or keeps copies of them.
  [
    '',
    `s3:DeleteObject DeleteObjectVersion | ${STATE}
ssm:PutParameter | parameter/NAME/erasure-key | ssm:Overwrite=true
cognito-idp:AdminSetUserPassword | userpool/u | tagged
kms:Decrypt
dynamodb:PutResourcePolicy EnableKinesisStreamingDestination CreateBackup ExportTableToPointInTime | table/NAME
dynamodb:DeleteBackup RestoreTableFromBackup | table/NAME/backup/1
dynamodb:RestoreTableToPointInTime | table/NAME-copy
lambda:CreateFunctionUrlConfig UpdateFunctionUrlConfig PutResourcePolicy | function:NAME
lambda:AddPermission | function:NAME | lambda:Principal=*
lambda:AddPermission | function:NAME | lambda:Principal=ACCOUNT
logs:PutSubscriptionFilter CreateExportTask | log-group:/aws/lambda/NAME
ses:CreateEmailIdentityPolicy PutIdentityPolicy | identity/i | tagged`,
  ],
];
const LINES = RULES.flatMap(([who, requests, stages = STAGES]) =>
  requests.split('\n').map((line) => [line, who, stages] as const),
);

const WORDS: Record<string, string> = {
  tagged: 'aws:ResourceTag/service=inquiries aws:ResourceTag/stage=STAGE',
  asked: 'aws:RequestTag/service=inquiries aws:RequestTag/stage=STAGE',
  bounded:
    'iam:PermissionsBoundary=OWN:iam:policy/terraform-bootstrap/inquiries-STAGE-boundary-REGION',
};
function toRequests(stage: Stage, line: string): Request[] {
  const [actions = '', own = '*', conditions = ''] = line.split(' | ');
  const [service = '', names = ''] = actions.split(':');
  const fill = (text: string) =>
    text
      .replace('OWN:iam:', iamArn(''))
      .replace(/OWN:([\w-]+):/, (_, of) => arn(of, ''))
      .replace('DOMAINS', 'route53:ChangeResourceRecordSetsNormalizedRecordNames')
      .replaceAll('NAME', 'inquiries-STAGE')
      .replaceAll('STAGE', stage)
      .replaceAll('OTHER', stage === 'main' ? 'develop' : 'main')
      .replaceAll('REGION', REGION)
      .replaceAll('ACCOUNT', ACCOUNT);
  const resource = fill(/^(arn:|\*)/.test(own) ? own : `OWN:${service}:${own}`);
  const context = fill(WORDS[conditions] ?? conditions)
    .split(' ')
    .map((each) => each.split('='))
    .map(([key = '', values = '']) => [key, values.split(',')]);
  return names
    .split(' ')
    .map((name) => [`${service}:${name}`, resource, Object.fromEntries(context)]);
}

describe('the policies', () => {
  it.each(STAGES)('of %s allow each request to whom it is listed for', (stage) => {
    for (const [line, who, stages] of LINES) {
      const expected = stages.includes(stage) ? who : '';
      for (const request of toRequests(stage, line)) {
        expect([line, listWho(stage, request)]).toEqual([line, expected]);
      }
    }
  });

  it.each(STAGES)('of %s reach nothing of another stage, and little without its name', (stage) => {
    const named = LINES.filter(([line]) => /NAME|STAGE|tagged|asked/.test(line));
    for (const [line] of named) {
      for (const request of STAGES.flatMap((each) =>
        each === stage ? [] : toRequests(each, line),
      )) {
        expect(`${line} ${listWho(stage, request)}`).toMatch(/ (role)?$/);
      }
    }
    const loose = ['read', 'deploy', 'boundary']
      .flatMap((kind) => policies[`${stage}-${kind}`]?.Statement ?? [])
      .filter(({ Effect, Resource, Condition = {} }) => {
        const names = JSON.stringify(Condition).includes(stage) ? [] : [Resource ?? []].flat();
        return Effect === 'Allow' && !names.every((name) => name.includes(stage));
      });
    // docs/roles.md says what follows. The gateway's is the creation of APIs.
    expect(new Set(loose.map(({ Sid, Action }) => Sid ?? [Action].flat()[0]))).toEqual(
      new Set([
        ...'MailOfPools ReadGateway ReadReceipt ReadUnnamed State StateBucket'.split(' '),
        ...'WriteGateway WriteUnnamed'.split(' '),
        ...'apigateway:* cloudfront:Get* cloudfront:UpdateResponseHeadersPolicy'.split(' '),
        ...'iam:CreateServiceLinkedRole kms:* s3:GetObject ses:SendEmail'.split(' '),
        ...(stage === 'release' ? ['Records', 'route53:ChangeResourceRecordSets'] : []),
      ]),
    );
  });

  it('name ARNs, since IAM refuses any other text with a wildcard', () => {
    const statements = Object.values(policies).flatMap(({ Statement }) => Statement);
    const names = statements.flatMap(({ Resource, NotResource }: Json) => Resource ?? NotResource);
    expect(names.length).toBeGreaterThan(100);
    expect(names.filter((name) => !/^(\*$|arn:aws:)/.test(name))).toEqual([]);
  });

  it('and the roles are imported by the runbook, without which a lost state ends in a refusal', () => {
    const made = ['aws_iam_policy', 'aws_iam_role'].flatMap((type) =>
      Object.keys(ofType(golden, type)).map((name) => `${type}.${name}`),
    );
    const ofRelease = made.filter((address) => address.includes('["release-'));
    expect(ofRelease).toHaveLength(7);
    expect([...readImports('bootstrap').keys()]).toEqual(expect.arrayContaining(ofRelease));
  });

  it('let an operator do what the inbox sends to answer', async () => {
    const own = await createOwnStore();
    const [first, second] = [INQUIRY.id, '01a1f7a8-96d1-78c6-a4ab-07c41d3c9583'];
    for (const id of [first, second]) await own.store.put({ ...INQUIRY, id }, makeCall());
    const sent = recordRequests(own.client);
    const inbox = createStoredInquiries(own);
    const answer = answerById(inbox);
    expect((await Array.fromAsync(inbox.list())).flat()).toHaveLength(2);
    await answer(first, { reply: 'yes', respondent: 'ana' });
    await answer(second, { respondent: 'ana' });
    expect(await inbox.get(first)).toMatchObject({ reply: 'yes', respondent: 'ana' });

    const main = arn('dynamodb', 'table/inquiries-main');
    const answers = sent.map(
      ([action, { IndexName, Key, UpdateExpression, ConditionExpression }]): Request => {
        const path = IndexName ? `/index/${IndexName}` : '';
        if (UpdateExpression === undefined) return [action, main + path, {}];
        // Placeholders and names of functions are left out.
        const columns =
          `${UpdateExpression} ${ConditionExpression}`.match(/(?<![:\w])[a-z]\w*\b(?! *\()/g) ?? [];
        const context = {
          'dynamodb:Attributes': ['pk', 'sk', ...columns],
          'dynamodb:LeadingKeys': Key?.['pk'] ?? '',
        };
        return [action, main, context];
      },
    );
    expect(answers.map(([action]) => action)).toContain('dynamodb:UpdateItem');
    const kinds = ['main-inbox-answer', 'main-inbox'];
    for (const kind of kinds) expect(answers.filter((each) => !allows([kind], each))).toEqual([]);
  });

  it('trust the one repository’s environments by complete subjects, bounded, for an hour', () => {
    const issuer = 'token.actions.githubusercontent.com';
    const roles = ofType(golden, 'aws_iam_role');
    expect(Object.keys(roles)).toHaveLength(2 * STAGES.length);
    for (const [address, values] of Object.entries(roles)) {
      const [, environment = '', stage] = /"((\w+?)(?:-plan)?)(?:-deploy)?"/.exec(address) ?? [];
      expect([values.max_session_duration, values.permissions_boundary]).toEqual([
        3_600,
        iamArn(`policy/terraform-bootstrap/inquiries-${stage}-boundary-${REGION}`),
      ]);
      expect(values.assume_role_policy.Statement).toMatchObject([
        {
          Action: 'sts:AssumeRoleWithWebIdentity',
          Principal: { Federated: iamArn(`oidc-provider/${issuer}`) },
          Condition: {
            StringEquals: {
              [`${issuer}:aud`]: 'sts.amazonaws.com',
              [`${issuer}:sub`]: ['octo/inquiries', 'octo@1/inquiries@23'].map(
                (repository) => `repo:${repository}:environment:${environment}`,
              ),
            },
          },
        },
      ]);
    }
  });
});
