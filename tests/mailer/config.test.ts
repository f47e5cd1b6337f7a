import { expect, it } from 'vitest';
import { parseMailerConfig } from '../../src/mailer/config.ts';
import { MAIL_SETTINGS } from '../helpers/events.ts';

const ENV = {
  TABLE_NAME: 'inquiries-develop',
  AWS_REGION: 'eu-central-1',
  STAGE: 'develop',
  INBOX_TO: 'support@example.com',
  INBOX_FROM: 'inquiries@mail.example.com',
};

it('has 10 mails per hour, 100 of all owners, English and UTC by default', () => {
  expect(parseMailerConfig(ENV)).toEqual({
    ...MAIL_SETTINGS,
    tableName: 'inquiries-develop',
    region: 'eu-central-1',
    acknowledge: false,
  });
});

it.each([
  [{ MAIL_LANGUAGE: 'ar' }, { language: 'ar' }],
  [{ MAILS_PER_HOUR: '1000' }, { mailsPerHour: 1_000 }],
  [{ TOTAL_MAILS_PER_HOUR: '7' }, { totalMailsPerHour: 7 }],
  [{ ANSWER_WITHIN: '3' }, { answerWithin: 3 }],
  [{ CONFIGURATION_SET: 'set' }, { configurationSet: 'set' }],
  [{ ACKNOWLEDGE: 'true' }, { acknowledge: true }],
  [{ COMPANY: '{"name":"Shop"}' }, { company: { name: 'Shop' } }],
  [{ TIME_ZONE: 'Europe/Berlin' }, { timeZone: 'Europe/Berlin' }],
])('reads %j', (set, read) => expect(parseMailerConfig({ ...ENV, ...set })).toMatchObject(read));

it.each([
  [{ TABLE_NAME: '' }, 'TABLE_NAME'],
  [{ STAGE: undefined }, 'STAGE'],
  [{ STAGE: 'a b' }, 'STAGE'],
  [{ INBOX_TO: 'Team <support@example.com>' }, 'INBOX_TO'],
  [{ INBOX_FROM: undefined }, 'INBOX_FROM'],
  [{ MAILS_PER_HOUR: '1001' }, 'MAILS_PER_HOUR'],
  [{ TOTAL_MAILS_PER_HOUR: '', ANSWER_WITHIN: '0' }, 'TOTAL_MAILS_PER_HOUR, ANSWER_WITHIN'],
  [{ MAIL_LANGUAGE: 'constructor' }, 'MAIL_LANGUAGE'],
  [{ ACKNOWLEDGE: 'yes', COMPANY: '{' }, 'ACKNOWLEDGE, COMPANY'],
  [{ TIME_ZONE: 'Europe/Atlantis' }, 'TIME_ZONE'],
])('refuses %j by name', (wrong, names) => {
  expect(() => parseMailerConfig({ ...ENV, ...wrong })).toThrow(
    `Missing or malformed environment variables: ${names}`,
  );
});
