/** The settings of a stage: plans of variables.tf, stages.tf and settings.tf only, which need no provider. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { MODULE } from '../../lib/paths.ts';
import { STAGES } from '../../lib/stages.ts';
import { MAXIMA } from '../../src/limits.ts';
import { LANGUAGES } from '../../src/languages.ts';
import { readText } from '../helpers/repository.ts';

const hasTerraform = (await terraformUnavailableReason()) === undefined;
const inbox = { to: 'team@example.org', from: 'inquiries@mail.example.com' };
const own = {
  issuer: 'https://issuer.example.com',
  audience: ['client'],
  cors_origin: 'https://www.example.com',
};
const certificate_arn = 'arn:aws:acm:eu-central-1:111122223333:certificate/1';

describe.skipIf(!hasTerraform)(
  'settings of a stage (skipped without terraform on the PATH)',
  { timeout: 60_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'infra-settings-'));
    beforeAll(() => {
      for (const file of [
        'variables.tf',
        'stages.tf',
        'service.json',
        'settings.tf',
        'stages.auto.tfvars.example',
      ]) {
        copyFileSync(join(MODULE, file), join(folder, file));
      }
    });
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    async function plan(workspace: string, variablesFile: string): Promise<string[]> {
      const args = ['plan', '-json', '-lock=false', `-var-file=${variablesFile}`];
      const env = terraformEnv({ TF_WORKSPACE: workspace });
      const { stdout } = await run('terraform', args, { cwd: folder, env });
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { diagnostic?: { detail: string } });
      expect(lines[0]).toMatchObject({ type: 'version' });
      return lines.flatMap(
        ({ diagnostic }) => diagnostic?.detail.split('\n\n')[0]?.split('\n') ?? [],
      );
    }

    /** The error messages of a plan with these variables. */
    async function refusals(variables: object, workspace = 'develop'): Promise<string[]> {
      const file = `${crypto.randomUUID()}.tfvars.json`;
      writeFileSync(join(folder, file), JSON.stringify(variables));
      return plan(workspace, file);
    }
    const refuse = (develop: object) => refusals({ stages: { develop } });

    it.each<object>([
      {},
      {
        ...own,
        issuer: 'https://tenant.example.com/',
        cors_origin: 'http://[::1]:5173',
        site: false,
      },
      {
        issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab',
        audience: ['a', 'b'],
        form: { name: 'Example' },
        pitr_days: 1,
        retention_days: 1,
        inquiries_per_hour: 1,
        inbox: { ...inbox, language: 'ar' },
        domain: { name: 'api.example.com' },
        site_domain: { name: 'www.example.com', dns: 'certificate' },
      },
      {
        ...own,
        site: true,
        form: {},
        throttling: { rate_limit: 4_000, burst_limit: 8_000 },
        reserved_concurrency: 0,
        warm_throughput: 4_001,
        pitr_days: 35,
        retention_days: MAXIMA.RETENTION_DAYS,
        inquiries_per_hour: MAXIMA.INQUIRIES_PER_HOUR,
        inbox: {
          ...inbox,
          mails_per_hour: MAXIMA.MAILS_PER_HOUR,
          total_mails_per_hour: MAXIMA.TOTAL_MAILS_PER_HOUR,
          answer_within: MAXIMA.ANSWER_WITHIN,
          parallelization_factor: 10,
          identity: inbox.from,
        },
        hosted_zone: 'example.com',
        domain: { name: 'api.example.com' },
        site_domain: { name: 'example.com' },
      },
      {
        ...own,
        site_domain: { name: 'www.example.com' },
        form: {},
        inbox: { ...inbox, identity: 'example.com' },
      },
      {
        cors_origin: 'http://localhost:5173',
        inquiries_per_hour: null,
        inbox: { ...inbox, identity: 'mail.example.com', pool_mail: false },
        sign_up: false,
        totp: true,
        tracing: false,
        probe: true,
      },
    ])('accepts %j', async (settings) => {
      expect(await refuse(settings)).toEqual([]);
    });

    /** Values of a setting that break a rule, and how its message begins, if not with the setting's name. */
    const invalid: [setting: string, values: readonly unknown[], rule?: string][] = [
      [
        'issuer',
        ['http://a.example.com', 'https://a.example.com/?a=b', 'https://a.example.com/#a'],
        'issuer must',
      ],
      ['audience', [[], ['client', ' ']]],
      [
        'cors_origin',
        ['*', 'https://*.example.com', 'https://www.example.com/', 'https://www.example.com\n'],
      ],
      ['cors_origin', ['https://WWW.example.com', 'www.example.com', 'https://a.b,https://b.c']],
      ['log_retention_days', [31]],
      [
        'throttling',
        [
          { rate_limit: 0, burst_limit: 1 },
          { rate_limit: 1, burst_limit: 0 },
        ],
      ],
      [
        'throttling',
        [{ rate_limit: 4_001, burst_limit: 1 }],
        'throttling.rate_limit must be at most 4000',
      ],
      ['reserved_concurrency', [-1]],
      ['warm_throughput', [4_000, 40_000.5]],
      ['alarm_email', ['nobody']],
      ['alarm_topic_arns', [['arn:aws:sqs:eu-central-1:111122223333:queue']]],
      ['table_kms_key_arn', ['alias/mine']],
      ['pitr_days', [0, 36, 1.5]],
      ['retention_days', [0, MAXIMA.RETENTION_DAYS + 1, 0.5]],
      ['inquiries_per_hour', [0, MAXIMA.INQUIRIES_PER_HOUR + 1, -1, 1.5]],
      [
        'inbox.to',
        [
          'nobody',
          'team@EXAMPLE.com',
          'team@localhost',
          'team@example.com\n',
          '"the team"@example.com',
        ],
      ],
      ['inbox.from', ['Team <team@mail.example.com>', 'a@example.com, b@example.com'], 'inbox.to'],
      [
        'inbox.identity',
        ['example.org', 'xample.com', '', 'il.example.com', 'other@mail.example.com'],
      ],
      ['inbox.language', ['EN', '']],
      ['inbox.mails_per_hour', [0, MAXIMA.MAILS_PER_HOUR + 1, 2.5]],
      ['inbox.total_mails_per_hour', [0, MAXIMA.TOTAL_MAILS_PER_HOUR + 1]],
      ['inbox.answer_within', [MAXIMA.ANSWER_WITHIN + 1]],
      ['inbox.parallelization_factor', [11]],
    ];
    /** Few plans: of each setting and rule, one value in each. */
    const plans: {
      readonly settings: Record<string, unknown>;
      readonly rules: Map<string, string>;
    }[] = [];
    for (const [setting, values, rule = setting] of invalid) {
      const [name = '', part] = setting.split('.');
      for (const value of values) {
        let free = plans.find(
          ({ rules }) => !rules.has(setting) && ![...rules.values()].includes(rule),
        );
        if (free === undefined) plans.push((free = { settings: { ...own }, rules: new Map() }));
        const { settings, rules } = free;
        settings[name] =
          part === undefined ? value : { ...inbox, ...Object(settings[name]), [part]: value };
        rules.set(setting, rule);
      }
    }
    const name = 'www.example.com';
    it.each<[object, string[]]>([
      ...plans.map(({ settings, rules }): [object, string[]] => [
        settings,
        Array.from(rules.values()),
      ]),
      [{ issuer: own.issuer }, ['issuer and audience']],
      [{ cors_origin: 'http://www.example.com' }, ['cors_origin with the stage']],
      [
        { alarm_topic_arns: ['arn:aws:sns:eu-central-1:111122223333:pager'] },
        ['alarm_topic_arns needs a topic of us-east-1'],
      ],
      [{ audience: ['client'], site: false }, ['issuer and audience', 'site = false']],
      [{ ...own, form: {}, sign_up: false }, ['form needs', 'sign_up and totp']],
      [
        { ...own, domain: { name: 'https://a.b', certificate_arn } },
        ['domain and site_domain need'],
      ],
      [{ domain: { name, certificate_arn: 'mine' } }, ['domain and site_domain need']],
      [{ site_domain: { name: 'API.example.com' } }, ['domain and site_domain need']],
      [
        { ...own, site: true, site_domain: { name, certificate_arn } },
        ['site_domain.certificate_arn'],
      ],
      [{ domain: { name, dns: 'some' } }, ['dns']],
      [
        { domain: { name, certificate_arn, dns: 'none' }, site_domain: { name } },
        ['dns', 'domain and site_domain must be two names'],
      ],
      [
        {
          ...own,
          site: false,
          hosted_zone: 'example.com',
          domain: { name: 'api.example.org' },
          site_domain: { name: 'badexample.com', dns: 'all' },
        },
        ['site = false', 'dns', 'domain and site_domain must be in the hosted_zone'],
      ],
    ])('refuses %j: %j', async (settings, rules) => {
      const expected = rules
        .toSorted()
        .map((rule): unknown => expect.stringMatching(`^Stage develop: ${rule}.*\\.$`));
      expect((await refuse(settings)).toSorted()).toEqual(expected);
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

    // guard.tf alone: its provisioner is the same, and terraform_data needs no provider.
    it.each([true, false])(
      'destroys a stage with deletion protection %s only without it',
      async (isProtected) => {
        const guarded = mkdtempSync(join(tmpdir(), 'infra-guard-'));
        const guard = readText('infra/terraform/guard.tf').replace(/depends_on = \[.*?\]/s, '');
        const locals = { stage: 'main', deletion_protection_enabled: isProtected };
        writeFileSync(join(guarded, 'guard.tf'), guard);
        writeFileSync(join(guarded, 'locals.tf.json'), JSON.stringify({ locals }));
        const terraform = async (command: string) =>
          run('terraform', [command, '-auto-approve', '-no-color'], {
            cwd: guarded,
            env: terraformEnv({ TF_WORKSPACE: undefined }),
          });
        expect((await terraform('apply')).code).toBe(0);
        const { code, output } = await terraform('destroy');
        const isStopped = output.includes('local-exec provisioner error');
        expect([code, isStopped]).toEqual(isProtected ? [1, true] : [0, false]);
        rmSync(guarded, { recursive: true });
      },
    );

    it('names the languages of the form', async () => {
      const [message] = await refuse({ inbox: { ...inbox, language: 'it' } });
      const [, list = ''] = /must be one of (.*)\.$/.exec(message ?? '') ?? [];
      expect(list.split(', ').toSorted()).toEqual(LANGUAGES.toSorted());
    });

    it('refuses a name with that of a stage', async () => {
      expect(await refusals({ stages: { develop: own }, name: 'foo-main' })).toEqual([
        expect.stringMatching(/^A name is 2 to 19 .* not "foo-main"\.$/),
      ]);
    });

    it.each(STAGES)('accepts the example file in the workspace %s', async (stage) => {
      expect(await plan(stage, 'stages.auto.tfvars.example')).toEqual([]);
    });
  },
);
