/**
 * What Terraform plans: golden/ has all attributes, as differences (golden.ts), and `npm run golden` accepts what is
 * planned now, for a reviewer to read. Other tests read these files.
 *
 * `npm test` sees neither this file nor configuration.provider.test.ts, which need Terraform's AWS provider: there, a
 * change of a .tf file is seen by the rules of settings (settings.test.ts) alone. Neither file sees lifecycles,
 * backends and versions of Terraform, which promises.test.ts reads from the sources, nor what AWS makes of a plan.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasOldProvider } from './module-copy.ts';
import { STAGES } from '../../lib/aws/stages.ts';
import { unless } from '../helpers/needs.ts';
import { readText } from '../helpers/repository.ts';
import {
  BASES,
  FILES,
  toBase,
  toFile,
  toWritten,
  toPatch,
  toYaml,
  type Golden,
  type GoldenName,
} from './golden.ts';
import { arn, EDGE, iamArn, openModules, REGION, type Input, type Plan } from './planned-module.ts';

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
    inbox_domain: { name: 'inbox.example.com', dns: 'all' },
    form,
    inbox: {
      ...inbox,
      team: ['ana@example.com'],
      identity: 'example.com',
      mails_per_hour: 25,
      total_mails_per_hour: 250,
      parallelization_factor: 4,
      language: 'de',
      time_zone: 'Europe/Berlin',
      acknowledge: true,
      answer_within: 3,
      requires_tls: true,
      pool_mail: false,
      replies: { ...replies, follow_ups: true },
    },
    inquiries_per_hour: 60,
    log_retention_days: 365,
    pitr_days: 7,
    dashboard: true,
    form_log: true,
    health_checks: true,
    reserved_concurrency: 7,
    retention_days: 365,
    sign_up: false,
    site: true,
    table_kms_key_arn: arn('kms', 'key/1'),
    throttling: { rate_limit: 11, burst_limit: 22 },
    totp: true,
    tracing: true,
    warm_throughput: 40_000,
  },
  'other-issuer': {
    issuer: 'https://issuer.example.com/a',
    audience: ['form', 'other'],
    // The records do not exist yet, so that AWS's own addresses are in use.
    ...domains,
    inbox: { ...inbox, replies },
  },
};
const RELEASE = {
  ...domains,
  hosted_zone: 'example.com',
  inbox,
  retention_days: 1095,
  form: { ...form, privacy: 'https://www.example.com/privacy' },
  alarm_email: 'oncall@example.com',
  alarm_topic_arns: pagers,
};
const toStage = (stage: string, settings: object, more: object = {}) => ({
  variables: {
    stages: { [stage]: settings },
    ...more,
  },
});
const OF_DEVELOP: Record<string, Input> = {
  ...Object.fromEntries(
    Object.entries(SETTINGS).map(([name, settings]) => [name, toStage('develop', settings)]),
  ),
  unverified: {
    ...toStage('develop', { inbox }),
    overrides: {
      'module.mailer[0].aws_sesv2_email_identity.this["mail.example.com"]': {
        verified_for_sending_status: false,
        dkim_signing_attributes: { tokens: ['one'] },
      },
      'module.mailer[0].data.aws_region.this': { id: 'eu-central-2' },
    },
  },
  elsewhere: {
    ...toStage('develop', { inbox: { ...inbox, replies } }),
    overrides: { 'module.mailer[0].data.aws_region.this': { id: 'eu-central-2' } },
  },
};
const OF_RELEASE = {
  release: toStage('release', RELEASE, {
    live_version: '7',
    live_mailer_versions: { replies: '8' },
    permissions_boundaries: { release: iamArn('policy/boundary') },
  }),
  tooLong: toStage('release', {
    ...RELEASE,
    form: { ...RELEASE.form, expectation: { en: '日日'.repeat(1000) } },
  }),
};

const toBootstrap = (variables: object, overrides: Input['overrides'] = {}): Input => ({
  variables: { bucket: 'state-bucket', ...variables },
  // A mocked provider imports nothing.
  overrides: { 'aws_s3_bucket.state': {}, ...overrides },
});
const found = (toIds: (stage: string) => readonly [api: string, ...healthChecks: string[]]) =>
  Object.fromEntries(
    STAGES.flatMap((stage) => {
      const [api, ...checks] = toIds(stage);
      const arns = checks.map((id) => ({ resource_arn: `arn:aws:route53:::healthcheck/${id}` }));
      return [
        [`data.aws_apigatewayv2_apis.stage["${stage}"]`, { ids: [api] }],
        [
          `data.aws_resourcegroupstaggingapi_resources.health_checks["${stage}"]`,
          { resource_tag_mapping_list: arns },
        ],
      ];
    }),
  );
const OF_BOOTSTRAP = {
  bootstrap: toBootstrap(
    {
      github: { repository: 'octo/inquiries', owner_id: '1', repository_id: '23' },
      budget: { monthly_usd: 10.5, email: 'team@example.com' },
      domains: { release: ['api.example.com', 'www.example.com'] },
      receives_mail: true,
      audit: { stages: ['main'] },
    },
    found((stage) => [`api-of-${stage}`, `of-${stage}`]),
  ),
  least: toBootstrap({}),
  longest: toBootstrap(
    {
      name: 'n'.repeat(19),
      bucket: 'b'.repeat(63),
      github: { repository: 'octo/inquiries', existing_provider: true },
      domains: { release: ['a', 'b'].map((one) => `${one.repeat(60)}.example.com`) },
      receives_mail: true,
    },
    {
      'data.aws_region.current': { id: 'ap-southeast-2' },
      ...found(() => ['a'.repeat(10), ...Array<string>(4).fill('a'.repeat(36))]),
    },
  ),
  refused: toBootstrap({
    github: { repository: 'octo/*', owner_id: '1' },
    domains: { main: ['*.example.com'], test: ['example.com'] },
    budget: { monthly_usd: 0, email: 'ana' },
  }),
};

/** Hashes, and the key of privacy.tf, which Terraform makes at random. */
const RANDOM = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=|(?<=^key-)[\da-f-]{36}$/g;

/** With sorted keys, and texts that are JSON as what they say; without what is random and the stage's name. */
function normalise(value: unknown, stage: string): unknown {
  if (typeof value === 'string') {
    try {
      if (/^[[{]/.test(value)) return normalise(JSON.parse(value), stage);
    } catch {
      // The text is a pattern or a list of placeholders.
    }
    const named = value
      .replaceAll(RANDOM, '…')
      .replaceAll(new RegExp(String.raw`(?<=inquiries[-/])${stage}\b`, 'g'), 'STAGE');
    // function/tests/runtime_override.tf
    return hasOldProvider(process.env) ? named.replace('nodejs22.x', 'nodejs24.x') : named;
  }
  if (Array.isArray(value)) return value.map((each) => normalise(each, stage));
  if (Object(value) !== value) return value;
  const entries = Object.entries<unknown>(Object(value)).map(
    ([name, each]) => [name, normalise(each, stage)] as const,
  );
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Milliseconds; two minutes of a processor, more beside other work. */
const HANG = 30 * 60_000;

describe('plans', needsModules, () => {
  const plans: Record<string, Plan> = {};
  const get = (name: string): Plan => {
    const plan = plans[name];
    if (!plan) throw new Error(`${name} was not planned.`);
    return plan;
  };
  beforeAll(async () => {
    Object.assign(
      plans,
      await modules?.plan(OF_DEVELOP, { workspace: 'develop' }),
      await modules?.plan(OF_RELEASE, { workspace: 'release' }),
      await modules?.plan(OF_BOOTSTRAP, { module: 'infra/terraform/bootstrap' }),
    );
  }, HANG);
  afterAll(() => modules?.close());

  it.each(FILES)('%s is as its golden file says; npm run golden accepts a change', async (name) => {
    const read = (each: GoldenName) => {
      const { errors, ...planned } = get(each === 'bootstrap-stages' ? 'bootstrap' : each);
      expect(errors).toEqual([]);
      const stage = /^(bootstrap|release)/.test(each) ? each : 'develop';
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the same keys
      return toWritten(each, normalise(planned, stage) as Golden);
    };
    const base = BASES[name] && toBase(name, read(BASES[name]));
    await expect(toYaml(toPatch(base, read(name)))).toMatchFileSnapshot(toFile(name));
  });

  it('are of every setting', () => {
    const [, stages = ''] =
      /variable "stages" \{([^]*?)\n\}/.exec(readText('infra/terraform/variables.tf')) ?? [];
    const settings = Array.from(stages.matchAll(/^ {4}(\w+) += optional/gm), ([, name]) => name);
    expect(settings.length).toBeGreaterThan(20);
    const planned = [...Object.values(SETTINGS), RELEASE].flatMap((each) => Object.keys(each));
    expect(planned).toEqual(expect.arrayContaining(settings));
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

  it('has verified senders only, and DKIM in its zone', () => {
    const { resources, outputs } = get('unverified');
    const pool = resources['module.identity[0].aws_cognito_user_pool.this'];
    expect(pool).not.toHaveProperty('email_configuration');
    expect(outputs['mail_dns_records'][0].value).toBe('one.dkim.eu-central-2.amazonses.com');
  });

  it('refuses texts and regions that AWS refuses', () => {
    expect([get('elsewhere').errors, get('tooLong').errors]).toEqual([
      [expect.stringContaining('inbox.replies needs a region in which SES receives')],
      Array(2).fill(expect.stringContaining('is longer than 4 KB')),
    ]);
  });

  it('gives GitHub nothing without a repository, and takes a provider that exists', () => {
    const ofGitHub = ['least', 'longest', 'bootstrap'].map((name) =>
      Object.keys(get(name).resources).filter((each) => /^aws_iam_(role|openid)/.test(each)),
    );
    const [least, longest, bootstrap] = ofGitHub;
    expect(least).toEqual([]);
    expect(bootstrap).toEqual(
      expect.arrayContaining(['aws_iam_openid_connect_provider.github[0]', ...(longest ?? [])]),
    );
    expect(longest).toHaveLength((bootstrap?.length ?? 0) - 1);
    expect(JSON.stringify(get('least').resources)).not.toMatch(/receipt|-mails-/i);
  });

  it('of bootstrap fit into the limits of IAM with the longest names', () => {
    // The size limits of managed policies and of one in a role.
    const sizes = Object.entries(get('longest').resources).flatMap(([address, { policy }]) =>
      /^aws_iam_(role_)?policy\./.test(address)
        ? [[address, JSON.stringify(JSON.parse(policy)).length] as const]
        : [],
    );
    expect(sizes).toHaveLength(18);
    const most = (address: string) => (address.includes('role_policy') ? 10_240 : 6_144);
    expect(sizes.filter(([address, size]) => size > most(address))).toEqual([]);
  });

  it('of bootstrap refuse wildcards, single ids, other stages and no budget', () => {
    expect(get('refused').errors).toHaveLength(5);
  });
});
