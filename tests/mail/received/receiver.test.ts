import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it, vi } from 'vitest';
import { HOUR } from '../../../src/limits.ts';
import { MailRejected } from '../../../mail/send-mail.ts';
import type { ReplyKind } from '../../../mail/reply-addresses.ts';
import { describeOnDynamoDbLocal } from '../../helpers/engines.ts';
import { INQUIRY } from '../../helpers/events.ts';
import { MAIL_SETTINGS } from '../mail-settings.ts';
import { createMailerStore } from '../../../mail/store.ts';
import { createMailerInstances, type MailerInstances } from '../mailer-instances.ts';
import { idOf } from '../test-mailer.ts';
import { readTable } from '../../helpers/own-table.ts';
import {
  createAddress,
  deliverMail,
  quoting,
  RECEIVER_SETTINGS,
  type NewMail,
} from './test-mails.ts';

/** At 6:00, after which the daily mail is due. */
const START = Math.floor(Date.now() / (24 * HOUR)) * 24 * HOUR + 6 * HOUR;
const OLGA = 'olga@example.com';
const TEAM = 'support@example.com';
const USER = { email: 'ana@users.example', email_verified: true, language: 'de' } as const;
const DISMISS = { subject: 'Mark as answered', text: '\n-- \nOlga' };
const ANSWER = { messageId: 'a@example.com' };
const ADDITION = { messageId: 'b@example.com', text: quoting('And on Sundays.') };
const toMixed = (text: string, files: Record<string, string>): string =>
  [
    `Content-Type: multipart/mixed; boundary=b\n\n--b\n\n${text}`,
    ...Object.entries(files).map(
      ([name, type]) =>
        `Content-Type: ${type}\nContent-Disposition: attachment; filename="${name}"\n\n${name.startsWith('large') ? 'x'.repeat(7 * 1024 * 1024) : 'x'}`,
    ),
    '-',
  ]
    .join('\n--b\n')
    .replace(/\n-$/, '--');
const FROM_OLGA = `From: ${OLGA}\nMessage-ID: <a@b>\n`;
const SIGNED = toMixed(quoting('Yes.'), { 'x.p7s': 'application/pkcs7-signature' });
const FILES = {
  'offer.pdf': 'application/pdf',
  'tool.exe': 'application/octet-stream',
  'macro.docm': 'application/vnd.ms-word.document.macroenabled.12',
  'page.pdf': 'text/html',
  'photo\u202Egpj.exe': 'image/jpeg',
  '../../plan.PNG': 'application/octet-stream',
  'large.pdf': 'application/pdf',
};
const SHADE = { from: USER.email, text: quoting('And the shade?'), messageId: 'a@users.example' };
const OTHER = { from: 'x@other.example' };
const AUTOMATIC = { headers: 'Auto-Submitted: auto-replied\n' };
const UTF_8 = 'Content-Type: text/plain; charset=utf-8\n';
const UTF_7 = 'Content-Type: text/plain; charset=utf-7\n';
const NESTED = 'Content-Type: multipart/mixed; boundary=b\n\n--b\n'.repeat(1_000);

interface Case {
  mails: NewMail[];
  kind?: ReplyKind;
  to?: string;
  row?: object;
  isErased?: boolean;
  areFilesRefused?: boolean;
  left?: number;
  settings?: object;
}

const CASES: Record<string, Case> = {
  'an answer that comes twice': { mails: [ANSWER, ANSWER] },
  'an addition that comes twice': { mails: [ANSWER, ADDITION, ADDITION] },
  'an addition with the same Message-ID': {
    mails: [ANSWER, { ...ADDITION, messageId: ANSWER.messageId }],
  },
  'an answer in the words of another mail': { mails: [ANSWER, {}] },
  'an answer with a signature of text': { mails: [{ text: quoting('Yes.\n\n-- \nOlga') }] },
  'an answer between the lines of the quotation': {
    mails: [{ text: quoting('').replace('> | b', 'Yes.\n> | b') }],
  },
  'an answer that quotes without the line': {
    mails: [{ text: quoting('Yes.').replace(/> ##.*\n/, '') }],
  },
  'the word in the subject and no text': { mails: [DISMISS] },
  'the word and a text': { mails: [{ ...DISMISS, text: 'Yes.' }] },
  'an answer without a text': { mails: [{ text: '\n' }] },
  'nothing but the quotation': { mails: [{ text: quoting('') }] },
  'an answer below the quotation': { mails: [{ text: `${quoting('')}\nYes.` }] },
  'an answer that is larger than an item': {
    mails: [{ headers: UTF_8, text: quoting('漢'.repeat(150_000)) }],
  },
  'a second answer': { mails: [{ from: 'bea@example.com', text: quoting('No.') }, {}] },
  'an answer with files': {
    mails: [{ raw: Buffer.from(FROM_OLGA + toMixed(quoting('Yes.'), FILES)) }],
  },
  'an answer with a file that SES refuses': {
    areFilesRefused: true,
    mails: [
      { raw: Buffer.from(FROM_OLGA + toMixed(quoting('Yes.'), { 'a.pdf': 'application/pdf' })) },
    ],
  },
  'an answer with a file when they are off': {
    settings: { files: false },
    mails: [
      { raw: Buffer.from(FROM_OLGA + toMixed(quoting('Yes.'), { 'a.pdf': 'application/pdf' })) },
    ],
  },
  'a follow-up with files': {
    kind: 'f',
    mails: [
      {
        raw: Buffer.from(
          `From: ${USER.email}\nMessage-ID: <a@b>\n${toMixed(quoting('See.'), FILES)}`,
        ),
      },
    ],
  },
  'an answer with a signature': {
    mails: [{ raw: Buffer.from(FROM_OLGA + SIGNED) }],
  },
  'an answer to an address that takes no mail': { row: { email: 'nobody' }, mails: [{}] },
  'another sender': { mails: [OTHER] },
  'no DMARC': { mails: [{ verdicts: { dmarc: 'FAIL' } }] },
  spam: { mails: [{ verdicts: { spam: 'FAIL' } }] },
  'a virus': { mails: [{ verdicts: { virus: 'GRAY' } }] },
  'automatic mails': { mails: [AUTOMATIC, AUTOMATIC], left: 1 },
  'two senders': { mails: [{ from: `${OLGA}, x@other.example` }] },
  'a text that cannot be read': { mails: [{ headers: UTF_7, text: 'Gr+APw-' }] },
  'a bounce': { mails: [{ source: '<>' }] },
  'a thousand levels': { mails: [{ headers: NESTED }] },
  'an address that is not ours': { to: 'info@reply.example.com', mails: [{}] },
  'an erased inquiry': { isErased: true, mails: [{}] },
  'an expired inquiry': { row: { ...USER, expires_at: 1 }, mails: [{}] },
  'a follow-up that comes twice': { kind: 'f', mails: [SHADE, SHADE] },
  'a follow-up when they are off': { kind: 'f', settings: {}, mails: [SHADE] },
  'a follow-up of another address': { kind: 'f', mails: [{ ...SHADE, from: OLGA }] },
  'a follow-up to an unverified address': {
    kind: 'f',
    row: { email: USER.email },
    mails: [SHADE],
  },
  'a follow-up between the lines of the quotation': {
    kind: 'f',
    mails: [{ ...SHADE, text: quoting('').replace('> | b', 'Yes.\n> | b') }],
  },
  'a follow-up without DMARC': { kind: 'f', mails: [{ ...SHADE, verdicts: { dmarc: 'GRAY' } }] },
  'a follow-up without a new text': { kind: 'f', mails: [{ ...SHADE, text: quoting('') }] },
  'a follow-up beyond the limit': {
    kind: 'f',
    settings: { followUps: true, inquiriesPerHour: 1 },
    mails: [SHADE, { ...SHADE, messageId: 'b@users.example' }],
  },
};

describeOnDynamoDbLocal('the receiver', (engine) => {
  let all: MailerInstances;
  let id: string;

  const start = async (settings: object = {}, row: object = USER, at = START - HOUR) => {
    all = await createMailerInstances(engine, { time: START, ...RECEIVER_SETTINGS, ...settings });
    const record = await all.add({ at, subject: 'Lamp', ...row });
    id = idOf(record);
    return record;
  };
  beforeEach(async () => void (await start()));

  const receive = async (mail: NewMail, to?: string) =>
    all.create().receive(deliverMail(all, to ?? (await createAddress(all, 'r', id)), mail));
  const listAll = async () => (await Array.fromAsync(all.inbox.listInFull())).flat();

  it.each(Object.entries(CASES))('%s', async (_name, one) => {
    const record = await start(one.settings ?? { followUps: true }, one.row);
    if (one.isErased) await all.remove(record);
    const to = one.to ?? (await createAddress(all, one.kind ?? 'r', id));
    const outcomes: string[] = [];
    all.beforeSend = async ({ files }) => {
      if (one.areFilesRefused && files?.length) throw new MailRejected('no');
    };
    for (const mail of one.mails) outcomes.push(...(await receive(mail, to)));
    const story = [outcomes.join(', ')];
    for (const { to: recipient, replyTo = 'nobody', subject, text, files = [] } of all.mails) {
      const attached = files.map(({ name, type, data }) => `, with ${name} ${type} ${data.length}`);
      story.push(`To ${recipient}, reply to ${replyTo}${attached.join('')}: ${subject}`);
      story.push(text.slice(0, 800));
    }
    const rows = await listAll();
    for (const {
      id: _,
      cognito_sub: __,
      created_at: ___,
      reply_mail: ____,
      reply_at,
      ...row
    } of rows) {
      story.push(
        `${reply_at === undefined ? 'Open' : 'Done'}: ${JSON.stringify(row, [...Object.keys(row).toSorted(), 'text'])}`,
      );
    }
    expect(new Set(rows.map(({ cognito_sub }) => cognito_sub)).size).toBeLessThan(2);
    expect(all.rawMails.size).toBe(one.left ?? 0);
    const shown = story
      .join('\n\n')
      .replaceAll(/(?<=[rf])\d{4}-[\da-f]{56}/g, '…')
      .replaceAll(/[\da-f]{8}-[\da-f]{4}(?:-[\da-f]{4}){0,2}(?:-[\da-f]{12})?/g, 'REFERENCE')
      .replaceAll(/(?<=Answered ).*|(?<=Am ).*(?= schrieben)/g, 'TIME');
    expect(shown).toMatchSnapshot();
  });

  it('forwards 20 of strangers in an hour beside others, and tells the rest in the daily mail', async () => {
    const stranger = { ...OTHER, verdicts: { dmarc: 'FAIL' } } as const;
    for (let sent = 0; sent < 12; sent++) {
      await receive(OTHER, 'info@reply.example.com');
      await receive(stranger);
    }
    expect(all.mails).toHaveLength(20);
    expect(all.rawMails.size).toBe(4);
    expect(all.log.at(-1)).toMatchObject({ outcome: 'withheld', why: 'dmarc' });
    await receive({ ...OTHER, text: 'of the team?' });
    expect(all.mails.at(-1)?.text).toContain('of the team?');
    for (let sent = 0; sent < 5; sent++) await receive(OTHER);
    expect(all.mails).toHaveLength(25);
    all.time += 24 * HOUR;
    await all.create().tick();
    expect(all.ofKind('daily').map(({ text }) => text)).toEqual([expect.stringMatching(/5 mails/)]);
  });

  it('reads no mail of a stranger, nor one that has ended three invocations', async () => {
    const read = vi.fn<(id: string) => Uint8Array | undefined>(() => {
      throw new Error('S3 is down.');
    });
    all.rawMails.get = read;
    const virus = { verdicts: { virus: 'FAIL' } } as const;
    expect(await receive({}, 'info@reply.example.com')).toEqual(['sent']);
    expect(await receive(virus)).toEqual(['sent']);
    expect(read).not.toHaveBeenCalled();
    const message = deliverMail(all, await createAddress(all, 'r', id), {});
    // A fault of AWS is tried again and again.
    for (let times = 0; times < 5; times++) {
      await expect(all.create().receive(message)).rejects.toThrow('not handled');
    }
    const { quotas } = createMailerStore({ client: all.client, name: all.table }, MAIL_SETTINGS);
    for (const killed of ['a', 'b', 'c']) {
      await quotas.beginReading(message.mail.messageId, killed, AbortSignal.timeout(60_000));
    }
    expect(await all.create().receive(message)).toEqual(['sent']);
    expect(read).toHaveBeenCalledTimes(5);
    expect(all.mails.at(-1)?.text).toContain('it cannot be read');
  });

  it('keeps what SES refuses to forward', async () => {
    all.failing['notice'] = new MailRejected('x');
    expect(await receive(OTHER)).toEqual(['refused']);
    expect(all.rawMails.size).toBe(1);
  });

  it('sends later what it could not send, and nothing twice when an event comes twice', async () => {
    const message = deliverMail(all, 'info@reply.example.com', {});
    for (const text of ['Successfully validated SNS topic.', '{}']) {
      expect(await all.create().receive(text)).toEqual([]);
    }
    all.failing['notice'] = new Error('SES is down.');
    await expect(all.create().receive(message)).rejects.toThrow('not handled');
    all.failing = {};
    // Another invocation may still be sending it: this one must not remove the mail.
    await expect(all.create().receive(message)).rejects.toThrow('not handled');
    all.time += 6 * 60_000;
    expect(await all.create().receive(message)).toEqual(['sent']);
    expect(all.mails).toHaveLength(1);
    expect(all.rawMails.size).toBe(0);
  });

  it('looks twice for an inquiry that the index may not have yet', async () => {
    const message = deliverMail(all, await createAddress(all, 'r', INQUIRY.id), {});
    await expect(all.create().receive(message, 1)).rejects.toThrow('not handled');
    expect(all.rawMails.size).toBe(1);
    expect(await all.create().receive(message, 2)).toEqual(['sent']);
  });

  it('is tried with a mail to the team that is not sent, and leaves but its two records', async () => {
    const message = deliverMail(all, await createAddress(all, 'r', randomUUID()), {});
    all.rawMails.clear();
    const before = await readTable(all.client, all.table);
    for (let times = 0; times < 2; times++) {
      const tried = { result: { outcomes: ['sent'] }, mails: [TEAM] };
      expect(await all.create().tryReceiver(message)).toEqual(tried);
    }
    const records = [{ mail: 'notice' }, { __edb_e__: 'quota' }].map(
      (one) => expect.objectContaining(one) as object,
    );
    const after = await readTable(all.client, all.table);
    expect(new Set(after)).toEqual(new Set([...before, ...records]));
    all.rawMails.get = () => {
      throw new Error('403');
    };
    await expect(all.create().tryReceiver(message)).rejects.toThrow('The trial failed.');
    expect(all.mails).toEqual([]);
  });

  it('stores a follow-up once, also of an event that comes again after two weeks', async () => {
    await start({ followUps: true });
    const message = deliverMail(all, await createAddress(all, 'f', id), SHADE);
    const raw = all.rawMails.get(message.mail.messageId) ?? Buffer.from('');
    for (const days of [0, 2, 12]) {
      all.time += days * 24 * HOUR;
      all.rawMails.set(message.mail.messageId, raw);
      expect(await all.create().receive(message)).toEqual(['stored']);
    }
    expect(await listAll()).toHaveLength(2);
  });

  it('logs neither addresses nor texts', async () => {
    await receive({});
    await receive({ ...OTHER, text: 'canary' });
    expect(all.log).toMatchObject([
      { mail: 'received', inquiry: id, outcome: 'sent', why: 'answered' },
      { mail: 'received', inquiry: id, outcome: 'sent', why: 'sender' },
    ]);
    expect(JSON.stringify(all.log)).not.toMatch(/@|canary|Yes/);
  });
});
