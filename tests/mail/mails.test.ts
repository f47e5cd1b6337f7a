/**
 * Every kind of mail: whole, in tests/mail/golden (npm run golden accepts); and its HTML is valid, and nothing that a
 * program lacks carries meaning.
 */
import { caniemail } from 'caniemail';
import { HtmlValidate } from 'html-validate';
import { describe, expect, it } from 'vitest';
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
  createPassedOnMail,
  createReturnedMail,
} from '../../mail/received/mails.ts';
import { LANGUAGES } from '../../text/languages.ts';
import { EMAIL, INQUIRY } from '../helpers/events.ts';
import { MAIL_SETTINGS } from './mail-settings.ts';
import { HOSTILE_TEXTS } from '../text/hostile-texts.ts';

const SETTINGS = {
  ...MAIL_SETTINGS,
  timeZone: 'Europe/Berlin',
  company: { ...texts, name: 'Müller @ Co', form: 'https://contact.example.com/' },
};
const PLAIN = { ...SETTINGS, company: {}, stage: 'local' };
const REPLIES = { ...SETTINGS, replyDomain: 'reply.example.com' };
const ADDRESS = 'r2611-1@reply.example.com';
const OWNERS = { answerAt: 'f2611-1@reply.example.com' };
const BEFORE = '01a1f000-6f77-70a2-a975-366ad3f1860a';

/** One of each kind, with a user's text wherever one can be. */
function createMails(body: string) {
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
    'inquiry-answered-by-mail': createInquiryMail(inquiry, REPLIES, { answerAt: ADDRESS }),
    'inquiry-that-follows': createInquiryMail(
      { ...inquiry, subject: `Re: ${subject}`, follows: BEFORE },
      REPLIES,
      { answerAt: ADDRESS, before: { ...answered, id: BEFORE } },
    ),
    'inquiry-without-address': createInquiryMail(
      { ...inquiry, email: subject, subject: '', body: ' \n\u3000' },
      PLAIN,
    ),
    answered: createAnsweredMail(answered, 'On 26 Nov 2026 ana wrote:', REPLIES, ADDRESS),
    dismissed: createAnsweredMail(dismissed, '', REPLIES, ADDRESS),
    returned: createReturnedMail(received, EMAIL, 'answered', answered, REPLIES, ADDRESS),
    'passed-on': createPassedOnMail(received, 'address', undefined, REPLIES),
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

const ORDINARY = 'Hello\n\n  see https://example.com/lamp.\tWhat now?';

it.each(Object.entries(createMails(ORDINARY)))(
  'the mail %s is the one in golden',
  async (name, mail) => {
    const { text, html, ...envelope } = mail ?? {};
    const whole = `${JSON.stringify(envelope, undefined, 2)}\n\n${text}\n\n${html}`;
    await expect(whole).toMatchFileSnapshot(`golden/${name}.txt`);
  },
);

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:recommended'],
  // Some programs drop style sheets, and all show the subject, not the title.
  rules: { 'no-inline-style': 'off', 'long-title': 'off' },
});

/** Lacking in some programs; caniemail takes overflow-wrap for overflow, and background-color for background. */
// oxfmt-ignore
const LACKING = [
  // A longer word is wider than the mail.
  'overflow-wrap', 'overflow', 'word-break', 'table-layout', 'background',
  // The program chooses dark colours.
  'color-scheme meta tag',
  // Lines are closer, or as wide as the window.
  'line-height', 'max-width', '<body> element',
  // A screen reader may announce a table.
  'role attribute',
  // In Gmail on the mobile web, a mail with Arabic text begins at the right.
  'dir attribute',
  // Shown, it has the subject once more.
  'display', 'display:none',
  // Lacks `bcc`, which no mail has.
  'mailto: links',
  // Missing or wrong, these lose nothing.
  'border', 'border-radius', 'border-spacing', 'font-size', 'font-weight', 'lang attribute', 'margin', 'padding', 'text-align', 'text-decoration', 'width property',
];

describe.each([
  ['ordinary', ORDINARY],
  ['Arabic', 'مرحبا،\nالمصباح معطل.\n\nAna Beck, Example Ltd.'],
  ['hostile', HOSTILE_TEXTS.join('\n')],
])('with an %s text', (_, body) => {
  it.each(Object.entries(createMails(body)))(
    'the HTML of the mail %s is valid, and mail programs show it',
    (_name, mail) => {
      const { html = '' } = mail ?? {};
      const { results } = validator.validateStringSync(html);
      expect(results.flatMap(({ messages }) => messages)).toEqual([]);
      const { issues } = caniemail({
        clients: ['gmail.*', 'apple-mail.*', 'outlook.*', 'yahoo.*', 'samsung-email.*'],
        html,
      });
      const found = [...issues.errors.values(), ...issues.warnings.values()].flat();
      expect(LACKING).toEqual(expect.arrayContaining(found.map(({ title }) => title)));
    },
  );
});
