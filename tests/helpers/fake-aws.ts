/**
 * A stand-in for the AWS APIs that this project's Terraform module calls, for applying the module without an account.
 *
 * What it shows: that the provider can create, read back, plan without a change and destroy the module's resources with
 * nothing but an endpoint and dummy credentials; that what refers to something (a route to its authorizer, a filter to its
 * log group) refers to what exists; that deletions come in an order AWS accepts. What it does not show: that AWS accepts
 * the values. It stores what it is given and gives it back; of AWS's own checks it knows only those named below.
 * An operation it does not know is answered 501 and kept in `unknown`.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = string | number | boolean | null | undefined | Json[] | { [key: string]: Json };
type Fields = Record<string, Json>;
type Kept = Map<string, Fields>;

export interface FakeAws {
  readonly url: string;
  /** Resources by kind and name, as they were last written. */
  readonly kept: Readonly<Record<Kind, Kept>>;
  /** Operations that were called, in order. */
  readonly calls: readonly string[];
  /** Operations that were called and that the stand-in does not know. */
  readonly unknown: readonly string[];
  close(): Promise<void>;
}

const kinds = [
  'roles',
  'rolePolicies',
  'topics',
  'subscriptions',
  'alarms',
  'dashboards',
  'logGroups',
  'metricFilters',
  'tables',
  'functions',
  'permissions',
  'apis',
  'authorizers',
  'integrations',
  'routes',
  'stages',
  'domains',
  'mappings',
] as const;
type Kind = (typeof kinds)[number];

const account = '000000000000';
const region = 'eu-central-1';
const arn = (service: string, resource: string) => `arn:aws:${service}:${region}:${account}:${resource}`;

class Fault extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const text = (value: Json) => (typeof value === 'string' ? value : '');
const fields = (value: Json): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/** `A.member.1.B=c` (the query protocol's flat form) as a tree; every leaf is a string. */
function fromQuery(form: URLSearchParams): Fields {
  const root: Fields = {};
  for (const [path, value] of form) {
    const steps = path.split('.').filter((step) => step !== 'member' && step !== 'entry');
    let node: Fields = root;
    for (const [index, step] of steps.entries()) {
      if (index === steps.length - 1) node[step] = value;
      else node = fields((node[step] ??= {}));
    }
  }
  return toLists(root);
}

function toLists(node: Fields): Fields {
  const convert = (value: Json): Json => {
    const inner = fields(value);
    if (typeof value !== 'object' || Array.isArray(value)) return value;
    const converted = toLists(inner);
    const keys = Object.keys(converted);
    return keys.length > 0 && keys.every((key) => /^\d+$/.test(key))
      ? keys.map((key) => converted[key])
      : converted;
  };
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, convert(value)]));
}

function toXml(value: Json): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map((item) => `<member>${toXml(item)}</member>`).join('');
  if (typeof value === 'object') {
    return Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => `<${key}>${toXml(inner)}</${key}>`)
      .join('');
  }
  return String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const topicPolicy = (topicArn: string) =>
  JSON.stringify({
    Version: '2008-10-17',
    Statement: [
      {
        Effect: 'Allow',
        Principal: { AWS: '*' },
        Action: ['SNS:Publish'],
        Resource: topicArn,
        Condition: { StringEquals: { 'AWS:SourceOwner': account } },
      },
    ],
  });

const names = (value: Json) => (Array.isArray(value) ? value.map(text) : []);

const entries = (attributes: Fields) => Object.entries(attributes).map(([key, value]) => ({ key, value }));

const role = (input: Fields): Fields => ({
  ...input,
  Path: '/',
  RoleId: `AROA${randomUUID().slice(0, 8)}`,
  Arn: `arn:aws:iam::${account}:role/${text(input['RoleName'])}`,
  CreateDate: '2026-01-01T00:00:00Z',
  MaxSessionDuration: '3600',
  AssumeRolePolicyDocument: encodeURIComponent(text(input['AssumeRolePolicyDocument'])),
});

const tags = (value: Fields | undefined) => value?.['Tags'] ?? [];

/** Starts the stand-in on a free local port. */
export async function startFakeAws(): Promise<FakeAws> {
  const kept = Object.fromEntries(kinds.map((kind) => [kind, new Map<string, Fields>()])) as Record<
    Kind,
    Kept
  >;
  const calls: string[] = [];
  const unknown: string[] = [];

  const get = (kind: Kind, name: string, code = 'ResourceNotFoundException', status = 404): Fields => {
    const found = kept[kind].get(name);
    if (found === undefined) throw new Fault(status, code, `${kind} has no ${name}`);
    return found;
  };
  const add = (kind: Kind, name: string, value: Fields): Fields => {
    if (kept[kind].has(name)) throw new Fault(409, 'ResourceInUseException', `${kind} already has ${name}`);
    kept[kind].set(name, value);
    return value;
  };
  const remove = (kind: Kind, name: string, code?: string): Fields => {
    get(kind, name, code);
    kept[kind].delete(name);
    return {};
  };
  const byArn = (kind: Kind, wanted: string) =>
    [...kept[kind].values()].find((value) => value['Arn'] === wanted);

  // Query protocol: STS, IAM, SNS, CloudWatch.
  const query: Record<string, (input: Fields) => Fields> = {
    GetCallerIdentity: () => ({ Account: account, UserId: 'test', Arn: `arn:aws:iam::${account}:user/test` }),

    CreateRole: (input) => ({ Role: add('roles', text(input['RoleName']), role(input)) }),
    GetRole: (input) => ({ Role: get('roles', text(input['RoleName']), 'NoSuchEntity') }),
    ListRolePolicies: (input) => ({ PolicyNames: policiesOf(text(input['RoleName'])), IsTruncated: false }),
    ListAttachedRolePolicies: () => ({ AttachedPolicies: [], IsTruncated: false }),
    ListInstanceProfilesForRole: () => ({ InstanceProfiles: [], IsTruncated: false }),
    DeleteRole: (input) => {
      if (policiesOf(text(input['RoleName'])).length > 0)
        throw new Fault(409, 'DeleteConflict', 'policies remain');
      return remove('roles', text(input['RoleName']), 'NoSuchEntity');
    },
    PutRolePolicy: (input) => {
      get('roles', text(input['RoleName']), 'NoSuchEntity');
      JSON.parse(text(input['PolicyDocument']));
      kept.rolePolicies.set(`${text(input['RoleName'])}:${text(input['PolicyName'])}`, input);
      return {};
    },
    GetRolePolicy: (input) => {
      const found = get(
        'rolePolicies',
        `${text(input['RoleName'])}:${text(input['PolicyName'])}`,
        'NoSuchEntity',
      );
      return { ...found, PolicyDocument: encodeURIComponent(text(found['PolicyDocument'])) };
    },
    DeleteRolePolicy: (input) =>
      remove('rolePolicies', `${text(input['RoleName'])}:${text(input['PolicyName'])}`, 'NoSuchEntity'),

    CreateTopic: (input) => {
      const topicArn = arn('sns', text(input['Name']));
      add('topics', topicArn, {
        TopicArn: topicArn,
        Owner: account,
        Policy: topicPolicy(topicArn),
        Tags: input['Tags'],
      });
      return { TopicArn: topicArn };
    },
    GetTopicAttributes: (input) => {
      const { Tags: _, ...attributes } = get('topics', text(input['TopicArn']), 'NotFound');
      return { Attributes: entries(attributes) };
    },
    SetTopicAttributes: () => ({}),
    DeleteTopic: (input) => remove('topics', text(input['TopicArn']), 'NotFound'),
    Subscribe: (input) => {
      get('topics', text(input['TopicArn']), 'NotFound');
      const subscriptionArn = `${text(input['TopicArn'])}:${randomUUID()}`;
      const { Protocol, Endpoint, TopicArn } = input;
      add('subscriptions', subscriptionArn, {
        SubscriptionArn: subscriptionArn,
        Protocol,
        Endpoint,
        TopicArn,
      });
      return { SubscriptionArn: subscriptionArn };
    },
    GetSubscriptionAttributes: (input) => ({
      Attributes: entries({
        ...get('subscriptions', text(input['SubscriptionArn']), 'NotFound'),
        Owner: account,
        RawMessageDelivery: 'false',
        PendingConfirmation: 'true',
        ConfirmationWasAuthenticated: 'false',
      }),
    }),
    Unsubscribe: (input) => remove('subscriptions', text(input['SubscriptionArn']), 'NotFound'),

    PutMetricAlarm: (input) => {
      const name = text(input['AlarmName']);
      kept.alarms.set(name, {
        ...input,
        AlarmArn: arn('cloudwatch', `alarm:${name}`),
        Arn: arn('cloudwatch', `alarm:${name}`),
      });
      return {};
    },
    DescribeAlarms: (input) => ({
      MetricAlarms: names(input['AlarmNames']).flatMap((name) => kept.alarms.get(name) ?? []),
    }),
    DeleteAlarms: (input) => {
      for (const name of names(input['AlarmNames'])) remove('alarms', name, 'ResourceNotFound');
      return {};
    },
    PutDashboard: (input) => {
      JSON.parse(text(input['DashboardBody']));
      kept.dashboards.set(text(input['DashboardName']), input);
      return { DashboardValidationMessages: [] };
    },
    GetDashboard: (input) => ({
      ...get('dashboards', text(input['DashboardName']), 'ResourceNotFound'),
      DashboardArn: `arn:aws:cloudwatch::${account}:dashboard/${text(input['DashboardName'])}`,
    }),
    DeleteDashboards: (input) => {
      for (const name of names(input['DashboardNames'])) remove('dashboards', name, 'ResourceNotFound');
      return {};
    },
    // SNS says ResourceArn, CloudWatch ResourceARN.
    ListTagsForResource: (input) => ({
      Tags: tags(kept.topics.get(text(input['ResourceArn'])) ?? byArn('alarms', text(input['ResourceARN']))),
    }),
  };
  const policiesOf = (roleName: string) =>
    [...kept.rolePolicies.keys()]
      .filter((key) => key.startsWith(`${roleName}:`))
      .map((key) => key.slice(roleName.length + 1));

  // JSON protocol: DynamoDB, KMS and CloudWatch Logs, by X-Amz-Target.
  const table = (input: Fields): Fields => ({
    TableDescription: get('tables', text(input['TableName'])),
  });
  const targets: Record<string, (input: Fields) => Fields> = {
    'DynamoDB_20120810.CreateTable': (input) => {
      const name = text(input['TableName']);
      add('tables', name, {
        ...input,
        TableStatus: 'ACTIVE',
        TableArn: arn('dynamodb', `table/${name}`),
        TableId: randomUUID(),
        BillingModeSummary: { BillingMode: input['BillingMode'] },
        ProvisionedThroughput: { ReadCapacityUnits: 0, WriteCapacityUnits: 0 },
        ...(input['SSESpecification'] === undefined
          ? {}
          : {
              SSEDescription: {
                Status: 'ENABLED',
                SSEType: 'KMS',
                KMSMasterKeyArn: fields(input['SSESpecification'])['KMSMasterKeyId'],
              },
            }),
      });
      return table(input);
    },
    'DynamoDB_20120810.DescribeTable': (input) => ({
      Table: get('tables', text(input['TableName']), undefined, 400),
    }),
    'DynamoDB_20120810.UpdateTable': (input) => {
      Object.assign(get('tables', text(input['TableName'])), input);
      return table(input);
    },
    'DynamoDB_20120810.DeleteTable': (input) => {
      const found = get('tables', text(input['TableName']), undefined, 400);
      if (found['DeletionProtectionEnabled'] === true) {
        throw new Fault(
          400,
          'ValidationException',
          'Resource cannot be deleted as it is currently protected against deletion.',
        );
      }
      remove('tables', text(input['TableName']));
      return { TableDescription: { ...found, TableStatus: 'DELETING' } };
    },
    'DynamoDB_20120810.ListTagsOfResource': (input) => ({
      Tags: tags([...kept.tables.values()].find((value) => value['TableArn'] === input['ResourceArn'])),
    }),
    'DynamoDB_20120810.UpdateContinuousBackups': (input) => {
      get('tables', text(input['TableName']))['Backups'] = input['PointInTimeRecoverySpecification'];
      return backups(input);
    },
    'DynamoDB_20120810.DescribeContinuousBackups': (input) => backups(input),
    'DynamoDB_20120810.UpdateTimeToLive': (input) => {
      get('tables', text(input['TableName']))['Ttl'] = input['TimeToLiveSpecification'];
      return { TimeToLiveSpecification: input['TimeToLiveSpecification'] };
    },
    'DynamoDB_20120810.DescribeTimeToLive': (input) => {
      const ttl = fields(get('tables', text(input['TableName']))['Ttl']);
      return {
        TimeToLiveDescription:
          ttl['Enabled'] === true
            ? { TimeToLiveStatus: 'ENABLED', AttributeName: ttl['AttributeName'] }
            : { TimeToLiveStatus: 'DISABLED' },
      };
    },

    // The provider asks whether a table's key is the one AWS manages.
    'TrentService.DescribeKey': (input) => {
      const managed = text(input['KeyId']).startsWith('alias/');
      const key = managed ? arn('kms', 'key/managed-by-aws') : text(input['KeyId']);
      return {
        KeyMetadata: { KeyId: key.split('/').at(-1), Arn: key, KeyManager: managed ? 'AWS' : 'CUSTOMER' },
      };
    },

    'Logs_20140328.CreateLogGroup': (input) => {
      const name = text(input['logGroupName']);
      add('logGroups', name, {
        ...input,
        arn: arn('logs', `log-group:${name}:*`),
        logGroupArn: arn('logs', `log-group:${name}`),
      });
      return {};
    },
    'Logs_20140328.PutRetentionPolicy': (input) => {
      get('logGroups', text(input['logGroupName']))['retentionInDays'] = input['retentionInDays'];
      return {};
    },
    'Logs_20140328.DescribeLogGroups': (input) => ({
      logGroups: [...kept.logGroups.values()].filter((group) =>
        text(group['logGroupName']).startsWith(text(input['logGroupNamePrefix'])),
      ),
    }),
    'Logs_20140328.ListTagsForResource': (input) => ({
      tags:
        [...kept.logGroups.values()].find(
          (group) => group['logGroupArn'] === text(input['resourceArn']).replace(/:\*$/, ''),
        )?.['tags'] ?? {},
    }),
    'Logs_20140328.DeleteLogGroup': (input) => remove('logGroups', text(input['logGroupName'])),
    'Logs_20140328.PutMetricFilter': (input) => {
      get('logGroups', text(input['logGroupName']));
      kept.metricFilters.set(text(input['filterName']), input);
      return {};
    },
    'Logs_20140328.DescribeMetricFilters': (input) => ({
      metricFilters: [...kept.metricFilters.values()].filter(
        (filter) => filter['logGroupName'] === input['logGroupName'],
      ),
    }),
    'Logs_20140328.DeleteMetricFilter': (input) => remove('metricFilters', text(input['filterName'])),
  };
  const backups = (input: Fields): Fields => ({
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: {
        PointInTimeRecoveryStatus:
          fields(get('tables', text(input['TableName']))['Backups'])['PointInTimeRecoveryEnabled'] === true
            ? 'ENABLED'
            : 'DISABLED',
        RecoveryPeriodInDays: 35,
      },
    },
  });

  // REST: Lambda and API Gateway v2, by method and path. Captured groups come in as `path`.
  const rest: [method: string, path: RegExp, handle: (input: Fields, path: string[]) => Fields][] = [
    [
      'POST',
      /^\/2015-03-31\/functions$/,
      (input) => {
        const name = text(input['FunctionName']);
        const found = [...kept.roles.values()].find((value) => value['Arn'] === input['Role']);
        if (found === undefined) throw new Fault(400, 'InvalidParameterValueException', 'no such role');
        get(
          'logGroups',
          text(fields(input['LoggingConfig'])['LogGroup']),
          'InvalidParameterValueException',
          400,
        );
        const zip = Buffer.from(text(fields(input['Code'])['ZipFile']), 'base64');
        const { Code: _code, Publish: _publish, Tags: functionTags, ...configuration } = input;
        return add('functions', name, {
          ...configuration,
          Tags: functionTags,
          FunctionArn: arn('lambda', `function:${name}`),
          CodeSha256: createHash('sha256').update(zip).digest('base64'),
          CodeSize: zip.length,
          EphemeralStorage: { Size: 512 },
          SnapStart: { ApplyOn: 'None', OptimizationStatus: 'Off' },
          LastModified: '2026-01-01T00:00:00.000+0000',
          LastUpdateStatus: 'Successful',
          State: 'Active',
          Version: '$LATEST',
        });
      },
    ],
    [
      'GET',
      /^\/2015-03-31\/functions\/([^/]+)$/,
      (_, [name = '']) => {
        const configuration = get('functions', name);
        return {
          Configuration: configuration,
          Code: { RepositoryType: 'S3', Location: 'https://example.invalid/' },
          Tags: configuration['Tags'],
          ...(configuration['Concurrency'] === undefined
            ? {}
            : { Concurrency: configuration['Concurrency'] }),
        };
      },
    ],
    ['GET', /^\/2015-03-31\/functions\/([^/]+)\/configuration$/, (_, [name = '']) => get('functions', name)],
    [
      'GET',
      /^\/2015-03-31\/functions\/([^/]+)\/versions$/,
      (_, [name = '']) => ({ Versions: [get('functions', name)] }),
    ],
    [
      'GET',
      /^\/2020-06-30\/functions\/([^/]+)\/code-signing-config$/,
      (_, [name = '']) => ({ FunctionName: name, CodeSigningConfigArn: '' }),
    ],
    [
      'PUT',
      /^\/2015-03-31\/functions\/([^/]+)\/code$/,
      (input, [name = '']) => {
        const zip = Buffer.from(text(input['ZipFile']), 'base64');
        return Object.assign(get('functions', name), {
          CodeSha256: createHash('sha256').update(zip).digest('base64'),
          CodeSize: zip.length,
        });
      },
    ],
    [
      'PUT',
      /^\/2015-03-31\/functions\/([^/]+)\/configuration$/,
      (input, [name = '']) => Object.assign(get('functions', name), input),
    ],
    [
      'PUT',
      /^\/2017-10-31\/functions\/([^/]+)\/concurrency$/,
      (input, [name = '']) => {
        get('functions', name)['Concurrency'] = input;
        return input;
      },
    ],
    [
      'DELETE',
      /^\/2015-03-31\/functions\/([^/]+)$/,
      (_, [name = '']) => {
        for (const key of kept.permissions.keys())
          if (key.startsWith(`${name}:`)) kept.permissions.delete(key);
        return remove('functions', name);
      },
    ],
    [
      'POST',
      /^\/2015-03-31\/functions\/([^/]+)\/policy$/,
      (input, [name = '']) => {
        get('functions', name);
        add('permissions', `${name}:${text(input['StatementId'])}`, {
          Sid: input['StatementId'],
          Effect: 'Allow',
          Principal: { Service: input['Principal'] },
          Action: input['Action'],
          Resource: arn('lambda', `function:${name}`),
          Condition: { ArnLike: { 'AWS:SourceArn': input['SourceArn'] } },
        });
        return { Statement: '{}' };
      },
    ],
    [
      'GET',
      /^\/2015-03-31\/functions\/([^/]+)\/policy$/,
      (_, [name = '']) => {
        const statements = [...kept.permissions]
          .filter(([key]) => key.startsWith(`${name}:`))
          .map(([, value]) => value);
        if (statements.length === 0) throw new Fault(404, 'ResourceNotFoundException', 'no policy');
        return { Policy: JSON.stringify({ Version: '2012-10-17', Id: 'default', Statement: statements }) };
      },
    ],
    [
      'DELETE',
      /^\/2015-03-31\/functions\/([^/]+)\/policy\/([^/]+)$/,
      (_, [name = '', statement = '']) => remove('permissions', `${name}:${statement}`),
    ],

    [
      'POST',
      /^\/v2\/apis$/,
      (input) => {
        const id = randomUUID().slice(0, 10).replace('-', 'x');
        return add('apis', id, {
          ...input,
          apiId: id,
          apiEndpoint: `https://${id}.execute-api.${region}.amazonaws.com`,
          apiKeySelectionExpression: '$request.header.x-api-key',
          routeSelectionExpression: '$request.method $request.path',
          disableExecuteApiEndpoint: false,
          ipAddressType: 'ipv4',
        });
      },
    ],
    ['GET', /^\/v2\/apis\/([^/]+)$/, (_, [api = '']) => get('apis', api, 'NotFoundException')],
    [
      'PATCH',
      /^\/v2\/apis\/([^/]+)$/,
      (input, [api = '']) => Object.assign(get('apis', api, 'NotFoundException'), input),
    ],
    [
      'DELETE',
      /^\/v2\/apis\/([^/]+)$/,
      (_, [api = '']) => {
        for (const kind of ['authorizers', 'integrations', 'routes', 'stages'] as const) {
          for (const key of kept[kind].keys()) if (key.startsWith(`${api}/`)) kept[kind].delete(key);
        }
        return remove('apis', api, 'NotFoundException');
      },
    ],
    ...(['authorizers', 'integrations', 'routes', 'stages'] as const).flatMap(
      (kind): [string, RegExp, (input: Fields, path: string[]) => Fields][] => [
        [
          'POST',
          new RegExp(`^/v2/apis/([^/]+)/${kind}$`),
          (input, [api = '']) => {
            get('apis', api, 'NotFoundException');
            const id = kind === 'stages' ? text(input['stageName']) : randomUUID().slice(0, 7);
            if (kind === 'routes') {
              get('authorizers', `${api}/${text(input['authorizerId'])}`, 'BadRequestException', 400);
              get(
                'integrations',
                `${api}/${text(input['target']).replace('integrations/', '')}`,
                'BadRequestException',
                400,
              );
            }
            if (kind === 'stages') {
              const destination = fields(input['accessLogSettings'])['destinationArn'];
              if (![...kept.logGroups.values()].some((group) => group['logGroupArn'] === destination)) {
                throw new Fault(400, 'BadRequestException', 'no such log group');
              }
            }
            return add(kind, `${api}/${id}`, { ...input, [`${kind.slice(0, -1)}Id`]: id });
          },
        ],
        [
          'PATCH',
          new RegExp(`^/v2/apis/([^/]+)/${kind}/([^/]+)$`),
          (input, [api = '', id = '']) =>
            Object.assign(get(kind, `${api}/${id}`, 'NotFoundException'), input),
        ],
        [
          'GET',
          new RegExp(`^/v2/apis/([^/]+)/${kind}/([^/]+)$`),
          (_, [api = '', id = '']) => get(kind, `${api}/${id}`, 'NotFoundException'),
        ],
        [
          'DELETE',
          new RegExp(`^/v2/apis/([^/]+)/${kind}/([^/]+)$`),
          (_, [api = '', id = '']) => {
            if (
              kind === 'authorizers' &&
              [...kept.routes.values()].some((route) => route['authorizerId'] === id)
            ) {
              throw new Fault(409, 'ConflictException', 'a route uses the authorizer');
            }
            if (
              kind === 'integrations' &&
              [...kept.routes.values()].some((route) => route['target'] === `integrations/${id}`)
            ) {
              throw new Fault(409, 'ConflictException', 'a route uses the integration');
            }
            return remove(kind, `${api}/${id}`, 'NotFoundException');
          },
        ],
      ],
    ),

    [
      'POST',
      /^\/v2\/domainnames$/,
      (input) => {
        const name = text(input['domainName']);
        const [configuration] = Array.isArray(input['domainNameConfigurations'])
          ? input['domainNameConfigurations']
          : [];
        return add('domains', name, {
          ...input,
          apiMappingSelectionExpression: '$request.basepath',
          domainNameConfigurations: [
            {
              ...fields(configuration),
              apiGatewayDomainName: `d-target.execute-api.${region}.amazonaws.com`,
              domainNameStatus: 'AVAILABLE',
              hostedZoneId: 'Z000000000000',
              ipAddressType: 'ipv4',
            },
          ],
        });
      },
    ],
    ['GET', /^\/v2\/domainnames\/([^/]+)$/, (_, [name = '']) => get('domains', name, 'NotFoundException')],
    [
      'DELETE',
      /^\/v2\/domainnames\/([^/]+)$/,
      (_, [name = '']) => {
        if ([...kept.mappings.values()].some((mapping) => mapping['domainName'] === name)) {
          throw new Fault(409, 'ConflictException', 'a mapping uses the domain');
        }
        return remove('domains', name, 'NotFoundException');
      },
    ],
    [
      'POST',
      /^\/v2\/domainnames\/([^/]+)\/apimappings$/,
      (input, [name = '']) => {
        get('domains', name, 'NotFoundException');
        get('stages', `${text(input['apiId'])}/${text(input['stage'])}`, 'NotFoundException');
        return add('mappings', 'mapping1', { ...input, domainName: name, apiMappingId: 'mapping1' });
      },
    ],
    [
      'GET',
      /^\/v2\/domainnames\/[^/]+\/apimappings\/([^/]+)$/,
      (_, [id = '']) => get('mappings', id, 'NotFoundException'),
    ],
    [
      'DELETE',
      /^\/v2\/domainnames\/[^/]+\/apimappings\/([^/]+)$/,
      (_, [id = '']) => remove('mappings', id, 'NotFoundException'),
    ],
  ];

  function answer(request: IncomingMessage, body: string): { type: string; body: string } {
    const target = request.headers['x-amz-target'];
    const pathname = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (typeof target === 'string') {
      calls.push(target);
      const handle = targets[target];
      if (handle === undefined) throw new Fault(501, 'UnknownOperationException', target);
      return { type: 'application/x-amz-json-1.0', body: JSON.stringify(handle(JSON.parse(body) as Fields)) };
    }
    if (request.method === 'POST' && pathname === '/') {
      const input = fromQuery(new URLSearchParams(body));
      const action = text(input['Action']);
      calls.push(action);
      const handle = query[action];
      if (handle === undefined) throw new Fault(501, 'UnknownOperationException', action);
      const { Action: _action, Version: _version, ...rest_ } = input;
      const result = toXml(handle(rest_))
        // Maps (SNS attributes) are lists of <entry>, all other lists of <member>.
        .replaceAll(/<member>(<key>.*?<\/value>)<\/member>/gs, '<entry>$1</entry>');
      return {
        type: 'text/xml',
        body: `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`,
      };
    }
    const call = `${request.method} ${pathname}`;
    calls.push(call);
    for (const [method, pattern, handle] of rest) {
      const match = request.method === method ? pattern.exec(pathname.replace(/\/$/, '')) : null;
      if (match !== null) {
        const input = body === '' ? {} : (JSON.parse(body) as Fields);
        return { type: 'application/json', body: JSON.stringify(handle(input, match.slice(1))) };
      }
    }
    throw new Fault(501, 'UnknownOperationException', call);
  }

  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const body = await readBody(request);
      try {
        const { type, body: content } = answer(request, body);
        response.writeHead(
          request.method === 'DELETE'
            ? 204
            : request.method === 'POST' && type === 'application/json'
              ? 201
              : 200,
          {
            'content-type': type,
          },
        );
        response.end(request.method === 'DELETE' ? undefined : content);
      } catch (error) {
        const fault = error instanceof Fault ? error : new Fault(400, 'ValidationException', String(error));
        if (fault.status === 501) unknown.push(fault.message);
        const isQuery = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
        response.writeHead(fault.status, {
          'content-type': isQuery ? 'text/xml' : 'application/json',
          'x-amzn-errortype': fault.code,
        });
        response.end(
          isQuery
            ? `<ErrorResponse><Error><Type>Sender</Type><Code>${fault.code}</Code><Message>${fault.message}</Message></Error></ErrorResponse>`
            : JSON.stringify({ __type: fault.code, message: fault.message }),
        );
      }
    };
    void respond();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    kept,
    calls,
    unknown,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
