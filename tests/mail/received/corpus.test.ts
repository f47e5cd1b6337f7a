/** Answers in the forms of mail programs, on their way from a received mail to the owner's. */
import * as fc from 'fast-check';
import { expect, inject, it } from 'vitest';
import { decide } from '../../../mail/received/decide.ts';
import { parseMail } from '../../../mail/received/parse-mail.ts';
import { createReplyMail } from '../../../mail/owner-mails.ts';
import { parseRow } from '../../../mail/rows.ts';
import { createInquiryMail } from '../../../mail/team-mails.ts';
import { INQUIRY } from '../../helpers/events.ts';
import { MAIL_SETTINGS } from '../mail-settings.ts';
import { ANSWERS } from './answers.ts';
import { FORMS, toRaw, type AnswerMail } from './forms.ts';
import { RECEIVER_SETTINGS } from './test-mails.ts';

const HARD = inject('hard');
const SETTINGS = { ...MAIL_SETTINGS, ...RECEIVER_SETTINGS };
const ADDRESS = 'r2611-1@reply.example.com';
const ROW = {
  ...INQUIRY,
  subject: 'Parcel for Ana',
  body: 'Hello,\n\nwhen does my parcel arrive? The number is 12.\n\nIs it in https://shop.example/track?id=5 yet?',
};
const SENT = createInquiryMail(ROW, SETTINGS, { replyAddress: ADDRESS });
const AT = new Date(ROW.created_at);
const PASS = { status: 'PASS' } as const;
const VERDICTS = { dmarcVerdict: PASS, spamVerdict: PASS, virusVerdict: PASS };

/** What the owner gets, or in brackets why it comes back. */
async function answer(written: AnswerMail): Promise<string> {
  const mail = await parseMail(toRaw(written), 'olga@example.com');
  const to = { kind: 'r', inquiry: ROW, address: ADDRESS } as const;
  const decision = decide(mail, VERDICTS, to, SETTINGS, AT.getTime() + 3_600_000);
  if (decision.act !== 'answer') return `[${'why' in decision ? decision.why : decision.act}]`;
  const sent = createReplyMail({ ...parseRow(ROW), reply: decision.reply }, SETTINGS);
  expect(sent?.text).toContain(decision.reply);
  return decision.reply ?? '';
}

const toWords = (text: string): string[] => text.match(/\S+/g) ?? [];

function subtract(text: string, other: string): string[] {
  const left = toWords(other);
  return toWords(text).filter((word) => {
    const at = left.indexOf(word);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

it('no word is lost or leaked, and hardly an answer above the quotation comes back', async () => {
  const mails = Object.entries(FORMS).flatMap(([form, write], row) =>
    Object.entries(ANSWERS)
      .filter((_, column) => HARD || (row + column) % 8 === 0)
      .map(([name, template]) => {
        const text = template.replaceAll('{from}', SETTINGS.inboxFrom);
        return { name: `${form}: ${name}`, text, mail: write(text, SENT, AT) };
      }),
  );
  expect(mails.length).toBeGreaterThan(300);
  const [lost, leaked, back]: string[][] = [[], [], []];
  for (const { name, text, mail } of mails) {
    const sent = await answer(mail);
    if (sent.startsWith('[') && mail.isBelow !== true) back?.push(`${name} ${sent}`);
    if (sent.startsWith('[')) continue;
    const [missing, more] = [subtract(text, sent), subtract(sent, `${text} ${mail.footer ?? ''}`)];
    if (missing.length > 0) lost?.push(`${name}: ${missing.join(' ')}`);
    if (more.length > 0) leaked?.push(`${name}: ${more.join(' ')}`);
  }
  expect({ lost, leaked }).toEqual({ lost: [], leaked: [] });
  process.stdout.write(`${mails.length} mails: ${back?.length} come back.\n`);
  expect(back?.length).toBeLessThan(mails.length / 100);
});

it.each([
  ['lines', SENT.text],
  ['quoted lines', SENT.text.replaceAll(/^/gm, '> ')],
])('our own words between %s come back', async (_, quoted) => {
  const text = `On 20 Nov 2026, at 07:11, ${SENT.from} wrote:\n\n${quoted}`;
  expect(await answer({ text })).toBe('[quotation]');
  expect(await answer({ text: text.replace(/(?<=number is 12\.\n)/, 'when\n') })).toBe('[below]');
});

const LINE = fc.oneof(
  fc.constantFrom(
    '',
    '> a',
    'From: a',
    'On 3 May 2026 he wrote:',
    '--',
    '---',
    '-----',
    '_____',
    '===========',
    '  b',
    'Sent from a',
    '在',
  ),
  fc.string({ unit: 'grapheme' }).filter((line) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]/u.test(line)),
);

it('any text above the line arrives as it is, but for blanks around it', async () => {
  const forms = ['Gmail, en', 'Outlook, de, banner', 'Thunderbird', 'iPhone'];
  await fc.assert(
    fc.asyncProperty(fc.array(LINE), fc.constantFrom(...forms), async (lines, form) => {
      const text = lines
        .join('\n')
        .replace(/^(?:\s*\n)+/, '')
        .trimEnd();
      fc.pre(text.trim() !== '');
      const { text: body = '', footer = '' } = FORMS[form]?.(text, SENT, AT) ?? {};
      expect(await answer({ text: body })).toBe(`${text}\n\n${footer}`.trimEnd());
    }),
    { numRuns: HARD ? 5_000 : 200 },
  );
});
