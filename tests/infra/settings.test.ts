/** The settings of a stage: plans of variables.tf, stages.tf and settings.tf only, which need no provider. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { MODULE } from '../../lib/paths.ts';
import { STAGES } from '../../lib/stages.ts';
import { MAXIMA } from '../../src/limits.ts';
import { parseConfig } from '../../web/src/config.ts';
import { languages } from '../../web/src/locale.ts';
import { readText } from '../helpers/repository.ts';

const hasTerraform = (await terraformUnavailableReason()) === undefined;
const inbox = { to: 'team@example.org', from: 'inquiries@mail.example.com' };
const own = {
  issuer: 'https://issuer.example.com',
  audience: ['client'],
  cors_origin: 'https://www.example.com',
};
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
const certificate_arn = 'arn:aws:acm:eu-central-1:111122223333:certificate/1';
const codes = 'en, de, fr, es, ja, ar';

const RULES = {
  issuer: 'issuer must be an https URL without query or fragment',
  pair: 'issuer and audience belong together; leave out both for a user pool of the stage',
  audience: 'audience must have at least one client id, none of them blank',
  origin:
    'cors_origin must be one origin as browsers send it: scheme://host[:port] in lower case, no *, path or trailing slash',
  site: 'site = false needs the cors_origin of the page that calls the API, and no site_domain',
  logs: 'log_retention_days must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653',
  throttling: 'throttling.rate_limit and burst_limit must be at least 1, since 0 answers every call with 429',
  concurrency: 'reserved_concurrency must not be negative',
  alarm: 'alarm_email must be an e-mail address',
  kms: 'table_kms_key_arn must be the ARN of a KMS key',
  pitr: 'pitr_days must be a whole number from 1 to 35',
  retention: `retention_days must be a whole number from 1 to ${MAXIMA.RETENTION_DAYS}`,
  limit: `inquiries_per_hour must be a whole number from 1 to ${MAXIMA.INQUIRIES_PER_HOUR}`,
  mails: `inbox.mails_per_hour must be a whole number from 1 to ${MAXIMA.MAILS_PER_HOUR}`,
  addresses:
    'inbox.to and from must be plain e-mail addresses, without names and with their domains in lower case',
  identity: 'inbox.identity must be the address in from, or its domain or a parent of that',
  language: `inbox.language must be one of ${codes}`,
  form: 'form needs a form: leave it out with a cors_origin, or set site = true',
  accent: 'form.accent must be a colour as #rrggbb',
  links: 'form.home, privacy and imprint must be https addresses',
  logo: 'form.logo must be the name of an SVG, PNG, JPEG or WebP file in web/public',
  topics: 'form.topics must be at most 12',
  languages: `form.languages must be at least one of ${codes}, each once`,
  texts: `form.introduction, expectation and topics must be texts by language (${codes}), none of them empty`,
  name: 'form.name must not be empty',
  domain:
    'domain and site_domain need a host name in lower case, and as certificate_arn the ARN of an ACM certificate',
  region:
    'site_domain.certificate_arn must be in us-east-1, the only region from which CloudFront takes certificates',
  dns: 'dns must be "none", "certificate" or "all", not "none" with certificate_arn, and not set with hosted_zone',
  zone: 'domain and site_domain must be in the hosted_zone',
  names: 'domain and site_domain must be two names',
};
type Rule = keyof typeof RULES;

describe.skipIf(!hasTerraform)(
  'settings of a stage (skipped without terraform on the PATH)',
  { timeout: 60_000 },
  () => {
    const root = mkdtempSync(join(tmpdir(), 'infra-settings-'));
    const folder = join(root, 'infra/terraform');
    beforeAll(() => {
      for (const path of [folder, join(root, 'web/public')]) mkdirSync(path, { recursive: true });
      for (const logo of ['logo.svg', 'logo.gif']) writeFileSync(join(root, 'web/public', logo), '');
      for (const file of ['variables.tf', 'stages.tf', 'settings.tf', 'stages.auto.tfvars.example'])
        copyFileSync(join(MODULE, file), join(folder, file));
    });
    afterAll(() => {
      rmSync(root, { recursive: true, force: true });
    });

    async function plan(workspace: string, variablesFile: string): Promise<string[]> {
      const packages = ['package_file', 'mailer_package_file'].map((name) => `-var=${name}=variables.tf`);
      const args = ['plan', '-json', '-lock=false', ...packages, `-var-file=${variablesFile}`];
      const env = terraformEnv({ TF_WORKSPACE: workspace });
      const { stdout } = await run('terraform', args, { cwd: folder, env });
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { diagnostic?: { detail: string } });
      expect(lines[0]).toMatchObject({ type: 'version' });
      return lines.flatMap(({ diagnostic }) => diagnostic?.detail.split('\n\n')[0]?.split('\n') ?? []);
    }

    /** The error messages of a plan with these variables. */
    async function refusals(variables: object, workspace = 'develop'): Promise<string[]> {
      const file = `${crypto.randomUUID()}.tfvars.json`;
      writeFileSync(join(folder, file), JSON.stringify(variables));
      return plan(workspace, file);
    }
    const refuse = (develop: object) => refusals({ stages: { develop } });
    const messages = (rules: readonly Rule[]) =>
      rules.map((rule) => `Stage develop: ${RULES[rule]}.`).toSorted();

    it.each<object>([
      {},
      own,
      { cors_origin: 'http://localhost:5173', pitr_days: 1, retention_days: 1, inquiries_per_hour: 1 },
      { ...own, issuer: 'https://tenant.example.com/', cors_origin: 'http://[::1]:5173', site: false },
      {
        issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab',
        audience: ['a', 'b'],
        form: {},
        inbox: { ...inbox, language: 'ar' },
        domain: { name: 'api.example.com' },
        site_domain: { name: 'www.example.com', dns: 'certificate' },
      },
      {
        ...own,
        site: true,
        form,
        reserved_concurrency: 0,
        pitr_days: 35,
        retention_days: MAXIMA.RETENTION_DAYS,
        inquiries_per_hour: MAXIMA.INQUIRIES_PER_HOUR,
        inbox: { ...inbox, mails_per_hour: MAXIMA.MAILS_PER_HOUR, identity: inbox.from },
        hosted_zone: 'example.com',
        domain: { name: 'api.example.com' },
        site_domain: { name: 'example.com' },
      },
      {
        ...own,
        site_domain: { name: 'www.example.com' },
        form,
        inbox: { ...inbox, identity: 'example.com' },
      },
      { inquiries_per_hour: null, inbox: { ...inbox, identity: 'mail.example.com' } },
    ])('accepts %j', async (settings) => {
      expect(await refuse(settings)).toEqual([]);
    });

    /** Plans with settings of which each breaks one rule. */
    const broken: [object, Rule[]][] = [
      [
        {
          ...own,
          issuer: 'http://a.example.com',
          audience: [],
          cors_origin: '*',
          log_retention_days: 31,
          throttling: { rate_limit: 0, burst_limit: 1 },
          reserved_concurrency: -1,
          alarm_email: 'nobody',
          table_kms_key_arn: 'alias/mine',
          pitr_days: 0,
          retention_days: 0,
          inquiries_per_hour: 0,
          inbox: { ...inbox, to: 'nobody', mails_per_hour: 0, identity: 'example.org', language: 'it' },
          form: {},
          domain: { name: 'https://a.b', certificate_arn },
        },
        [
          ...(['issuer', 'audience', 'origin', 'logs', 'throttling', 'concurrency', 'alarm', 'kms'] as const),
          ...(['pitr', 'retention', 'limit', 'addresses', 'mails', 'identity', 'language'] as const),
          ...(['form', 'domain'] as const),
        ],
      ],
      [
        {
          ...own,
          site: true,
          issuer: 'https://a.example.com/?a=b',
          audience: ['client', ' '],
          cors_origin: 'https://*.example.com',
          throttling: { rate_limit: 1, burst_limit: 0 },
          pitr_days: 36,
          retention_days: 36_501,
          inquiries_per_hour: 1_001,
          inbox: { ...inbox, from: 'Team <team@mail.example.com>', mails_per_hour: 1_001, language: 'EN' },
          site_domain: { name: 'www.example.com', certificate_arn },
          form: {
            accent: '0a6cff',
            home: 'www.example.com',
            logo: 'missing.svg',
            topics: form.topics.concat({ en: 'One more' }),
            languages: [],
            introduction: {},
            name: ' ',
          },
        },
        [
          ...(['issuer', 'audience', 'origin', 'throttling', 'pitr', 'retention', 'limit'] as const),
          ...(['addresses', 'mails', 'language', 'region', 'accent', 'links', 'logo', 'topics'] as const),
          ...(['languages', 'texts', 'name'] as const),
        ],
      ],
      [
        {
          issuer: 'https://a.example.com/#a',
          site: false,
          pitr_days: 1.5,
          retention_days: 0.5,
          inquiries_per_hour: -1,
          inbox: {
            ...inbox,
            to: 'team@EXAMPLE.com',
            mails_per_hour: 2.5,
            identity: 'xample.com',
            language: '',
          },
          domain: { name: 'api.example.com', dns: 'some' },
          form: {
            accent: '#06f',
            privacy: 'http://www.example.com',
            logo: '../public/logo.svg',
            topics: [{ en: 'One' }, { en: ' ' }],
            languages: ['it'],
          },
        },
        [
          ...(['issuer', 'pair', 'site', 'pitr', 'retention', 'limit', 'addresses', 'mails'] as const),
          ...([
            'identity',
            'language',
            'dns',
            'form',
            'accent',
            'links',
            'logo',
            'texts',
            'languages',
          ] as const),
        ],
      ],
      [
        {
          audience: ['client'],
          cors_origin: 'https://www.example.com/',
          site: true,
          inquiries_per_hour: 1.5,
          inbox: { ...inbox, from: 'a@example.com, b@example.com', identity: '' },
          domain: { name: 'www.example.com', certificate_arn, dns: 'none' },
          site_domain: { name: 'www.example.com' },
          form: {
            accent: '#0a6cff\n',
            imprint: 'https://a b',
            logo: 'logo.gif',
            expectation: { it: 'Domani.' },
            languages: ['en', 'en'],
          },
        },
        [
          ...(['pair', 'origin', 'limit', 'addresses', 'identity', 'dns', 'names'] as const),
          ...(['accent', 'links', 'logo', 'texts', 'languages'] as const),
        ],
      ],
      [
        {
          ...own,
          site: false,
          cors_origin: 'https://WWW.example.com',
          inbox: { ...inbox, to: 'team@localhost', identity: 'il.example.com' },
          hosted_zone: 'example.com',
          domain: { name: 'api.example.org' },
          site_domain: { name: 'badexample.com', dns: 'all' },
        },
        ['site', 'origin', 'addresses', 'identity', 'dns', 'zone'],
      ],
      [
        {
          cors_origin: 'www.example.com',
          inbox: { ...inbox, to: 'team@example.com\n', identity: 'other@mail.example.com' },
          domain: { name: 'api.example.com', certificate_arn: 'mine' },
        },
        ['origin', 'addresses', 'identity', 'domain'],
      ],
      [
        {
          cors_origin: 'https://a.example.com,https://b.example.com',
          inbox: { ...inbox, to: '"the team"@example.com' },
          site_domain: { name: 'API.example.com' },
        },
        ['origin', 'addresses', 'domain'],
      ],
      [{ cors_origin: 'https://www.example.com\n' }, ['origin']],
      [{ issuer: own.issuer }, ['pair']],
    ];
    it.each(broken)('refuses %j', async (settings, rules) => {
      expect((await refuse(settings)).toSorted()).toEqual(messages(rules));
    });

    it('has a case here for every rule', () => {
      expect(new Set(broken.flatMap(([, rules]) => rules))).toEqual(new Set(Object.keys(RULES)));
      const written = readText('infra/terraform/settings.tf').match(/^ {6}"[^"]+.*" = /gm) ?? [];
      expect(written.length + 4).toBe(Object.keys(RULES).length);
    });

    it('checks the selected stage only', async () => {
      const stages = { develop: own, main: { audience: [] }, release: { issuer: 'http://x' } };
      expect(await refusals({ stages })).toEqual([]);
    });

    const noSettings =
      'Stage "develop" has no settings: copy stages.auto.tfvars.example to stages.auto.tfvars and fill in its entry.';
    const unknown = (workspace: string) =>
      `Workspace "${workspace}" is not a stage: run "terraform workspace select -or-create develop" (or main, or release).`;
    it.each<[string, object, string[]]>([
      ['develop', {}, [noSettings]],
      ['develop', { main: own }, [noSettings]],
      ['default', { develop: own }, [unknown('default')]],
      [
        'Release',
        { develop: own, Release: own },
        [unknown('Release'), 'Stages are develop, main and release; remove from stages: Release.'],
      ],
    ])('refuses the workspace %s with %j', async (workspace, stages, expected) => {
      expect(await refusals({ stages }, workspace)).toEqual(expected);
    });

    const noPackage = 'There is no nothing.zip: run "npm run build" first.';
    it('refuses other variables', async () => {
      const variables = {
        package_file: 'nothing.zip',
        mailer_package_file: 'nothing.zip',
        runtime: 'nodejs20.x',
      };
      const found = await refusals({ stages: { develop: own }, ...variables, name: 'Inquiries' });
      expect(found.toSorted()).toEqual([
        'A name is 2 to 32 lower-case letters, digits and hyphens and begins with a letter, not "Inquiries".',
        'A runtime is Node.js 22 or later, such as nodejs24.x, not "nodejs20.x".',
        noPackage,
        noPackage,
      ]);
    });

    it.each(STAGES)('accepts the example file in the workspace %s', async (stage) => {
      expect(await plan(stage, 'stages.auto.tfvars.example')).toEqual([]);
    });
  },
);

describe('settings.tf', () => {
  const source = readText('infra/terraform/settings.tf');

  it('has the maxima of src/limits.ts', () => {
    const [, maxima = ''] = /^ {2}maxima = \{\n(.*?)^ {2}\}/ms.exec(source) ?? [];
    const found = [...maxima.matchAll(/(\w+)"?\s+= (\d+)$/gm)].map(([, name = '', maximum]) => [
      name.toUpperCase(),
      Number(maximum),
    ]);
    expect(Object.fromEntries(found)).toEqual({ ...MAXIMA, PITR_DAYS: 35 });
  });

  it('has the languages of the form', () => {
    const [, list = ''] = /^ {2}languages = \[(.*)\]$/m.exec(source) ?? [];
    expect(list.match(/\w+/g)?.toSorted()).toEqual(languages.toSorted());
  });

  it('has rules for a form that the page takes', () => {
    const required = {
      issuer: 'https://issuer.example.com',
      clientId: 'client',
      apiUrl: 'https://api.example.com',
    };
    const config = { ...required, ...form, answersFrom: inbox.from };
    expect(parseConfig(config)).toMatchObject(config);
    const [, type = ''] =
      /^ {4}form = optional\(object\(\{\n(.*?)^ {4}\}/ms.exec(readText('infra/terraform/variables.tf')) ?? [];
    expect([...type.matchAll(/^ {6}(\w+)/gm)].map(([, name]) => name)).toEqual(Object.keys(form));
  });
});
