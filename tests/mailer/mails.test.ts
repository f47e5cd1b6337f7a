import { describe, expect, it } from 'vitest';
import { parseMailerConfig } from '../../src/mailer/config.ts';
import {
  toAcknowledgementMail,
  toNoticeMail,
  toReplyMail,
  toSender,
} from '../../src/mailer/mails.ts';
import { toDailyMail, toDigestMail, toInquiryMail } from '../../src/mailer/mails.ts';
import { toMarkedLines } from '../../src/mailer/parts.ts';
import { toMailbox } from '../../src/mailbox.ts';
import { cut, escapeHtml, toOneLine, toVisible } from '../../src/mailer/text.ts';
import { INQUIRY, MAIL_SETTINGS as SETTINGS } from '../helpers/events.ts';

const { id } = INQUIRY;

it.each([
  ['keeps letters, tabs and emoji', 'a\tß\u00A0漢 👩‍👩‍👧 مرحبا', 'a\tß\u00A0漢 👩‍👩‍👧 مرحبا'],
  ['has \\n for every line break', 'a\r\nb\rc\nd\u0085e\u2028f\u2029g', 'a\nb\nc\nd\ne\nf\ng'],
  ['has symbols for C0 controls', '\0\x07\x08\x0B\x0C\x1B[31m\x7F', '␀␇␈␋␌␛[31m␡'],
  ['has U+FFFD for C1 controls', '\x80\x9B31m\x9F', '\uFFFD\uFFFD31m\uFFFD'],
  [
    'has U+FFFD for embeddings',
    '\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069',
    '\uFFFD'.repeat(9),
  ],
  ['has no bidirectional marks', 'a\u200E\u200F\u061Cb', 'ab'],
  ['has U+FFFD for lone surrogates', 'a\uD83D\uDE00b\uD83Dc\uDE00', 'a😀b\uFFFDc\uFFFD'],
])('a visible text %s', (_, text, visible) => expect(toVisible(text)).toBe(visible));

it.each([
  ['has single spaces', ' a \r\n\t b\u2028c ', 20, 'a b c'],
  ['is not cut when it fits', '12345', 5, '12345'],
  ['is cut with an ellipsis', '123456', 5, '1234…'],
  ['is not cut inside a grapheme', 'a👩‍👩‍👧b', 6, 'a…'],
  ['holds no encoded word', '=?utf-8?B?DQo=?=', 50, '= ?utf-8?B?DQo= ?='],
])('one line %s', (_, text, limit, line) => expect(toOneLine(text, limit)).toBe(line));

it.each([
  ['leaves a text that fits', 'abc', 3, 'abc'],
  ['is before a combining mark’s letter', 'abe\u0301', 3, 'ab'],
  ['is before an emoji', 'ab😀', 3, 'ab'],
  [
    'is in a stack of marks that is no letter',
    `a${'\u0301'.repeat(500)}`,
    200,
    `a${'\u0301'.repeat(199)}`,
  ],
  [
    'is never in a surrogate pair',
    `a${'\u{1D165}'.repeat(200)}`,
    200,
    `a${'\u{1D165}'.repeat(99)}`,
  ],
])('a cut %s', (_, text, limit, beginning) => expect(cut(text, limit)).toBe(beginning));

it('escapes what HTML means', () => {
  expect(escapeHtml(`<a href="x" id='y'>&`)).toBe(
    '&#60;a href=&#34;x&#34; id=&#39;y&#39;&#62;&#38;',
  );
});

it.each([
  ['ana@example.com', 'ana@example.com'],
  ["a.n+a_!#$%&'*/?=^`{|}~-@sub.example.co.uk", "a.n+a_!#$%&'*/?=^`{|}~-@sub.example.co.uk"],
  ['ana@münchen.example', 'ana@xn--mnchen-3ya.example'],
  ['ana@例え.テスト', 'ana@xn--r8jz45g.xn--zckzah'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
])('%s is an address to which SES can send', (email, mailbox) =>
  expect(toMailbox(email)).toBe(mailbox),
);

it.each([
  ['is incomplete', ['', 'ana', '@example.com', 'ana@', 'ana@localhost', 'ana@[127.0.0.1]']],
  ['has a malformed domain', ['ana@example..com', 'ana@-example.com', 'ana@example.com.']],
  ['has misplaced dots', ['.ana@example.com', 'ana.@example.com', 'a..na@example.com']],
  [
    'has a line end',
    ['ana@example.com\n', 'ana@example.com\r\nBcc: eve@x.org', 'ana@ex\u00E4mple.com\n'],
  ],
  ['has a space or a control', [' ana@example.com', 'ana@exam\0ple.com', 'ana@exa\u202Emple.com']],
  ['has a name', ['Ana <ana@example.com>', '"ana"@example.com', 'ana(comment)@example.com']],
  ['is two addresses', ['ana@example.com, eve@example.com', 'ana@eve@example.com']],
  ['has letters that SES does not take', ['änä@example.com', 'ana@\uD800.com']],
  ['has an encoded word', ['=?utf-8?q?ana?=@example.com']],
  [
    'would be changed by Punycode',
    ['ana@ex\u00E4mple\u3002com', 'ana@\uFB01rm.com', 'ana@\uFF45x.com'],
  ],
  ['has what Punycode leaves out', ['ana@exa\uFE0Fmple.com', 'ana@exa\u115Fmple.com']],
  [
    'has a path or an escape',
    ['a@ex%61mple.com', 'a@ex%61mple.ex\u00E4mple', 'a@x.ex\u00E4mple/path'],
  ],
  ['has a long local part', [`${'a'.repeat(65)}@example.com`]],
  ['has a long domain', [`a@${'b.'.repeat(150)}com`, `a@${'ä'.repeat(200)}.com`]],
])('an address to which SES cannot send %s', (_, emails) => {
  for (const email of emails) expect([email, toMailbox(email)]).toEqual([email, undefined]);
});

describe('the mail of a new inquiry', () => {
  it('says who, when, how to answer, and the whole text', () => {
    const mail = toInquiryMail({ ...INQUIRY, subject: 'Lamp', body: 'Line 1\n\nLine 2' }, SETTINGS);
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

From ana@example.com · at 2026-11-20 06:11:02 UTC · Reference 01a1f794-6f77

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

  it.each([
    ['a '.repeat(40), `| ${'a '.repeat(36).trim()}\n| a a a a`],
    ['漢'.repeat(80), `| ${'漢'.repeat(72)}\n| ${'漢'.repeat(8)}`],
    [
      `see https://a.example/${'a'.repeat(90)} b`,
      `| see\n| https://a.example/${'a'.repeat(90)}\n| b`,
    ],
    ['a\n\n b', '| a\n|\n|  b'],
  ])('marks each line of %j, and breaks it where a mail program would', (text, marked) =>
    expect(toMarkedLines(text, '| ')).toBe(marked),
  );

  it('shows invisible characters of address and subject, and keeps those of emoji and of joined letters', () => {
    const subject = 'In\u00ADvo\u200Bice 👩‍👩‍👧 می‌خواهم';
    const mail = toInquiryMail(
      { ...INQUIRY, subject, email: 'ana\u200B \u200F@example.com' },
      SETTINGS,
    );
    const shown = String.raw`In\u00advo\u200bice 👩‍👩‍👧 می‌خواهم`;
    expect(mail.subject).toBe(`[inquiries develop] ${shown}`);
    expect(mail.text).toMatch(/\nFrom ana\\u200b\\u0020\\u200f@example\.com · /);
    expect(mail.html).toContain(
      String.raw`<span dir="auto">ana\u200b\u0020\u200f@example.com</span>`,
    );
    // The owner’s own words.
    expect(toReplyMail({ ...INQUIRY, subject }, 'r', SETTINGS)?.subject).toBe(`Re: ${subject}`);
  });

  it('has no Reply-To when no mail can be sent to the owner, and says so', () => {
    const mail = toInquiryMail({ ...INQUIRY, email: 'ana@localhost' }, SETTINGS);
    expect(mail).not.toHaveProperty('replyTo');
    expect(mail.text).toContain('No mail can be sent to the address of the sender');
    expect(mail.text).not.toContain('To answer, reply');
    // The local stack is no stage.
    expect(toInquiryMail(INQUIRY, { ...SETTINGS, stage: 'local' }).text).toContain(
      `inbox -- reply ${id}`,
    );
  });

  it('says when there is no subject or no text', () => {
    const mail = toInquiryMail({ ...INQUIRY, subject: ' \n', body: '' }, SETTINGS);
    expect(mail.subject).toBe('[inquiries develop] (no subject)');
    expect(mail.text).toMatch(/^\| \(no text\)\n/);
    expect(mail.html).toContain('(no text)');
  });

  it.each([
    ['body', { body: `${'b'.repeat(99_999)}😀 and the end` }, 'b'.repeat(99_999)],
    ['subject', { subject: 's'.repeat(400_000) }, 's'.repeat(999)],
  ])('cuts a long %s and says how to read the rest', (_, long, kept) => {
    const { text, html, subject } = toInquiryMail({ ...INQUIRY, ...long }, SETTINGS);
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
    const { text } = toInquiryMail({ ...INQUIRY, body: 'b'.repeat(100_000) }, SETTINGS);
    expect(text).not.toContain('is cut');
    expect(text).toContain(`| ${'b'.repeat(100_000)}\n`);
  });
});

describe('the mail of a reply', () => {
  it('holds the reply and the original, quoted', () => {
    const inquiry = { ...INQUIRY, subject: 'Lamp', body: 'Line 1\n\nLine 2' };
    expect(toReplyMail(inquiry, 'An answer.', SETTINGS)).toMatchObject({
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
      expect(toReplyMail({ ...INQUIRY, subject }, 'r', SETTINGS)?.subject).toBe('Re: Lamp'),
  );

  it('has lines that Outlook shows, and keeps indents', () => {
    const html = toReplyMail(INQUIRY, 'a\n\n  b  c\td', SETTINGS)?.html;
    expect(html).toContain('>a<br>\n<br>\n&#160; b&#160; c&#160;&#160;&#160; d</div>');
  });

  it('has the company’s name, colour and links', () => {
    const [name, home, privacy] = [
      'Müller & Co',
      'https://www.example.com/de',
      'https://example.com/?a&b',
    ];
    const company = { name, accent: '#0b7a75', home, privacy };
    const mail = toReplyMail({ ...INQUIRY, language: 'de' }, 'r', { ...SETTINGS, company });
    expect(mail?.from).toBe('=?UTF-8?B?TcO8bGxlciAmIENv?= <inquiries@mail.example.com>');
    expect(mail?.text.endsWith(`\n\n${name}\n${home}\nDatenschutz: ${privacy}`)).toBe(true);
    expect(mail?.html).toContain('border-top:4px solid #0b7a75');
    expect(mail?.html).toContain(
      '<b>Müller &#38; Co</b></span> · <span dir="auto"><a href="https://www.example.com/de">www.example.com</a></span> · <span dir="auto"><a href="https://example.com/?a&#38;b">Datenschutz</a></span></p>',
    );
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
  ])('is from %j', (name, from) => expect(toSender(name, 'a@example.com')).toBe(from));

  it.each([
    ['en', 'ltr', 'left', '(no subject)', 'On November 20, 2026 at 6:11 AM UTC you wrote:'],
    ['de', 'ltr', 'left', '(kein Betreff)', 'Am 20. November 2026 um 06:11 UTC schrieben Sie:'],
    [
      'fr',
      'ltr',
      'left',
      '(aucun objet)',
      'Le 20 novembre 2026 à 06:11 UTC, vous avez écrit\u202f:',
    ],
    [
      'es',
      'ltr',
      'left',
      '(sin asunto)',
      'El 20 de noviembre de 2026 a las 6:11 UTC usted escribió:',
    ],
    ['ja', 'ltr', 'left', '（件名なし）', '2026年11月20日 6:11 UTCにいただいたお問い合わせ：'],
    ['ar', 'rtl', 'right', '(بلا موضوع)', 'في 20 نوفمبر 2026 في 6:11 ص UTC كتبت:'],
  ] as const)(
    'is in the language of the inquiry: %s',
    (language, direction, side, noSubject, youWrote) => {
      const mail = toReplyMail({ ...INQUIRY, subject: ' ', language }, 'An answer.', SETTINGS);
      expect(mail).toEqual(
        toReplyMail({ ...INQUIRY, subject: ' ' }, 'An answer.', { ...SETTINGS, language }),
      );
      expect(mail?.subject).toBe(`Re: ${noSubject}`);
      expect(mail?.text).toContain(`01a1f794-6f77\n\n${youWrote}\n\n> `);
      expect(mail?.html).toContain(`>${youWrote}</p>`);
      expect(mail?.html).toContain(`<html lang="${language}" dir="${direction}">`);
      expect(mail?.html).toContain(`border-${side}:3px`);
    },
  );

  it('holds all of a reply of 390 KB, and the beginning of a long original', () => {
    const reply = `${'r'.repeat(390_000)} end`;
    const long = toReplyMail({ ...INQUIRY, body: 'b'.repeat(30_000) }, reply, SETTINGS);
    expect(long?.text).toContain(reply);
    expect(long?.html).toContain(reply);
    expect(long?.text).toMatch(/> b{20000}\n> \[…\]$/);
  });

  it('is none when no mail can be sent to the owner', () => {
    expect(toReplyMail({ ...INQUIRY, email: 'ana' }, 'r', SETTINGS)).toBeUndefined();
  });
});

it('an acknowledgement says that the inquiry has arrived, and what to expect, as an automatic reply', () => {
  const company = { name: 'Shop', expectation: { en: 'Two days.', de: 'Zwei Tage.' } };
  const inquiry = { ...INQUIRY, subject: 'Lampe', body: 'Kaputt.', language: 'de' } as const;
  expect(toAcknowledgementMail(inquiry, { ...SETTINGS, company })).toMatchObject({
    to: 'ana@example.com',
    replyTo: 'support@example.com',
    subject: 'Wir haben Ihre Anfrage erhalten: Lampe',
    headers: { 'Auto-Submitted': 'auto-replied' },
    text: 'Wir haben Ihre Anfrage erhalten.\nZwei Tage.\n\nReferenz 01a1f794-6f77\n\nAm 20. November 2026 um 06:11 UTC schrieben Sie:\n\n> Kaputt.\n\nShop',
    tags: { inquiry: id, mail: 'acknowledgement' },
  });
  const inAnyLanguage = { ...SETTINGS, company: { ...company, expectation: 'Bald.' } };
  expect(toAcknowledgementMail(inquiry, inAnyLanguage)?.text).toContain('erhalten.\nBald.\n');
});

it.each([
  ['reply', 'bounce', 'The reply to 01a1f794-6f77 could not be delivered'],
  ['acknowledgement', 'complaint', 'The acknowledgement to 01a1f794-6f77 was reported as spam'],
  [undefined, 'bounce', 'A mail of the user pool could not be delivered'],
] as const)('a notice about %s (%s) says what became of it, and why', (mail, why, subject) => {
  const failure = { mail, why, address: 'ana@example.com', reason: `550\r\n${'x'.repeat(1_000)}` };
  const notice = toNoticeMail(failure, SETTINGS, id);
  expect(notice.subject).toBe(`[inquiries develop] ${subject}`);
  expect(notice.tags).toEqual({ ...(mail && { inquiry: id }), mail: 'notice' });
  expect(notice.text).toMatch(/\n\| 550\n\| x{495}\n\| …\n/);
  expect(notice.text.includes(`show ${id}`)).toBe(mail !== undefined);
});

describe('a mail about several inquiries', () => {
  const named = [{ id, email: 'ana\r\n@example.com', subject: 'first\nsecond <b>' }];

  it('counts those without a mail of their own, and says since when, why, and how to list them', () => {
    const mail = toDigestMail({ count: 1_240, since: Date.UTC(2026, 10, 20, 6), named }, SETTINGS);
    expect(mail.subject).toBe('[inquiries develop] 1,240 inquiries since 06:00 UTC');
    expect(mail.text.split(/-{44}/)[0]).toMatchInlineSnapshot(`
      "1,240 inquiries since 2026-11-20 06:00:00 UTC had no mail of their own: the mails of an hour were used up (100, 10 about one sender) or theirs could not be sent. To list those that are unanswered, run:
        npm run inbox -- --stage develop list --since 2026-11-20T06:00:00Z

      The newest 1, with addresses and subjects as their senders wrote them:
      "
    `);
    expect(mail).not.toHaveProperty('replyTo');
  });

  it('says how many have waited for how long', () => {
    const mail = toDailyMail({ count: 1, days: 1, named }, { ...SETTINGS, stage: 'local' });
    expect(mail.subject).toBe('[inquiries local] 1 inquiry unanswered for more than 1 day');
    expect(mail.text).toContain('1 inquiry has waited for an answer for more than 1 day.');
    expect(toDailyMail({ count: 2, days: 3, named }, SETTINGS).text).toMatch(
      /^2 inquiries have .* 3 days\./,
    );
  });

  it('names each in three lines, after all of its own words', () => {
    const { text, html } = toDigestMail({ count: 2, since: 0, named }, SETTINGS);
    expect(text.split(/-{44}\n/)[1]).toBe(
      `2026-11-20 06:11:02 UTC  ${id}\n  From: ana\\r\\n@example.com\n  first second <b>\n`,
    );
    expect(html).toContain('<span dir="auto">first second &#60;b&#62;</span>');
  });
});

describe('the settings', () => {
  const ENV = {
    TABLE_NAME: 'inquiries-develop',
    AWS_REGION: 'eu-central-1',
    STAGE: 'develop',
    INBOX_TO: 'support@example.com',
    INBOX_FROM: 'inquiries@mail.example.com',
  };

  it('are read from the environment; 10 mails per hour, 100 of all owners, and English by default', () => {
    const [tableName, region] = ['inquiries-develop', 'eu-central-1'];
    const settings = { ...SETTINGS, tableName, region, acknowledge: false };
    expect(parseMailerConfig(ENV)).toEqual(settings);
    expect(parseMailerConfig({ ...ENV, MAIL_LANGUAGE: 'ar' }).language).toBe('ar');
    expect(parseMailerConfig({ ...ENV, MAILS_PER_HOUR: '1000' }).mailsPerHour).toBe(1_000);
    expect(parseMailerConfig({ ...ENV, TOTAL_MAILS_PER_HOUR: '7' }).totalMailsPerHour).toBe(7);
    expect(parseMailerConfig({ ...ENV, ANSWER_WITHIN: '3' }).answerWithin).toBe(3);
    expect(parseMailerConfig({ ...ENV, CONFIGURATION_SET: 'set' }).configurationSet).toBe('set');
    expect(parseMailerConfig({ ...ENV, ACKNOWLEDGE: 'true' }).acknowledge).toBe(true);
    expect(parseMailerConfig({ ...ENV, COMPANY: '{"name":"Shop"}' }).company).toEqual({
      name: 'Shop',
    });
  });

  it.each([
    [{ TABLE_NAME: '' }, 'TABLE_NAME'],
    [{ STAGE: undefined }, 'STAGE'],
    [{ STAGE: 'a b' }, 'STAGE'],
    [{ INBOX_TO: 'Team <support@example.com>' }, 'INBOX_TO'],
    [{ INBOX_FROM: undefined }, 'INBOX_FROM'],
    [{ MAILS_PER_HOUR: '1001' }, 'MAILS_PER_HOUR'],
    [{ TOTAL_MAILS_PER_HOUR: '', ANSWER_WITHIN: '0' }, 'TOTAL_MAILS_PER_HOUR, ANSWER_WITHIN'],
    [{ MAIL_LANGUAGE: 'de-AT' }, 'MAIL_LANGUAGE'],
    [{ MAIL_LANGUAGE: 'constructor' }, 'MAIL_LANGUAGE'],
    [{ ACKNOWLEDGE: 'yes', COMPANY: '{' }, 'ACKNOWLEDGE, COMPANY'],
  ])('%j are refused by name', (wrong, names) => {
    expect(() => parseMailerConfig({ ...ENV, ...wrong })).toThrow(
      `Missing or malformed environment variables: ${names}`,
    );
  });
});
