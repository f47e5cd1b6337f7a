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
const most = {
  retention_days: MAXIMA.RETENTION_DAYS,
  inquiries_per_hour: MAXIMA.INQUIRIES_PER_HOUR,
  pitr_days: 35,
  log_retention_days: 3_653,
};
const mostMail = {
  mails_per_hour: MAXIMA.MAILS_PER_HOUR,
  total_mails_per_hour: MAXIMA.TOTAL_MAILS_PER_HOUR,
  answer_within: MAXIMA.ANSWER_WITHIN,
  parallelization_factor: 10,
};
const mapValues = (values: Record<string, number>, change: (value: number) => number) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
const numbers = [...Object.keys(most), ...Object.keys(mostMail).map((key) => `inbox.${key}`)];

describe.skipIf(!hasTerraform)(
  'settings of a stage (skipped without terraform on the PATH)',
  { timeout: 60_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'infra-settings-'));
    beforeAll(() => {
      for (const name of ['variables.tf', 'stages.tf', 'service.json', 'settings.tf']) {
        copyFileSync(join(MODULE, name), join(folder, name));
      }
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    const terraform = (workspace: string | undefined, cwd: string, ...args: string[]) =>
      run('terraform', args, { cwd, env: terraformEnv({ TF_WORKSPACE: workspace }) });
    /** The error messages of a plan. */
    async function plan(workspace: string, file: string): Promise<string[]> {
      const { stdout } = await terraform(
        workspace,
        folder,
        'plan',
        '-json',
        '-lock=false',
        `-var-file=${file}`,
      );
      const lines = stdout.trim().split('\n');
      expect(lines[0]).toContain('"type":"version"');
      return lines.flatMap((line) => {
        const { diagnostic } = JSON.parse(line) as { diagnostic?: { detail: string } };
        return diagnostic?.detail.split('\n\n')[0]?.split('\n') ?? [];
      });
    }
    async function refusals(variables: object, workspace = 'develop'): Promise<string[]> {
      const file = `${crypto.randomUUID()}.tfvars.json`;
      writeFileSync(join(folder, file), JSON.stringify(variables));
      return plan(workspace, file);
    }
    const refuse = (develop: object) => refusals({ stages: { develop } });

    it.each<object>([
      { ...own, site: false, cors_origin: 'http://[::1]:5173' },
      {
        ...own,
        ...most,
        site: true,
        form: {},
        throttling: { rate_limit: 4_000, burst_limit: 8_000 },
        warm_throughput: 4_001,
        inbox: { ...inbox, ...mostMail, identity: inbox.from },
        hosted_zone: 'example.com',
        domain: { name: 'api.example.com' },
        site_domain: { name: 'example.com' },
      },
      {
        ...mapValues(most, () => 1),
        cors_origin: 'http://localhost:5173',
        sign_up: false,
        totp: true,
        inbox: { ...inbox, ...mapValues(mostMail, () => 1), identity: 'example.com' },
        site_domain: { name: 'www.example.com', dns: 'certificate' },
      },
    ])('accepts %j', async (settings) => {
      expect(await refuse(settings)).toEqual([]);
    });

    /** A row for each value of a setting, in place of the valid one. */
    const rows = (setting: string, values: unknown[], rule = setting) =>
      values.map((value): [object, string[]] => {
        const [, part] = /^inbox\.(.*)$/.exec(setting) ?? [];
        const settings =
          part === undefined ? { [setting]: value } : { inbox: { ...inbox, [part]: value } };
        return [{ ...own, ...settings }, [rule]];
      });
    const name = 'www.example.com';
    const over = (value: number) => value + 1;
    it.each<[settings: object, rules: string[]]>([
      [
        { ...own, ...mapValues(most, over), inbox: { ...inbox, ...mapValues(mostMail, over) } },
        numbers,
      ],
      [
        {
          ...own,
          ...mapValues(most, () => 0),
          inbox: { ...inbox, ...mapValues(mostMail, () => 1.5) },
        },
        numbers,
      ],
      ...rows('issuer', ['http://a.example.com', 'https://a.example.com/?a=b', ''], 'issuer must'),
      ...rows('cors_origin', [
        'https://*.example.com',
        'https://www.example.com/',
        'https://WWW.example.com',
        'https://a.b,https://b.c',
      ]),
      ...rows('inbox.to', [
        'nobody',
        'team@EXAMPLE.com',
        'team@example.com\n',
        '"the team"@example.com',
      ]),
      ...rows('inbox.from', ['Team <team@mail.example.com>'], 'inbox.to and from'),
      ...rows('inbox.identity', ['xample.com', '', 'other@mail.example.com']),
      ...rows('audience', [[], ['client', ' ']]),
      ...rows('warm_throughput', [4_000, 4_000.5]),
      ...rows(
        'throttling',
        [
          { rate_limit: 0, burst_limit: 1 },
          { rate_limit: 1, burst_limit: 0 },
        ],
        'throttling must',
      ),
      ...rows(
        'throttling',
        [{ rate_limit: 4_001, burst_limit: 1 }],
        'throttling.rate_limit must be at most 4000',
      ),
      ...rows('alarm_email', ['nobody']),
      ...rows('alarm_topic_arns', [['arn:aws:sqs:eu-central-1:111122223333:queue']]),
      [
        { issuer: own.issuer, alarm_topic_arns: ['arn:aws:sns:eu-central-1:111122223333:pager'] },
        ['alarm_topic_arns needs a topic of us-east-1', 'audience'],
      ],
      [{ cors_origin: 'http://www.example.com' }, ['cors_origin with the stage']],
      [
        { ...own, form: {}, sign_up: false, domain: { name: 'https://a.b' } },
        ['domain and site_domain must be host names', 'form needs', 'sign_up and totp'],
      ],
      [
        {
          ...own,
          site_domain: { name, certificate_arn },
          domain: { name: 'a.example.com', dns: 'some' },
        },
        ['dns', 'site_domain.certificate_arn'],
      ],
      [
        { domain: { name, certificate_arn, dns: 'none' }, site_domain: { name } },
        ['dns', 'domain and site_domain must be two names'],
      ],
      [
        {
          ...own,
          site: false,
          hosted_zone: 'example.com',
          site_domain: { name: 'badexample.com', dns: 'all' },
        },
        ['dns', 'domain and site_domain must be in the hosted_zone', 'site = false'],
      ],
    ])('refuses %j: %j', async (settings, rules) => {
      const expected = rules
        .toSorted()
        .map((rule): unknown => expect.stringMatching(`^Stage develop: ${rule}.*\\.$`));
      expect((await refuse(settings)).toSorted()).toEqual(expected);
    });

    it('checks the selected stage only, which has settings, and the name', async () => {
      const stages = { develop: own, main: { audience: [] }, Release: own };
      const [problem, ...others] = (await refusals({ stages, name: 'foo-main' })).toSorted();
      expect(problem).toMatch(/^A name is 2 to 19 .* not "foo-main"\.$/);
      expect(others).toEqual([
        'Stages are develop, main and release; remove from stages: Release.',
      ]);
      expect(await refusals({ stages: { main: own } })).toEqual([
        expect.stringContaining('Stage "develop" has no settings'),
      ]);
      expect(await refusals({ stages: {} }, 'default')).toEqual([
        expect.stringContaining('Workspace "default" is not a stage'),
      ]);
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
        const ended = async (command: string) =>
          (await terraform(undefined, guarded, command, '-auto-approve', '-no-color')).output;
        expect(await ended('apply')).toContain('Apply complete');
        expect(await ended('destroy')).toContain(
          isProtected ? 'local-exec provisioner error' : 'Destroy complete',
        );
        rmSync(guarded, { recursive: true });
      },
    );

    it('names the languages of the form', async () => {
      const [message] = await refuse({ inbox: { ...inbox, language: 'it' } });
      const [, list = ''] = /must be one of (.*)\.$/.exec(message ?? '') ?? [];
      expect(list.split(', ').toSorted()).toEqual(LANGUAGES.toSorted());
    });

    it.each(STAGES)('accepts the example file in the workspace %s', async (stage) => {
      expect(await plan(stage, join(MODULE, 'stages.auto.tfvars.example'))).toEqual([]);
    });
  },
);
