import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { HOUR } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { createMailerInstances, type MailerInstances } from '../helpers/mailer-instances.ts';
import { idOf } from '../helpers/mailer.ts';
import { readTable } from '../helpers/own-table.ts';
import {
  createAddress,
  deliverMail,
  quoting,
  RECEIVER_SETTINGS,
  type NewMail,
} from '../helpers/received-mails.ts';

const START = Math.floor(Date.now() / HOUR) * HOUR;
const OLGA = 'olga@example.com';
const TEAM = 'support@example.com';
const USER = { email: 'ana@users.example', email_verified: true, language: 'de' } as const;
const DISMISS = { subject: 'Mark as answered', text: '\n-- \nOlga' };
const PDF = `Content-Type: multipart/mixed; boundary=b\n\n--b\n\n${quoting('Yes.')}\n--b\nContent-Type: application/pdf\nContent-Disposition: attachment; filename="offer.pdf"\n\nx\n--b--`;

describeOnDynamoDbLocal('the receiver', (engine) => {
  let all: MailerInstances;
  let id: string;

  const start = async (settings: object = {}, row: object = USER, at = START - HOUR) => {
    all = await createMailerInstances(engine, { time: START, ...RECEIVER_SETTINGS, ...settings });
    const [record] = await all.write([{ at, subject: 'Lamp', ...row }]);
    id = record === undefined ? '' : idOf(record);
  };
  beforeEach(async () => start());

  const receive = async (mail: NewMail, to?: string) =>
    all.create().receive(deliverMail(all, to ?? (await createAddress(all, 'r', id)), mail));
  const followUp = async (mail: NewMail) =>
    receive({ from: USER.email, ...mail }, await createAddress(all, 'f', id));
  const readRow = async () => all.inbox.find(id);
  const listAll = async () => (await Array.fromAsync(all.inbox.listInFull())).flat();

  it('takes an answer once, and tells the team in the thread who answered', async () => {
    expect(await receive({})).toEqual(['sent']);
    expect(await readRow()).toMatchObject({ reply: 'Yes.', respondent: OLGA });
    expect(all.mails).toMatchObject([
      {
        to: TEAM,
        subject: '[inquiries develop] Lamp',
        replyTo: await createAddress(all, 'r', id),
        headers: { References: `<${id}@mail.example.com>`, 'Auto-Submitted': 'auto-generated' },
        text: `${OLGA} answered:\n\n| Yes.`,
      },
    ]);
    // Delivered twice, or sent again.
    expect(await receive({})).toEqual(['already-sent']);
    expect(all.mails).toHaveLength(1);
    expect(all.rawMails.size).toBe(0);
  });

  it('dismisses for the word in the subject and no text, and answers nothing then', async () => {
    expect(await receive(DISMISS)).toEqual(['sent']);
    const row = await readRow();
    expect(row).toMatchObject({ respondent: OLGA });
    expect(row?.reply).toBeUndefined();
    expect(all.mails).toMatchObject([{ to: TEAM, text: `${OLGA} marked it as answered.` }]);
  });

  it.each<[string, NewMail, string]>([
    ['without a text', { text: '\n' }, 'no text that can be read'],
    ['of nothing but the quotation', { text: quoting('') }, 'no text above the line'],
    ['below the quotation', { text: `${quoting('')}\nYes.` }, 'below the quotation'],
    ['that is too long', { text: quoting('x'.repeat(399_000)) }, 'too long'],
    ['with a text and the word', { ...DISMISS, text: 'Yes.' }, 'Send one or the other'],
  ])('sends an answer %s back to its writer', async (_, mail, said) => {
    expect(await receive(mail)).toEqual(['sent']);
    expect(all.mails).toMatchObject([{ to: OLGA, text: expect.stringContaining(said) }]);
    expect((await readRow())?.reply_at).toBeUndefined();
  });

  it('sends a second answer back with the first, its writer and time', async () => {
    await receive({ from: 'bea@example.com', text: quoting('No.') });
    expect(await receive({})).toEqual(['sent']);
    const [, returned] = all.mails;
    expect(returned?.to).toBe(OLGA);
    expect(returned?.text).toMatch(
      /not sent[^]*Answered \d+ [^]*bea@example.com answered:[^]*\| No\.[^]*You wrote:\n\n\| Yes\./,
    );
    expect((await readRow())?.reply).toBe('No.');
  });

  it('sends an answer without its attachments, and tells the writer their names', async () => {
    const raw = Buffer.from(`From: ${OLGA}\nMessage-ID: <a@b>\n${PDF}`);
    await receive({ raw });
    expect((await readRow())?.reply).toBe('Yes.');
    expect(all.mails).toMatchObject([
      { to: TEAM },
      { to: OLGA, text: expect.stringMatching(/sent without its attachments[^]*offer\.pdf/) },
    ]);
  });

  it('takes the signature of a mail for no attachment', async () => {
    const signed = PDF.replace('application/pdf', 'application/pkcs7-signature');
    await receive({ raw: Buffer.from(`From: ${OLGA}\nMessage-ID: <a@b>\n${signed}`) });
    expect((await readRow())?.reply).toBe('Yes.');
    expect(all.mails).toMatchObject([{ to: TEAM }]);
  });

  it('tells the writer that no mail can be sent to the user', async () => {
    await start({}, { email: 'nobody' });
    await receive({});
    expect(all.mails).toMatchObject([
      { to: OLGA, text: expect.stringContaining('No mail can be') },
    ]);
  });

  it.each<[string, NewMail, string]>([
    ['of another sender', { from: 'x@other.example' }, 'its sender is not one'],
    ['with two senders', { from: `${OLGA}, x@example.com` }, 'its sender is not one'],
    ['of a sender read in two ways', { from: `<${OLGA}> <x@other.example>` }, 'not one'],
    ['that fails DMARC', { verdicts: { dmarc: 'FAIL' } }, 'DMARC'],
    ['without a verdict', { verdicts: { dmarc: 'PROCESSING_FAILED' } }, 'DMARC'],
    ['that is spam', { verdicts: { spam: 'FAIL' } }, 'spam'],
    ['with a virus', { verdicts: { virus: 'GRAY' } }, 'virus'],
    ['that is automatic', { headers: 'Auto-Submitted: auto-replied\n' }, 'automatically'],
    ['of a list', { headers: 'List-Id: <team.example.com>\n' }, 'automatically'],
    ['of a program', { headers: 'Precedence: bulk\n' }, 'automatically'],
    ['that has bounced', { source: '<>' }, 'automatically'],
    ['that reports', { headers: 'Content-Type: multipart/report; boundary=x\n' }, 'automatically'],
    [
      'with a thousand levels',
      { headers: 'Content-Type: multipart/mixed; boundary=b\n\n--b\n'.repeat(1_000) },
      'cannot be read',
    ],
  ])('passes a mail %s to the team, with the reason', async (_, mail, said) => {
    expect(await receive(mail)).toEqual(['sent']);
    expect(all.mails).toMatchObject([{ to: TEAM, text: expect.stringContaining(said) }]);
    expect(all.mails[0]?.replyTo).toBeUndefined();
    expect((await readRow())?.reply_at).toBeUndefined();
  });

  it('passes on what is sent to no address of its own, or to an erased or expired inquiry', async () => {
    const address = await createAddress(all, 'r', id);
    await receive({}, 'info@reply.example.com');
    await receive({}, address.replace('@', '0@'));
    const [expired = ''] = (await all.write([{ at: START - HOUR, expires_at: 1 }])).map(idOf);
    await receive({}, await createAddress(all, 'r', expired));
    const [record] = await all.write([{ at: START - HOUR }]);
    if (record) await all.remove(record);
    await receive({}, await createAddress(all, 'r', record ? idOf(record) : ''));
    expect(all.mails.map(({ to, text }) => `${to} ${/taken: (.{20})/.exec(text)?.[1]}`)).toEqual([
      `${TEAM} its address is not o`,
      `${TEAM} its address is not o`,
      `${TEAM} the inquiry was eras`,
      `${TEAM} the inquiry was eras`,
    ]);
  });

  it('passes on 20 in an hour, and keeps the others for an operator', async () => {
    const mail = { from: 'x@other.example' };
    for (let sent = 0; sent < 21; sent++) await receive(mail, 'info@reply.example.com');
    expect(all.mails).toHaveLength(20);
    expect(all.rawMails.size).toBe(1);
    expect(all.log.at(-1)).toMatchObject({ outcome: 'withheld', why: 'address' });
  });

  it('sends later what it could not send, for the event that has claimed it', async () => {
    const message = deliverMail(all, 'info@reply.example.com', {});
    for (const text of ['Successfully validated SNS topic.', '{}']) {
      expect(await all.create().receive(text)).toEqual([]);
    }
    all.failing['notice'] = new Error('SES is down.');
    await expect(all.create().receive(message, 'first')).rejects.toThrow('not handled');
    // SES may deliver an event twice: the other one must not remove the mail.
    await expect(all.create().receive(message)).rejects.toThrow('not handled');
    all.failing = {};
    expect(await all.create().receive(message, 'first')).toEqual(['sent']);
    expect(all.mails).toHaveLength(1);
    expect(all.rawMails.size).toBe(0);
  });

  it('stores the owner’s next mail as an inquiry, once', async () => {
    await start({ followUps: true });
    const mail = { text: quoting('And the shade?'), messageId: 'a@users.example' };
    expect(await followUp(mail)).toEqual(['stored']);
    expect(await followUp(mail)).toEqual(['stored']);
    const [first, ...others] = await listAll();
    expect(others).toMatchObject([{ id }]);
    expect(first).toMatchObject({
      ...USER,
      cognito_sub: others[0]?.cognito_sub,
      subject: 'Re: Lamp',
      body: 'And the shade?',
    });
    expect(all.mails).toEqual([]);
  });

  it.each<[string, object, object, NewMail]>([
    ['when follow-ups are off', {}, USER, {}],
    ['of another address', { followUps: true }, USER, { from: OLGA }],
    ['to an address that was not verified', { followUps: true }, { email: USER.email }, {}],
    ['that fails DMARC', { followUps: true }, USER, { verdicts: { dmarc: 'GRAY' } }],
    ['without a new text', { followUps: true }, USER, { text: quoting('') }],
  ])('passes a follow-up %s to the team', async (_, settings, row, mail) => {
    await start(settings, row);
    expect(await followUp(mail)).toEqual(['sent']);
    expect(all.mails).toMatchObject([{ to: TEAM, text: expect.stringContaining('was not taken') }]);
    expect(await listAll()).toHaveLength(1);
  });

  it('passes a follow-up beyond the limit of the user to the team', async () => {
    await start({ followUps: true, inquiriesPerHour: 1 });
    expect(await followUp({})).toEqual(['stored']);
    expect(await followUp({})).toEqual(['sent']);
    expect(all.mails).toMatchObject([{ text: expect.stringContaining('reached a limit') }]);
  });

  it('waits for an inquiry that the index may not have yet', async () => {
    const young = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
    all.time = START - HOUR + 1_000;
    await expect(receive({}, await createAddress(all, 'r', young))).rejects.toThrow('not handled');
    expect(all.rawMails.size).toBe(1);
  });

  it('is tried with a mail to the team that is not sent, and leaves but a delivery record', async () => {
    const message = deliverMail(all, await createAddress(all, 'r', randomUUID()), {});
    all.rawMails.clear();
    const before = await readTable(all.client, all.table);
    for (let times = 0; times < 2; times++) {
      const tried = { result: { outcomes: ['sent'] }, mails: [TEAM] };
      expect(await all.create().tryReceiver(message)).toEqual(tried);
    }
    const record = expect.objectContaining({ mail: 'notice' }) as object;
    const after = await readTable(all.client, all.table);
    expect(new Set(after)).toEqual(new Set([...before, record]));
    all.rawMails.get = () => {
      throw new Error('403');
    };
    await expect(all.create().tryReceiver(message)).rejects.toThrow('The trial failed.');
    expect(all.mails).toEqual([]);
  });

  it('logs neither addresses nor texts', async () => {
    await receive({});
    await receive({ from: 'x@other.example', text: 'canary' });
    expect(all.log).toMatchObject([
      { mail: 'received', inquiry: id, outcome: 'sent', why: 'answered' },
      { mail: 'received', inquiry: id, outcome: 'sent', why: 'sender' },
    ]);
    expect(JSON.stringify(all.log)).not.toMatch(/@|canary|Yes/);
  });
});
