/** What golden does not show: tests/mail/mails.test.ts. */
import { expect, it } from 'vitest';
import {
  createDailyMail,
  createDigestMail,
  createInquiryMail,
  createNoticeMail,
} from '../../mail/team-mails.ts';
import { INQUIRY } from '../helpers/events.ts';
import { MAIL_SETTINGS as SETTINGS } from './mail-settings.ts';

it('the mails of a stage that takes answers by mail name no command', () => {
  const settings = { ...SETTINGS, replyDomain: 'reply.example.com' };
  const { text } = createInquiryMail(INQUIRY, settings, {
    replyAddress: 'r2611-1@reply.example.com',
  });
  const daily = createDailyMail({ count: 1, withheld: 0, named: [INQUIRY] }, settings);
  for (const mail of [text, daily.text]) expect(mail).not.toMatch(/npm run|dismiss/);
});

it('the mail leads to the page of a stage that has one', () => {
  const { text, html } = createInquiryMail(INQUIRY, {
    ...SETTINGS,
    inboxUrl: 'https://i.example/',
  });
  for (const part of [text, html]) {
    expect(part).toContain(`https://i.example/inquiries/${INQUIRY.id}`);
  }
  expect(createInquiryMail(INQUIRY, SETTINGS).text).not.toContain('inbox:');
});

it('with the inbox on a stage, mails to the team have a reference and a link, no text', () => {
  const settings = { ...SETTINGS, linksOnly: true, inboxUrl: 'https://inbox.example.com/' };
  const inquiry = { ...INQUIRY, subject: 'My illness', body: 'I have a cold.' };
  const failed = { why: 'bounce', mail: 'reply', address: inquiry.email } as const;
  const mails = [
    createInquiryMail(inquiry, settings),
    createNoticeMail(failed, settings, { ...inquiry, isEmailVerified: true }),
    createDigestMail({ count: 1, since: 0, named: [inquiry] }, settings),
    createDailyMail({ count: 1, withheld: 1, named: [inquiry] }, settings),
  ];
  for (const mail of mails) {
    expect(JSON.stringify(mail)).not.toMatch(/illness|cold|ana@/);
    expect(mail.text).toContain('https://inbox.example.com/');
  }
  expect(mails[0]?.text).toContain(`https://inbox.example.com/inquiries/${INQUIRY.id}`);
});

it.each([
  ['body', { body: `${'b'.repeat(99_999)}😀 and the end` }],
  ['subject', { subject: 's'.repeat(400_000) }],
])('the mail cuts a long text and says how to read the rest: %s', (field, long) => {
  const { text, html, subject } = createInquiryMail({ ...INQUIRY, ...long }, SETTINGS);
  expect(text).toContain(`The text above is cut. To read all of it, run:
  npm run inbox -- --stage develop show ${INQUIRY.id}`);
  expect(subject.length).toBeLessThanOrEqual(250);
  for (const part of [text.replaceAll('\n| ', ''), html]) {
    expect(/b{9,}/.exec(part)?.[0].length).toBe(field === 'body' ? 99_999 : undefined);
    expect(part.isWellFormed()).toBe(true);
  }
});
