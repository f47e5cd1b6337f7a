/** The HTML of every kind of mail is valid, and nothing that a program lacks carries meaning. */
import { caniemail } from 'caniemail';
import { HtmlValidate } from 'html-validate';
import { expect, it } from 'vitest';
import company from '../../web/config.example.json' with { type: 'json' };
import { createAcknowledgementMail, createReplyMail } from '../../src/mailer/owner-mails.ts';
import {
  createDailyMail,
  createInquiryMail,
  createNoticeMail,
} from '../../src/mailer/team-mails.ts';
import {
  createAnsweredMail,
  createPassedOnMail,
  createReturnedMail,
} from '../../src/receiver/mails.ts';
import { EMAIL, INQUIRY, MAIL_SETTINGS } from '../helpers/events.ts';
import { HOSTILE_TEXTS } from '../helpers/hostile-texts.ts';

const SETTINGS = {
  ...MAIL_SETTINGS,
  company: { ...company, form: 'https://contact.example.com/' },
};

const TEXTS = {
  ordinary: 'Hello\n\n  see https://example.com/lamp.\tWhat now?',
  arabic: 'مرحبا،\nالمصباح معطل.\n\nAna Beck, Example Ltd.',
  hostile: HOSTILE_TEXTS.join('\n'),
};
const MAILS = Object.entries(TEXTS).flatMap(([kind, body]) => {
  const texts = { subject: body.slice(0, 2_000), body, reply: body };
  const inquiry = { ...INQUIRY, ...texts, isEmailVerified: true };
  const answered = { ...inquiry, respondent: body, reply_at: INQUIRY.created_at };
  const received = {
    from: EMAIL,
    subject: body,
    text: body,
    attachments: [body],
    messageId: undefined,
    isAutomatic: false,
  };
  const mails = [
    createInquiryMail(inquiry, SETTINGS),
    createInquiryMail(inquiry, SETTINGS, EMAIL),
    createAnsweredMail(answered, SETTINGS, EMAIL),
    createReturnedMail(received, EMAIL, 'answered', answered, SETTINGS, EMAIL),
    createPassedOnMail(received, 'address', undefined, SETTINGS),
    createDailyMail({ count: 1, days: 3, named: [{ ...inquiry, email: body }] }, SETTINGS),
    createNoticeMail(
      { mail: 'reply', why: 'bounce', address: texts.subject, diagnostics: body },
      SETTINGS,
      inquiry,
    ),
    ...(['en', 'ar'] as const).flatMap((language) => [
      createReplyMail({ ...inquiry, language }, SETTINGS),
      createAcknowledgementMail({ ...inquiry, language }, SETTINGS),
    ]),
  ];
  return mails.map((mail) => ({ kind, mail }));
});

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
  // Lacks `bcc`, which no mail has.
  'mailto: links',
  // Missing or wrong, these lose nothing.
  'border', 'border-radius', 'border-spacing', 'font-size', 'font-weight', 'lang attribute', 'margin', 'padding', 'text-align', 'text-decoration', 'width property',
];

it.each(MAILS)(
  'the HTML of a mail, $kind, $mail.tags.mail, is valid, and mail programs show it',
  ({ mail: { html = '' } = {} }) => {
    const findings = validator.validateStringSync(html).results.flatMap(({ messages }) => messages);
    expect(findings).toEqual([]);
    const { issues } = caniemail({
      clients: ['gmail.*', 'apple-mail.*', 'outlook.*', 'yahoo.*', 'samsung-email.*'],
      html,
    });
    const found = [...issues.errors.values(), ...issues.warnings.values()].flat();
    expect(LACKING).toEqual(expect.arrayContaining(found.map(({ title }) => title)));
  },
);
