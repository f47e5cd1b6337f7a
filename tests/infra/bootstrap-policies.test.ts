/** What the policies of infra/terraform/bootstrap allow. `npm run bootstrap` has AWS validate them. */
import { describe, expect, it } from 'vitest';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { STAGES, type Stage } from '../../lib/aws/stages.ts';
import { answerById } from '../function/test-inquiries.ts';
import { createOwnStore } from '../helpers/engines.ts';
import { INQUIRY, makeCall } from '../helpers/events.ts';
import { ofType, readGolden } from './golden.ts';
import { ACCOUNT, REGION, arn, iamArn } from './planned-module.ts';
import { recordRequests } from './recorded-requests.ts';

type OneOrMore = string | readonly string[];
type Context = Record<string, OneOrMore>;
interface Statement {
  /** Only the boundary has none. */
  Sid?: string;
  Effect: 'Allow' | 'Deny';
  Action: OneOrMore;
  Resource?: OneOrMore;
  NotResource?: OneOrMore;
  Condition?: Record<string, Context>;
}
type Policies = Record<string, { Statement: readonly Statement[] }>;
type Request = readonly [action: string, resource?: string, context?: Context];

const STATE_BUCKET = 'arn:aws:s3:::state-bucket';
const HEALTH_CHECK = 'arn:aws:route53:::healthcheck/';
const golden = readGolden('bootstrap-stages');
/** Without the service's name. */
const policies: Policies = Object.fromEntries(
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

/** A missing key fails, except with a negation or `ForAllValues`. */
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
      ({ Action, Resource, NotResource, Condition = {} }) =>
        [Action].flat().some((pattern) => isLike(pattern, action)) &&
        (Resource === undefined
          ? ![NotResource ?? []].flat().some((pattern) => isLike(pattern, resource))
          : [Resource].flat().some((pattern) => isLike(pattern, resource))) &&
        Object.entries(Condition).every(([operator, keys]) =>
          Object.entries(keys).every(([key, expected]) =>
            holds(operator, key, [expected].flat(), context),
          ),
        ),
    );
  return matching.length > 0 && matching.every(({ Effect }) => Effect === 'Allow');
}
/** What a role with these policies may request, within its boundary. */
const allowed = (stage: Stage, kinds: readonly string[], requests: readonly Request[]) =>
  requests.filter((request) =>
    [boundary, kinds].every((each) =>
      allows(
        each.map((kind) => `${stage}-${kind}`),
        request,
      ),
    ),
  );
/** Also given to a role that `deploy` makes. */
const boundary = ['boundary'];
const plan = ['read'];
const deploy = ['read', 'deploy'];

const table = (stage: Stage) => arn('dynamodb', `table/inquiries-${stage}`);
const role = (stage: Stage) => iamArn(`role/inquiries-${stage}-function`);
const pool = arn('cognito-idp', 'userpool/u');
const COGNITO_MAIL = 'email.cognito-idp.amazonaws.com';
const linkedRole = (service: string) => iamArn(`role/aws-service-role/${service}/mock`);
const linkedService = (service: string): Context => ({ 'iam:AWSServiceName': service });
const state = (stage: Stage) => `${STATE_BUCKET}/env:/${stage}/inquiries/terraform.tfstate`;
const tags = (stage: Stage, kind = 'Resource'): Context => ({
  [`aws:${kind}Tag/service`]: 'inquiries',
  [`aws:${kind}Tag/stage`]: stage,
});
const bounded = (stage: Stage): Context => ({
  'iam:PermissionsBoundary': iamArn(
    `policy/terraform-bootstrap/inquiries-${stage}-boundary-${REGION}`,
  ),
});
/** `SERVICE:A B` → SERVICE:A, SERVICE:B, with the rest of the request. */
const toRequests = (...rows: readonly Request[]) =>
  rows.flatMap(([actions, resource = '*', context = {}]) => {
    const [service, names = ''] = actions.split(':');
    return names.split(' ').map((name): Request => [`${service}:${name}`, resource, context]);
  });
/** What a stage's deployment asks for, of each way in which a policy limits it. */
const needed = (stage: Stage) => {
  const name = `inquiries-${stage}`;
  return toRequests(
    ['s3:ListBucket PutObject', `arn:aws:s3:::${name}-site-${ACCOUNT}`],
    ['s3:GetObject PutObject', state(stage)],
    ['dynamodb:CreateTable DescribeTimeToLive', table(stage)],
    ['iam:CreateRole PutRolePolicy', role(stage), bounded(stage)],
    ['iam:GetRole', role(stage)],
    ['iam:PassRole', role(stage), { 'iam:PassedToService': 'lambda.amazonaws.com' }],
    ['lambda:UpdateFunctionCode', arn('lambda', `function:${name}`)],
    // The gate's.
    ...['', '-mailer'].map((each): Request => [
      'lambda:InvokeFunction',
      arn('lambda', `function:${name}${each}:17`),
    ]),
    [
      'lambda:AddPermission',
      arn('lambda', `function:${name}-mailer`),
      { 'lambda:Principal': 'events.amazonaws.com' },
    ],
    ['logs:PutRetentionPolicy', arn('logs', `log-group:/aws/lambda/${name}`)],
    ['events:PutRule', arn('events', `rule/${name}-mailer-digests`)],
    ['cloudwatch:PutMetricAlarm', arn('cloudwatch', `alarm:${name}-function-errors`)],
    ['cloudwatch:PutDashboard', arn('cloudwatch', `dashboard/${name}`, '')],
    ['sns:Subscribe', arn('sns', `${name}-alarms`), { 'sns:Endpoint': 'oncall@example.com' }],
    [
      'sns:Subscribe',
      arn('sns', `${name}-receiver-events`),
      { 'sns:Endpoint': arn('sqs', `${name}-receiver-events`) },
    ],
    ['sqs:CreateQueue', arn('sqs', `${name}-failed`)],
    ['ses:CreateConfigurationSet', arn('ses', `configuration-set/${name}`)],
    ['cognito-idp:CreateUserPoolClient AdminCreateUser', pool, tags(stage)],
    ['cloudfront:UpdateDistribution', '*', tags(stage)],
    ['acm:DeleteCertificate', '*', tags(stage)],
    ['route53:UpdateHealthCheck', `${HEALTH_CHECK}of-${stage}`],
    [
      'lambda:CreateEventSourceMapping',
      '*',
      { 'lambda:FunctionArn': arn('lambda', `function:${name}-mailer:live`) },
    ],
    ['lambda:TagResource', arn('lambda', 'event-source-mapping:e'), tags(stage, 'Request')],
    ['apigateway:GET PATCH', `arn:aws:apigateway:${REGION}::/apis/api-of-${stage}/routes/a`],
  );
};
/** What no role of a stage may request, whatever a deployment gives it. */
const never = (stage: Stage) => {
  const own = arn('lambda', `function:inquiries-${stage}`);
  const other = stage === 'main' ? 'develop' : 'main';
  const asked = tags(stage, 'Request');
  return toRequests(
    // To tag or make what is allowed by its tags or id.
    ['acm:AddTagsToCertificate RequestCertificate', '*', asked],
    ['cloudfront:TagResource', arn('cloudfront', 'distribution/E', ''), asked],
    ['cognito-idp:TagResource', pool, asked],
    ['ses:TagResource', arn('ses', 'identity/example.com'), asked],
    ['route53:ChangeTagsForResource', 'arn:aws:route53:::hostedzone/Z1', asked],
    // To change what is another stage's.
    ['route53:ChangeTagsForResource', `${HEALTH_CHECK}of-${other}`, asked],
    ['sns:SetSubscriptionAttributes Unsubscribe', arn('sns', `inquiries-${other}-alarms:1b2c`)],
    // To free itself or another role.
    ['iam:AttachRolePolicy DeleteRolePermissionsBoundary CreateRole PutRolePolicy', role(stage)],
    ['iam:CreateRole PutRolePolicy', role(stage), bounded(other)],
    [
      'iam:CreateRole PutRolePolicy',
      iamArn(`role/terraform-bootstrap/inquiries-${stage}-deploy-${REGION}`),
      bounded(stage),
    ],
    ['iam:CreateUser AddClientIDToOpenIDConnectProvider'],
    ['iam:CreateServiceLinkedRole', linkedRole(COGNITO_MAIL), linkedService('ecs.amazonaws.com')],
    ['sts:AssumeRole'],
    ['ec2:RunInstances'],
    // To lose data or users.
    ['s3:DeleteObject DeleteObjectVersion', state(stage)],
    ['cognito-idp:AdminSetUserPassword AdminDeleteUser', pool, tags(stage)],
    // To change whose mails a stage takes.
    ['ses:CreateReceiptRule UpdateReceiptRule DeleteReceiptRule SetActiveReceiptRuleSet'],
    // To open what it has to others, or keep copies of it.
    ['kms:Decrypt'],
    [
      'dynamodb:PutResourcePolicy EnableKinesisStreamingDestination CreateBackup ExportTableToPointInTime',
      table(stage),
    ],
    ['dynamodb:DeleteBackup RestoreTableFromBackup', `${table(stage)}/backup/1`],
    ['dynamodb:RestoreTableToPointInTime', `${table(stage)}-copy`],
    ['lambda:CreateFunctionUrlConfig UpdateFunctionUrlConfig PutResourcePolicy', own],
    ...['*', ACCOUNT].map((caller): Request => [
      'lambda:AddPermission',
      own,
      { 'lambda:Principal': caller },
    ]),
    [
      'logs:PutSubscriptionFilter CreateExportTask',
      arn('logs', `log-group:/aws/lambda/inquiries-${stage}`),
    ],
    ['ses:CreateEmailIdentityPolicy PutIdentityPolicy', arn('ses', 'identity/i'), tags(stage)],
    // To end the protection of data.
    ...(stage === 'develop'
      ? []
      : toRequests(
          [
            'dynamodb:DeleteTable UpdateTable UpdateTimeToLive UpdateContinuousBackups',
            table(stage),
          ],
          ['cognito-idp:DeleteUserPool', pool, tags(stage)],
        )),
  );
};
const isRead = ([action]: Request) => /:(Describe|Get|GET|List|Test)/.test(action);

describe('the policies', () => {
  it.each(STAGES)('of %s reach nothing of another stage, and little without its name', (stage) => {
    expect(
      allowed(stage, deploy, STAGES.filter((other) => other !== stage).flatMap(needed)),
    ).toEqual([]);
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

  it('let a deployment do what it needs, and a plan read it', () => {
    const requests = [
      ...needed('develop'),
      ...toRequests(
        ['logs:TestMetricFilter UpdateLogDelivery PutResourcePolicy DescribeLogGroups'],
        ['iam:CreateServiceLinkedRole', linkedRole(COGNITO_MAIL), linkedService(COGNITO_MAIL)],
      ),
    ];
    expect(allowed('develop', deploy, requests)).toEqual(requests);
    expect(allowed('develop', plan, requests)).toEqual(requests.filter(isRead));
  });

  it.each(STAGES)(
    'let no role of %s free itself, open or lose data, or take what is not its',
    (stage) => {
      expect(allowed(stage, boundary, never(stage))).toEqual([]);
    },
  );

  it('let a function touch data, but no deployment', () => {
    const stage = 'develop';
    const data = toRequests(
      ['dynamodb:GetItem Query Scan PutItem DeleteItem', table(stage)],
      ['logs:GetLogEvents', arn('logs', 'log-group:/aws/lambda/inquiries-develop:*')],
      ['sqs:ReceiveMessage PurgeQueue', arn('sqs', 'inquiries-develop-failed')],
      ['ses:SendEmail', arn('ses', 'identity/i'), tags(stage)],
      ['iam:PassRole', role(stage), { 'iam:PassedToService': 'ec2.amazonaws.com' }],
      // With invented claims, or with an invented record.
      ...['', ':live', ':$LATEST', '-mailer', '-mailer:live'].map((each): Request => [
        'lambda:InvokeFunction',
        arn('lambda', `function:inquiries-develop${each}`),
      ]),
      // What SES tells of mails.
      ...['ana@example.com', arn('sqs', 'inquiries-main-x')].map((endpoint): Request => [
        'sns:Subscribe',
        arn('sns', 'inquiries-develop-receiver-events'),
        { 'sns:Endpoint': endpoint },
      ]),
    );
    expect(allowed(stage, boundary, data)).toEqual(data);
    expect(allowed(stage, deploy, data)).toEqual([]);
  });

  it('let a stage set up the domains that are listed for it, and no others', () => {
    const change = (...names: string[]): Request => [
      'route53:ChangeResourceRecordSets',
      'arn:aws:route53:::hostedzone/Z1',
      { 'route53:ChangeResourceRecordSetsNormalizedRecordNames': names },
    ];
    const own = change('api.example.com', '_1.www.example.com');
    const others = [
      change('api.example.com', 'example.com'),
      ...toRequests([`apigateway:PATCH`, `arn:aws:apigateway:${REGION}::/domainnames/other.com`]),
    ];
    expect(allowed('release', deploy, [own, ...others])).toEqual([own]);
    expect(allowed('develop', deploy, [own])).toEqual([]);
  });

  it('let an operator do what the inbox sends to answer, only the larger one scan and erase', async () => {
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

    const main = table('main');
    const attributes = (...names: string[]) => ({ 'dynamodb:Attributes': names });
    const answers = sent.map(
      ([action, { IndexName, Key, UpdateExpression, ConditionExpression }]): Request => {
        const path = IndexName ? `/index/${IndexName}` : '';
        if (UpdateExpression === undefined) return [action, main + path];
        // Placeholders and functions are no columns.
        const columns =
          `${UpdateExpression} ${ConditionExpression}`.match(/(?<![:\w])[a-z]\w*\b(?! *\()/g) ?? [];
        return [
          action,
          main,
          { ...attributes('pk', 'sk', ...columns), 'dynamodb:LeadingKeys': Key?.['pk'] ?? '' },
        ];
      },
    );
    expect(answers.map(([action]) => action)).toContain('dynamodb:UpdateItem');
    const key = arn('ssm', 'parameter/inquiries-main/erasure-key');
    const mailer = arn('lambda', 'function:inquiries-main-mailer');
    const erasures: Request[] = [
      ['dynamodb:Scan', main],
      ['ses:DeleteSuppressedDestination'],
      ['dynamodb:BatchWriteItem', main, attributes('pk', 'sk')],
      ['ssm:PutParameter', key],
      ['cognito-idp:AdminDeleteUser', pool, tags('main')],
      // docs/runbook.md invokes the live version (docs.aws.amazon.com/lambda/latest/dg/using-aliases.html).
      ['lambda:InvokeFunction', `${mailer}:live`],
    ];
    const refused: Request[] = [
      ...['subject', 'body', 'expires_at'].map((name): Request => [
        'dynamodb:UpdateItem',
        main,
        attributes(name),
      ]),
      ['dynamodb:UpdateItem', main, { 'dynamodb:LeadingKeys': '$inquiries#quota_1' }],
      ['dynamodb:BatchWriteItem', main, attributes('pk', 'body')],
      ['dynamodb:Query', table('release')],
      ['cognito-idp:AdminDeleteUser', pool, tags('release')],
      ['ssm:PutParameter', key, { 'ssm:Overwrite': 'true' }],
      ['lambda:InvokeFunction', mailer],
    ];
    const all = [...answers, ...erasures, ...refused];
    expect(all.filter((each) => allows(['main-inbox-answer'], each))).toEqual(answers);
    expect(all.filter((each) => allows(['main-inbox'], each))).toEqual([...answers, ...erasures]);
  });

  it('let people on call do what npm run ops sends, and read no row', () => {
    const own = 'inquiries-release';
    const requests = toRequests(
      ['logs:StartQuery', arn('logs', `log-group:/aws/lambda/${own}-mailer:*`)],
      ['logs:StartQuery', arn('logs', `log-group:/aws/vendedlogs/apigateway/${own}:*`)],
      ['logs:GetQueryResults'],
      ['cloudwatch:DescribeAlarms'],
      ['lambda:ListEventSourceMappings'],
      [
        'lambda:UpdateEventSourceMapping',
        '*',
        { 'lambda:FunctionArn': arn('lambda', `function:${own}-mailer:live`) },
      ],
      ['lambda:InvokeFunction', arn('lambda', `function:${own}-mailer:live`)],
      [
        'sqs:GetQueueUrl ReceiveMessage ChangeMessageVisibility DeleteMessage',
        arn('sqs', `${own}-mailer-dead-letters`),
      ],
      ['sqs:GetQueueUrl SendMessage', arn('sqs', `${own}-receiver-events`)],
    );
    const refused = toRequests(
      ['dynamodb:GetItem Query Scan', table('release')],
      ['lambda:InvokeFunction', arn('lambda', `function:${own}:live`)],
      ['sqs:ReceiveMessage', arn('sqs', `${own}-receiver-events`)],
      ['logs:StartQuery', arn('logs', 'log-group:/aws/lambda/inquiries-main:*')],
      ['lambda:UpdateEventSourceMapping'],
    );
    const all = [...requests, ...refused];
    expect(all.filter((each) => allows(['release-on-call'], each))).toEqual(requests);
  });

  it('trust the one repository’s environments by complete subjects, bounded, for an hour', () => {
    const issuer = 'token.actions.githubusercontent.com';
    const roles = ofType(golden, 'aws_iam_role');
    expect(Object.keys(roles)).toHaveLength(2 * STAGES.length);
    for (const [address, values] of Object.entries(roles)) {
      const [, environment = '', stage] = /"((\w+?)(?:-plan)?)(?:-deploy)?"/.exec(address) ?? [];
      expect([values.max_session_duration, values.permissions_boundary]).toEqual([
        3_600,
        bounded(stage as Stage)['iam:PermissionsBoundary'],
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

  it('let only people who erase read received mails', () => {
    const mails = `arn:aws:s3:::inquiries-develop-mails-${ACCOUNT}`;
    const requests = toRequests(
      ['s3:PutBucketPolicy', mails],
      ['s3:GetObject DeleteObject', `${mails}/mail`],
    );
    const [policy, ...objects] = requests;
    const allowedTo = (...kinds: string[]) => {
      const names = kinds.map((kind) => `develop-${kind}`);
      return requests.filter((request) => allows(names, request));
    };
    expect(allowedTo('boundary')).toEqual(requests);
    expect(allowedTo('read')).toEqual([]);
    expect(allowedTo('read', 'deploy')).toEqual([policy]);
    expect(allowedTo('inbox')).toEqual(objects);
    expect(allowedTo('inbox-answer')).toEqual([]);
  });
});
