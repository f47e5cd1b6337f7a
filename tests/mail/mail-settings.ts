import type { MailerConfig } from '../../mail/config.ts';

export const MAIL_SETTINGS: MailerConfig = {
  tableName: 'inquiries-develop',
  hashKey: undefined,
  linksOnly: false,
  teamConfigurationSet: undefined,
  configurationSet: undefined,
  answerWithin: undefined,
  acknowledge: false,
  stage: 'develop',
  inboxTo: 'support@example.com',
  inboxFrom: 'inquiries@mail.example.com',
  mailsPerHour: 10,
  totalMailsPerHour: 100,
  language: 'en',
  company: {},
  timeZone: 'UTC',
  replyDomain: undefined,
  followUps: false,
  inboxUrl: undefined,
  files: false,
};
