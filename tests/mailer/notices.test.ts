/** What the mailer does about mails that are not with their recipients, and to whom it says that an inquiry has arrived. */
import { afterEach, describe, expect, it } from 'vitest';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
import { HOUR } from '../../src/limits.ts';
import { AddressRejected, MailRejected } from '../../src/mailer/send-mail.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { MAIL_SETTINGS, SUB } from '../helpers/events.ts';
import {
  createMailerInstances,
  idOf,
  toReply,
  type MailerInstances,
} from '../helpers/mailer-instances.ts';
import { toRecord } from '../helpers/mailer.ts';
import { SES_EXAMPLES, toBounce, toEvent } from '../helpers/ses-events.ts';

const START = Math.floor(Date.now() / HOUR) * HOUR;
const NO = new Error('no');
const REJECTED = new MailRejected('no');
const VERIFIED = { email: 'ana@example.com', email_verified: true };

describeOnDynamoDbLocal('the mailer', (engine) => {
  let all: MailerInstances;
  afterEach(() => all.close());

  const start = async (settings: object = {}) => {
    all = await createMailerInstances(engine, { time: START, ...settings });
    return all.create();
  };
  const write = (count: number, row: object = {}, at = START) =>
    all.write(Array.from({ length: count }, (_, n) => ({ at: at + n, ...row })));
  /** The record of a reply of the start, to a new inquiry. */
  const writeReply = async (row: object = {}) => {
    const [{ dynamodb } = toRecord({})] = (await write(1, row)).map(toReply);
    const { NewImage = {}, OldImage = {} } = dynamodb;
    const reply_at = { S: new Date(START).toISOString() };
    const record = toRecord({ ...NewImage, reply_at }, { eventName: 'MODIFY', OldImage });
    return { record, id: idOf(record) };
  };
  const readReply = async (inquiry: string) =>
    (
      await createDeliveryEntity(all.table, all.client)
        .get({ inquiry, mail: 'reply' })
        .go({ consistent: true })
    ).data;
  const outcomes = () => all.log.map(({ outcome }) => outcome);

  it('tells the team once of a reply that is an hour late', async () => {
    const mailer = await start();
    const { record, id } = await writeReply();
    all.failing = { reply: NO };
    for (const hours of [0, 0.9, 1.1, 1.2]) {
      all.time = START + hours * HOUR;
      expect(await mailer.handle([record])).toHaveLength(1);
    }
    expect(all.mailed('notice')).toEqual([id]);
    expect(await readReply(id)).toMatchObject({ undelivered: 'refused' });
    all.failing = {};
    expect(await mailer.handle([record])).toEqual([]);
    expect(await readReply(id)).not.toHaveProperty('undelivered');
  });

  it('tells the team of a refused reply once, as soon as it can', async () => {
    const mailer = await start();
    const { record, id } = await writeReply();
    all.failing = { reply: REJECTED, notice: NO };
    expect(await mailer.handle([record])).toHaveLength(1);
    expect(await readReply(id)).toMatchObject({ undelivered: 'refused' });
    all.time += 2 * HOUR;
    for (const reply of [REJECTED, NO, REJECTED]) {
      all.failing = { reply };
      // Lambda repeats it also with a record before it that fails.
      expect(await mailer.handle([record])).toHaveLength(reply === NO ? 1 : 0);
    }
    expect(all.mailed('notice')).toEqual([id]);
  });

  it.each([
    ['no-address', { email: 'müller@example.de' }, 'No mail can be sent to this address'],
    ['refused', {}, 'SES refuses it, and it is not tried again'],
  ])(
    'a reply is known as undelivered for %s, and the team gets a mail',
    async (outcome, row, said) => {
      const mailer = await start();
      const { record, id } = await writeReply(row);
      all.failing = { reply: REJECTED };
      expect(await mailer.handle([record])).toEqual([]);
      expect(outcomes()).toEqual([outcome, 'sent']);
      expect(all.mails).toMatchObject([
        { to: MAIL_SETTINGS.inboxTo, text: expect.stringContaining(said) },
      ]);
      expect(await readReply(id)).toMatchObject({ undelivered: 'refused' });
      // An operator can send it later.
      all.failing = {};
      await all.inbox.answer(id, { reply: 'r', respondent: 'bea' });
      const later = outcome === 'refused' ? 'sent' : outcome;
      expect(await mailer.invoke({ ids: [id] })).toEqual({ results: [{ id, outcome: later }] });
      expect((await readReply(id))?.undelivered).toBe(later === 'sent' ? undefined : 'refused');
    },
  );

  it.each([
    ['bounce', SES_EXAMPLES.bounce, 'could not be delivered'],
    [undefined, toBounce('Transient', 'General'), 'may not have arrived'],
    ['complaint', SES_EXAMPLES.complaint, 'was reported as spam'],
  ])('a reply is known for its %s, and the team gets a mail', async (undelivered, event, fate) => {
    const mailer = await start();
    const { record, id } = await writeReply();
    await mailer.handle([record]);
    const bounce = toEvent(event, { inquiry: id, mail: 'reply' });
    expect(await mailer.invoke(bounce)).toEqual({ outcomes: ['sent'] });
    expect(await mailer.invoke(bounce)).toEqual({ outcomes: ['already-sent'] });
    expect(await readReply(id)).toMatchObject({ sent_at: expect.any(String) });
    expect((await readReply(id))?.undelivered).toBe(undelivered);
    const subject = expect.stringContaining(`The reply to ${id.slice(0, 13)} ${fate}`);
    expect(all.ofKind('notice')).toMatchObject([{ to: MAIL_SETTINGS.inboxTo, subject }]);
  });

  it('keeps a bounce that is known before the delivery is recorded', async () => {
    const mailer = await start();
    const { record, id } = await writeReply();
    all.beforeSend = async ({ tags: { mail = '' } }) => {
      if (mail !== 'reply') return;
      await mailer.invoke(toEvent(SES_EXAMPLES.bounce, { inquiry: id, mail }));
    };
    await mailer.handle([record]);
    expect(await readReply(id)).toMatchObject({ undelivered: 'bounce' });
  });

  it('sends no notice that is useless or might bounce', async () => {
    const mailer = await start();
    const [inquiry = ''] = (await write(1)).map(idOf);
    const erased = '01a1f794-6f77-70a2-a975-366ad3f1860a';
    const automatic = toBounce('Transient', 'General');
    for (const [event, outcome] of [
      [toEvent(SES_EXAMPLES.bounce, { inquiry: erased, mail: 'reply' }), 'erased'],
      [toEvent(automatic, { inquiry, mail: 'acknowledgement' }), 'idle'],
      [toEvent(SES_EXAMPLES.bounce, { mail: 'inquiry' }), 'undelivered'],
      [{ Records: [{ Sns: { Message: 'Successfully validated SNS topic.' } }] }, 'idle'],
      [{ Records: [{ Sns: { Message: '{' } }] }, 'refused'],
    ] as const) {
      expect(await mailer.invoke(event)).toEqual({ outcomes: [outcome] });
    }
    expect(all.mails).toEqual([]);
  });

  it('tells the team of as many bounces in an hour as of new inquiries', async () => {
    const mailer = await start({ totalMailsPerHour: 2 });
    for (const outcome of ['sent', 'sent', 'withheld']) {
      expect(await mailer.invoke(toEvent(SES_EXAMPLES.bounce))).toEqual({ outcomes: [outcome] });
    }
  });

  describe('acknowledges', () => {
    it('each inquiry that is mailed, once, in its language', async () => {
      const mailer = await start({ acknowledge: true, mailsPerHour: 2 });
      const records = await write(3, { ...VERIFIED, cognito_sub: SUB, language: 'de' });
      all.failing = { acknowledgement: NO };
      expect(await mailer.handle(records)).toHaveLength(2);
      all.failing = {};
      for (let n = 0; n < 2; n++) expect(await mailer.handle(records)).toEqual([]);
      expect(all.mailed('inquiry')).toHaveLength(2);
      const mail = { to: 'ana@example.com', subject: 'Wir haben Ihre Anfrage erhalten' };
      expect(all.ofKind('acknowledgement')).toMatchObject([mail, mail]);
    });

    it('no unverified address, and one address three times an hour', async () => {
      const mailer = await start({ acknowledge: true });
      const others = await write(5, { ...VERIFIED, email: 'Ana@example.com' });
      const records = [...(await write(5, VERIFIED)), ...others];
      records.push(...(await write(2, { email: 'bea@example.com' })));
      for (let n = 0; n < 2; n++) expect(await mailer.handle(records)).toEqual([]);
      const acknowledged = () => all.ofKind('acknowledgement').map(({ to }) => to.toLowerCase());
      expect(acknowledged()).toEqual(Array(3).fill('ana@example.com'));
      await mailer.handle(await write(1, VERIFIED, START + HOUR));
      expect(acknowledged()).toHaveLength(4);
    });
  });

  it('holds nothing back for an address that SES refuses or cannot take', async () => {
    const mailer = await start({ acknowledge: true });
    all.beforeSend = async ({ to, replyTo }) => {
      if ([to, replyTo].includes('ana@example.com')) throw new AddressRejected('no');
    };
    const records = [
      ...(await write(1, VERIFIED)),
      ...(await write(1, { ...VERIFIED, email: 'müller@example.de' })),
    ];
    for (const record of records) expect(await mailer.handle([record])).toEqual([]);
    const toTeam = { to: MAIL_SETTINGS.inboxTo };
    expect(all.mails).toMatchObject([toTeam, toTeam]);
    expect(all.mails[0]).not.toHaveProperty('replyTo');
    expect(outcomes()).toEqual(['sent', 'refused', 'sent']);
  });
});
