/** Hostile texts in SES's requests: no header, tag, control character or direction of theirs has an effect. */
import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' };
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDailyMail } from '../../src/mailer/team-mails.ts';
import { EMAIL, INQUIRY, MAIL_SETTINGS as SETTINGS } from '../helpers/events.ts';
import { HOSTILE_TEXTS } from '../helpers/hostile-texts.ts';
import { bestEngine } from '../helpers/own-table.ts';
import { INBOX, startMailer, toReply, type Mailer, type SentMail } from '../helpers/mailer.ts';
import { select } from '../helpers/selection.ts';

let mailer: Mailer;
beforeAll(async () => {
  mailer = await startMailer(bestEngine());
});
afterAll(() => mailer.close());

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

async function mail({ reply, ...inquiry }: typeof TEXT & { email?: string }) {
  mailer.mails.length = 0;
  const records = await mailer.write([inquiry]);
  const replies = records.map((record) => toReply(record, { reply }));
  expect(await mailer.handle([...records, ...replies])).toEqual([]);
  expect(mailer.mails).toHaveLength(2);
  return [...mailer.mails] as [SentMail, SentMail];
}

const textOf = ({ Content }: SentMail): string => Content.Simple.Body.Text.Data;
/** Without tags that follow from a text: line ends, direction, and links that show where they lead. */
const tagsOf = ({ Content }: SentMail): string[] =>
  Content.Simple.Body.Html.Data.replaceAll(
    /<a href="https?:[^"]*" dir="ltr">https?:[^<]*<\/a>/g,
    '',
  )
    .replaceAll(/<div dir="(?:ltr|rtl)" style="text-align:(?:left|right);/g, '<div style="')
    .match(/<(?!br>)[^>]*>/g) ?? [];
/** The mailer's own words: lines without a mark, but for address, time and id. */
const ownLinesOf = (sent: SentMail): string[] =>
  textOf(sent)
    .split('\n')
    .filter((line) => line !== '|' && !line.startsWith('| '))
    .map((line) => line.replace(/^(?:From|Sent|Reference) .*| [\da-f-]{36}$/g, ''));

/** In no part: C0 but tab and line feed, DEL, C1, separators, bidirectional controls. */
const EFFECTIVE =
  // oxlint-disable-next-line no-control-regex -- these are meant
  /[\0-\x08\x0B-\x1F\x7F-\x9F\u2028\u2029\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/;

function expectHarmless(sent: SentMail, to: string, like: SentMail[]): void {
  const { Content, ReplyToAddresses = [], ...envelope } = sent;
  const { Subject, Body, Headers } = Content.Simple;
  for (const { Data } of [Subject, Body.Text, Body.Html]) {
    expect(Data.isWellFormed()).toBe(true);
    expect(EFFECTIVE.exec(Data)).toBeNull();
  }
  expect(Subject.Data).not.toMatch(/[\n\t]|=\?/);
  expect(Subject.Data.length).toBeLessThanOrEqual(250);
  expect(ReplyToAddresses.join(' ')).toMatch(/^$|^[!-~]{1,64}@[a-z0-9.-]+$/);
  expect(envelope).toEqual({
    ConfigurationSetName: 'inquiries-develop',
    Destination: { ToAddresses: [to] },
    EmailTags: expect.any(Array),
    FromEmailAddress: INBOX.INBOX_FROM,
    // The local mailbox.
    at: expect.any(Number),
  });
  for (const { Value } of envelope.EmailTags) expect(Value).toMatch(/^[\w-]{1,36}$/);
  for (const { Value } of Headers) expect(Value).toMatch(/^[ -~]{1,870}$/);
  const formOf = (one: SentMail) => [
    one.Content.Simple.Headers.map(({ Name }) => Name),
    tagsOf(one),
  ];
  expect(like.map(formOf)).toContainEqual(formOf(sent));
  expect(Buffer.byteLength(JSON.stringify(Content))).toBeLessThan(5_000_000);
}

it('texts have no effect in the mails, as subject, body or reply', async () => {
  const [subject, body] = ['s'.repeat(200), 'b'.repeat(200_000)];
  const plain: [SentMail, SentMail][] = [];
  for (const more of [{}, { subject }, { body }, { subject, body }, { body: '' }]) {
    plain.push(await mail({ ...TEXT, ...more }));
  }
  const [inquiries, replies] = [plain.map(([inquiry]) => inquiry), plain.map(([, reply]) => reply)];
  for (const text of [...TEXTS, ...select(naughtyStrings, 20)]) {
    const cut = text.slice(0, 20_000);
    const [inquiry, reply] = await mail({ subject: cut, body: text, reply: cut });
    expectHarmless(inquiry, INBOX.INBOX_TO, inquiries);
    expectHarmless(reply, EMAIL, replies);
    expect(inquiry.ReplyToAddresses).toEqual([EMAIL]);
    expect(inquiry.Content.Simple.Subject.Data).toMatch(/^\[inquiries develop\] ./);
    // Other lines are the user's, and none is so long that a program breaks it.
    expect(inquiries.map(ownLinesOf)).toContainEqual(ownLinesOf(inquiry));
    const long = textOf(inquiry)
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.length > 2 + 2 * 72);
    for (const line of long) expect(line.slice(2)).not.toMatch(/.\s./);
    const [, ...quotes] = textOf(reply).split('you wrote:\n\n');
    for (const line of quotes.at(-1)?.split('\n') ?? []) expect(line).toMatch(/^>/);
  }
}, 600_000);

it('emails have no effect in the mails, and only plain addresses are in a header', async () => {
  const noReplyTo = await mail({ ...TEXT, email: 'nobody' });
  const benign = await mail(TEXT);
  for (const email of EMAILS) {
    const isPlain = email === "eve'@example.com";
    const [inquiry, reply] = await mail({ ...TEXT, email });
    const [inquiryLike, replyLike] = isPlain ? benign : noReplyTo;
    expectHarmless(inquiry, INBOX.INBOX_TO, [inquiryLike]);
    // A reply that cannot be sent is a notice to the team.
    expectHarmless(reply, isPlain ? email : INBOX.INBOX_TO, [replyLike]);
    expect(inquiry.ReplyToAddresses).toEqual(isPlain ? [email] : undefined);
  }
}, 300_000);

// At the mailer's share of a core, fifty such subjects took longer than an invocation may.
it.each([
  ['joined emoji', '👩\u200d'.repeat(55_800)],
  ['invisible characters', '\u200B'.repeat(130_000)],
  ['marks', `a${'\u0301'.repeat(190_000)}`],
  ['spaces', ' \n'.repeat(190_000)],
])('looks at no more of a subject of %s than of an ordinary one', (_, subject) => {
  const measure = (text: string): number => {
    const replaced = vi.spyOn(String.prototype, 'replaceAll');
    const named = Array.from({ length: 50 }, () => ({ ...INQUIRY, subject: text }));
    createDailyMail({ count: 50, days: 3, named }, SETTINGS);
    const texts = replaced.mock.contexts.map(String);
    replaced.mockRestore();
    return texts.join('').length;
  };
  expect(measure(subject)).toBeLessThanOrEqual(2 * measure('An ordinary subject. '.repeat(10_000)));
});
