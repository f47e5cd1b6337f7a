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

it.each(Object.entries(golden))('%s', async (name, right) => {
  const raw = readFileSync(join(FOLDER, `${name}.eml`), 'latin1');
  for (const one of [raw, raw.replaceAll(/\r?\n/g, '\r\n')]) {
    const mail = await parseMail(Buffer.from(one, 'latin1'), 'olga@example.com');
    expect(mail?.from).toBe('olga@example.com');
    const { text = '', subject = '', attachments = [], isAutomatic = false } = mail ?? {};
    const [, quoted = ''] = text.split(MARKER);
    const years = Array.from(text.matchAll(/(?<!\d)20[012]\d(?!\d)/g), ([year]) => Number(year));
    const first = Date.UTC(Math.min(2026, ...years), 0);
    const sent = {
      ...SENT,
      subject: subject.replace(/^\w\w: /i, ''),
      text: quoted,
      // Of the minute, nothing is known.
      times: Array.from({ length: 60 }, (_, minute) => first + minute * 60_000),
    };
    const added = findNewText(text, sent, Date.UTC(Math.max(...years, 0) + 1, 0));
    const files = attachments.map((file) => `[${file.name}]`);
    const found = [added.text ?? `[${added.why}]`, ...files].join('\n');
    expect(isAutomatic ? '[automatic]' : found).toBe(right);
  }
});

const HEAD = 'From: Olga <olga@example.com>\nSubject: Re: s\n';

/** @param body - Begins with headers. */
const parse = async (body: string) => parseMail(Buffer.from(HEAD + body), 'olga@example.com');

const TEXT = 'Content-Type: text/plain; charset=utf-8\n\nYes, of course.';
const HTML = 'Content-Type: text/html; charset=utf-8\n\n';
const PICTURE = `Content-Type: image/png\nContent-ID: <a@b>\nContent-Transfer-Encoding: base64\n\n${`${'A'.repeat(76)}\n`.repeat(40_000)}`;
const toMixed = (...parts: string[]): string =>
  `Content-Type: multipart/mixed; boundary=b\n\n${parts.map((part) => `--b\n${part}\n`).join('')}--b--\n`;

it.each([
  ['a picture of 3 MB before the text', toMixed(PICTURE, TEXT), 'Yes, of course.\n'],
  ['one between two texts', toMixed(TEXT, PICTURE, '\nOlga'), 'Yes, of course.\nOlga\n'],
  [
    'a picture in the HTML text',
    `${HTML}<img src="data:image/png;base64,${'A'.repeat(3_000_000)}"><p>Yes.</p>`,
    'Yes.',
  ],
  ['a long style sheet', `${HTML}<style>${'p{x:y}'.repeat(200_000)}</style><p>Yes.</p>`, 'Yes.'],
  ['a text of 2 MB', `\n${'x'.repeat(2_000_000)}`, `${'x'.repeat(1024 * 1024)}\uFFFD`],
  [
    'flowed lines',
    'Content-Type: text/plain; format=flowed\n\nHello \nAna,\n  x\nOn Monday \n> quoted \n> text\n-- \nOlga',
    'Hello Ana,\n x\nOn Monday \n> quoted \n> text\n-- \nOlga',
  ],
])('%s', async (_, body, text) => {
  const mail = await parse(body);
  expect(mail?.text.trimEnd()).toBe(text.trimEnd());
  expect(mail?.attachments).toEqual([]);
});

it('decodes a file', async () => {
  const file =
    'Content-Type: application/pdf; name="a.pdf"\nContent-Transfer-Encoding: base64\n\nWWVz';
  const mail = await parse(toMixed(TEXT, file));
  expect(mail?.attachments[0]?.read().toString()).toBe('Yes');
});

describe('mails of programs and persons', () => {
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
  ])('the sender of %.60s', async (from, isPerson) => {
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
