import { describe, expect, it } from 'vitest';
import {
  createDailyMail,
  createDigestMail,
  createInquiryMail,
  createNoticeMail,
} from '../../src/mailer/team-mails.ts';
import { INQUIRY, MAIL_SETTINGS as SETTINGS } from '../helpers/events.ts';

const { id } = INQUIRY;

describe('the mail of a new inquiry', () => {
  it('says who, when, how to answer, and the whole text', () => {
    const inquiry = { ...INQUIRY, subject: 'Lamp', body: 'Line 1\n\nLine 2' };
    const mail = createInquiryMail(inquiry, { ...SETTINGS, timeZone: 'Europe/Berlin' });
    expect(mail).toMatchObject({
      to: 'support@example.com',
      from: 'inquiries@mail.example.com',
      replyTo: 'ana@example.com',
      subject: '[inquiries develop] Lamp',
      headers: { References: `<${id}@mail.example.com>`, 'Auto-Submitted': 'auto-generated' },
      tags: { inquiry: id, mail: 'inquiry' },
    });
    expect(mail.text).toBe(`| Line 1
|
| Line 2

From ana@example.com · at 20 Nov 2026, 07:11 CET · Reference 01a1f794-6f77

To answer, reply to this mail or run:
  npm run inbox -- --stage develop reply ${id}

After an answer by mail, take the inquiry off the list of unanswered ones:
  npm run inbox -- --stage develop dismiss ${id}
`);
    // What lists of mails show below the subject.
    expect(mail.html.replaceAll(/<head>[^]*<.head>|<[^>]*>/g, ' ').trim()).toMatch(
      /^Line 1\s+Line 2/,
    );
  });

  it('shows invisible characters of address and subject', () => {
    const subject = 'In\u00ADvo\u200Bice 👩‍👩‍👧 می‌خواهم';
    const email = 'ana\u200B \u200F@example.com';
    const mail = createInquiryMail({ ...INQUIRY, subject, email }, SETTINGS);
    expect(mail.subject).toBe(String.raw`[inquiries develop] In\u00advo\u200bice 👩‍👩‍👧 می‌خواهم`);
    expect(mail.text).toMatch(/\nFrom ana\\u200b\\u0020\\u200f@example\.com · /);
    expect(mail.html).toContain(
      String.raw`<span dir="auto">ana\u200b\u0020\u200f@example.com</span>`,
    );
  });

  it('has no Reply-To when no mail can be sent to the owner, and says so', () => {
    const mail = createInquiryMail({ ...INQUIRY, email: 'ana@localhost' }, SETTINGS);
    expect(mail).not.toHaveProperty('replyTo');
    expect(mail.text).toContain('No mail can be sent to the address of the sender');
    expect(mail.text).not.toContain('To answer, reply');
  });

  it('names no stage in commands of the local stack', () => {
    const { text } = createInquiryMail(INQUIRY, { ...SETTINGS, stage: 'local' });
    expect(text).toContain(`inbox -- reply ${id}`);
  });

  it.each(['', ' \n\u3000'])('says when subject and body are %j', (text) => {
    const mail = createInquiryMail({ ...INQUIRY, subject: text, body: text }, SETTINGS);
    expect(mail.subject).toBe('[inquiries develop] No subject');
    expect(mail.text).toMatch(/^\| No message\n/);
    expect(mail.html).toContain('No message');
  });

  it.each([
    ['body', { body: `${'b'.repeat(99_999)}😀 and the end` }, 'b'.repeat(99_999)],
    ['subject', { subject: 's'.repeat(400_000) }, 's'.repeat(999)],
  ])('cuts a long %s and says how to read the rest', (_, long, kept) => {
    const { text, html, subject } = createInquiryMail({ ...INQUIRY, ...long }, SETTINGS);
    expect(text).toContain('The text above is cut');
    expect(text).toContain(`npm run inbox -- --stage develop show ${id}`);
    for (const part of [text.replaceAll('\n| ', ''), html]) {
      expect(part).toContain(kept);
      expect(part).not.toContain(`${kept}${kept[0]}`);
      expect(part.isWellFormed()).toBe(true);
      expect(part.length).toBeLessThan(110_000);
    }
    expect(subject.length).toBeLessThanOrEqual(250);
  });

  it('does not cut a text of 100,000 characters', () => {
    const { text } = createInquiryMail({ ...INQUIRY, body: 'b'.repeat(100_000) }, SETTINGS);
    expect(text).not.toContain('is cut');
    expect(text).toContain(`| ${'b'.repeat(100_000)}\n`);
  });
});

describe('a notice', () => {
  const failure = { mail: 'reply', address: 'ana@example.com', why: 'bounce' } as const;
  const inquiry = {
    ...INQUIRY,
    subject: 'Lamp',
    body: 'Broken.',
    reply: 'Sorry.',
    isEmailVerified: false,
  };

  it('says what happened to a reply in words, and carries the reply and the inquiry', () => {
    const diagnostics = 'smtp; 550 5.1.1 user\u200B unknown';
    const cause = 'NoEmail';
    const mail = createNoticeMail({ ...failure, cause, diagnostics }, SETTINGS, inquiry);
    expect(mail.subject).toBe(
      '[inquiries develop] The reply to 01a1f794-6f77 could not be delivered',
    );
    expect(mail.tags).toEqual({ inquiry: id, mail: 'notice' });
    expect(mail.text)
      .toBe(String.raw`The reply to 01a1f794-6f77 could not be delivered. The address does not exist. Answer by another channel, or ask for another address.

To ana@example.com · Reference 01a1f794-6f77

The recipient’s server said:
| smtp; 550 5.1.1 user\u200b unknown

The reply:
| Sorry.

The inquiry:
| Lamp
|
| Broken.`);
    for (const text of ['The address does not exist.', '>Sorry.<', 'Broken.']) {
      expect(mail.html).toContain(text);
    }
  });

  it('of an acknowledgement carries the inquiry alone', () => {
    const complaint = { ...failure, mail: 'acknowledgement', why: 'complaint' } as const;
    const mail = createNoticeMail(complaint, SETTINGS, inquiry);
    expect(mail.subject).toContain('The acknowledgement to 01a1f794-6f77 was reported as spam');
    expect(mail.text).toMatch(/\| Broken\.$/);
    expect(mail.text).not.toContain('Sorry');
  });

  it('of a mail of the user pool names its recipient', () => {
    const mail = createNoticeMail({ ...failure, mail: undefined }, SETTINGS);
    expect(mail.text).toBe('A mail of the user pool could not be delivered.\n\nTo ana@example.com');
    expect(mail.tags).toEqual({ mail: 'notice' });
  });

  it('cuts what the server said', () => {
    const mail = createNoticeMail({ ...failure, diagnostics: 'x'.repeat(1_000) }, SETTINGS);
    expect(mail.text).toMatch(/…$/);
    expect(mail.text.length).toBeLessThan(800);
  });
});

describe('a mail about several inquiries', () => {
  const named = [{ id, email: 'ana\r\n@example.com', subject: 'first\nsecond <b>' }];

  it('counts those without a mail of their own since a local time, says why and how to list them, and names each behind a mark', () => {
    const since = Date.UTC(2026, 10, 20, 6);
    const settings = { ...SETTINGS, timeZone: 'Europe/Berlin' };
    const mail = createDigestMail({ count: 1_240, since, named }, settings);
    expect(mail.subject).toBe('[inquiries develop] 1,240 inquiries since 07:00 CET');
    expect(mail.text)
      .toBe(String.raw`1,240 inquiries since 07:00 CET had no mail of their own. The mails of an hour were used up (100, 10 about one sender), or these could not be sent.

To list those that are unanswered, run:
  npm run inbox -- --stage develop list --since 2026-11-20T06:00:00Z

The newest 1:

| first second <b>
| Reference 01a1f794-6f77 · at 20 Nov 2026, 07:11 CET
| From ana\r\n@example.com
`);
    expect(mail.html).toContain('>first second &#60;b&#62;</p>');
    expect(mail).not.toHaveProperty('replyTo');
  });

  it('says how many have waited for how long', () => {
    const mail = createDailyMail({ count: 1, days: 1, named }, { ...SETTINGS, stage: 'local' });
    expect(mail.subject).toBe('[inquiries local] 1 inquiry unanswered for more than 1 day');
    expect(mail.text).toContain('1 inquiry has waited for an answer for more than 1 day.');
    expect(createDailyMail({ count: 2, days: 3, named }, SETTINGS).text).toMatch(
      /^2 inquiries have .* 3 days\./,
    );
  });
});
