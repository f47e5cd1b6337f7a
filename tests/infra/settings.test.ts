/** The settings of a stage, planned without a provider. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { terraformEnv, terraformUnavailableReason } from '../../deploy/terraform.ts';
import { run } from '../../lib/terminal/run.ts';
import { MODULE, ROOT } from '../../lib/paths.ts';
import { STAGES } from '../../lib/aws/stages.ts';
import { MAXIMA } from '../../src/config.ts';
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
const withReplies = (domain: string, ...from: string[]) => ({
  inbox: { ...inbox, replies: { domain, from } },
});
/** Settings of develop that are refused, many in one plan. */
const REFUSED: Record<string, object> = {
  'an issuer by http, and no client ids': {
    issuer: 'http://a.example.com',
    audience: [],
    cors_origin: 'https://*.example.com',
    inbox: { ...inbox, to: 'nobody', identity: 'xample.com' },
    warm_throughput: 4_000,
    throttling: { rate_limit: 0, burst_limit: 1 },
    alarm_email: 'nobody',
    alarm_topic_arns: ['arn:aws:sqs:eu-central-1:111122223333:queue'],
  },
  'an issuer with a query, and a blank client id': {
    issuer: 'https://a.example.com/?a=b',
    audience: ['client', ' '],
    cors_origin: 'https://www.example.com/',
    inbox: { ...inbox, to: 'team@EXAMPLE.com', identity: '' },
    warm_throughput: 4_000.5,
    throttling: { rate_limit: 1, burst_limit: 0 },
  },
  'an empty issuer, and more requests than a new table takes': {
    issuer: '',
    cors_origin: 'https://WWW.example.com',
    inbox: { ...inbox, to: 'team@example.com\n', identity: 'other@mail.example.com' },
    throttling: { rate_limit: 4_001, burst_limit: 1 },
  },
  'more requests than the index takes': {
    warm_throughput: 40_000,
    throttling: { rate_limit: 16_001, burst_limit: 1 },
  },
  'two origins, and a quoted address': {
    cors_origin: 'https://a.b,https://b.c',
    inbox: { ...inbox, to: '"the team"@example.com' },
  },
  'a sender with a name': { inbox: { ...inbox, from: 'Team <team@mail.example.com>' } },
  'a domain for answers in capitals': withReplies('Reply.example.com', '@example.com'),
  'a domain without @ that may answer': withReplies('reply.example.com', 'example.com'),
  'nobody who may answer': withReplies('reply.example.com'),
  'the domain of the team for answers': withReplies('example.org', '@example.com'),
  'the domain of the sender for answers': withReplies('mail.example.com', '@example.com'),
  'numbers above their maxima': numbers((maximum) => maximum + 1),
  'numbers that are 0': numbers(() => 0),
  'numbers that are not whole': numbers(() => 1.5),
  'an issuer without client ids, and no topic of us-east-1': {
    issuer: own.issuer,
    health_checks: true,
    alarm_topic_arns: ['arn:aws:sns:eu-central-1:111122223333:pager'],
  },
  'an address that Cognito does not return to': { cors_origin: 'http://www.example.com' },
  'sign-up with an issuer, and a form that is not served': {
    ...own,
    form: {},
    sign_up: false,
    domain: { name: 'https://a.b' },
  },
  'an authenticator app with an issuer': { ...own, totp: true },
  'a certificate of another region, and an unknown state of DNS': {
    ...own,
    site_domain: { ...site_domain, certificate_arn },
    domain: { name: 'a.example.com', dns: 'some' },
  },
  'one name for API and form': {
    domain: { ...site_domain, certificate_arn, dns: 'none' },
    site_domain,
  },
  'domains of a form that is not served and of an inbox without a team, outside the zone': {
    ...own,
    site: false,
    inbox_domain: { name: 'inbox.example.org' },
    hosted_zone: 'example.com',
    site_domain: { name: 'badexample.com', dns: 'all' },
  },
};
const REFUSED_VARIABLES: Record<string, readonly [variables: object, workspace?: string]> = {
  // Only the selected stage's rules are checked.
  'a stage that does not exist, and a name with a stage in it': [
    { stages: { develop: own, main: { audience: [] }, Release: own }, name: 'foo-main' },
  ],
  'a workspace without settings': [{ stages: { main: own } }],
  'a workspace that is no stage': [{ stages: {} }, 'default'],
  // Both are warnings.
  'a release without a retention and a notice': [{ stages: { release: {} } }, 'release'],
};

describe(
  'settings of a stage, which only Terraform checks',
  unless(await terraformUnavailableReason()),
  () => {
    const copy = createFolder(afterAll);
    const folder = join(copy, 'infra/terraform');
    beforeAll(() => {
      for (const file of ['variables.tf', 'stages.tf', 'service.json', 'settings.tf']) {
        cpSync(join(MODULE, file), join(folder, file));
      }
      for (const file of ['src/maxima.json', 'text/languages.json']) {
        cpSync(join(ROOT, file), join(copy, file));
      }
    });

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

    const ACCEPTED: Record<string, object> = {
      'an API alone': { ...own, site: false, cors_origin: 'http://[::1]:5173' },
      'the greatest numbers': {
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
      'the least numbers': {
        ...numbers(() => 1),
        cors_origin: 'http://localhost:5173',
        sign_up: false,
        totp: true,
        site_domain: { ...site_domain, dns: 'certificate' },
      },
      'mail of a parent domain': { inbox: { ...inbox, identity: 'example.com' } },
      'answers by mail': withReplies('reply.example.com', '@example.com'),
    };
    it.each(Object.entries(ACCEPTED))('accepts %s', async (_, settings) => {
      expect(await refuse(settings)).toEqual([]);
    });

    const stories = [
      ...Object.entries(REFUSED).map(
        ([title, develop]) => [title, { stages: { develop } }, 'develop'] as const,
      ),
      ...Object.entries(REFUSED_VARIABLES).map(
        ([title, [variables, workspace = 'develop']]) => [title, variables, workspace] as const,
      ),
    ];
    it.each(stories)('refuses %s', async (_, variables, workspace) => {
      const messages = await refusals(variables, workspace);
      expect(messages).not.toEqual([]);
      expect([JSON.stringify(variables), ...messages].join('\n')).toMatchSnapshot();
    });

    it.each(STAGES)('accepts the example file in the workspace %s', async (stage) => {
      expect(await plan(stage, EXAMPLE)).toEqual([]);
    });

    it('has an example whose copy terraform fmt leaves as it is', async () => {
      cpSync(EXAMPLE, join(folder, 'example.tfvars'));
      const { code, output } = await run('terraform', ['fmt', '-check', '-diff'], { cwd: folder });
      expect(code, `the output was: ${output}`).toBe(0);
    });
  },
);
