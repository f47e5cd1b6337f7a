/** The settings of a stage, planned without a provider. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { MODULE } from '../../lib/paths.ts';
import { STAGES } from '../../lib/aws/stages.ts';
import { MAXIMA } from '../../src/limits.ts';
import { LANGUAGES } from '../../text/languages.ts';
import { createFolder } from '../local/data-folder.ts';
import { unless } from '../helpers/needs.ts';

const EXAMPLE = join(MODULE, 'stages.auto.tfvars.example');
const inbox = { to: 'team@example.org', from: 'inquiries@mail.example.com' };
const own = {
  issuer: 'https://issuer.example.com',
  audience: ['client'],
  cors_origin: 'https://www.example.com',
};
const site_domain = { name: 'www.example.com' };
const certificate_arn = 'arn:aws:acm:eu-central-1:111122223333:certificate/1';
/** Settings with every number, made from its maximum. */
function numbers(change: (maximum: number) => number) {
  const of = (maxima: Record<string, number>) =>
    Object.fromEntries(Object.entries(maxima).map(([key, value]) => [key, change(value)]));
  return {
    ...of({
      retention_days: MAXIMA.RETENTION_DAYS,
      inquiries_per_hour: MAXIMA.INQUIRIES_PER_HOUR,
      pitr_days: 35,
      log_retention_days: 3_653,
    }),
    inbox: {
      ...inbox,
      identity: inbox.from,
      ...of({
        mails_per_hour: MAXIMA.MAILS_PER_HOUR,
        total_mails_per_hour: MAXIMA.TOTAL_MAILS_PER_HOUR,
        answer_within: MAXIMA.ANSWER_WITHIN,
        parallelization_factor: 10,
      }),
    },
  };
}
/** Wrong values, many in one plan. */
const WRONG: object[] = [
  {
    issuer: 'http://a.example.com',
    audience: [],
    cors_origin: 'https://*.example.com',
    inbox: { ...inbox, to: 'nobody', identity: 'xample.com' },
    warm_throughput: 4_000,
    throttling: { rate_limit: 0, burst_limit: 1 },
    alarm_email: 'nobody',
    alarm_topic_arns: ['arn:aws:sqs:eu-central-1:111122223333:queue'],
  },
  {
    issuer: 'https://a.example.com/?a=b',
    audience: ['client', ' '],
    cors_origin: 'https://www.example.com/',
    inbox: { ...inbox, to: 'team@EXAMPLE.com', identity: '' },
    warm_throughput: 4_000.5,
    throttling: { rate_limit: 1, burst_limit: 0 },
  },
  {
    issuer: '',
    cors_origin: 'https://WWW.example.com',
    inbox: { ...inbox, to: 'team@example.com\n', identity: 'other@mail.example.com' },
    throttling: { rate_limit: 4_001, burst_limit: 1 },
  },
  { cors_origin: 'https://a.b,https://b.c', inbox: { ...inbox, to: '"the team"@example.com' } },
  { inbox: { ...inbox, from: 'Team <team@mail.example.com>' } },
  ...[
    { domain: 'Reply.example.com', from: ['@example.com'] },
    { domain: 'reply.example.com', from: ['example.com'] },
    { domain: 'reply.example.com', from: [] },
    { domain: 'example.org', from: ['@example.com'] },
    { domain: 'mail.example.com', from: ['@example.com'] },
  ].map((replies) => ({ inbox: { ...inbox, replies } })),
  ...[(maximum: number) => maximum + 1, () => 0, () => 1.5].map(numbers),
  {
    issuer: own.issuer,
    alarm_topic_arns: ['arn:aws:sns:eu-central-1:111122223333:pager'],
  },
  { cors_origin: 'http://www.example.com' },
  { ...own, form: {}, sign_up: false, domain: { name: 'https://a.b' } },
  {
    ...own,
    site_domain: { ...site_domain, certificate_arn },
    domain: { name: 'a.example.com', dns: 'some' },
  },
  { domain: { ...site_domain, certificate_arn, dns: 'none' }, site_domain },
  {
    ...own,
    site: false,
    hosted_zone: 'example.com',
    site_domain: { name: 'badexample.com', dns: 'all' },
  },
];
const REFUSED: readonly (readonly [variables: object, workspace?: string])[] = [
  ...WRONG.map((develop) => [{ stages: { develop } }] as const),
  // Only the selected stage's, and the name.
  [{ stages: { develop: own, main: { audience: [] }, Release: own }, name: 'foo-main' }],
  [{ stages: { main: own } }],
  [{ stages: {} }, 'default'],
];

describe(
  'settings of a stage, which only Terraform checks',
  unless(await terraformUnavailableReason()),
  () => {
    const folder = createFolder(afterAll);
    beforeAll(() => {
      for (const file of ['variables.tf', 'stages.tf', 'service.json', 'settings.tf']) {
        copyFileSync(join(MODULE, file), join(folder, file));
      }
    });

    /** A plan's error messages. */
    async function plan(workspace: string, file: string): Promise<string[]> {
      const args = ['plan', '-json', '-lock=false', `-var-file=${file}`];
      const env = terraformEnv({ TF_WORKSPACE: workspace });
      const { stdout } = await run('terraform', args, { cwd: folder, env });
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines[0]).toMatchObject({ type: 'version' });
      return lines
        .flatMap(
          ({ diagnostic }): string[] => diagnostic?.detail.split('\n\n')[0].split('\n') ?? [],
        )
        .toSorted();
    }
    async function refusals(variables: object, workspace = 'develop') {
      const file = `${crypto.randomUUID()}.tfvars.json`;
      writeFileSync(join(folder, file), JSON.stringify(variables));
      return plan(workspace, file);
    }
    const refuse = (develop: object) => refusals({ stages: { develop } });

    it.each<object>([
      { ...own, site: false, cors_origin: 'http://[::1]:5173' },
      {
        ...own,
        ...numbers((maximum) => maximum),
        site: true,
        form: {},
        throttling: { rate_limit: 4_000, burst_limit: 8_000 },
        warm_throughput: 4_001,
        hosted_zone: 'example.com',
        domain: { name: 'api.example.com' },
        site_domain: { name: 'example.com' },
      },
      {
        ...numbers(() => 1),
        cors_origin: 'http://localhost:5173',
        sign_up: false,
        totp: true,
        site_domain: { ...site_domain, dns: 'certificate' },
      },
      { inbox: { ...inbox, identity: 'example.com' } },
      { inbox: { ...inbox, replies: { domain: 'reply.example.com', from: ['@example.com'] } } },
    ])('accepts %j', async (settings) => {
      expect(await refuse(settings)).toEqual([]);
    });

    it('refuses what AWS or the service would not take, and says what each setting must be', async () => {
      const texts: string[] = [];
      for (const [variables, workspace] of REFUSED) {
        const messages = await refusals(variables, workspace);
        expect(messages).not.toEqual([]);
        texts.push(JSON.stringify(variables), ...messages, '');
      }
      await expect(texts.join('\n')).toMatchFileSnapshot('golden/settings.txt');
    });

    it('names the languages of the form', async () => {
      const [message] = await refuse({ inbox: { ...inbox, language: 'it' } });
      const [, list = ''] = /must be one of (.*)\.$/.exec(message ?? '') ?? [];
      expect(list.split(', ').toSorted()).toEqual(LANGUAGES.toSorted());
    });

    it.each(STAGES)('accepts the example file in the workspace %s', async (stage) => {
      expect(await plan(stage, EXAMPLE)).toEqual([]);
    });

    it('has an example whose copy terraform fmt leaves as it is', async () => {
      copyFileSync(EXAMPLE, join(folder, 'example.tfvars'));
      const { code, output } = await run('terraform', ['fmt', '-check', '-diff'], { cwd: folder });
      expect(code, `the output was: ${output}`).toBe(0);
    });
  },
);
