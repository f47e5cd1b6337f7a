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

it.each([
  [{}, {}],
  [{ MAIL_LANGUAGE: 'ar' }, { language: 'ar' }],
  [{ MAILS_PER_HOUR: '1000' }, { mailsPerHour: 1_000 }],
  [{ TOTAL_MAILS_PER_HOUR: '7' }, { totalMailsPerHour: 7 }],
  [{ ANSWER_WITHIN: '3' }, { answerWithin: 3 }],
  [{ CONFIGURATION_SET: 'set' }, { configurationSet: 'set' }],
  [{ ACKNOWLEDGE: 'true' }, { acknowledge: true }],
  [{ COMPANY: '{"name":"Shop"}' }, { company: { name: 'Shop' } }],
  [{ TIME_ZONE: 'Europe/Berlin' }, { timeZone: 'Europe/Berlin' }],
])('reads %j, and has defaults for the rest', (set, read) =>
  expect(parseMailerConfig({ ...ENV, ...set })).toEqual({ ...MAIL_SETTINGS, ...read }),
);

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
  ['COMPANY', '{'],
  ['TIME_ZONE', 'Europe/Atlantis'],
])('refuses %s=%j by name', (name, value) =>
  expect(() => parseMailerConfig({ ...ENV, [name]: value })).toThrow(`variable: ${name}`),
);
