/**
 * What the module makes of the settings, with a mocked provider. Ids in comments are policies of Checkov (CKV…), Trivy
 * (AVD-…) and Security Hub that the lines check; docs/asvs.md has the others.
 */
import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createDeliveryEntity, createQuotaEntity } from '../../src/entities/delivery.ts';
import { createRateEntity } from '../../src/entities/rate.ts';
import { unparsableJson } from '../../src/errors.ts';
import { logRequest } from '../../src/log.ts';
import { logMail } from '../../src/mailer/log.ts';
import { createOwnStore } from '../helpers/engines.ts';
import { EMAIL, INQUIRY, makeCall, SUB } from '../helpers/events.ts';
import {
  ACCOUNT,
  arn,
  iamArn,
  onlyTls,
  openModules,
  type Options,
  PRIVATE,
} from './mocked-module.ts';
import { unless } from '../helpers/needs.ts';
import { recordRequests } from './recorded-requests.ts';
import { readText } from '../helpers/repository.ts';

const modules = await openModules();
const needsModules = unless(
  modules ? undefined : 'terraform and its AWS provider are needed (see TF_PLUGIN_DIR)',
);
const passing = {
  // Otherwise it keeps the test from removing a protected stage, which consists of mocks.
  'terraform_data.guard': { output: { is_protected: false, message: '' } },
};
/** @returns A stage's resources, outputs and errors. */
async function render(
  settings: object,
  {
    workspace = 'main',
    variables,
    overrides,
    ...more
  }: Partial<Options> & { variables?: object } = {},
) {
  const packages = { package_file: 'versions.tf', mailer_package_file: 'stages.tf' };
  return modules?.render(
    { ...packages, stages: { [workspace]: settings }, ...variables },
    { workspace, overrides: { ...passing, ...overrides }, ...more },
  );
}

const table = arn('dynamodb');
/** By Sid. */
const statementsOf = ({ policy }: { policy: string }) =>
  Object.fromEntries(
    JSON.parse(policy).Statement.map((statement: { Sid: string }) => [statement.Sid, statement]),
  );
const allow = (Action: string | string[], Resource: string | string[], more?: object) => ({
  Sid: expect.any(String),
  Effect: 'Allow',
  Action,
  Resource,
  ...more,
});
/** For all functions' roles. */
const common = {
  Logs: allow(['logs:CreateLogStream', 'logs:PutLogEvents'], `${arn('logs')}:*`),
  Traces: allow(['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], '*'),
};
const Inquiries = allow(['dynamodb:PutItem', 'dynamodb:Query'], table);
/** The pattern of an entity's keys. */
const keysOf = ({ Key }: { Key: { pk: string } }) => Key.pk;

const ISSUER = 'https://cognito-idp.eu-central-1.amazonaws.com';
const API = 'api.example.com';
const SITE = 'contact.example.com';
const ON_CALL = 'main@example.com';
const GATEWAY = 'https://api.mock';
const CLOUDFRONT = 'https://cloudfront.mock';
const FORM = `${CLOUDFRONT}/`;
const stream = arn('dynamodb', 'stream');
const queue = arn('sqs');
const live = arn('lambda', 'function:mock:live');
const boundary = iamArn('policy/boundary');
const bucket = 'arn:aws:s3:::mock';
const inbox = { to: 'team@example.org', from: 'main@mail.example.com' };
const logged = { retention_in_days: 30 };
const traced = (log_group: string) => ({
  role: iamArn('role/mock'),
  tracing_config: [{ mode: 'Active' }],
  logging_config: [{ log_group, system_log_level: 'INFO' }],
});

describe('a stage', needsModules, () => {
  afterAll(() => modules?.close());

  it.each(['develop', 'release'])(
    'without settings, %s, has tables, a function, users and a form, backed up and closed',
    async (workspace) => {
      const { root, identity, site, outputs, ...others } = await render({}, { workspace });
      const isProtected = workspace !== 'develop';
      const name = `inquiries-${workspace}`;
      // CKV2_AWS_16, CKV_AWS_28, AVD-AWS-0024
      const kept = {
        billing_mode: 'PAY_PER_REQUEST',
        point_in_time_recovery: [{ enabled: true, recovery_period_in_days: 35 }],
        deletion_protection_enabled: isProtected,
        server_side_encryption: [],
      };
      const methods = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];
      const byMethod = (create: (method: string) => object) =>
        Object.fromEntries(
          methods.map((method) => [method, expect.objectContaining(create(method))]),
        );
      expect(root).toMatchObject({
        terraform_data: { guard: { input: { is_protected: isProtected } } },
        aws_dynamodb_table: {
          this: {
            ...kept,
            hash_key: 'pk',
            range_key: 'sk',
            stream_enabled: false,
            ttl: [{ attribute_name: 'expires_at', enabled: true }],
            global_secondary_index: [
              {
                name: 'by-state',
                hash_key: 'inbox',
                range_key: 'id',
                projection_type: 'INCLUDE',
                non_key_attributes: [
                  'cognito_sub',
                  'created_at',
                  'email',
                  'expires_at',
                  'reply_at',
                  'respondent',
                ],
              },
            ],
          },
          erasures: { ...kept, hash_key: 'hash', ttl: [], tags: { user_pool: 'mockpool' } },
        },
        // CKV_AWS_45, CKV_AWS_50, CKV_AWS_66, CKV_AWS_363, AVD-AWS-0066
        aws_lambda_function: {
          this: {
            ...traced(`/aws/lambda/${name}`),
            memory_size: 128,
            timeout: 30,
            environment: [
              {
                variables: {
                  TABLE_NAME: name,
                  CORS_ORIGIN: CLOUDFRONT,
                },
              },
            ],
          },
        },
        aws_cloudwatch_log_group: { function: logged, access: logged },
        // CKV2_AWS_51
        aws_apigatewayv2_authorizer: {
          this: {
            authorizer_type: 'JWT',
            identity_sources: ['$request.header.Authorization'],
            jwt_configuration: [{ issuer: `${ISSUER}/pool`, audience: ['client'] }],
          },
        },
        aws_apigatewayv2_integration: {
          this: {
            payload_format_version: '2.0',
            integration_uri: arn('apigateway'),
            response_parameters: ['200', '201'].map((status_code) => ({
              status_code,
              mappings: { 'overwrite:header.cache-control': 'no-store' },
            })),
          },
        },
        // CKV_AWS_76, AVD-AWS-0001
        aws_apigatewayv2_stage: {
          this: {
            default_route_settings: [{ throttling_rate_limit: 100, throttling_burst_limit: 200 }],
            access_log_settings: [
              {
                destination_arn: arn('logs'),
                format: expect.not.stringMatching(/identity|claims|path/i),
              },
            ],
          },
        },
        // CKV_AWS_301, CKV_AWS_309, CKV_AWS_364, AVD-AWS-0004, AVD-AWS-0067
        aws_apigatewayv2_route: {
          this: byMethod((method) => ({
            route_key: `${method} /inquiries`,
            authorization_type: 'JWT',
            authorizer_id: 'authorizer',
            target: 'integrations/integration',
          })),
        },
        aws_lambda_permission: {
          live: byMethod((method) => ({
            principal: 'apigateway.amazonaws.com',
            qualifier: 'live',
            source_arn: `${arn('execute-api')}/*/${method}/inquiries`,
          })),
        },
      });
      // CKV_AWS_60 to 63, CKV_AWS_286 to 290, CKV_AWS_355, CKV2_AWS_40, AVD-AWS-0057, AVD-AWS-0342, AVD-AWS-0345
      expect(statementsOf(root.aws_iam_role_policy.function)).toEqual({
        ...common,
        Inquiries,
      });
      const client = {
        prevent_user_existence_errors: 'ENABLED',
        enable_token_revocation: true,
        write_attributes: ['email'],
      };
      expect(identity).toMatchObject({
        aws_cognito_user_pool: {
          this: {
            deletion_protection: isProtected ? 'ACTIVE' : 'INACTIVE',
            mfa_configuration: 'OFF',
            email_configuration: [],
            username_attributes: ['email'],
            auto_verified_attributes: ['email'],
            admin_create_user_config: [{ allow_admin_create_user_only: false }],
            username_configuration: [{ case_sensitive: false }],
            // Cognito.3 wants kinds of characters.
            password_policy: [
              {
                minimum_length: 12,
                require_lowercase: false,
                require_numbers: false,
                require_symbols: false,
                require_uppercase: false,
                temporary_password_validity_days: 7,
              },
            ],
            account_recovery_setting: [
              { recovery_mechanism: [{ name: 'verified_email', priority: 1 }] },
            ],
            user_attribute_update_settings: [
              { attributes_require_verification_before_update: ['email'] },
            ],
          },
        },
        aws_cognito_user_pool_domain: {
          this: { domain: expect.stringContaining(`${name}-`) },
        },
        aws_cognito_user_pool_client: {
          form: {
            ...client,
            callback_urls: [FORM],
            logout_urls: [FORM],
            allowed_oauth_flows: ['code'],
            allowed_oauth_scopes: ['email', 'openid'],
            explicit_auth_flows: ['ALLOW_USER_SRP_AUTH'],
            generate_secret: false,
            refresh_token_rotation: [{ feature: 'ENABLED', retry_grace_period_seconds: 60 }],
            id_token_validity: 60,
            access_token_validity: 60,
            refresh_token_validity: 30,
            token_validity_units: [
              { id_token: 'minutes', access_token: 'minutes', refresh_token: 'days' },
            ],
          },
          smoke: {
            ...client,
            explicit_auth_flows: ['ALLOW_ADMIN_USER_PASSWORD_AUTH'],
            id_token_validity: 5,
            access_token_validity: 5,
            refresh_token_validity: 60,
            token_validity_units: [
              { id_token: 'minutes', access_token: 'minutes', refresh_token: 'minutes' },
            ],
          },
        },
      });
      expect(site).toMatchObject({
        // CKV_AWS_53 to 56, AVD-AWS-0086, AVD-AWS-0087
        aws_s3_bucket_public_access_block: { this: PRIVATE },
        aws_cloudfront_origin_access_control: { this: { signing_behavior: 'always' } },
        // CKV_AWS_34, CKV_AWS_305, AVD-AWS-0012
        aws_cloudfront_distribution: {
          this: {
            default_cache_behavior: [
              {
                viewer_protocol_policy: 'redirect-to-https',
                response_headers_policy_id: 'headers',
              },
            ],
          },
        },
      });
      // CKV_AWS_70
      expect(statementsOf(site.aws_s3_bucket_policy.this)).toEqual({
        CloudFrontReads: allow('s3:GetObject', `${bucket}/*`, {
          Principal: { Service: 'cloudfront.amazonaws.com' },
          Condition: { StringEquals: { 'AWS:SourceArn': arn('cloudfront') } },
        }),
        OnlyTls: onlyTls('s3:*', [bucket, `${bucket}/*`]),
      });
      expect(outputs).toMatchObject({
        site: { distribution_id: 'DISTRIBUTION', url: FORM },
        form_config: {
          issuer: `${ISSUER}/pool`,
          clientId: 'client',
          apiUrl: GATEWAY,
        },
        connect_origins: [
          ISSUER,
          `https://${identity.aws_cognito_user_pool_domain.this.domain}.auth.eu-central-1.amazoncognito.com`,
          GATEWAY,
        ],
        dns_records: [],
      });
      expect(Object.keys(others)).toEqual(['alarms', 'alarms_us_east_1', 'errors']);
      expect(Object.keys(others.alarms)).toEqual(['aws_cloudwatch_metric_alarm']);
    },
  );

  const everything = {
    hosted_zone: 'example.com',
    domain: { name: API },
    site_domain: { name: SITE },
    alarm_email: ON_CALL,
    alarm_topic_arns: [arn('sns', 'pager'), arn('sns', 'pager', 'us-east-1')],
    sign_up: false,
    totp: true,
    probe: true,
    form: { imprint: 'https://example.com/legal', name: 'Example Ltd' },
    inbox: {
      ...inbox,
      mails_per_hour: 25,
      answer_within: 3,
      language: 'de',
      acknowledge: true,
      parallelization_factor: 4,
    },
  };

  it('with every setting has mail, alarms, health checks, domains and a form', async () => {
    const {
      root,
      identity,
      site,
      mailer,
      alarms,
      alarms_us_east_1: alarmsUsEast1,
      outputs,
    } = await render(everything, {
      variables: {
        permissions_boundaries: { main: boundary },
        live_mailer_versions: { replies: '7' },
      },
    });
    const contact = `https://${SITE}`;
    const company = { form: `${contact}/`, ...everything.form };
    const probed = (fqdn: string, resource_path: string) => ({
      type: 'HTTPS',
      fqdn,
      port: 443,
      resource_path,
      failure_threshold: 3,
      request_interval: 30,
      regions: ['eu-west-1', 'us-east-1', 'us-west-2'],
    });
    const toZone = (zone_id: string) => ({ alias: [{ zone_id }] });
    expect(root).toMatchObject({
      aws_iam_role: { function: { permissions_boundary: boundary } },
      aws_dynamodb_table: {
        this: { stream_enabled: true, stream_view_type: 'NEW_AND_OLD_IMAGES' },
      },
      // CKV_AWS_206, AVD-AWS-0005
      aws_apigatewayv2_domain_name: {
        this: {
          [API]: { domain_name_configuration: [{ security_policy: 'TLS_1_2' }] },
        },
      },
      aws_apigatewayv2_api_mapping: { this: { [API]: {} } },
      aws_apigatewayv2_api: { this: { disable_execute_api_endpoint: true } },
      aws_route53_record: {
        validation: { [API]: {}, [SITE]: {} },
        address: {
          [`${API} A`]: toZone('APIZONE'),
          [`${SITE} A`]: toZone('SITEZONE'),
          [`${SITE} AAAA`]: toZone('SITEZONE'),
        },
      },
      aws_apigatewayv2_integration: {
        probe: {
          GET: {
            integration_uri: arn('apigateway'),
            response_parameters: [
              { status_code: '401', mappings: { 'overwrite:statuscode': '200' } },
            ],
          },
        },
      },
      aws_apigatewayv2_route: { probe: { GET: { route_key: 'GET /probe' } } },
      aws_apigatewayv2_stage: {
        this: { route_settings: [{ route_key: 'GET /probe', throttling_rate_limit: 10 }] },
      },
      aws_lambda_permission: {
        probe: { GET: { qualifier: 'live', source_arn: `${arn('execute-api')}/*/GET/probe` } },
      },
      aws_route53_health_check: {
        this: {
          form: probed(SITE, '/'),
          api: probed(API, '/probe'),
          issuer: probed(new URL(ISSUER).host, '/pool/.well-known/openid-configuration'),
          'sign-in': probed(
            new URL(outputs.connect_origins[1]).host,
            `/login?client_id=client&response_type=code&scope=openid+email&redirect_uri=${encodeURIComponent(company.form)}`,
          ),
        },
      },
    });
    expect(outputs).toMatchObject({
      api_url: `https://${API}`,
      cors_origin: contact,
      form_config: {
        ...everything.form,
        answersFrom: inbox.from,
        apiUrl: `https://${API}`,
      },
      dns_records: [],
      mail_dns_records: [
        {
          name: 'one._domainkey.mail.example.com',
          type: 'CNAME',
          value: 'one.dkim.amazonses.com',
        },
      ],
    });
    // Cognito.6
    expect(identity.aws_cognito_user_pool.this).toMatchObject({
      mfa_configuration: 'OPTIONAL',
      admin_create_user_config: [{ allow_admin_create_user_only: true }],
      email_configuration: [
        {
          from_email_address: inbox.from,
          source_arn: arn('ses', 'identity/mock'),
          configuration_set: 'inquiries-main',
        },
      ],
    });

    // CKV_AWS_174, AVD-AWS-0013
    expect(site.aws_cloudfront_distribution.this).toMatchObject({
      aliases: [SITE],
      viewer_certificate: [{ minimum_protocol_version: 'TLSv1.2_2021' }],
    });
    // CKV2_AWS_32, CKV_AWS_259
    const [headers] = site.aws_cloudfront_response_headers_policy.this.security_headers_config;
    expect(headers).toMatchObject({
      content_type_options: [{ override: true }],
      referrer_policy: [{ referrer_policy: 'no-referrer' }],
      strict_transport_security: [{ access_control_max_age_sec: 31_536_000, override: true }],
    });
    // The page's policy, but for what only a header can say.
    const hash = (file: string) =>
      `sha256-${createHash('sha256').update(readText(file)).digest('base64')}`;
    const fill = (file: string, pattern: RegExp) =>
      pattern
        .exec(readText(file))?.[1]
        ?.replace(/FIRST_PAINT_SCRIPT|<hash of the script>/, hash('web/src/first-paint.js'))
        .replace(/FIRST_PAINT_STYLE|<hash of the style sheet>/, hash('ui/first-paint.css'))
        .replace(/(connect-src 'self') [^;]*/, `$1 ${outputs.connect_origins.join(' ')}`);
    const policy = headers.content_security_policy[0].content_security_policy;
    expect(fill('web/README.md', /^Content-Security-Policy: (.*)$/m)).toBe(policy);
    expect(fill('web/index.html', /Content-Security-Policy"\s+content="([^"]*)"/)).toBe(
      policy.replace("frame-ancestors 'none'; ", ''),
    );

    const mapping = {
      event_source_arn: stream,
      function_name: live,
      starting_position: 'TRIM_HORIZON',
      bisect_batch_on_function_error: true,
      function_response_types: ['ReportBatchItemFailures'],
      metrics_config: [{ metrics: ['EventCount'] }],
      destination_config: [{ on_failure: [{ destination_arn: queue }] }],
      maximum_retry_attempts: -1,
      maximum_record_age_in_seconds: -1,
      parallelization_factor: 1,
    };
    const unwanted = ['BOUNCE', 'COMPLAINT'];
    const lambda = {
      ...traced('/aws/lambda/inquiries-main-mailer'),
      environment: [
        {
          variables: {
            TABLE_NAME: 'inquiries-main',
            STAGE: 'main',
            INBOX_TO: inbox.to,
            INBOX_FROM: inbox.from,
            CONFIGURATION_SET: 'inquiries-main',
            COMPANY: JSON.stringify(company),
            MAILS_PER_HOUR: '25',
            TOTAL_MAILS_PER_HOUR: '100',
            ANSWER_WITHIN: '3',
            MAIL_LANGUAGE: 'de',
            TIME_ZONE: 'UTC',
            ACKNOWLEDGE: 'true',
          },
        },
      ],
    };
    expect(mailer).toMatchObject({
      aws_iam_role: { this: { permissions_boundary: boundary } },
      // CKV_AWS_45, CKV_AWS_50, CKV_AWS_66, CKV_AWS_363, AVD-AWS-0066
      aws_lambda_function: { this: { inquiries: lambda, replies: lambda } },
      terraform_data: { live: { replies: { triggers_replace: { pinned: '7' } } } },
      aws_lambda_event_source_mapping: {
        this: {
          inquiries: {
            ...mapping,
            maximum_record_age_in_seconds: 21_600,
            parallelization_factor: 4,
          },
          replies: mapping,
        },
      },
      aws_cloudwatch_log_group: { this: logged },
      // CKV_AWS_27, AVD-AWS-0096
      aws_sqs_queue: {
        dead_letters: {
          message_retention_seconds: 14 * 24 * 60 * 60,
          sqs_managed_sse_enabled: true,
        },
      },
      aws_lambda_function_event_invoke_config: {
        this: {
          inquiries: {
            qualifier: 'live',
            destination_config: [{ on_failure: [{ destination: queue }] }],
          },
        },
      },
      aws_sns_topic_subscription: {
        bounces: {
          endpoint: live,
          redrive_policy: JSON.stringify({ deadLetterTargetArn: queue }),
        },
      },
      aws_lambda_permission: {
        bounces: { principal: 'sns.amazonaws.com', source_arn: arn('sns') },
        digests: { principal: 'events.amazonaws.com', source_arn: arn('events', 'rule/mock') },
      },
      aws_cloudwatch_event_rule: { digests: { schedule_expression: 'rate(5 minutes)' } },
      aws_cloudwatch_event_target: { digests: { arn: live, input: '{"digest":true}' } },
      aws_sesv2_configuration_set: {
        this: { suppression_options: [{ suppressed_reasons: unwanted }] },
      },
      aws_sesv2_configuration_set_event_destination: {
        team: {
          event_destination: [
            {
              matching_event_types: unwanted,
              sns_destination: [{ topic_arn: arn('sns') }],
            },
          ],
        },
        metrics: {
          event_destination: [{ matching_event_types: [...unwanted, 'SEND'] }],
        },
      },
      aws_sesv2_email_identity_feedback_attributes: {
        this: { 'mail.example.com': { email_forwarding_enabled: false } },
      },
    });
    // CKV_AWS_62, CKV_AWS_63, CKV_AWS_286 to 290, CKV_AWS_355, CKV2_AWS_40, AVD-AWS-0057, AVD-AWS-0342, AVD-AWS-0345
    expect(statementsOf(mailer.aws_iam_role_policy.this)).toEqual({
      ...common,
      DeadLetters: allow('sqs:SendMessage', queue),
      Index: allow('dynamodb:Query', `${table}/index/by-state`),
      Inquiries: allow('dynamodb:GetItem', table),
      Mail: allow('ses:SendEmail', [arn('ses', 'configuration-set/*'), arn('ses', 'identity/*')], {
        Condition: { StringEquals: { 'ses:FromAddress': inbox.from } },
      }),
      // Its own rows.
      Records: allow(['dynamodb:PutItem', 'dynamodb:UpdateItem'], table, {
        Condition: {
          'ForAllValues:StringLike': {
            'dynamodb:LeadingKeys': [
              keysOf(createDeliveryEntity('t').get({ inquiry: '*', mail: 'reply' }).params()),
              keysOf(createQuotaEntity('t').get({ quota: '*' }).params()),
            ],
          },
        },
      }),
      Stream: allow(
        [
          'dynamodb:DescribeStream',
          'dynamodb:GetRecords',
          'dynamodb:GetShardIterator',
          'dynamodb:ListStreams',
        ],
        stream,
      ),
    });
    // CKV_AWS_72, CKV_AWS_168, AVD-AWS-0097
    expect(statementsOf(mailer.aws_sqs_queue_policy.dead_letters)).toEqual({
      OnlyTls: onlyTls('sqs:*', queue),
      Bounces: allow('sqs:SendMessage', queue, {
        Principal: { Service: 'sns.amazonaws.com' },
        Condition: { ArnEquals: { 'aws:SourceArn': arn('sns') } },
      }),
    });
    expect(statementsOf(mailer.aws_sns_topic_policy.bounces)).toEqual({
      SesPublishes: allow('sns:Publish', arn('sns'), {
        Principal: { Service: 'ses.amazonaws.com' },
        Condition: {
          StringEquals: {
            'AWS:SourceAccount': ACCOUNT,
            'AWS:SourceArn': arn('ses', 'configuration-set/mock'),
          },
        },
      }),
    });

    const slow = { datapoints_to_alarm: 2, evaluation_periods: 3 };
    const ticket = { topics: 1 };
    const outside = {
      ...slow,
      comparison_operator: 'LessThanThreshold',
      threshold: 1,
      period: 60,
      treat_missing_data: 'breaching',
    };
    const ending = { comparison_operator: 'LessThanThreshold', threshold: 30, period: 86_400 };
    /** Other than usual. */
    const special: Record<string, object> = {
      'api-5xx-rate': { ...slow, threshold: 1 },
      'api-throttles': { ...slow, threshold: 50 },
      'api-unreachable': outside,
      'certificate-api': ending,
      'certificate-site': ending,
      'form-unreachable': outside,
      'function-duration': { threshold: 24_000 },
      'function-memory': { ...ticket, threshold: 115.2 },
      'issuer-outage': { ...slow, threshold: 95 },
      'issuer-unreachable': outside,
      'mailer-bounces': ticket,
      'mailer-complaints': ticket,
      'mailer-delay': { threshold: 900_000 },
      'mailer-failures': slow,
      'mailer-off': { period: 3_600 },
      'mailer-refused': ticket,
      'mailer-volume': { ...slow, ...ticket, threshold: 170 },
      'sign-in-unreachable': outside,
      'table-throttles': ticket,
    };
    const byRegion = { 'eu-central-1': alarms, 'us-east-1': alarmsUsEast1 };
    const widgets = JSON.parse(root.aws_cloudwatch_dashboard.this.dashboard_body).widgets;
    const names = new Set<string>();
    const dimensions = new Set<string>();
    for (const [region, all] of Object.entries(byRegion)) {
      expect(all.aws_sns_topic_subscription).toMatchObject({
        this: { [ON_CALL]: { endpoint: ON_CALL, protocol: 'email' } },
      });
      for (const [name, alarm] of Object.entries<typeof all>(
        all.aws_cloudwatch_metric_alarm.this,
      )) {
        names.add(name);
        const metrics = alarm.metric_query.flatMap(({ metric }: typeof alarm) => metric);
        for (const metric of metrics) {
          for (const [key, value] of Object.entries<string>(metric.dimensions ?? {})) {
            if (key !== 'Operation') dimensions.add(value);
          }
        }
        const { topics, ...figures } = { topics: 2, period: 300, ...special[name] };
        const actions = ['mock', 'pager']
          .slice(0, topics)
          .map((topic) => arn('sns', topic, region));
        const [period, ...others] = new Set(metrics.map((metric: typeof alarm) => metric.period));
        expect({ ...alarm, period, others }).toMatchObject({
          alarm_name: `inquiries-main-${name}`,
          others: [],
          comparison_operator: 'GreaterThanThreshold',
          threshold: 0,
          datapoints_to_alarm: 1,
          evaluation_periods: 1,
          treat_missing_data: 'notBreaching',
          // CKV_AWS_319
          actions_enabled: null,
          alarm_actions: actions,
          ok_actions: actions,
          ...figures,
        });
        expect(widgets).toContainEqual(
          expect.objectContaining({
            properties: { title: name, region, annotations: { alarms: [alarm.arn] } },
          }),
        );
      }
    }
    const headings = readText('docs/runbook.md').matchAll(/^### `(.*)`$/gm);
    expect(names).toEqual(new Set(Array.from(headings, ([, heading]) => heading)));
    // Each watches what exists.
    const made = JSON.stringify([root, mailer]);
    expect([...dimensions].filter((value) => !made.includes(`"${value}"`))).toEqual([]);
    // Ten refused requests in five minutes; issuer-unreachable watches smaller stages.
    expect(alarms.aws_cloudwatch_metric_alarm.this['issuer-outage'].metric_query).toContainEqual(
      expect.objectContaining({
        expression: 'IF(refused >= 10, 100 * refused / (refused + admitted), 0)',
      }),
    );
    expect(alarms.aws_sns_topic.this[ON_CALL].name).not.toBe(
      alarmsUsEast1.aws_sns_topic.this[ON_CALL].name,
    );

    const filters = Object.values<typeof root>(root.aws_cloudwatch_log_metric_filter.this);
    const access = '/aws/vendedlogs/apigateway/inquiries-main';
    expect(
      filters.map(
        ({ log_group_name: log, metric_transformation: [{ name, default_value: zero }] }) =>
          [log, name, zero].join(' ').trim(),
      ),
    ).toEqual([
      `${access} Admitted 0`,
      `${access} NotJson`,
      `${access} Refused 0`,
      `${access} Throttled 0`,
      '/aws/lambda/inquiries-main-mailer MailsRefused',
      '/aws/lambda/inquiries-main MaxMemoryUsed',
      '/aws/lambda/inquiries-main NotJson 0',
    ]);

    // Alarms and filters read what the functions write.
    const patterns = filters.map(({ pattern }) => pattern).join('\n');
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const failed = vi.spyOn(console, 'error').mockReturnValue();
    const line = { requestId: '1', functionName: 'f' };
    const request = { ...line, method: 'POST', milliseconds: 1, attempts: 0 };
    logRequest({ ...request, status: 500, error: unparsableJson(undefined) });
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status: 500 }));
    expect(patterns).toContain('{ $.level = "WARN" && $.message.status = 500 }');
    for (const outcome of ['refused', 'no-address', 'undelivered'] as const) {
      logMail({ ...line, inquiry: undefined, mail: 'reply', outcome });
      expect(failed).toHaveBeenLastCalledWith(expect.objectContaining({ outcome }));
      expect(patterns).toContain(`$.message.outcome = "${outcome}"`);
    }
    const written = write.mock.calls.join('\n');
    expect(written).toContain('"Namespace":"Inquiries","Dimensions":[["FunctionName"]]');
    for (const name of ['Faults', 'MailFailures']) {
      expect(JSON.stringify(byRegion)).toContain(`"metric_name":"${name}","namespace":"Inquiries"`);
      expect(written).toContain(`"${name}":`);
    }
  });

  it('takes every other setting', async () => {
    const key = arn('kms', 'key/00000000-0000-0000-0000-000000000000');
    const {
      root,
      identity,
      mailer,
      alarms_us_east_1: alarms,
    } = await render({
      cors_origin: 'https://www.example.com',
      inbox: { ...inbox, identity: 'example.com' },
      probe: true,
      throttling: { rate_limit: 11, burst_limit: 22 },
      log_retention_days: 365,
      pitr_days: 7,
      retention_days: 365,
      inquiries_per_hour: 60,
      reserved_concurrency: 7,
      tracing: false,
      table_kms_key_arn: key,
      // The only way to destroy a protected stage (docs/runbook.md).
      deletion_protection_enabled: false,
    });
    const kept = {
      deletion_protection_enabled: false,
      point_in_time_recovery: [{ recovery_period_in_days: 7 }],
      server_side_encryption: [{ enabled: true, kms_key_arn: key }],
    };
    const year = { retention_in_days: 365 };
    const untraced = { tracing_config: [{ mode: 'PassThrough' }] };
    expect(root).toMatchObject({
      aws_dynamodb_table: { this: kept, erasures: kept },
      aws_lambda_function: {
        this: {
          ...untraced,
          reserved_concurrent_executions: 7,
          environment: [
            {
              variables: {
                CORS_ORIGIN: 'https://www.example.com',
                RETENTION_DAYS: '365',
                INQUIRIES_PER_HOUR: '60',
              },
            },
          ],
        },
      },
      aws_cloudwatch_log_group: { function: year, access: year },
      aws_apigatewayv2_stage: {
        this: {
          default_route_settings: [{ throttling_rate_limit: 11, throttling_burst_limit: 22 }],
        },
      },
    });
    const owners = {
      'dynamodb:LeadingKeys': keysOf(createRateEntity('t').get({ owner_hour: '*' }).params()),
    };
    const { Logs, ...statements } = statementsOf(root.aws_iam_role_policy.function);
    expect(Logs).toEqual(common.Logs);
    expect(statements).toEqual({
      Inquiries,
      Rates: allow('dynamodb:UpdateItem', table, {
        Condition: { 'ForAllValues:StringLike': owners },
      }),
      RatesInTransactions: allow('dynamodb:UpdateItem', table, {
        Condition: {
          'ForAnyValue:StringLike': owners,
          'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': 'TransactWriteItems' },
        },
      }),
    });
    const { store, storeClient } = await createOwnStore();
    const sent = recordRequests(storeClient);
    await store.put(INQUIRY, makeCall());
    await Array.fromAsync(store.list({ sub: SUB, email: EMAIL }, {}, makeCall()));
    // dynalite refuses transactions, after this one was recorded.
    await Promise.allSettled([
      store.put(INQUIRY, makeCall(), { key: 'k', limit: { most: 1, time: 0 } }),
    ]);
    expect(new Set(sent.map(([action]) => action))).toEqual(
      new Set(Object.values<typeof root>(statements).flatMap(({ Action }) => Action)),
    );
    expect(mailer).toMatchObject({
      aws_cloudwatch_log_group: { this: year },
      aws_lambda_function: { this: { replies: untraced } },
    });
    expect(mailer).not.toHaveProperty('aws_sesv2_email_identity');
    expect(identity.aws_cognito_user_pool.this.email_configuration).toMatchObject([
      { source_arn: arn('ses', 'named') },
    ]);
    expect(Object.keys(alarms.aws_cloudwatch_metric_alarm.this)).toEqual([
      'api-unreachable',
      'issuer-unreachable',
    ]);
  });

  it('keeps the addresses of AWS until the records of its domains exist; takes another issuer', async () => {
    const own = { issuer: 'https://issuer.example.com', audience: ['form', 'other'] };
    const domain = { name: API };
    const site_domain = { name: SITE };
    const unready = await render({ ...own, domain, site_domain });
    const addresses = { api_url: GATEWAY, site: { url: FORM } };
    const validated = {
      type: 'CNAME',
      name: '_mock.example.com',
      value: '_mock.acm-validations.aws',
    };
    expect(unready.outputs).toMatchObject({
      ...addresses,
      form_config: { issuer: own.issuer, clientId: 'form' },
      connect_origins: [],
      dns_records: [
        { ...validated, domain: API, next: 'set dns = "certificate" in domain' },
        {
          ...validated,
          domain: SITE,
          next: 'set dns = "certificate" in site_domain',
        },
      ],
    });
    expect(unready.root.aws_apigatewayv2_authorizer.this.jwt_configuration).toEqual([own]);
    expect(unready.root).not.toHaveProperty('aws_apigatewayv2_domain_name');
    expect(JSON.stringify(unready.site)).toContain("connect-src 'self' https:;");

    const certificate_arn = arn('acm', 'certificate/own', 'us-east-1');
    const ready = await render({
      domain: { ...domain, dns: 'certificate' },
      site_domain: { ...site_domain, certificate_arn },
      inbox: { ...inbox, pool_mail: false },
    });
    expect(ready.outputs).toMatchObject({
      ...addresses,
      dns_records: [
        { name: API, type: 'CNAME', value: 'domain.mock' },
        { name: SITE, type: 'CNAME', value: 'cloudfront.mock' },
      ],
    });
    expect(ready.site.aws_cloudfront_distribution.this.viewer_certificate).toMatchObject([
      { acm_certificate_arn: certificate_arn },
    ]);
    // Cognito sends the mails itself.
    expect(ready.identity.aws_cognito_user_pool.this.email_configuration).toEqual([]);
  });

  it('makes an earlier version live; has verified senders only, and DKIM in its region’s zone', async () => {
    const { root, identity, outputs } = await render(
      { inbox },
      {
        variables: { live_version: '7' },
        overrides: {
          'module.mailer[0].aws_sesv2_email_identity.this': {
            verified_for_sending_status: false,
            dkim_signing_attributes: { tokens: ['one'] },
          },
          'module.mailer[0].data.aws_region.this': { id: 'eu-central-2' },
        },
      },
    );
    expect(root.terraform_data.live.triggers_replace.pinned).toBe('7');
    expect(identity.aws_cognito_user_pool.this.email_configuration).toEqual([]);
    expect(outputs.mail_dns_records[0].value).toBe('one.dkim.eu-central-2.amazonses.com');
  });

  it('plans no texts that Lambda does not take, and the throughput of table and index', async () => {
    const expectation = { en: '日日'.repeat(1000) };
    const { errors } = await render({ inbox, form: { expectation } });
    expect(errors).toContainEqual(expect.stringContaining('Stage main: form is too long'));
    const { root } = await render({ warm_throughput: 40_000 }, { command: 'plan' });
    const WarmThroughput = { WriteUnitsPerSecond: 40_000 };
    expect(JSON.parse(root.terraform_data.warm_throughput['40000'].triggers_replace)).toEqual({
      TableName: 'inquiries-main',
      WarmThroughput,
      GlobalSecondaryIndexUpdates: [{ Update: { IndexName: 'by-state', WarmThroughput } }],
    });
  });
});
