/** What golden does not show: tests/mail/mails.test.ts. */
import { expect, it } from 'vitest';
import {
  createAcknowledgementMail,
  createReplyMail,
  formatFrom,
  toReplySubject,
} from '../../mail/owner-mails.ts';
import { formatYouWrote } from '../../mail/texts.ts';
import { INQUIRY } from '../helpers/events.ts';
import { MAIL_SETTINGS as SETTINGS } from './mail-settings.ts';

const ANSWERED = { ...INQUIRY, reply: 'r', isEmailVerified: true };
const reply = (inquiry: object) => createReplyMail({ ...ANSWERED, ...inquiry }, SETTINGS);

it.each([
  ['', 'a@example.com'],
  ['A "B", <eve@example.org>', String.raw`"A \"B\", <eve@example.org>" <a@example.com>`],
  ['=?utf-8?Q?x?=\r\nBcc: eve', '"= ?utf-8?Q?x?= Bcc: eve" <a@example.com>'],
  ['漢'.repeat(12), `=?UTF-8?B?${'5ryi'.repeat(11)}?= =?UTF-8?B?5ryi?= <a@example.com>`],
])('is from %j', (name, from) => expect(formatFrom(name, 'a@example.com')).toBe(from));

it('holds all of a reply of 390 KB, and the beginning of a long original', () => {
  const long = `${'r'.repeat(390_000)} end`;
  const { text, html } = reply({ reply: long, body: 'b '.repeat(15_000) }) ?? {};
  for (const part of [text, html]) expect(part).toContain(long);
  expect(text?.match(/b/g)).toHaveLength(10_001);
  expect(text).toMatch(/\n> \[…\]$/);
});

it.each([
  ...['Re: Lamp', 'RE: AW: Lamp', 'Re[2]: Antw: Lamp', 'رد: Lamp', '回复：Lamp'].map((subject) => [
    subject,
    'Re: Lamp',
  ]),
  ['Fwd: Lamp', 'Re: Fwd: Lamp'],
  ['Reset: Lamp', 'Re: Reset: Lamp'],
  ['Re:', 'Re: No subject'],
  ['\u200B', 'Re: No subject'],
])('answers the subject %j with one mark: %j', (subject = '', answered = '') =>
  expect(toReplySubject(subject, 'en')).toBe(answered),
);

it('quotes nothing of an inquiry without a message', () =>
  expect(reply({ body: ' \n\u200B' })?.text).toBe('r\n\nReference 01a1f794-6f77'));

it('an acknowledgement is automatic, and has nothing of the user’s', () => {
  const written = { ...ANSWERED, subject: 'Buy', body: 'https://attacker.example/' };
  const { headers, ...mail } = createAcknowledgementMail(written, SETTINGS) ?? {};
  expect(headers).toMatchObject({ 'Auto-Submitted': 'auto-replied' });
  expect(JSON.stringify(mail)).not.toMatch(/Buy|attacker/);
});

it.each([
  ['fr', 'Le 1er novembre 2026 à 01:11 (UTC), vous avez écrit\u00a0:'],
  ['es', 'El 1 de noviembre de 2026 a la 1:11 (UTC), usted escribió:'],
] as const)(
  'in %s, the first of a month and one o’clock are as natives write them',
  (language, line) => {
    expect(formatYouWrote('2026-11-01T01:11:00.000Z', language)).toBe(line);
  },
);
