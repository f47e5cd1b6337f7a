/** The mails are other projects' test data (tests/mail/received/mails/README.md), with the text that is new in each. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findNewText } from '../../../mail/received/new-text.ts';
import { parseMail } from '../../../mail/received/parse-mail.ts';
import { MARKER } from '../../../mail/team-mails.ts';
import golden from './golden/mails.json' with { type: 'json' };

const FOLDER = join(import.meta.dirname, 'mails');

const SENT = {
  senders: ['inquiries@example.com', 'Inquiries'],
  replyTo: 'r@reply.example.com',
};

it('each mail has its right value', () => {
  const mails = readdirSync(FOLDER).filter((file) => file.endsWith('.eml'));
  expect(mails.length).toBeGreaterThanOrEqual(60);
  expect(new Set(mails)).toEqual(new Set(Object.keys(golden).map((name) => `${name}.eml`)));
});

it.each(Object.entries(golden))('%s: the new text', async (name, right) => {
  const mail = await parseMail(readFileSync(join(FOLDER, `${name}.eml`)), 'olga@example.com');
  expect(mail?.from).toBe('olga@example.com');
  const { text = '', subject = '' } = mail ?? {};
  const [, quoted = ''] = text.split(MARKER);
  const years = Array.from(text.matchAll(/(?<!\d)20[012]\d(?!\d)/g), ([year]) => Number(year));
  const sent = {
    ...SENT,
    subject: subject.replace(/^\w\w: /i, ''),
    text: quoted,
    // Of the minute, nothing is known.
    times: Array.from({ length: 60 }, (_, at) => Date.UTC(Math.min(2026, ...years), 0, 1, 0, at)),
  };
  const added = findNewText(text, sent, Date.UTC(Math.max(...years, 0) + 1, 0));
  expect(added.text ?? `[${added.why}]`).toBe(right);
});

const HEAD = 'From: Olga <olga@example.com>\nSubject: Re: s\n';

/** @param body - Begins with headers. */
const parse = async (body: string | Buffer) =>
  parseMail(Buffer.concat([Buffer.from(HEAD), Buffer.from(body)]), 'olga@example.com');

const toMultipart = (subtype: string, parts: string[], boundary = 'b', named = boundary): string =>
  `Content-Type: multipart/${subtype}; boundary=${named}\n\n${parts.map((part) => `--${boundary}\n${part}\n`).join('')}--${boundary}--\n`;
const TEXT = 'Content-Type: text/plain; charset=utf-8\n\nYes, of course.';
const HTML = 'Content-Type: text/html; charset=utf-8\n\n';
const toFile = (type: string, name: string, more = '', content = 'x'): string =>
  `Content-Type: ${type}; name="${name}"\nContent-Disposition: attachment; filename="${name}"\n${more}\n${content}`;
const LINES = `${'A'.repeat(76)}\n`.repeat(40_000);
const PICTURE = `Content-Type: image/png\nContent-ID: <a@b>\nContent-Transfer-Encoding: base64\n\n${LINES}`;
const LOGO = toFile('image/png', 'image001.png', 'Content-ID: <image001.png@01DB>\n');
const PLAIN = 'Content-Type: text/plain;';
const QP = 'Content-Transfer-Encoding: quoted-printable\n\n';

const TEXTS: Record<string, [mail: string | Buffer, text: string, files?: string[]]> = {
  'a picture of 3 MB before the text': [toMultipart('related', [PICTURE, TEXT]), 'Yes, of course.'],
  'a picture of 3 MB between two texts': [
    toMultipart('mixed', [TEXT, PICTURE, `${PLAIN}\n\nOlga`]),
    'Yes, of course.\nOlga',
  ],
  'a picture in the HTML text': [
    `${HTML}<img src="data:image/png;base64,${'A'.repeat(3_000_000)}"><p>Yes.</p>`,
    'Yes.',
  ],
  'a long style sheet': [`${HTML}<style>${'p{x:y}'.repeat(200_000)}</style><p>Yes.</p>`, 'Yes.'],
  'a boundary with a semicolon': [toMultipart('mixed', [TEXT], 'a;b', '"a;b"'), 'Yes, of course.'],
  'a boundary in sections': [
    toMultipart('mixed', [TEXT], 'abcd', 'x').replace(
      'boundary=x',
      'boundary*0=ab;\n boundary*1="cd"',
    ),
    'Yes, of course.',
  ],
  'a boundary after a comment': [
    toMultipart('mixed (a comment)', [TEXT], 'Apple=_(1)', '"Apple=_(1)"'),
    'Yes, of course.',
  ],
  'a text with a line like a delimiter': [
    `${PLAIN}\n\nYes.\n--b\nContent-Type: image/png\n\nNo.`,
    'Yes.\n--b\nContent-Type: image/png\n\nNo.',
  ],
  'a logo that HTML names': [
    toMultipart('related', [
      `${HTML}<p>Yes.</p><img src="cid:image001.png@01DB" alt="Logo">`,
      LOGO,
    ]),
    'Yes.',
  ],
  'a logo that the plain text names': [
    toMultipart('related', [
      toMultipart(
        'alternative',
        [
          `${PLAIN}\n\nYes.\n[cid:image001.png@01DB]`,
          `${HTML}Yes.<img src="cid:image001.png@01DB">`,
        ],
        'c',
      ),
      LOGO,
    ]),
    'Yes.\n',
  ],
  'a picture with a Content-ID that is attached': [
    toMultipart('mixed', [TEXT, LOGO]),
    'Yes, of course.',
    ['image001.png'],
  ],
  'a document with a Content-ID': [
    toMultipart('mixed', [TEXT, 'Content-Type: application/pdf; name=a.pdf\nContent-ID: <x>\n\nx']),
    'Yes, of course.',
    ['a.pdf'],
  ],
  'Outlook’s format without files': [
    toMultipart('mixed', [
      TEXT,
      toFile(
        'application/ms-tnef',
        'winmail.dat',
        'Content-Transfer-Encoding: base64\n',
        'eJ8+IgEAAQaQCAAEAAAAAAAAAAAA',
      ),
    ]),
    'Yes, of course.',
  ],
  'Outlook’s format with a file': [
    toMultipart('mixed', [
      TEXT,
      toFile(
        'application/ms-tnef',
        'winmail.dat',
        'Content-Transfer-Encoding: base64\n',
        'eJ8+IgEAAgKQBgAEAAAAAAAAAAAA',
      ),
    ]),
    'Yes, of course.',
    ['winmail.dat'],
  ],
  'texts that are files': [
    toMultipart('mixed', [
      TEXT,
      toFile('text/plain', 'log.txt', '', 'No.'),
      `${PLAIN} name="=?utf-8?q?t=C3=A4.txt?="\nContent-Disposition: inline\n\nNo.`,
    ]),
    'Yes, of course.',
    ['log.txt', 'tä.txt'],
  ],
  'HTML between files': [
    toMultipart('mixed', [
      `${HTML}<h1>Größe ß</h1>`,
      toFile('application/pdf', 'a.pdf'),
      `${HTML}<p>End</p>`,
    ]),
    'Größe ß\nEnd',
    ['a.pdf'],
  ],
  'cells of a table': [
    `${HTML}<table><tr><th>Day</th><th>Hours</th></tr><tr><td>Monday</td><td>9–17</td></tr></table>`,
    'Day Hours\nMonday 9–17',
  ],
  'struck text': [
    `${HTML}It costs <s>50</s> <span style="text-decoration: line-through">45</span> 40 EUR.`,
    'It costs ~~50~~ ~~45~~ 40 EUR.',
  ],
  'emoji that are pictures': [
    `${HTML}Thanks <img alt="👍🏽" src="cid:1"><img alt="Our logo" src="x">!`,
    'Thanks 👍🏽!',
  ],
  'hidden text': [
    `${HTML}<div style="color:red; Display: None">Preview</div><p hidden>x</p><p>Yes.</p>`,
    'Yes.',
  ],
  '300 elements in each other': [
    `${HTML}${'<div>'.repeat(300)}Yes.${'</div>'.repeat(300)}`,
    'Yes.',
  ],
  'links that are said twice': [
    `${HTML}<a href="tel:+4940123">+49 40 123</a>, <a href="mailto:Olga@example.com?subject=x">olga@example.com</a>, <a href="https://example.com/">example.com</a>, <a href="https://example.com/x">here</a>`,
    '+49 40 123, olga@example.com, example.com, here [https://example.com/x]',
  ],
  'more elements in each other than can be read': [`${HTML}${'<i>'.repeat(2_000)}Yes.`, '\uFFFD'],
  'a placeholder for the text': [
    toMultipart('alternative', [
      `${PLAIN}\n\nIhr Programm zeigt dieses Format nicht an.`,
      `${HTML}<p>Yes, on Monday.</p>`,
    ]),
    'Yes, on Monday.',
  ],
  'a plain text that is blank to readers': [
    toMultipart('alternative', [
      `${PLAIN} charset=utf-8\n\n\u200B\u00A0\uFEFF`,
      `${HTML}<p>Yes.</p>`,
    ]),
    'Yes.',
  ],
  'the same text twice': [
    toMultipart('alternative', [TEXT, `${HTML}<p>Yes, of <b>course</b>.</p>`]),
    'Yes, of course.',
  ],
  'UTF-8 with another label': [`${PLAIN} charset=iso-8859-1\n\nGrüße, 漢字`, 'Grüße, 漢字'],
  'windows-1252 with another label': [
    Buffer.from(`${PLAIN} charset=utf-8\n\nGr\xFC\xDFe \x80`, 'latin1'),
    'Grüße €',
  ],
  'windows-1251': [Buffer.from(`${PLAIN} charset=windows-1251\n\n\xC4\xE0`, 'latin1'), 'Да'],
  'ISO-2022-JP without a label': [`${PLAIN}\n\n\x1B$B4A;z\x1B(B.`, '漢字.'],
  'Shift_JIS by Microsoft’s name': [
    Buffer.from(`${PLAIN} charset=cp932\n\n\x8A\xBF\x8E\x9A`, 'latin1'),
    '漢字',
  ],
  'a charset that nothing here reads': [`${PLAIN} charset=utf-7\n\nGr+APw-`, '\uFFFDGr+APw-'],
  'base64 whose lines are padded each': [
    `${PLAIN}\nContent-Transfer-Encoding: base64\n\nWWVz\nLA==\nIG5v\n`,
    'Yes, no',
  ],
  'quoted-printable': [`${PLAIN} charset=utf-8\n${QP}Gr=C3=BC=\n=C3=9Fe =3D`, 'Grüße ='],
  'flowed lines': [
    `${PLAIN} format=flowed\n\nHello \nAna,\n  x\nOn Monday \n> quoted \n> text\n-- \nOlga`,
    'Hello Ana,\n x\nOn Monday \n> quoted \n> text\n-- \nOlga',
  ],
  'a clear-signed text': [
    '\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nYes.\n- -- \nOlga\n-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n',
    'Yes.\n-- \nOlga',
  ],
  'a text of 2 MB': [`\n${'x'.repeat(2_000_000)}`, `${'x'.repeat(1024 * 1024)}\uFFFD`],
};

it.each(Object.entries(TEXTS))('%s', async (_, [body, text, files = []]) => {
  for (const one of [body, typeof body === 'string' ? body.replaceAll('\n', '\r\n') : body]) {
    const mail = await parse(one);
    expect(mail?.text.replaceAll('\r\n', '\n').replace(/\n$/, '')).toBe(text.replace(/\n$/, ''));
    expect(mail?.attachments.map(({ name }) => name)).toEqual(files);
  }
});

it('decodes a file', async () => {
  const file = toFile('application/pdf', 'a.pdf', 'Content-Transfer-Encoding: base64\n', 'WWVz');
  const mail = await parse(toMultipart('mixed', [TEXT, file]));
  expect(mail?.attachments[0]?.read().toString()).toBe('Yes');
});

describe('mails of programs and persons', () => {
  const REACTION =
    'Content-Type: text/vnd.google.email-reaction+json\n\n{"emoji":"👍","version":1}';
  it.each([
    [
      'a reaction of Gmail',
      toMultipart('alternative', [`${PLAIN}\n\n👍`, REACTION, `${HTML}👍`]),
      true,
    ],
    ['a reaction of Outlook', '\n👍 Olga Miller reacted to your message:\n\n____\nFrom: x', true],
    ['its picture', '\n[like]  Olga Miller reacted to your message:\n', true],
    [
      'a reply of a calendar',
      toMultipart('alternative', [TEXT, 'Content-Type: text/calendar; method=REPLY\n\nx']),
      true,
    ],
    [
      'an invitation',
      toMultipart('mixed', [TEXT, toFile('text/calendar; method=REQUEST', 'a.ics')]),
      false,
    ],
    ['X-Auto-Response-Suppress: All', 'X-Auto-Response-Suppress: All\n\nYes.', false],
    ['X-Autogenerated: Reply', 'X-Autogenerated: Reply\n\nx', true],
    ['X-Precedence: auto_reply', 'X-Precedence: auto_reply\n\nx', true],
    ['X-POST-MessageClass', 'X-POST-MessageClass: 9; Autoresponder\n\nx', true],
    ['Exchange', 'X-MS-Exchange-Generated-Message-Source: Mailbox Rules Agent\n\nx', true],
    ['Auto-Submitted: no', 'Auto-Submitted: no\n\nYes.', false],
  ])('%s', async (_, body, isAutomatic) => {
    expect(await parse(body)).toMatchObject({ isAutomatic });
  });

  it.each([
    ['Automatic reply: [inquiries develop] Lamp', true],
    ['Automatische Antwort: x', true],
    ['Réponse automatique : x', true],
    ['自動返信: x', true],
    ['Out of Office', true],
    ['Re: Automatic reply: x', false],
    ['Autos and more', false],
    ['Ausência de peças', false],
  ])('the subject “%s”', async (subject, isAutomatic) => {
    const raw = Buffer.from(`From: olga@example.com\nSubject: ${subject}\n\nx`);
    expect(await parseMail(raw, 'olga@example.com')).toMatchObject({ isAutomatic });
  });

  it.each([
    ['"Kids@Play GmbH" <olga@partner.example>', true],
    ['Kids@Play GmbH <olga@partner.example>', true],
    ['"boss@partner.example" <olga@partner.example>', true],
    ['Olga (boss@partner.example) <olga@partner.example>', true],
    ['boss@partner.example <olga@partner.example>', false],
    [`${'x@y.z '.repeat(20_000)}<olga@partner.example>`, false],
  ])('the sender of %s', async (from, isPerson) => {
    const mail = await parseMail(Buffer.from(`From: ${from}\n\nx`), 'olga@partner.example');
    expect(mail?.from).toBe(isPerson ? 'olga@partner.example' : undefined);
  });

  it.each(['From: a@b.example\rFrom: olga@example.com', 'From: olga@example.com\nX: a\0b'])(
    'are told apart by no head that programs read differently: %j',
    async (head) => {
      expect(await parseMail(Buffer.from(`${head}\n\nx`), 'olga@example.com')).toBeUndefined();
    },
  );
});
