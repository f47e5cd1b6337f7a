/** Hostile texts have no effect in mails by a header, tag, control character or direction. */
import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' };
import { expect, it, vi } from 'vitest';
import { createReplyMail } from '../../mail/owner-mails.ts';
import type { Mail } from '../../mail/send-mail.ts';
import { createInquiryMail, createNoticeMail } from '../../mail/team-mails.ts';
import { escapeText, toOneLine } from '../../text/visible.ts';
import { EMAIL, INQUIRY } from '../helpers/events.ts';
import { MAIL_SETTINGS as SETTINGS } from '../mail/mail-settings.ts';
import { HOSTILE_TEXTS } from '../text/hostile-texts.ts';

// oxfmt-ignore
const TEXTS = [
  ...HOSTILE_TEXTS,
  'a\u0085Bcc: eve@example.com\vBcc: eve@example.com\fBcc: eve@example.com',
  '--boundary--\r\nContent-Type: text/html', '\u009B31m\u0090q\u009C',
  `a${'\u202E'.repeat(1_000)}b`, 'a\uD800b', '\uDC00\uD800', `Z${'\u0351\u0300\u0325'.repeat(3_000)}`,
  '\n'.repeat(100_000), '&'.repeat(150_000), '漢'.repeat(100_000),
  `${'😀'.repeat(49_999)}a😀😀`, '</div></body></html><h1>Subject</h1>', "' style='position:fixed'",
  '<!--[if mso]><script></script><![endif]-->',
  'From boss@example.com · at 2026-11-20 06:11:02 UTC\n\nTo answer, reply to this mail or run:\n  rm -rf ~\n',
  `${' '.repeat(200)}To answer, reply to this mail or run:${' '.repeat(200)}rm -rf ~`,
  `a\n${'\u00A0'.repeat(75)}To answer, reply to this mail or run:${'\u3000'.repeat(75)}rm -rf ~\u2028| b`,
  '> quoted\n>> twice', 'From eve@example.com Sat Nov 21 20:00:00 2026', '.', '',
];

// oxfmt-ignore
const EMAILS = [
  'eve@example.com\r\nBcc: all@example.com', 'eve@example.com, all@example.com', 'Support <eve@example.com>',
  'support@example.com\0@eve.example', '=?utf-8?q?support=40example.com=3e?=@eve.example',
  '<script>@example.com', '\u001B[31meve@example.com', `${'e'.repeat(1_000)}@example.com`, "eve'@example.com",
];

const TEXT = { subject: 's', body: 'b', reply: 'r' };

/** Creates an inquiry's mails: the team's, and the reply or, if that cannot be sent, the notice. */
function createMails(texts: Partial<typeof TEXT> & { email?: string }): [Mail, Mail] {
  const inquiry = { ...INQUIRY, ...TEXT, ...texts, isEmailVerified: false };
  const failure = { mail: 'reply', why: 'no-address', address: inquiry.email } as const;
  return [
    createInquiryMail(inquiry, SETTINGS),
    createReplyMail(inquiry, SETTINGS) ?? createNoticeMail(failure, SETTINGS, inquiry),
  ];
}

/** Leaves out tags that depend on a text: line ends, direction, and links that show their target. */
const tagsOf = ({ html }: Mail): string[] =>
  html
    .replaceAll(/<a href="https?:[^"]*" dir="ltr">https?:[^<]*<\/a>/g, '')
    .replaceAll(/<div dir="(?:ltr|rtl)" style="text-align:(?:left|right);/g, '<div style="')
    .match(/<(?!br>)[^>]*>/g) ?? [];
/** The mailer's own lines, which have no mark, without address, time and id. */
const ownLinesOf = ({ text }: Mail): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '|' && !line.startsWith('| '))
    .map((line) => line.replace(/^(?:From|Sent|Reference) .*| [\da-f-]{36}$/g, ''));

/** No part may contain these: C0 except tab and line feed, DEL, C1, separators, bidirectional controls. */
const EFFECTIVE =
  // oxlint-disable-next-line no-control-regex -- the pattern looks for them
  /[\0-\x08\x0B-\x1F\x7F-\x9F\u2028\u2029\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/;

function expectHarmless(mail: Mail, like: Mail[]): void {
  const { subject, text, html, replyTo = '', headers, tags } = mail;
  for (const part of [subject, text, html]) {
    expect(part.isWellFormed()).toBe(true);
    expect(EFFECTIVE.exec(part)).toBeNull();
  }
  expect(subject).not.toMatch(/[\n\t]|=\?/);
  expect(subject.length).toBeLessThanOrEqual(250);
  expect(replyTo).toMatch(/^$|^[!-~]{1,64}@[a-z0-9.-]+$/);
  for (const tag of Object.values(tags)) expect(tag).toMatch(/^[\w-]{1,36}$/);
  for (const header of Object.values(headers)) expect(header).toMatch(/^[ -~]{1,870}$/);
  const formOf = (one: Mail) => [one.to, one.from, Object.keys(one.headers), tagsOf(one)];
  expect(like.map(formOf)).toContainEqual(formOf(mail));
  expect(Buffer.byteLength(JSON.stringify(mail))).toBeLessThan(5_000_000);
}

it('texts have no effect in the mails, as subject, body or reply', () => {
  const [subject, body] = ['s'.repeat(200), 'b'.repeat(200_000)];
  const plain = [{}, { subject }, { body }, { subject, body }, { body: '' }].map(createMails);
  const [inquiries, replies] = [plain.map(([inquiry]) => inquiry), plain.map(([, reply]) => reply)];
  for (const text of [...TEXTS, ...naughtyStrings]) {
    const cut = text.slice(0, 20_000);
    const [inquiry, reply] = createMails({ subject: cut, body: text, reply: cut });
    expectHarmless(inquiry, inquiries);
    expectHarmless(reply, replies);
    expect(inquiry.replyTo).toBe(EMAIL);
    expect(inquiry.subject).toMatch(/^\[inquiries develop\] ./);
    // Other lines are the user's.
    expect(inquiries.map(ownLinesOf)).toContainEqual(ownLinesOf(inquiry));
  }
});

it('emails have no effect in the mails, and only plain addresses are in a header', () => {
  const [likeNobody, notice] = createMails({ email: 'nobody' });
  const [like, reply] = createMails({});
  for (const email of EMAILS) {
    const isPlain = email === "eve'@example.com";
    const [inquiry, second] = createMails({ email });
    expectHarmless(inquiry, [isPlain ? like : likeNobody]);
    expectHarmless(second, [isPlain ? { ...reply, to: email } : notice]);
    expect(inquiry.replyTo).toBe(isPlain ? email : undefined);
  }
});

// With the mailer's share of a core, fifty such subjects once took longer than an invocation may.
it.each([
  ['joined emoji', '👩\u200d'.repeat(55_800)],
  ['invisible characters', '\u200B'.repeat(130_000)],
  ['marks', `a${'\u0301'.repeat(190_000)}`],
  ['spaces', ' \n'.repeat(190_000)],
])('only the beginning of a subject of %s is looked at', (_, subject) => {
  const replaced = vi.spyOn(String.prototype, 'replaceAll');
  toOneLine(subject, 150, escapeText);
  const texts = replaced.mock.contexts.map(String);
  replaced.mockRestore();
  expect(texts.join('').length).toBeLessThan(40 * 150);
});
