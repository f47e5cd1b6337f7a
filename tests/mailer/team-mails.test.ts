import { expect, it } from 'vitest';
import {
  createDailyMail,
  createDigestMail,
  createInquiryMail,
  createNoticeMail,
} from '../../src/mailer/team-mails.ts';
import { INQUIRY, MAIL_SETTINGS as SETTINGS } from '../helpers/events.ts';

const { id } = INQUIRY;
const BERLIN = { ...SETTINGS, timeZone: 'Europe/Berlin' };

it('the mail of a new inquiry says who, when, how to answer, and the whole text', () => {
  const inquiry = { ...INQUIRY, subject: 'Lamp', body: 'Line 1\n\nLine 2' };
  const { html, ...mail } = createInquiryMail(inquiry, BERLIN);
  expect(mail).toEqual({
    to: 'support@example.com',
    from: 'inquiries@mail.example.com',
    replyTo: 'ana@example.com',
    subject: '[inquiries develop] Lamp',
    headers: {
      References: `<${id}@mail.example.com>`,
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'DR, RN, NRN, OOF, AutoReply',
    },
    tags: { inquiry: id, mail: 'inquiry' },
    text: `| Line 1
|
| Line 2

From ana@example.com
Sent 20 November 2026 at 07:11 CET
Reference 01a1f794-6f77

To answer, reply to this mail or run:
  npm run inbox -- --stage develop reply ${id}

To mark it as answered, run:
  npm run inbox -- --stage develop dismiss ${id}`,
  });
  // As lists of mails show it.
  const shown = html.replaceAll(/<head>[^]*<.head>|<[^>]*>/g, ' ').trim();
  expect(shown).toMatch(/^Line 1\s+Line 2/);
});

it('the mails of a stage that takes answers by mail name no command', () => {
  const settings = { ...SETTINGS, replyDomain: 'reply.example.com' };
  const address = 'r2611-1@reply.example.com';
  const { replyTo, text } = createInquiryMail(INQUIRY, settings, address);
  expect(replyTo).toBe(address);
  expect(text).toMatch(/^##- Answer above this line -##\n\n\| b\n/);
  expect(text).toContain(`Mark as answered mailto:${address}?subject=Mark%20as%20answered`);
  const daily = createDailyMail({ count: 1, days: 1, named: [INQUIRY] }, settings).text;
  for (const mail of [text, daily]) expect(mail).not.toMatch(/npm run|dismiss/);
});

it('the mail of an inquiry without an address, a subject and a message says so', () => {
  const inquiry = { ...INQUIRY, email: 'ana @localhost', subject: '', body: ' \n\u3000' };
  const mail = createInquiryMail(inquiry, { ...SETTINGS, stage: 'local' });
  expect(mail.replyTo).toBeUndefined();
  expect(mail.subject).toBe('[inquiries local] No subject');
  expect(mail.text).toMatch(
    /^\| No message\n[^]*From ana\\u0020@localhost\n[^]*No mail can be sent to[^]*inbox -- dismiss /,
  );
});

it.each([
  ['body', { body: `${'b'.repeat(99_999)}😀 and the end` }],
  ['subject', { subject: 's'.repeat(400_000) }],
])('the mail cuts a long text and says how to read the rest: %s', (field, long) => {
  const { text, html, subject } = createInquiryMail({ ...INQUIRY, ...long }, SETTINGS);
  expect(text).toContain(`The text above is cut. To read all of it, run:
  npm run inbox -- --stage develop show ${id}`);
  expect(subject.length).toBeLessThanOrEqual(250);
  for (const part of [text.replaceAll('\n| ', ''), html]) {
    expect(/b{9,}/.exec(part)?.[0].length).toBe(field === 'body' ? 99_999 : undefined);
    expect(part.isWellFormed()).toBe(true);
  }
});

const ANSWERED = { ...INQUIRY, subject: 'Lamp', reply: 'Sorry.', isEmailVerified: false };
const FAILURE = { mail: 'reply', address: 'ana@example.com', why: 'bounce' } as const;

it('a notice says what happened to a reply in words, and carries the reply and the inquiry', () => {
  const details = { cause: 'NoEmail', diagnostics: 'smtp; 550 5.1.1 user\u200B unknown' };
  const mail = createNoticeMail({ ...FAILURE, ...details }, SETTINGS, ANSWERED);
  expect(mail).toMatchObject({
    subject: '[inquiries develop] The reply to 01a1f794-6f77 could not be delivered',
    html: expect.stringMatching(/does not exist\.[^]*>Sorry\.<[^]*>b</),
    text: String.raw`The reply to 01a1f794-6f77 could not be delivered. The address does not exist. Answer by another channel, or ask for another address.

To ana@example.com

The recipient’s server said:

| smtp; 550 5.1.1 user\u200b unknown

The reply:

| Sorry.

The inquiry:

| Lamp
|
| b
|
| From ana@example.com
| Sent 20 November 2026 at 06:11 UTC
| Reference 01a1f794-6f77`,
  });
});

it.each([
  ['acknowledgement', 'complaint', 'was reported as spam. No more mails', 'The inquiry:'],
  [undefined, 'bounce', 'A mail of the user pool could not be delivered.\n\nTo', 'example.com'],
] as const)('a notice of a mail (%s) that is no reply has none: %s', (mail, why, said, end) => {
  const { text } = createNoticeMail({ ...FAILURE, mail, why }, SETTINGS, mail && ANSWERED);
  expect(text).toContain(said);
  expect(text).not.toContain('Sorry');
  expect(text.split('\n\n| ')[0]?.endsWith(end)).toBe(true);
});

const named = [{ ...INQUIRY, email: 'ana\r\n@example.com', subject: 'first\nsecond <b>' }];

it('a digest counts what was not mailed one by one, and names the newest', () => {
  const since = Date.UTC(2026, 10, 20, 6);
  const mail = createDigestMail({ count: 1_240, since, named }, BERLIN);
  expect(mail).toMatchObject({
    subject: '[inquiries develop] 1,240 inquiries since 20 November 2026 at 07:00 CET',
    html: expect.stringContaining('>first second &#60;b&#62;</p>'),
    text: String.raw`1,240 inquiries since 20 November 2026 at 07:00 CET were not mailed one by one, because they exceeded the hourly limit or could not be sent. The newest:

| first second <b>
|
| From ana\r\n@example.com
| Sent 20 November 2026 at 07:11 CET
| Reference 01a1f794-6f77

To list those that are unanswered, run:
  npm run inbox -- --stage develop list --since 2026-11-20T06:00:00.000Z`,
  });
  expect(mail).not.toHaveProperty('replyTo');
});

it('the daily mail says how many have waited for how long', () =>
  expect(createDailyMail({ count: 1, days: 1, named }, SETTINGS)).toMatchObject({
    subject: '[inquiries develop] 1 inquiry unanswered for more than 1 day',
    text: expect.stringMatching(/ The oldest:\n\n\| first/),
  }));
