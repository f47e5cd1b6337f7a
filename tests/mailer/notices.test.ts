import { expect, it } from 'vitest';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
import { HOUR } from '../../src/limits.ts';
import { AddressRejected, MailRejected } from '../../src/mailer/send-mail.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { MAIL_SETTINGS, SUB } from '../helpers/events.ts';
import { createMailerInstances, type MailerInstances } from '../helpers/mailer-instances.ts';
import { idOf, toRecord, toReply, type StreamRecord } from '../helpers/mailer.ts';
import { SES_EXAMPLES, toBounce, toEvent } from '../helpers/ses-events.ts';

const START = Math.floor(Date.now() / HOUR) * HOUR;
const NO = new Error('no');
const REJECTED = new MailRejected('no');
const TEAM = { to: MAIL_SETTINGS.inboxTo };
const VERIFIED = { email: 'ana@example.com', email_verified: true } as const;
const { bounce } = SES_EXAMPLES;

describeOnDynamoDbLocal('the mailer', (engine) => {
  let all: MailerInstances;

  const start = async (settings: object = {}) => {
    all = await createMailerInstances(engine, { time: START, ...settings });
    return all.create();
  };
  const write = (count: number, row: object = {}, at = START) =>
    all.write(Array.from({ length: count }, (_, n) => ({ at: at + n, ...row })));
  /** A reply, from the start, to a new inquiry. */
  const writeReply = async (row: object = {}) => {
    const [record] = await write(1, row);
    return toReply(record as StreamRecord, { reply_at: new Date(START).toISOString() });
  };
  const readReply = async (record: StreamRecord) =>
    (
      await createDeliveryEntity(all.table, all.client)
        .get({ inquiry: idOf(record), mail: 'reply' })
        .go({ consistent: true })
    ).data;

  /** Each delivery: hours since the reply, SES's answers to it and to a notice, and the notices since. */
  it.each<[string, [hours: number, notices: number, reply?: Error, notice?: Error][]]>([
    [
      'once that it is an hour late',
      [
        [0.9, 0, NO],
        [1.1, 1, NO],
        [1.2, 1, NO],
        [1.3, 1],
      ],
    ],
    [
      'once that it is refused, as soon as it can',
      [
        [0, 0, REJECTED, NO],
        [2, 1, REJECTED],
        // Lambda repeats it with a failing record before it, too.
        [2, 1, NO],
        [2, 1, REJECTED],
      ],
    ],
  ])('tells the team of a reply %s', async (_, deliveries) => {
    const mailer = await start();
    const record = await writeReply();
    for (const [hours, notices, reply, notice] of deliveries) {
      all.time = START + hours * HOUR;
      all.failing = { reply, notice };
      const isRepeated = reply === NO || notice === NO;
      expect(await mailer.handle([record])).toHaveLength(isRepeated ? 1 : 0);
      expect(all.mailed('notice')).toEqual(Array(notices).fill(idOf(record)));
      const isKnown = reply === REJECTED || notices > 0;
      const undelivered = isKnown && reply !== undefined ? 'refused' : undefined;
      expect((await readReply(record))?.undelivered).toBe(undelivered);
    }
  });

  it.each([
    ['no-address', { email: 'müller@example.de' }, 'No mail can be sent to this address'],
    ['refused', {}, 'It was refused and will not be sent again'],
  ])(
    'says of a reply that it is %s, and an operator can send it later',
    async (outcome, row, said) => {
      const mailer = await start();
      const expires_at = 4_000_000_000;
      const record = await writeReply({ ...row, expires_at });
      all.failing = { reply: REJECTED };
      expect(await mailer.handle([record])).toEqual([]);
      // As long as the inquiry.
      expect(await readReply(record)).toMatchObject({ undelivered: 'refused', expires_at });
      expect(all.log).toMatchObject([{ outcome }, { outcome: 'sent' }]);
      expect(all.mails).toMatchObject([{ ...TEAM, text: expect.stringContaining(said) }]);
      all.failing = {};
      const id = idOf(record);
      await all.answer(id, { reply: 'r', respondent: 'bea' });
      const isSent = outcome === 'refused';
      const later = isSent ? 'sent' : outcome;
      expect(await mailer.invoke({ ids: [id] })).toEqual({ results: [{ id, outcome: later }] });
      expect((await readReply(record))?.undelivered).toBe(isSent ? undefined : 'refused');
    },
  );

  it.each([
    ['bounce', bounce, 'could not be delivered'],
    [undefined, toBounce('Transient', 'General'), 'may not have arrived'],
    ['complaint', SES_EXAMPLES.complaint, 'was reported as spam'],
  ])('says once of a reply: %s, %j, %s', async (undelivered, example, fate) => {
    const mailer = await start();
    const record = await writeReply();
    await mailer.handle([record]);
    const event = toEvent(example, { inquiry: idOf(record), mail: 'reply' });
    expect(await mailer.invoke(event)).toEqual({ outcomes: ['sent'] });
    expect(await mailer.invoke(event)).toEqual({ outcomes: ['already-sent'] });
    const reply = await readReply(record);
    expect(reply).toMatchObject({ sent_at: expect.any(String) });
    expect(reply?.undelivered).toBe(undelivered);
    expect(all.ofKind('notice')).toMatchObject([
      { ...TEAM, subject: expect.stringContaining(fate) },
    ]);
  });

  it('sends one notice of an event that SES sends often, also after a failure', async () => {
    const { invoke } = await start();
    const event = toEvent(bounce);
    all.failing = { notice: NO };
    await expect(invoke(event)).rejects.toThrow('not sent yet');
    all.failing = {};
    // Lambda repeats a message with its id; another message has another one.
    const another = { Records: [{ ...event.Records[0], messageId: 'another' }] };
    for (const [one, outcome] of [
      [another, 'already-sent'],
      [event, 'sent'],
      [event, 'already-sent'],
      [another, 'already-sent'],
    ] as const) {
      expect(await invoke(one)).toEqual({ outcomes: [outcome] });
    }
    expect(all.mails).toHaveLength(1);
  });

  it('keeps a bounce that is known before the delivery is recorded', async () => {
    const mailer = await start();
    const record = await writeReply();
    all.beforeSend = async ({ tags }) =>
      tags['mail'] === 'reply' && mailer.invoke(toEvent(bounce, tags));
    await mailer.handle([record]);
    expect(await readReply(record)).toMatchObject({ undelivered: 'bounce' });
  });

  it('sends no notice that is useless or might bounce', async () => {
    const mailer = await start();
    const [inquiry = ''] = (await write(1)).map(idOf);
    const erased = '01a1f794-6f77-70a2-a975-366ad3f1860a';
    const automatic = toBounce('Transient', 'General');
    for (const [event, outcome] of [
      [toEvent(bounce, { inquiry: erased, mail: 'reply' }), 'erased'],
      [toEvent(automatic, { inquiry, mail: 'acknowledgement' }), 'idle'],
      [toEvent(bounce, { mail: 'inquiry' }), 'undelivered'],
      [{ Records: [{ messageId: 'a', body: 'Successfully validated SNS topic.' }] }, 'idle'],
      [{ Records: [{ messageId: 'b', body: '{' }] }, 'refused'],
    ] as const) {
      expect(await mailer.invoke(event)).toEqual({ outcomes: [outcome] });
    }
    // The index may not have it yet.
    const [young = toRecord({})] = await write(1);
    await all.remove(young);
    const early = toEvent(bounce, { inquiry: idOf(young), mail: 'reply' });
    await expect(mailer.invoke(early)).rejects.toThrow('not sent yet');
    expect(all.mails).toEqual([]);
  });

  it('tells the team of as many bounces in an hour as of new inquiries', async () => {
    const mailer = await start({ totalMailsPerHour: 2 });
    for (const outcome of ['sent', 'sent', 'withheld']) {
      expect(await mailer.invoke(toEvent(bounce))).toEqual({ outcomes: [outcome] });
    }
  });

  it('acknowledges each inquiry that is mailed, once, in its language', async () => {
    const mailer = await start({ acknowledge: true, mailsPerHour: 2 });
    const records = await write(3, { ...VERIFIED, cognito_sub: SUB, language: 'de' });
    all.failing = { acknowledgement: NO };
    expect(await mailer.handle(records)).toHaveLength(2);
    all.failing = {};
    for (let n = 0; n < 2; n++) expect(await mailer.handle(records)).toEqual([]);
    expect(all.mailed('inquiry')).toHaveLength(2);
    const subject = expect.stringMatching(
      /^Wir haben Ihre Anfrage erhalten \([\da-f]{8}-[\da-f]{4}\)$/,
    ) as string;
    const mail = { to: 'ana@example.com', subject };
    expect(all.ofKind('acknowledgement')).toMatchObject([mail, mail]);
  });

  it('acknowledges to no unverified address, and to one address three times an hour', async () => {
    const mailer = await start({ acknowledge: true });
    const records = await write(5, VERIFIED);
    records.push(...(await write(5, { ...VERIFIED, email: 'Ana@example.com' })));
    records.push(...(await write(2, { email: 'bea@example.com' })));
    for (let n = 0; n < 2; n++) expect(await mailer.handle(records)).toEqual([]);
    const addresses = all.ofKind('acknowledgement').map(({ to }) => to.toLowerCase());
    expect(addresses).toEqual(Array(3).fill('ana@example.com'));
    await mailer.handle(await write(1, VERIFIED, START + HOUR));
    expect(all.ofKind('acknowledgement')).toHaveLength(4);
  });

  it('holds nothing back for an address that SES refuses or cannot take', async () => {
    const mailer = await start({ acknowledge: true });
    all.beforeSend = async ({ to, replyTo }) => {
      if ([to, replyTo].includes('ana@example.com')) throw new AddressRejected('no');
    };
    for (const email of ['ana@example.com', 'müller@example.de']) {
      expect(await mailer.handle(await write(1, { ...VERIFIED, email }))).toEqual([]);
    }
    expect(all.mails).toMatchObject([TEAM, TEAM]);
    expect(all.mails[0]).not.toHaveProperty('replyTo');
    expect(all.log.map(({ outcome }) => outcome)).toEqual(['sent', 'refused', 'sent']);
  });
});
