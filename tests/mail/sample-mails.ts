/** One mail of each kind, in golden (mails.test.ts) and in a browser (mails.browser.test.ts). */
import texts from '../../web/config.example.json' with { type: 'json' };
import { createAcknowledgementMail, createReplyMail } from '../../mail/owner-mails.ts';
import {
  createDailyMail,
  createDigestMail,
  createInquiryMail,
  createNoticeMail,
} from '../../mail/team-mails.ts';
import {
  createAnsweredMail,
  createForwardedMail,
  createReturnedMail,
} from '../../mail/received/mails.ts';
import { LANGUAGES } from '../../text/languages.ts';
import { EMAIL, INQUIRY } from '../helpers/events.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';

export const SETTINGS = {
  ...MAIL_SETTINGS,
  timeZone: 'Europe/Berlin',
  company: { ...texts, name: 'Müller @ Co', form: 'https://contact.example.com/' },
};
const PLAIN = { ...SETTINGS, company: {}, stage: 'local' };
const REPLIES = { ...SETTINGS, replyDomain: 'reply.example.com' };
const ADDRESS = 'r2611-1@reply.example.com';
const OWNERS = { replyAddress: 'f2611-1@reply.example.com' };
const BEFORE = '01a1f000-6f77-70a2-a975-366ad3f1860a';

/** With a user's text wherever one can be. */
export function createMails(body: string) {
  const subject = body.slice(0, 2_000);
  const inquiry = { ...INQUIRY, subject, body, reply: body, isEmailVerified: true };
  const by = { respondent: 'olga@example.com', reply_at: INQUIRY.created_at };
  const answered = { ...inquiry, ...by, files: ['offer.pdf'] };
  const { reply: _, files: __, ...dismissed } = answered;
  const received = {
    from: EMAIL,
    subject,
    text: body,
    attachments: [{ name: subject, type: 'text/plain', size: 0, read: () => Buffer.from('') }],
    messageId: undefined,
    isAutomatic: false,
  };
  const named = [{ ...inquiry, email: subject }, inquiry];
  const bounce = { mail: 'reply', why: 'bounce', address: subject, cause: 'NoEmail' } as const;
  const spam = { mail: 'acknowledgement', why: 'complaint', address: EMAIL } as const;
  const ofPool = { mail: undefined, why: 'bounce', address: EMAIL } as const;
  return {
    inquiry: createInquiryMail(inquiry, SETTINGS),
    'inquiry-answered-by-mail': createInquiryMail(inquiry, REPLIES, { replyAddress: ADDRESS }),
    'inquiry-that-follows': createInquiryMail(
      { ...inquiry, subject: `Re: ${subject}`, follows: BEFORE },
      REPLIES,
      { replyAddress: ADDRESS, before: { ...answered, id: BEFORE } },
    ),
    'inquiry-without-address': createInquiryMail(
      { ...inquiry, email: subject, subject: '', body: ' \n\u3000' },
      PLAIN,
    ),
    answered: createAnsweredMail(answered, 'On 26 Nov 2026 ana wrote:', REPLIES, ADDRESS),
    dismissed: createAnsweredMail(dismissed, '', REPLIES, ADDRESS),
    returned: createReturnedMail(received, EMAIL, 'answered', answered, REPLIES, ADDRESS),
    forwarded: createForwardedMail(received, 'address', undefined, REPLIES),
    digest: createDigestMail({ count: 1_240, since: Date.UTC(2026, 10, 20, 6), named }, SETTINGS),
    daily: createDailyMail({ count: 1, withheld: 0, named }, { ...SETTINGS, answerWithin: 1 }),
    'daily-with-replies': createDailyMail(
      { count: 59, withheld: 2, named },
      { ...REPLIES, answerWithin: 3 },
    ),
    'notice-of-a-reply': createNoticeMail({ ...bounce, diagnostics: body }, SETTINGS, inquiry),
    'notice-of-an-acknowledgement': createNoticeMail(spam, SETTINGS, inquiry),
    'notice-of-the-user-pool': createNoticeMail(ofPool, SETTINGS),
    'reply-without-company': createReplyMail(inquiry, PLAIN, OWNERS),
    ...Object.fromEntries(
      LANGUAGES.flatMap((language) => [
        [`reply-${language}`, createReplyMail({ ...inquiry, language, subject: ' ' }, SETTINGS)],
        [
          `acknowledgement-${language}`,
          createAcknowledgementMail(inquiry, { ...SETTINGS, language }, OWNERS),
        ],
      ]),
    ),
  };
}

export const ORDINARY = 'Hello\n\n  see https://example.com/lamp.\tWhat now?';
