/**
 * What Terraform plans: golden/ has all attributes (`npm run golden` accepts what is planned now, for a reviewer to
 * read), and tests have what a change must not break, whatever is accepted.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { createDeliveryEntity, createQuotaEntity } from '../../src/entities/delivery.ts';
import { createRateEntity } from '../../src/entities/rate.ts';
import { createReplyKeyEntity } from '../../src/entities/reply-keys.ts';
import { unparsableJson } from '../../src/errors.ts';
import { logRequest } from '../../src/log.ts';
import { logMail } from '../../src/mailer/log.ts';
import { createOwnStore } from '../helpers/engines.ts';
import { EMAIL, INQUIRY, makeCall, SUB } from '../helpers/events.ts';
import { unless } from '../helpers/needs.ts';
import { readText } from '../helpers/repository.ts';
import { arn, EDGE, iamArn, openModules, REGION, type Json, type Plan } from './planned-module.ts';
import { recordRequests } from './recorded-requests.ts';

const FOLDER = join(ROOT, 'tests/infra/golden');
const modules = await openModules();
const needsModules = unless(
  modules ? undefined : 'terraform and its AWS provider are needed (see TF_PLUGIN_DIR)',
);

const inbox = { to: 'team@example.org', from: 'inquiries@mail.example.com' };
const replies = { domain: 'reply.example.com', from: ['@example.com', 'boss@partner.example'] };
const domains = { domain: { name: 'api.example.com' }, site_domain: { name: 'www.example.com' } };
const pagers = [REGION, EDGE].map((region) => arn('sns', 'pager', region));
const form = { name: 'Example', accent: '#336699', expectation: { en: 'Within a day.' } };

/** Settings of develop, by the names of files. */
const SETTINGS: Record<string, object> = {
  develop: {},
  'every-setting': {
    alarm_email: 'oncall@example.com',
    alarm_topic_arns: pagers,
    cors_origin: 'https://www.example.com',
    deletion_protection_enabled: true,
    domain: { ...domains.domain, dns: 'certificate' },
    site_domain: { ...domains.site_domain, certificate_arn: arn('acm', 'certificate/own', EDGE) },
    form,
    inbox: {
      ...inbox,
      identity: 'example.com',
      mails_per_hour: 25,
      total_mails_per_hour: 250,
      parallelization_factor: 4,
      language: 'de',
      time_zone: 'Europe/Berlin',
      acknowledge: true,
      answer_within: 3,
      pool_mail: false,
      replies: { ...replies, follow_ups: true },
    },
    inquiries_per_hour: 60,
    log_retention_days: 365,
    pitr_days: 7,
    probe: true,
    reserved_concurrency: 7,
    retention_days: 365,
    sign_up: false,
    site: true,
    table_kms_key_arn: arn('kms', 'key/1'),
    throttling: { rate_limit: 11, burst_limit: 22 },
    totp: true,
    tracing: false,
    warm_throughput: 40_000,
  },
  'other-issuer': {
    issuer: 'https://issuer.example.com/a',
    audience: ['form', 'other'],
    // Without records yet, so AWS's own addresses are in use.
    ...domains,
    inbox: { ...inbox, replies },
  },
};
const RELEASE = {
  ...domains,
  hosted_zone: 'example.com',
  probe: true,
  inbox,
  form,
  alarm_email: 'oncall@example.com',
  alarm_topic_arns: pagers,
};
const FILES = [...Object.keys(SETTINGS), 'release', 'bootstrap'];
const DEVELOP = { workspace: 'develop' };
const packages = { package_file: 'versions.tf', mailer_package_file: 'stages.tf' };
const planStages = (workspace: string, stages: Record<string, object>, variables: object = {}) => {
  const inputs = Object.entries(stages).map(([name, settings]) => [
    name,
    { variables: { ...packages, ...variables, stages: { [workspace]: settings } } },
  ]);
  return modules?.plan(Object.fromEntries(inputs), { workspace });
};

const VERSIONS = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=|\bnodejs\d+\.x\b/g;
function parse(text: string): unknown {
  try {
    if (/^[[{]/.test(text)) return JSON.parse(text);
  } catch {
    // A pattern, or a list of placeholders.
  }
  return text.replaceAll(VERSIONS, '…');
}

/** JSON with sorted keys, and texts that are JSON as what they say; without hashes and versions. */
const format = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, each: unknown) => {
      const content = typeof each === 'string' ? parse(each) : each;
      if (Object(content) !== content || Array.isArray(content)) return content;
      const entries = Object.entries<unknown>(Object(content));
      return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
    },
    2,
  ).concat('\n');

/** The values of a type's resources, by what follows the type in their addresses. */
const ofType = ({ resources }: Plan, type: string): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(resources).flatMap(([address, values]) => {
      const [module = '', name] = address.split(`${type}.`);
      return name === undefined || module.endsWith('data.') ? [] : [[`${module}${name}`, values]];
    }),
  );
const statementsOf = ({ policy }: { policy: string }): Json[] => JSON.parse(policy).Statement;
/** The pattern of an entity's keys. */
const keysOf = ({ Key }: { Key: { pk: string } }) => Key.pk;

describe('plans', needsModules, () => {
  const plans: Record<string, Plan> = {};
  const get = (name: string): Plan => {
    const plan = plans[name];
    if (!plan) throw new Error(`${name} was not planned.`);
    return plan;
  };
  beforeAll(async () => {
    const pinned = {
      live_version: '7',
      live_mailer_versions: { replies: '8' },
      permissions_boundaries: { release: iamArn('policy/boundary') },
    };
    const variables = {
      bucket: 'state-bucket',
      github: { repository: 'octo/inquiries' },
      budget: { monthly_usd: 10.5, email: 'team@example.com' },
      domains: { release: ['api.example.com'] },
      receives_mail: true,
    };
    // A mocked provider imports nothing.
    const bootstrap = { variables, overrides: { 'aws_s3_bucket.state': {} } };
    const module = 'infra/terraform/bootstrap';
    Object.assign(
      plans,
      await planStages('develop', SETTINGS),
      await planStages('release', { release: RELEASE }, pinned),
      await modules?.plan({ bootstrap }, { module }),
    );
  });
  afterAll(() => modules?.close());

  it.each(FILES)('%s is as its golden file says; npm run golden accepts a change', async (name) => {
    const { errors, ...plan } = get(name);
    expect(errors).toEqual([]);
    await expect(format(plan)).toMatchFileSnapshot(join(FOLDER, `${name}.json`));
  });

  it('are of every setting', () => {
    const [, stages = ''] =
      /variable "stages" \{([^]*?)\n\}/.exec(readText('infra/terraform/variables.tf')) ?? [];
    const settings = Array.from(stages.matchAll(/^ {4}(\w+) += optional/gm), ([, name]) => name);
    expect(settings.length).toBeGreaterThan(20);
    const planned = [...Object.values(SETTINGS), RELEASE].flatMap((each) => Object.keys(each));
    expect(planned).toEqual(expect.arrayContaining(settings));
    expect(readdirSync(FOLDER).toSorted()).toEqual(FILES.map((name) => `${name}.json`).toSorted());
  });

  it.each(FILES)('%s is closed: private buckets, TLS, JWTs, roles of single actions', (name) => {
    const plan = get(name);
    // CKV_AWS_53 to 56, AVD-AWS-0086, AVD-AWS-0087
    const closed = Object.values(ofType(plan, 'aws_s3_bucket_public_access_block'));
    expect(closed).toHaveLength(Object.keys(ofType(plan, 'aws_s3_bucket')).length);
    for (const blocks of closed) {
      expect(blocks).toMatchObject({
        block_public_acls: true,
        block_public_policy: true,
        ignore_public_acls: true,
        restrict_public_buckets: true,
      });
    }
    // CKV_AWS_70, CKV_AWS_72, CKV_AWS_168, AVD-AWS-0097
    for (const type of ['aws_s3_bucket_policy', 'aws_sqs_queue_policy', 'aws_sns_topic_policy']) {
      for (const each of Object.values(ofType(plan, type))) {
        const statements = statementsOf(each);
        for (const { Effect, Principal, Condition } of statements) {
          if (Effect !== 'Allow') continue;
          expect([Object.keys(Principal), Condition]).toEqual([['Service'], expect.anything()]);
        }
        if (type === 'aws_sns_topic_policy') continue;
        expect(statements).toContainEqual(
          expect.objectContaining({
            Effect: 'Deny',
            Principal: '*',
            Action: expect.stringMatching(/^(s3|sqs):\*$/),
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        );
      }
    }
    // CKV_AWS_301, CKV_AWS_309, AVD-AWS-0004
    const open = Object.values(ofType(plan, 'aws_apigatewayv2_route'))
      .filter((route) => route.authorization_type !== 'JWT')
      .map((route) => route.route_key);
    // Answered with the function's 401.
    expect(open.filter((key) => key !== 'GET /probe')).toEqual([]);
    if (name === 'bootstrap') return;
    // CKV_AWS_60 to 63, CKV_AWS_286 to 290, CKV_AWS_355, CKV2_AWS_40, AVD-AWS-0057, AVD-AWS-0342, AVD-AWS-0345
    const statements = Object.values(ofType(plan, 'aws_iam_role_policy')).flatMap(statementsOf);
    expect(statements.length).toBeGreaterThan(1);
    const actions = statements.flatMap(({ Action }) => Action);
    expect(actions.filter((action: string) => action.includes('*'))).toEqual([]);
    // X-Ray has no resource types here.
    const everywhere = statements.filter(({ Resource }) => [Resource].flat().includes('*'));
    expect(everywhere.filter(({ Sid }) => Sid !== 'Traces')).toEqual([]);
  });

  it.each([
    ['develop', false, 'INACTIVE'],
    ['release', true, 'ACTIVE'],
  ] as const)('%s keeps backups for 35 days and logs for 30; protected: %s', (name, ...kept) => {
    const [isProtected, pool] = kept;
    const plan = get(name);
    const expected = {
      // CKV_AWS_28, AVD-AWS-0024
      aws_dynamodb_table: {
        deletion_protection_enabled: isProtected,
        point_in_time_recovery: [{ enabled: true, recovery_period_in_days: 35 }],
      },
      aws_cognito_user_pool: { deletion_protection: pool },
      // CKV_AWS_66
      aws_cloudwatch_log_group: { retention_in_days: 30 },
    };
    for (const [type, values] of Object.entries(expected)) {
      const resources = Object.values(ofType(plan, type));
      expect(resources).not.toEqual([]);
      for (const resource of resources) expect(resource).toMatchObject(values);
    }
  });

  it('the API’s role may do what its function requests, in the partitions of its entities', async () => {
    const roles = ofType(get('every-setting'), 'aws_iam_role_policy');
    const statements = statementsOf(roles['function']).filter(({ Sid }) => Sid !== 'Logs');
    const { store, storeClient } = await createOwnStore();
    const sent = recordRequests(storeClient);
    await store.put(INQUIRY, makeCall());
    await Array.fromAsync(store.list({ sub: SUB, email: EMAIL }, {}, makeCall()));
    // dynalite refuses transactions, after this one was recorded.
    await Promise.allSettled([
      store.put(INQUIRY, makeCall(), { key: 'k', limit: { most: 1, time: 0 } }),
    ]);
    expect(new Set(sent.map(([action]) => action))).toEqual(
      new Set(statements.flatMap(({ Action }) => Action)),
    );
    const rates = keysOf(createRateEntity('t').get({ owner_hour: '*' }).params());
    for (const { Action, Condition } of statements) {
      if (Action !== 'dynamodb:UpdateItem') continue;
      expect(Object.values(Condition)).toContainEqual({ 'dynamodb:LeadingKeys': rates });
    }
    const records = statementsOf(roles['module.mailer[0].this']).find(
      ({ Sid }) => Sid === 'Records',
    );
    expect(records.Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys']).toEqual([
      keysOf(createDeliveryEntity('t').get({ inquiry: '*', mail: 'reply' }).params()),
      keysOf(createQuotaEntity('t').get({ quota: '*' }).params()),
      keysOf(createReplyKeyEntity('t').get({ month: '*' }).params()),
    ]);
  });

  it('release has an alarm for each runbook entry, which watches what exists', () => {
    const plan = get('release');
    const alarms = Object.values(ofType(plan, 'aws_cloudwatch_metric_alarm'));
    const headings = readText('docs/runbook.md').matchAll(/^### `(.*)`$/gm);
    expect(new Set(alarms.map((each) => each.alarm_name))).toEqual(
      new Set(Array.from(headings, ([, heading]) => `inquiries-release-${heading}`)),
    );
    const made = JSON.stringify(
      Object.entries(plan.resources).filter(([address]) => !address.includes('alarms')),
    );
    const dimensions = alarms
      .flatMap(({ metric_query: queries }) => queries)
      .flatMap(({ metric }: Json) => Object.entries(metric?.[0]?.dimensions ?? {}))
      .filter(([key]) => key !== 'Operation');
    expect(dimensions.length).toBeGreaterThan(20);
    expect(dimensions.filter(([, value]) => !made.includes(JSON.stringify(value)))).toEqual([]);
  });

  it('alarms and filters read what the functions write', () => {
    const plan = get('release');
    const filters = Object.values(ofType(plan, 'aws_cloudwatch_log_metric_filter'));
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
      expect(JSON.stringify(plan.resources)).toContain(
        `"metric_name":"${name}","namespace":"Inquiries"`,
      );
      expect(written).toContain(`"${name}":`);
    }
  });

  it('the form’s header has the policy of its page, but for what only a header can say', () => {
    const { resources, outputs } = get('release');
    const address = 'module.site[0].aws_cloudfront_response_headers_policy.this';
    const [headers] = resources[address].security_headers_config;
    const policy = headers.content_security_policy[0].content_security_policy;
    const hash = (file: string) =>
      `sha256-${createHash('sha256').update(readText(file)).digest('base64')}`;
    const fill = (file: string, pattern: RegExp) =>
      pattern
        .exec(readText(file))?.[1]
        ?.replace(/FIRST_PAINT_SCRIPT|<hash of the script>/, hash('web/src/first-paint.js'))
        .replace(/FIRST_PAINT_STYLE|<hash of the style sheet>/, hash('ui/first-paint.css'))
        .replace(/(connect-src 'self') [^;]*/, `$1 ${outputs['connect_origins'].join(' ')}`);
    expect(fill('web/README.md', /^Content-Security-Policy: (.*)$/m)).toBe(policy);
    expect(fill('web/index.html', /Content-Security-Policy"\s+content="([^"]*)"/)).toBe(
      policy.replace("frame-ancestors 'none'; ", ''),
    );
  });

  it('has verified senders only, DKIM in its zone, and no texts or regions that AWS refuses', async () => {
    const variables = { ...packages, stages: { develop: { inbox } } };
    const overrides = {
      'module.mailer[0].aws_sesv2_email_identity.this["mail.example.com"]': {
        verified_for_sending_status: false,
        dkim_signing_attributes: { tokens: ['one'] },
      },
      'module.mailer[0].data.aws_region.this': { id: 'eu-central-2' },
    };
    const long = { expectation: { en: '日日'.repeat(1000) } };
    const inputs = {
      unverified: { variables, overrides },
      tooLong: { variables: { ...packages, stages: { develop: { inbox, form: long } } } },
    };
    const { unverified, tooLong } = (await modules?.plan(inputs, DEVELOP)) ?? {};
    const pool = unverified?.resources['module.identity[0].aws_cognito_user_pool.this'];
    expect(pool).not.toHaveProperty('email_configuration');
    expect(unverified?.outputs['mail_dns_records'][0].value).toBe(
      'one.dkim.eu-central-2.amazonses.com',
    );
    expect(tooLong?.errors).toContainEqual(
      expect.stringContaining('Stage develop: form is too long'),
    );
    const answered = { ...packages, stages: { develop: { inbox: { ...inbox, replies } } } };
    const elsewhere = { elsewhere: { variables: answered, overrides } };
    const { elsewhere: refused } = (await modules?.plan(elsewhere, DEVELOP)) ?? {};
    expect(refused?.errors).toContainEqual(
      expect.stringContaining('inbox.replies needs a region in which SES receives'),
    );
  });
});
