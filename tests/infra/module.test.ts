import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { MODULE, ROOT } from '../../lib/paths.ts';
import { STAGES } from '../../lib/stages.ts';
import { tableDefinition } from '../../local/database/table.ts';
import { operations } from '../../src/app.ts';
import { createDeliveryEntity, createQuotaEntity } from '../../src/entities/delivery.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { unparsableJson } from '../../src/errors.ts';
import { logRequest } from '../../src/log.ts';
import { logMail } from '../../src/mailer/log.ts';
import { parseConfig } from '../../web/src/config.ts';
import { languages } from '../../web/src/locale.ts';
import { readText } from '../helpers/repository.ts';

const source = globSync('infra/terraform/*.tf', { cwd: ROOT }).toSorted().map(readText).join('\n');
const hasTerraform = (await terraformUnavailableReason()) === undefined;
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

const good = {
  issuer: 'https://issuer.example.com',
  audience: ['client'],
  cors_origin: 'https://www.example.com',
};
const inbox = { to: 'team@example.org', from: 'inquiries@mail.example.com' };

const form = {
  name: 'Example',
  logo: 'logo.svg',
  accent: '#0A6cff',
  home: 'https://www.example.com',
  privacy: 'https://müller.example:8443/privacy?language=de#top',
  imprint: 'https://www.example.com/imprint',
  introduction: { en: 'Ask us.', ar: 'اسألنا.' },
  expectation: { ja: '2営業日以内に回答します。' },
  topics: Array.from({ length: 12 }, (_, index) => ({ en: `Topic ${index}` })),
  languages: ['ar', 'en', 'de', 'fr', 'es', 'ja'],
};

/** `terraform plan` in a folder with variables.tf, stages.tf and a logo only, which needs no provider. */
describe.skipIf(!hasTerraform)(
  'settings of a stage (skipped without terraform on the PATH)',
  { timeout: 30_000 },
  () => {
    let root = '';
    let folder = '';
    beforeAll(() => {
      root = mkdtempSync(join(tmpdir(), 'infra-settings-'));
      folder = join(root, 'infra/terraform');
      for (const path of [folder, join(root, 'web/public')]) mkdirSync(path, { recursive: true });
      for (const logo of ['logo.svg', 'logo.gif']) writeFileSync(join(root, 'web/public', logo), '');
      for (const file of ['variables.tf', 'stages.tf', 'stages.auto.tfvars.example'])
        copyFileSync(join(MODULE, file), join(folder, file));
    });
    afterAll(() => {
      rmSync(root, { recursive: true, force: true });
    });

    async function plan(workspace: string, variablesFile: string): Promise<string[]> {
      const packages = ['package_file', 'mailer_package_file'].map((name) => `-var=${name}=variables.tf`);
      const args = ['-json', '-lock=false', ...packages, `-var-file=${variablesFile}`];
      const { stdout } = await run('terraform', ['plan', ...args], {
        cwd: folder,
        env: terraformEnv({ TF_WORKSPACE: workspace }),
      });
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { diagnostic?: { detail: string } });
      expect(lines[0]).toMatchObject({ type: 'version' });
      return lines.flatMap(({ diagnostic }) => diagnostic?.detail.split('\n\n')[0] ?? []);
    }

    /** The error messages of a plan with these variables. */
    async function refusals(variables: object, workspace = 'develop'): Promise<string[]> {
      const file = `${crypto.randomUUID()}.tfvars.json`;
      writeFileSync(join(folder, file), JSON.stringify(variables));
      return plan(workspace, file);
    }

    it('accepts a stage without any setting', async () => {
      expect(await refusals({ stages: { develop: {} } })).toEqual([]);
    });

    it.each([
      ['an issuer and a page of your own', {}],
      ['a port and plain http, for a local page', { cors_origin: 'http://localhost:5173' }],
      ['a user pool of the stage', { issuer: null, audience: null }],
      ['a form of the stage', { cors_origin: null }],
      ['a form without settings beside another page', { site: true }],
      ['no form', { site: false }],
      [
        'domains in a hosted zone',
        {
          hosted_zone: 'example.com',
          domain: { name: 'api.example.com' },
          site_domain: { name: 'example.com' },
        },
      ],
      [
        'domains whose records are entered by hand',
        {
          domain: { name: 'api.example.com' },
          site_domain: { name: 'www.example.com', dns: 'certificate' },
        },
      ],
      ['an IPv6 address', { cors_origin: 'http://[::1]:5173' }],
      ['an issuer that ends with a slash', { issuer: 'https://tenant.example.com/' }],
      ['an issuer with a path', { issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab' }],
      ['concurrency 0, which stops the stage', { reserved_concurrency: 0 }],
      ['the shortest recovery and retention', { pitr_days: 1, retention_days: 1 }],
      ['the longest recovery and retention', { pitr_days: 35, retention_days: 36_500 }],
      ['the lowest limit of inquiries', { inquiries_per_hour: 1 }],
      ['the highest limit of inquiries', { inquiries_per_hour: 1_000 }],
      ['no limit of inquiries', { inquiries_per_hour: null }],
      ['an inbox', { inbox }],
      ['an inbox with every setting', { inbox: { ...inbox, mails_per_hour: 1_000, identity: inbox.from } }],
      ['mails in another language', { inbox: { ...inbox, language: 'ar' } }],
      ['a form without a setting', { cors_origin: null, form: {} }],
      ['a form with every setting', { cors_origin: null, form }],
      ['a form beside another page', { site: true, form }],
      ['a form on its own domain beside another page', { site_domain: { name: 'www.example.com' }, form }],
      ['an identity of the domain of from', { inbox: { ...inbox, identity: 'mail.example.com' } }],
      ['an identity of a parent domain', { inbox: { ...inbox, identity: 'example.com' } }],
    ])('accepts %s', async (_, settings) => {
      expect(await refusals({ stages: { develop: { ...good, ...settings } } })).toEqual([]);
    });

    const issuerRule = 'An issuer must be an https URL without query or fragment';
    const audienceRule = 'An audience needs at least one client id, none of them blank';
    const originRule =
      'A cors_origin must be one origin as browsers send it, scheme://host[:port] in lower case, never *, no path and no trailing slash';
    const throttlingRule = 'Both throttling limits must be at least 1, since 0 answers every call with 429';
    const domainRule =
      'A domain needs a host name in lower case, and a certificate_arn must be the ARN of an ACM certificate';
    const siteCertificateRule =
      'The certificate of a site_domain must be in us-east-1, the only region from which CloudFront takes them';
    const dnsRule =
      'A dns is "none", "certificate" or "all", not "none" with certificate_arn, and not set with hosted_zone';
    const zoneRule = 'A domain and a site_domain must be in the hosted_zone';
    const twoNamesRule = 'The domain of the API and the site_domain of the form must be two names';
    const pairRule =
      'An issuer needs an audience, and an audience its issuer; leave out both for a user pool of the stage';
    const siteRule =
      'A stage with site = false serves no form: it needs the cors_origin of the page that calls it, and has no site_domain';
    const certificate = 'arn:aws:acm:eu-central-1:111122223333:certificate/1';
    const recoveryRule = 'A pitr_days must be a whole number from 1 to 35';
    const retentionRule =
      'A retention_days must be a whole number from 1 to 36500; leave it out to keep inquiries for ever';
    const limitRule =
      'An inquiries_per_hour must be a whole number from 1 to 1000; leave it out for no limit';
    const inboxRule =
      'An inbox needs two plain e-mail addresses, to and from, without names and with their domains in lower case';
    const mailsRule =
      "An inbox's mails_per_hour must be a whole number from 1 to 1000; leave out inbox to send no mail";
    const identityRule =
      "An inbox's identity must be the address in from, or its domain or a parent of that; leave it out to create one";
    const codes = 'en, de, fr, es, ja, ar';
    const noFormRule =
      'A stage with a cors_origin serves no form that its setting form could describe; leave out form, or set site = true';
    const addresses = [
      'nobody',
      'Team <team@example.com>',
      'a@example.com, b@example.com',
      'team@example.com\n',
      'team@EXAMPLE.com',
      'team@localhost',
      '"the team"@example.com',
    ];
    const identities = ['example.org', 'xample.com', 'il.example.com', 'other@mail.example.com', ''];
    const issuers = ['http://a.example.com', 'https://a.example.com/?a=b', 'https://a.example.com/#a'];
    const origins = [
      '*',
      'https://*.example.com',
      'https://www.example.com/',
      'https://www.example.com\n',
      'https://WWW.example.com',
      'www.example.com',
      'https://a.example.com,https://b.example.com',
    ];
    it.each<[object, string]>([
      ...issuers.map<[object, string]>((issuer) => [{ issuer }, `${issuerRule}: develop has "${issuer}".`]),
      ...origins.map<[object, string]>((origin) => [
        { cors_origin: origin },
        `${originRule}: develop has "${origin}".`,
      ]),
      [{ audience: [] }, `${audienceRule}: develop.`],
      [{ audience: ['client', ' '] }, `${audienceRule}: develop.`],
      [
        { log_retention_days: 31 },
        'A log_retention_days must be a number CloudWatch Logs knows (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653): develop has 31.',
      ],
      [{ throttling: { rate_limit: 0, burst_limit: 1 } }, `${throttlingRule}: develop.`],
      [{ throttling: { rate_limit: 1, burst_limit: 0 } }, `${throttlingRule}: develop.`],
      [
        { reserved_concurrency: -1 },
        "A reserved_concurrency must not be negative; leave it out to use the account's pool: develop.",
      ],
      ...[0, 36, 1.5].map<[object, string]>((days) => [
        { pitr_days: days },
        `${recoveryRule}: develop has ${days}.`,
      ]),
      ...[0, 36_501, 0.5].map<[object, string]>((days) => [
        { retention_days: days },
        `${retentionRule}: develop has ${days}.`,
      ]),
      ...[0, -1, 1_001, 1.5].map<[object, string]>((inquiries_per_hour) => [
        { inquiries_per_hour },
        `${limitRule}: develop has ${inquiries_per_hour}.`,
      ]),
      ...addresses.flatMap<[object, string]>((address) => [
        [{ inbox: { ...inbox, to: address } }, `${inboxRule}: develop.`],
        [{ inbox: { ...inbox, from: address } }, `${inboxRule}: develop.`],
      ]),
      ...[0, 1_001, 2.5].map<[object, string]>((mails_per_hour) => [
        { inbox: { ...inbox, mails_per_hour } },
        `${mailsRule}: develop has ${mails_per_hour}.`,
      ]),
      ...identities.map<[object, string]>((identity) => [
        { inbox: { ...inbox, identity } },
        `${identityRule}: develop has "${identity}".`,
      ]),
      [{ form: {} }, `${noFormRule}: develop.`],
      [{ site: false, form: {} }, `${noFormRule}: develop.`],
      [{ alarm_email: 'nobody' }, 'An alarm_email must be an e-mail address: develop.'],
      [{ table_kms_key_arn: 'alias/mine' }, 'A table_kms_key_arn must be the ARN of a KMS key: develop.'],
      [{ domain: { name: 'https://a.b', certificate_arn: 'arn:aws:acm:x' } }, `${domainRule}: develop.`],
      [{ domain: { name: 'api.example.com', certificate_arn: 'mine' } }, `${domainRule}: develop.`],
      [{ site_domain: { name: 'API.example.com' } }, `${domainRule}: develop.`],
      [
        { site_domain: { name: 'www.example.com', certificate_arn: certificate } },
        `${siteCertificateRule}: develop.`,
      ],
      [{ domain: { name: 'api.example.com', dns: 'some' } }, `${dnsRule}: develop.`],
      [
        { domain: { name: 'api.example.com', certificate_arn: certificate, dns: 'none' } },
        `${dnsRule}: develop.`,
      ],
      [
        { hosted_zone: 'example.com', domain: { name: 'api.example.com', dns: 'all' } },
        `${dnsRule}: develop.`,
      ],
      [{ hosted_zone: 'example.com', domain: { name: 'api.example.org' } }, `${zoneRule}: develop.`],
      [{ hosted_zone: 'example.com', site_domain: { name: 'badexample.com' } }, `${zoneRule}: develop.`],
      [
        { domain: { name: 'www.example.com' }, site_domain: { name: 'www.example.com' } },
        `${twoNamesRule}: develop.`,
      ],
      [{ audience: null }, `${pairRule}: develop.`],
      [{ issuer: null }, `${pairRule}: develop.`],
      [{ site: false, cors_origin: null }, `${siteRule}: develop.`],
      [{ site: false, site_domain: { name: 'www.example.com' } }, `${siteRule}: develop.`],
    ])('refuses %j', async (settings, message) => {
      expect(await refusals({ stages: { develop: { ...good, ...settings } } })).toEqual([message]);
    });

    it('refuses a form that the page would refuse, and mails in another language than its own, with one sentence for each rule', async () => {
      const mail = (language: string) => ({ inbox: { ...inbox, language } });
      const develop = {
        ...mail('it'),
        form: {
          accent: '0a6cff',
          home: 'www.example.com',
          logo: 'missing.svg',
          topics: form.topics.concat({ en: 'One more' }),
          languages: [],
          introduction: {},
          name: ' ',
        },
      };
      const main = {
        ...mail('EN'),
        form: {
          accent: '#06f',
          privacy: 'http://www.example.com',
          logo: '../public/logo.svg',
          topics: [{ en: 'One' }, { en: ' ' }],
          languages: ['it'],
        },
      };
      const release = {
        ...mail(''),
        form: {
          accent: '#0a6cff\n',
          imprint: 'https://a b',
          logo: 'logo.gif',
          expectation: { it: 'Domani.' },
          languages: ['en', 'en'],
        },
      };
      expect(await refusals({ stages: { develop, main, release } })).toEqual([
        `An inbox's language must be one of ${codes}: develop has "it", main has "EN", release has "".`,
        'A form\'s accent must be a colour as #rrggbb: develop has "0a6cff", main has "#06f", release has "#0a6cff\n".',
        "A form's home, privacy and imprint must be https addresses: develop, main, release.",
        'A form\'s logo must be the name of an SVG, PNG, JPEG or WebP file in web/public: develop has "missing.svg", main has "../public/logo.svg", release has "logo.gif".',
        'A form has at most 12 topics: develop has 13.',
        `A form's languages must be at least one of ${codes}, each once: develop, main, release.`,
        `A form's introduction, expectation and topics must be texts by language (${codes}), none of them empty: develop, main, release.`,
        "A form's name must not be empty; leave it out for none: develop.",
      ]);
    });

    it('names every stage with a mistake, not only the selected one', async () => {
      const stages = {
        develop: good,
        main: { ...good, audience: [], inquiries_per_hour: 0 },
        release: { ...good, issuer: 'http://x', audience: [] },
      };
      expect(await refusals({ stages })).toEqual([
        `${issuerRule}: release has "http://x".`,
        `${audienceRule}: main, release.`,
        `${limitRule}: main has 0.`,
      ]);
    });

    it.each([
      [{}, 'copy stages.auto.tfvars.example to stages.auto.tfvars and fill in its entry.'],
      [{ main: good }, 'copy stages.auto.tfvars.example to stages.auto.tfvars and fill in its entry.'],
    ])('refuses a stage without settings: %j', async (stages, advice) => {
      expect(await refusals({ stages })).toEqual([`Stage "develop" has no settings: ${advice}`]);
    });

    const unknownWorkspace = (workspace: string) =>
      `Workspace "${workspace}" is not a stage: run "terraform workspace select -or-create develop" (or main, or release).`;
    it.each(['default', 'Release'])('refuses the workspace %s', async (workspace) => {
      const stages = { develop: good };
      expect(await refusals({ stages }, workspace)).toEqual([unknownWorkspace(workspace)]);
      expect(await refusals({ stages: { ...stages, [workspace]: good } }, workspace)).toEqual([
        unknownWorkspace(workspace),
        `Stages are develop, main and release; remove from stages: ${workspace}.`,
      ]);
    });

    it.each([
      [{ package_file: 'nothing.zip' }, 'There is no nothing.zip: run "npm run build" first.'],
      [{ mailer_package_file: 'nothing.zip' }, 'There is no nothing.zip: run "npm run build" first.'],
      [{ runtime: 'python3.13' }, 'A runtime is Node.js 22 or later, such as nodejs24.x, not "python3.13".'],
      [{ runtime: 'nodejs20.x' }, 'A runtime is Node.js 22 or later, such as nodejs24.x, not "nodejs20.x".'],
      [
        { name: 'Inquiries' },
        'A name is 2 to 32 lower-case letters, digits and hyphens and begins with a letter, not "Inquiries".',
      ],
    ])('refuses the variables %j', async (variables, message) => {
      expect(await refusals({ stages: { develop: good }, ...variables })).toEqual([message]);
    });

    it.each(STAGES)('accepts the example file in the workspace %s', async (stage) => {
      expect(await plan(stage, 'stages.auto.tfvars.example')).toEqual([]);
    });
  },
);

describe('the module', () => {
  it('gives the table the keys and the index of the local table definition', () => {
    const [table = ''] = readText('infra/terraform/table.tf').split(
      '\nresource "aws_dynamodb_table" "erasures"',
    );
    const attributes = [...table.matchAll(/attribute \{\s+name = "(\w+)"\s+type = "(\w)"/g)];
    const toKeys = (text: string) =>
      [...text.matchAll(/^\s+(hash|range)_key\s+= "(\w+)"/gm)].map(([, kind, name]) => ({
        AttributeName: name,
        KeyType: kind?.toUpperCase(),
      }));
    const indexes = [...table.matchAll(/global_secondary_index (\{[^}]+\})/g)];
    expect(tableDefinition).toMatchObject({
      KeySchema: toKeys(table.replaceAll(/global_secondary_index \{[^}]+\}/g, '')),
      AttributeDefinitions: attributes.map(([, name, type]) => ({
        AttributeName: name,
        AttributeType: type,
      })),
      GlobalSecondaryIndexes: indexes.map(([, index = '']) => ({
        IndexName: /name\s+= "([\w-]+)"/.exec(index)?.[1],
        KeySchema: toKeys(index),
        Projection: {
          ProjectionType: /projection_type\s+= "(\w+)"/.exec(index)?.[1],
          NonKeyAttributes: matches(/non_key_attributes = \[(.*?)\]/s.exec(index)?.[1] ?? '', /"(\w+)"/g),
        },
      })),
      BillingMode: /billing_mode = "(\w+)"/.exec(table)?.[1],
    });
    expect(indexes).toHaveLength(tableDefinition.GlobalSecondaryIndexes.length);
  });

  it.each([
    ['src/config.ts', 'function.tf'],
    ['src/mailer/config.ts', 'mailer.tf'],
  ])('gives each function the environment that %s reads, and no more', (config, file) => {
    const [environment = ''] = matches(
      readText(`infra/terraform/${file}`),
      /environment \{\n(.*?)\n {2}\}/gs,
    );
    // What the function destructures from its environment or reads as a number; Lambda sets AWS_REGION.
    const reads = /const \{([^}]+)\} = env;|readNumber\(env, ('\w+')/g;
    const variables = [...readText(config).matchAll(reads)].flatMap(([read]) =>
      matches(read, /\b([A-Z_]{4,})\b/g),
    );
    expect(matches(environment, /\b([A-Z_]{4,})\b"?\s+=/g).toSorted()).toEqual(
      variables.filter((name) => name !== 'AWS_REGION').toSorted(),
    );
  });

  it('alarms on the metric and the log level that the function writes', () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const write = vi.fn<(line: string) => void>();
    const request = { requestId: '1', functionName: 'f', method: 'POST', milliseconds: 1, attempts: 0 };
    logRequest({ ...request, status: 500, error: unparsableJson(undefined) }, write);
    const { _aws, ...values } = JSON.parse(String(write.mock.lastCall));
    const [{ Namespace, Dimensions, Metrics }] = _aws.CloudWatchMetrics;
    expect(values).toEqual({ FunctionName: 'f', Requests: 1, Faults: 0, Latency: 1 });
    expect(Dimensions).toEqual([['FunctionName']]);
    expect(Metrics).toContainEqual({ Name: 'Faults', Unit: 'Count' });
    expect(source).toContain(`function_namespace = "${Namespace}"`);
    expect(source).toContain('namespace = local.function_namespace, name = "Faults"');
    // The metric filter not_json matches this line, so that the alarm on 5xx can subtract it.
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status: 500 }));
    expect(source).toContain('{ $.level = \\"WARN\\" && $.message.status = 500 }');
    vi.restoreAllMocks();
  });

  it('alarms on the metric and the outcomes that the mailer writes', () => {
    const log = vi.spyOn(console, 'error').mockReturnValue();
    const write = vi.fn<(line: string) => void>();
    const mail = { requestId: '1', functionName: 'f', inquiry: undefined, mail: 'reply' } as const;
    for (const outcome of ['refused', 'no-address'] as const) {
      logMail({ ...mail, outcome }, write);
      expect(log).toHaveBeenLastCalledWith(expect.objectContaining({ requestId: '1', outcome }));
      expect(source).toContain(`$.message.outcome = \\"${outcome}\\"`);
    }
    const { _aws, ...values } = JSON.parse(String(write.mock.lastCall));
    expect(values).toMatchObject({ FunctionName: 'f', MailFailures: 1 });
    expect(source).toContain(`function_namespace = "${_aws.CloudWatchMetrics[0].Namespace}"`);
    expect(source).toContain('namespace = local.function_namespace, name = "MailFailures"');
    for (const name of Object.keys(values).filter((key) => key !== 'FunctionName'))
      expect(source).toContain(`"${name}"`);
    vi.restoreAllMocks();
  });

  it('limits the writes of the mailer to its records, and answers of operators to inquiries', () => {
    const keysOf = (file: string) =>
      matches(readText(file), /"dynamodb:LeadingKeys" = (\[.*?\]|".*?")/g).flatMap((list) =>
        matches(list, /"([^"]*)\*"/g),
      );
    const [mailer, operators] = ['mailer.tf', 'operators.tf'].map((file) =>
      keysOf(`infra/terraform/${file}`),
    );
    const owner = { cognito_sub: '1daae433-47cc-48ff-bf9b-73f530b9d7bc', email: 'ana@example.com' };
    const inquiry = createInquiryEntity('t')
      .get({ ...owner, id: '1' })
      .params<{ Key: { pk: string } }>();
    const delivery = createDeliveryEntity('t')
      .get({ inquiry: '1', mail: 'reply' })
      .params<{ Key: { pk: string } }>();
    const quota = createQuotaEntity('t').get({ owner_hour: '1' }).params<{ Key: { pk: string } }>();
    const prefixesOf = (keys: string[] = [], pk: string) => keys.filter((key) => pk.startsWith(key)).length;
    expect([inquiry, delivery, quota].map(({ Key }) => prefixesOf(mailer, Key.pk))).toEqual([0, 1, 1]);
    expect([inquiry, delivery, quota].map(({ Key }) => prefixesOf(operators, Key.pk))).toEqual([1, 0, 0]);
    expect([mailer, operators]).toMatchObject([{ length: 2 }, { length: 1 }]);
  });

  it('sets cache-control on the successful responses of all operations', () => {
    const [statuses = ''] = matches(source, /"response_parameters" \{\s+for_each = \[(.*?)\]/g);
    const successes = new Set([...operations.values()].map(({ status }) => String(status)));
    expect(statuses.match(/\d+/g)?.toSorted()).toEqual([...successes].toSorted());
  });

  it('has the documented defaults and minimum versions', () => {
    expect(source).toMatch(/variable "runtime" \{[^}]*default\s+= "nodejs24\.x"/);
    expect(source).toContain('required_version = ">= 1.10"');
    expect(source).toContain('version = ">= 5.100.0, < 7.0.0"');
  });

  it('attaches no managed policy (CKV_AWS_274, CKV2_AWS_56) and has no function URL (CKV_AWS_258, CKV2_AWS_75)', () => {
    const kinds = matches(source, /^resource "(\w+)"/gm);
    expect(kinds).toContain('aws_lambda_function');
    expect(kinds.filter((kind) => /policy_attachment|managed_policy|function_url/.test(kind))).toEqual([]);
    expect(source).not.toContain('managed_policy_arns');
  });

  it('reads from the account only its identity and a hosted zone, and takes credentials and endpoints from the environment', () => {
    expect(matches(source, /^data "(\w+)"/gm)).toEqual([
      'aws_route53_zone',
      'aws_caller_identity',
      'aws_partition',
      'aws_region',
    ]);
    expect(source).not.toMatch(
      /endpoints\s*\{|access_key|secret_key|profile\s*=|skip_\w+\s*=|allowed_account_ids/,
    );
    expect(source).not.toMatch(/\b\d{12}\b/);
  });

  it('describes every variable and output', () => {
    const blocks = [...source.matchAll(/^(?:variable|output) "(\w+)" \{\n(?: {2}.*\n|\n)*\}/gm)];
    expect(blocks).toHaveLength(matches(source, /^(variable|output) /gm).length);
    const description = /^ {2}description\s+= (?:"[^"]{20,}|<<-EOT)/m;
    expect(blocks.filter(([block]) => !description.test(block)).map(([, name]) => name)).toEqual([]);
  });
});

describe('the form', () => {
  it('takes every setting that a stage may have', () => {
    const required = {
      issuer: 'https://issuer.example.com',
      clientId: 'client',
      apiUrl: 'https://api.example.com',
    };
    const config = { ...required, ...form, answersFrom: inbox.from };
    expect(parseConfig(config)).toMatchObject(config);
    expect(
      matches(source, /^ {4}form = optional\(object\(\{\n(.*?)^ {4}\}/gms).flatMap((type) =>
        matches(type, /^ {6}(\w+)/gm),
      ),
    ).toEqual(Object.keys(form));
  });

  it('has the languages that a stage may offer', () => {
    const [codes = ''] = matches(source, /^ {2}languages = \[(.*)\]$/gm);
    expect(matches(codes, /"(\w+)"/g).toSorted()).toEqual(languages.toSorted());
  });

  it('has the same policy in its page, in the headers of CloudFront and in web/README.md', () => {
    const [directives = ''] = matches(
      source,
      /^ +content_security_policy = join\("; ", \[\n(.*?)\n +\]\)$/gms,
    );
    const readme = readText('web/README.md');
    // What differs between stages, and the hashes.
    const normalise = (policy: string) =>
      policy
        .replaceAll(/'(FIRST_PAINT_\w+|<hash of [^>]+>)'|\$\{local\.first_paint\.\w+\}/g, 'HASH')
        .replace(/connect-src [^;]*/, 'connect-src …');
    const header = normalise(matches(directives, /"((?:\$\{.*?\}|[^"$])+)"/g).join('; '));
    expect(normalise(matches(readme, /^Content-Security-Policy: (.*)$/gm).join())).toBe(header);
    const page = matches(
      readText('web/index.html'),
      /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/g,
    );
    expect(normalise(page.join())).toBe(header.replace("frame-ancestors 'none'; ", ''));
    expect(header).toContain("script-src 'self' HASH; style-src 'self' HASH;");
    for (const line of [
      'Referrer-Policy: no-referrer',
      'Strict-Transport-Security: max-age=31536000',
      'Access-Control-Allow-Origin: *',
    ])
      expect(readme).toContain(`\n${line}\n`);
  });
});

describe('versions.tf', () => {
  const versions = readText('infra/terraform/versions.tf');

  it('has the state encrypted and locked in S3, under the key that deployed stages have', () => {
    const [backend = ''] = matches(versions, /backend "s3" \{\n(.*?)^ {2}\}/gms);
    expect(backend).toMatch(/^\s+key\s+= "inquiries\/terraform\.tfstate"$/m);
    expect(backend).toMatch(/^\s+encrypt\s+= true$/m);
    expect(backend).toMatch(/^\s+use_lockfile = true$/m);
  });

  it('gives every resource the tags of its stage', () => {
    const providers = matches(versions, /^provider "aws" \{\n(.*?)^\}/gms);
    expect(providers.length).toBeGreaterThan(0);
    for (const provider of providers) expect(provider).toMatch(/default_tags \{\s+tags = local\.tags\s+\}/);
  });
});

it('guard.tf lists every resource that no other depends on, so that terraform destroy begins with the guard', () => {
  const resources = [...source.matchAll(/^resource "(\w+)" "(\w+)"/gm)].map(
    ([, type, name]) => `${type}.${name}`,
  );
  const [guard = ''] = matches(readText('infra/terraform/guard.tf'), /depends_on = \[\n(.*?)\]/gs);
  const others = source
    .replace(guard, '')
    .replaceAll(/^output "\w+" \{\n(?: {2}.*\n|\n)*\}/gm, '')
    .replaceAll(/#.*/g, '');
  const last = resources.filter((resource) => !new RegExp(`\\b${resource}\\b`).test(others));
  expect(last).toContain('terraform_data.guard');
  expect(matches(guard, /^ +(.*),$/gm)).toEqual(
    expect.arrayContaining(last.filter((name) => name !== 'terraform_data.guard')),
  );
});

it('docs/runbook.md explains every alarm, under its own name', () => {
  const alarms = [
    ...matches(source, /^ {4}([a-z0-9-]+) = \{\n {6}description = /gm),
    ...matches(source, /^ {2}alarm_name\s+= "\$\{local\.name\}-([a-z-]+)"$/gm),
  ];
  expect(alarms.length).toBeGreaterThan(5);
  expect(matches(readText('docs/runbook.md'), /^### `?([a-z0-9-]+)`?$/gm)).toEqual(alarms);
});

it('docs/security-policies.md lists the policies that tests cite as held, and gives reasons for all others', () => {
  const policies = /\b(?:CKV2?_AWS_\d+|AVD-AWS-\d{4})\b/g;
  const tests = globSync(['infra/terraform/tests/*.tftest.hcl', 'tests/infra/module.test.ts'], {
    cwd: ROOT,
  });
  const cited = new Set(tests.flatMap((file) => readText(file).match(policies) ?? []));
  const rows = [
    ...readText('docs/security-policies.md').matchAll(/^\| ([^|]+) \| (held|skipped) \| ([^|]+) \|/gm),
  ];
  const listed = (wanted: string) =>
    rows.flatMap(([, ids, verdict]) => (verdict === wanted ? (ids?.match(policies) ?? []) : []));
  expect(listed('held').toSorted()).toEqual([...cited].toSorted());
  expect(listed('skipped').filter((id) => cited.has(id))).toEqual([]);
  expect(listed('held').length + listed('skipped').length).toBeGreaterThanOrEqual(30);
  expect(rows.filter(([, , , reason = '']) => reason.length < 30)).toEqual([]);
});
