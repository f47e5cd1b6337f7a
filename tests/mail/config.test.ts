import { expect, it } from 'vitest';
import { parseMailerConfig } from '../../mail/config.ts';
import { parseReceiverConfig } from '../../mail/received/config.ts';
import { expectInTerraformAndDocs } from '../helpers/repository.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';

const ENV = {
  TABLE_NAME: 'inquiries-develop',
  STAGE: 'develop',
  INBOX_TO: 'support@example.com',
  INBOX_FROM: 'inquiries@mail.example.com',
};

it('reads the settings, and has defaults for those that are not required', () => {
  expect(parseMailerConfig(ENV)).toEqual(MAIL_SETTINGS);
  expect(
    parseMailerConfig({
      ...ENV,
      MAIL_LANGUAGE: 'ar',
      MAILS_PER_HOUR: '1000',
      TOTAL_MAILS_PER_HOUR: '7',
      ANSWER_WITHIN: '3',
      CONFIGURATION_SET: 'set',
      TEAM_CONFIGURATION_SET: 'team',
      HASH_KEY: 'key',
      LINKS_ONLY: 'true',
      ACKNOWLEDGE: 'true',
      COMPANY: '{"name":"Shop"}',
      TIME_ZONE: 'Europe/Berlin',
      REPLY_DOMAIN: 'reply.example.com',
      FOLLOW_UPS: 'true',
      FILES: 'true',
    }),
  ).toEqual({
    ...MAIL_SETTINGS,
    language: 'ar',
    mailsPerHour: 1_000,
    totalMailsPerHour: 7,
    answerWithin: 3,
    configurationSet: 'set',
    teamConfigurationSet: 'team',
    hashKey: 'key',
    linksOnly: true,
    acknowledge: true,
    company: { name: 'Shop' },
    timeZone: 'Europe/Berlin',
    replyDomain: 'reply.example.com',
    followUps: true,
    files: true,
  });
});

it('the receiver takes no domain of other mails, and needs one, with those who may answer', () => {
  const env = { ...ENV, REPLY_DOMAIN: 'reply.example.com', MAIL_BUCKET: 'mails' };
  const config = parseReceiverConfig({ ...env, REPLY_FROM: '@Example.com,bea@b.example' });
  expect(config.replyFrom).toEqual(['@example.com', 'bea@b.example']);
  expect(() => parseReceiverConfig(env)).toThrow('REPLY_FROM');
  for (const REPLY_DOMAIN of ['', 'example.com', 'mail.example.com']) {
    expect(() => parseReceiverConfig({ ...env, REPLY_DOMAIN })).toThrow('REPLY_DOMAIN');
  }
});

it.each([
  ['TABLE_NAME', ''],
  ['STAGE', 'a b'],
  ['INBOX_TO', 'Team <support@example.com>'],
  ['INBOX_FROM', undefined],
  ['MAILS_PER_HOUR', '1001'],
  ['TOTAL_MAILS_PER_HOUR', '1e2'],
  ['ANSWER_WITHIN', '0'],
  ['MAIL_LANGUAGE', 'constructor'],
  ['ACKNOWLEDGE', 'yes'],
  ['REPLY_DOMAIN', 'Reply.example.com'],
  ['FOLLOW_UPS', '1'],
  ['COMPANY', '{'],
  ['TIME_ZONE', 'Europe/Atlantis'],
])('refuses %s=%j by name', (name, value) =>
  expect(() => parseMailerConfig({ ...ENV, [name]: value })).toThrow(`variable: ${name}`),
);

it.each([
  ['mailer', parseMailerConfig, ['mailer/main']],
  ['receiver', parseReceiverConfig, ['mailer/main', 'mailer/receiver']],
])('every setting of the %s is in Terraform and docs', (_, parse, files) => {
  const ofReceiver = { REPLY_DOMAIN: 'e.example', REPLY_FROM: '@b.example', MAIL_BUCKET: 'b' };
  expectInTerraformAndDocs(parse, { ...ENV, ...ofReceiver }, files);
});
