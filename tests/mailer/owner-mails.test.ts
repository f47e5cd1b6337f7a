import { expect, it } from 'vitest';
import {
  createAcknowledgementMail,
  createReplyMail,
  formatFrom,
} from '../../src/mailer/owner-mails.ts';
import { LANGUAGES, NO_SUBJECT } from '../../src/text/languages.ts';
import { INQUIRY, MAIL_SETTINGS as SETTINGS } from '../helpers/events.ts';

const { id } = INQUIRY;
const ANSWERED = { ...INQUIRY, reply: 'r', isEmailVerified: true };
const company = {
  name: 'Müller & Co',
  accent: '#0b7a75',
  form: 'https://contact.example.com/',
  home: 'https://www.example.com/de',
  privacy: 'https://example.com/?a&b',
  expectation: { en: 'Two days.', de: 'Zwei Tage.' },
};

const BERLIN = { timeZone: 'Europe/Berlin' };
const reply = (inquiry: object, settings: object = {}) =>
  createReplyMail({ ...ANSWERED, ...inquiry }, { ...SETTINGS, ...settings });

it('the mail of a reply holds the reply and the original, quoted', () =>
  expect(reply({ subject: 'Lamp', body: 'Line 1\n\nLine 2' })).toMatchObject({
    to: 'ana@example.com',
    replyTo: 'support@example.com',
    from: 'inquiries@mail.example.com',
    subject: 'Re: Lamp',
    // Written by a person, so not Auto-Submitted.
    headers: { References: `<${id}@mail.example.com>` },
    text: 'r\n\nReference 01a1f794-6f77\n\nOn November 20, 2026 at 6:11 AM UTC you wrote:\n\n> Line 1\n>\n> Line 2',
    tags: { inquiry: id, mail: 'reply' },
  }));

it('has the company’s name on top, its colour, a link to the inquiry, and the company’s links', () => {
  const mail = reply({ language: 'de' }, { company, ...BERLIN });
  expect(mail).toMatchObject({
    from: '=?UTF-8?B?TcO8bGxlciAmIENv?= <inquiries@mail.example.com>',
    text: `Müller & Co

r

Referenz 01a1f794-6f77

Ihre Anfrage ansehen https://contact.example.com/#${id}

Am 20. November 2026 um 07:11 MEZ schrieben Sie:

> b

Müller & Co https://www.example.com/de
Datenschutz https://example.com/?a&b`,
  });
  for (const part of [
    'border-top:4px solid #0b7a75',
    '>Müller &#38; Co</p>\n<div',
    `background-color:#0b7a75;font:16px/1.5 Helvetica,Arial,sans-serif"><a href="https://contact.example.com/#${id}"`,
    '<a href="https://example.com/?a&#38;b" dir="auto">Datenschutz</a></p>',
  ]) {
    expect(mail?.html).toContain(part);
  }
});

it('has links where the reply names pages, and none where the inquiry does', () => {
  const html = reply({ reply: 'See https://example.com/a.', body: 'https://example.com/b' })?.html;
  expect(html).toContain(
    'See <a href="https://example.com/a" dir="ltr">https://example.com/a</a>.',
  );
  expect(html?.match(/<a /g)).toHaveLength(1);
});

it.each([
  ['', 'a@example.com'],
  ['A "B", <eve@example.org>', String.raw`"A \"B\", <eve@example.org>" <a@example.com>`],
  ['=?utf-8?Q?x?=\r\nBcc: eve', '"= ?utf-8?Q?x?= Bcc: eve" <a@example.com>'],
  ['漢'.repeat(12), `=?UTF-8?B?${'5ryi'.repeat(11)}?= =?UTF-8?B?5ryi?= <a@example.com>`],
])('is from %j', (name, from) => expect(formatFrom(name, 'a@example.com')).toBe(from));

it.each(LANGUAGES)(
  'is in the language of the inquiry, otherwise in that of the stage: %s',
  (language) => {
    const mail = reply({ subject: ' ', language });
    expect(mail).toEqual(reply({ subject: ' ' }, { language }));
    expect(mail?.subject).toBe(`Re: ${NO_SUBJECT[language]}`);
    const [dir, side] = language === 'ar' ? ['rtl', 'right'] : ['ltr', 'left'];
    expect(mail?.html).toContain(`<html lang="${language}" dir="${dir}">`);
    expect(mail?.html).toContain(`border-${side}:3px`);
  },
);

it('holds all of a reply of 390 KB, and the beginning of a long original', () => {
  const long = `${'r'.repeat(390_000)} end`;
  const { text, html } = reply({ reply: long, body: 'b '.repeat(15_000) }) ?? {};
  for (const part of [text, html]) expect(part).toContain(long);
  expect(text?.match(/b/g)).toHaveLength(10_001);
  expect(text).toMatch(/\n> \[…\]$/);
});

it.each(['Re: Lamp', 'RE: AW: Lamp', 'Re[2]: Antw: Lamp', 'رد: Lamp', '回复：Lamp'])(
  'answers the subject %j with one mark',
  (subject) => expect(reply({ subject })?.subject).toBe('Re: Lamp'),
);

it.each([
  ['Fwd: Lamp', 'Re: Fwd: Lamp'],
  ['Reset: Lamp', 'Re: Reset: Lamp'],
  ['Re:', 'Re: No subject'],
  ['\u200B', 'Re: No subject'],
])('answers the subject %j with %j', (subject, answered) =>
  expect(reply({ subject })?.subject).toBe(answered),
);

it('quotes nothing of an inquiry without a message', () =>
  expect(reply({ body: ' \n\u200B' })?.text).toBe('r\n\nReference 01a1f794-6f77'));

it('refers to the domain of the sender, whatever the company’s name is', () =>
  expect(reply({}, { company: { name: 'Lamps @ Home' } })?.headers).toEqual({
    References: `<${id}@mail.example.com>`,
  }));

it('has the company’s name of an Arabic mail at the right, where the mail begins', () => {
  const html = reply({ language: 'ar' }, { company: { name: 'Lamps' } })?.html;
  expect(html).toMatch(
    /<div dir="rtl" style="[^"]*text-align:right">\n<p [^>]*text-align:right">Lamps</,
  );
});

it('an acknowledgement is automatic, says what to expect, and nothing of the user’s', () => {
  const written = { ...ANSWERED, subject: 'Buy', body: 'https://attacker.example/' };
  const { name, expectation } = company;
  const settings = { ...SETTINGS, company: { name, expectation } };
  expect(createAcknowledgementMail({ ...written, language: 'de' }, settings)).toMatchObject({
    replyTo: 'support@example.com',
    subject: 'Wir haben Ihre Anfrage erhalten (01a1f794-6f77)',
    headers: {
      'Auto-Submitted': 'auto-replied',
      'X-Auto-Response-Suppress': expect.stringContaining('OOF'),
    },
    text: 'Müller & Co\n\nWir haben Ihre Anfrage erhalten.\nZwei Tage.\n\nReferenz 01a1f794-6f77',
    html: expect.not.stringMatching(/Buy|attacker/),
    tags: { inquiry: id, mail: 'acknowledgement' },
  });
});
