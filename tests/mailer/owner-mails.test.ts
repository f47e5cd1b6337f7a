import { describe, expect, it } from 'vitest';
import {
  createAcknowledgementMail,
  createReplyMail,
  formatFrom,
} from '../../src/mailer/owner-mails.ts';
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

describe('the mail of a reply', () => {
  it('holds the reply and the original, quoted', () => {
    const inquiry = { ...ANSWERED, subject: 'Lamp', body: 'Line 1\n\nLine 2', reply: 'An answer.' };
    expect(createReplyMail(inquiry, SETTINGS)).toMatchObject({
      to: 'ana@example.com',
      replyTo: 'support@example.com',
      from: 'inquiries@mail.example.com',
      subject: 'Re: Lamp',
      // A person has written it.
      headers: { References: `<${id}@mail.example.com>` },
      text: 'An answer.\n\nReference 01a1f794-6f77\n\nOn November 20, 2026 at 6:11 AM UTC you wrote:\n\n> Line 1\n>\n> Line 2',
      tags: { inquiry: id, mail: 'reply' },
    });
  });

  it.each(['Lamp', 'Re: Lamp', 'RE: AW:Lamp', 'Antw: Re[2]: Lamp', 'Re：Lamp'])(
    'has one Re: for %s',
    (subject) =>
      expect(createReplyMail({ ...ANSWERED, subject }, SETTINGS)?.subject).toBe('Re: Lamp'),
  );

  it('has the company’s name on top, its colour, a link to the inquiry, and the company’s links', () => {
    const mail = createReplyMail({ ...ANSWERED, language: 'de' }, { ...SETTINGS, company });
    expect(mail?.from).toBe('=?UTF-8?B?TcO8bGxlciAmIENv?= <inquiries@mail.example.com>');
    expect(mail?.text).toBe(`Müller & Co

r

Referenz 01a1f794-6f77
Ihre Anfrage ansehen
https://contact.example.com/#${id}

Am 20. November 2026 um 06:11 UTC schrieben Sie:

> b

https://www.example.com/de
Datenschutz https://example.com/?a&b`);
    expect(mail?.html).toContain('border-top:4px solid #0b7a75');
    expect(mail?.html).toContain(`href="https://contact.example.com/#${id}"`);
    expect(mail?.html).toMatch(/<p [^>]*>Müller &#38; Co<\/p>\n<div[^>]*>r<\/div>/);
    expect(mail?.html).toContain(
      '<a href="https://www.example.com/de" dir="auto">www.example.com</a> · <a href="https://example.com/?a&#38;b" dir="auto">Datenschutz</a></p>',
    );
  });

  it('has links where the reply names pages, and none where the inquiry does', () => {
    const [reply, body] = ['See https://example.com/a.', 'https://example.com/b'];
    const html = createReplyMail({ ...ANSWERED, reply, body }, SETTINGS)?.html;
    expect(html).toContain('See <a href="https://example.com/a">https://example.com/a</a>.');
    expect(html?.match(/<a /g)).toHaveLength(1);
  });

  it.each([
    ['', 'a@example.com'],
    ['Shop', '"Shop" <a@example.com>'],
    [
      'A "B" \\ C, <eve@example.org>',
      String.raw`"A \"B\" \\ C, <eve@example.org>" <a@example.com>`,
    ],
    ['=?utf-8?Q?x?=\r\nBcc: eve', '"= ?utf-8?Q?x?= Bcc: eve" <a@example.com>'],
    ['漢'.repeat(16), `=?UTF-8?B?${'5ryi'.repeat(15)}?= =?UTF-8?B?5ryi?= <a@example.com>`],
  ])('is from %j', (name, from) => expect(formatFrom(name, 'a@example.com')).toBe(from));

  it.each([
    ['en', 'ltr', 'left', 'No subject', 'On November 20, 2026 at 6:11 AM UTC you wrote:'],
    ['de', 'ltr', 'left', 'Kein Betreff', 'Am 20. November 2026 um 06:11 UTC schrieben Sie:'],
    ['fr', 'ltr', 'left', 'Aucun objet', 'Le 20 novembre 2026 à 06:11 UTC, vous avez écrit\u202f:'],
    [
      'es',
      'ltr',
      'left',
      'Sin asunto',
      'El 20 de noviembre de 2026 a las 6:11 UTC usted escribió:',
    ],
    ['ja', 'ltr', 'left', '件名なし', '2026年11月20日 6:11 UTCにいただいたお問い合わせ：'],
    ['ar', 'rtl', 'right', 'بلا موضوع', 'في 20 نوفمبر 2026 في 6:11 ص UTC كتبت:'],
  ] as const)(
    'is in the language of the inquiry, otherwise in that of the stage: %s',
    (language, direction, side, noSubject, youWrote) => {
      const inquiry = { ...ANSWERED, subject: ' ' };
      const mail = createReplyMail({ ...inquiry, language }, SETTINGS);
      expect(mail).toEqual(createReplyMail(inquiry, { ...SETTINGS, language }));
      expect(mail?.subject).toBe(`Re: ${noSubject}`);
      expect(mail?.text).toContain(`01a1f794-6f77\n\n${youWrote}\n\n> `);
      expect(mail?.html).toContain(`>${youWrote}</p>`);
      expect(mail?.html).toContain(`<html lang="${language}" dir="${direction}">`);
      expect(mail?.html).toContain(`border-${side}:3px`);
    },
  );

  it('holds all of a reply of 390 KB, and the beginning of a long original', () => {
    const reply = `${'r'.repeat(390_000)} end`;
    const mail = createReplyMail({ ...ANSWERED, reply, body: 'b'.repeat(30_000) }, SETTINGS);
    expect(mail?.text).toContain(reply);
    expect(mail?.html).toContain(reply);
    expect(mail?.text).toMatch(/> b{20000}\n> \[…\]$/);
  });

  it('is none when no mail can be sent to the owner', () => {
    expect(createReplyMail({ ...ANSWERED, email: 'ana' }, SETTINGS)).toBeUndefined();
  });
});

describe('an acknowledgement', () => {
  const inquiry = {
    ...ANSWERED,
    subject: 'Buy this',
    body: 'https://attacker.example/',
    language: 'de',
  } as const;

  it('says that the inquiry has arrived, and what to expect, as an automatic reply', () => {
    const { name, expectation } = company;
    const settings = { ...SETTINGS, company: { name, expectation } };
    expect(createAcknowledgementMail(inquiry, settings)).toMatchObject({
      to: 'ana@example.com',
      replyTo: 'support@example.com',
      subject: 'Wir haben Ihre Anfrage erhalten',
      headers: { 'Auto-Submitted': 'auto-replied' },
      text: 'Müller & Co\n\nWir haben Ihre Anfrage erhalten.\nZwei Tage.\n\nReferenz 01a1f794-6f77',
      tags: { inquiry: id, mail: 'acknowledgement' },
    });
  });

  it('holds nothing of what the user wrote', () => {
    const mail = createAcknowledgementMail(inquiry, { ...SETTINGS, company });
    expect(JSON.stringify(mail)).not.toMatch(/Buy this|attacker/);
  });

  it('has an expectation for all languages', () => {
    const settings = { ...SETTINGS, company: { expectation: 'Bald.' } };
    expect(createAcknowledgementMail(inquiry, settings)?.text).toContain('erhalten.\nBald.\n');
  });
});
