/** What the team gets beside mails about single inquiries: digests of what has none, and what waits for an answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
import { HOUR, toReference } from '../../src/limits.ts';
import { AddressRejected, MailRejected } from '../../src/mailer/send-mail.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { SUB } from '../helpers/events.ts';
import {
  createMailerInstances,
  idOf,
  toReply,
  type MailerInstances,
} from '../helpers/mailer-instances.ts';
import { INBOX, type StreamRecord } from '../helpers/mailer.ts';
import { removeRow } from '../helpers/own-table.ts';
import { SES_EXAMPLES, toEvent } from '../helpers/ses-events.ts';

const MINUTE = 60_000;
/** 06:00 UTC. */
const START = Math.floor(Date.now() / (24 * HOUR)) * 24 * HOUR + 6 * HOUR;
/** When the mails of the first hour are given up. */
const LATE = START + 8 * HOUR;

describeOnDynamoDbLocal('the mailer', (engine) => {
  let all: MailerInstances;
  afterEach(() => all.close());

  const start = async (settings: object = {}) => {
    all = await createMailerInstances(engine, { time: START, ...settings });
    const mailer = all.create();
    // The timer has run before.
    await mailer.tick();
    return mailer;
  };
  const writeMany = (count: number, at = START, row: object = {}) =>
    all.write(
      Array.from({ length: count }, (_, n) => ({ at: at + n, subject: `subject ${n}`, ...row })),
    );
  const raise = (): never => {
    throw new Error('no');
  };
  const writeReply = async () => toReply((await writeMany(1))[0] ?? raise());
  const readReply = async (record: StreamRecord) => {
    const key = { inquiry: idOf(record), mail: 'reply' } as const;
    return (await createDeliveryEntity(all.table, all.client).get(key).go({ consistent: true }))
      .data;
  };
  const tickAt = async (time: number, instance = all.create()) => {
    all.time = time;
    return instance.tick();
  };

  it('sends 10 mails side by side and never more, those of one inquiry in order', async () => {
    const mailer = await start();
    const records = await writeMany(40);
    const [first] = records;
    if (first === undefined) throw new Error('unreachable');
    let [sending, most] = [0, 0];
    const full = Promise.withResolvers<unknown>();
    all.beforeSend = async () => {
      most = Math.max(most, ++sending);
      // More have the time to come before these are done.
      if (sending === 10) full.resolve(sleep(300));
      await full.promise;
      sending--;
    };
    expect(await mailer.handle([first, toReply(first), ...records.slice(1)])).toEqual([]);
    expect(most).toBe(10);
    expect(
      all.mails.filter(({ headers }) => headers['References']?.includes(idOf(first))),
    ).toMatchObject([{ to: 'support@example.com' }, { subject: 'Re: subject 0' }]);
    expect(all.mails).toHaveLength(41);
  });

  describe('beyond the mails of an hour', () => {
    it('mails a digest with the count and the newest ten, and later one with what came since', async () => {
      const mailer = await start({ totalMailsPerHour: 5 });
      const records = await writeMany(30);
      expect(await mailer.handle(records)).toEqual([]);
      expect(all.mailed('inquiry')).toHaveLength(5);
      await tickAt(START + 5 * MINUTE, mailer);
      const mailed = new Set(all.mailed('inquiry'));
      const withheld = records.map(idOf).filter((id) => !mailed.has(id));
      expect(all.digests()).toEqual([
        {
          count: 25,
          since: '06:00',
          references: withheld.slice(-10).toReversed().map(toReference),
        },
      ]);
      expect(await mailer.handle(await writeMany(1, START + 6 * MINUTE))).toEqual([]);
      await tickAt(START + 10 * MINUTE);
      await tickAt(START + 15 * MINUTE);
      await tickAt(LATE);
      expect(all.digests().slice(1)).toEqual([
        { count: 1, since: '06:03', references: [expect.any(String)] },
      ]);
    });

    it('does so when one person has used up theirs, with any emails; others’ inquiries and those of the next hour are mailed', async () => {
      const mailer = await start();
      const eve = (n: number) => ({ cognito_sub: SUB, email: `eve${n}@example.com` });
      const records = await all.write(
        Array.from({ length: 12 }, (_, n) => ({ at: START + n, ...eve(n) })),
      );
      // Lambda hands over any batch in any order, and again.
      for (const batch of [records.toReversed(), records]) {
        expect(await mailer.handle(batch)).toEqual([]);
      }
      expect(all.mailed('inquiry')).toHaveLength(10);
      await tickAt(START + 5 * MINUTE, mailer);
      expect(all.digests()).toMatchObject([{ count: 2 }]);
      expect(await mailer.handle(await writeMany(3, START + 6 * MINUTE))).toEqual([]);
      expect(all.mailed('inquiry')).toHaveLength(13);
      // What comes late belongs to the digest that was sent for its time.
      expect(await all.create().handle(await writeMany(1, START + MINUTE))).toEqual([]);
      expect(all.log.at(-1)).toMatchObject({ outcome: 'withheld' });
      expect(await mailer.handle(await writeMany(1, START + HOUR, eve(12)))).toEqual([]);
      expect(all.mailed('inquiry')).toHaveLength(14);
    });
  });

  it('sends one digest, however many invocations begin, and none again before the next is due', async () => {
    const mailer = await start({ totalMailsPerHour: 1 });
    await mailer.handle(await writeMany(3));
    await Promise.all(Array.from({ length: 5 }, () => tickAt(START + 5 * MINUTE)));
    await mailer.handle(await writeMany(3, START + 4 * MINUTE));
    await tickAt(START + 8 * MINUTE);
    expect(all.digests()).toMatchObject([{ count: 2 }]);
    await tickAt(START + 10 * MINUTE);
    expect(all.digests()).toMatchObject([{ count: 2 }, { count: 3 }]);
  });

  it('has in the next digest what the one before has not brought to the team', async () => {
    const mailer = await start({ totalMailsPerHour: 1 });
    await mailer.handle(await writeMany(3));
    all.beforeSend = () => Promise.reject(new Error('no'));
    expect(await tickAt(START + 5 * MINUTE)).toEqual({ digest: 'failed', daily: 'idle' });
    all.beforeSend = async () => undefined;
    await mailer.handle(await writeMany(2, START + 11 * MINUTE));
    await tickAt(START + 15 * MINUTE);
    expect(all.digests()).toMatchObject([{ count: 4, since: '06:00' }]);
  });

  it('has in a digest what was given up, when it is certain that no mail comes, and nothing else', async () => {
    const mailer = await start();
    const email = 'smoke-test-1@inquiries.invalid';
    const smoke = await writeMany(1, START, { email });
    const [sent, failing, unseen, erased, answered] = await writeMany(5);
    const [notATest] = await writeMany(1, START, { email: `${email}.example.com` });
    if (!sent || !failing || !unseen || !erased || !answered || !notATest) {
      throw new Error('unreachable');
    }
    await mailer.handle([sent, ...smoke]);
    all.beforeSend = () => Promise.reject(new Error('no'));
    expect(await mailer.handle([failing, erased, answered])).toHaveLength(3);
    all.beforeSend = async () => undefined;
    const ofRow = ({ dynamodb: { NewImage = {} } }: typeof sent) => ({
      id: NewImage['id']?.S ?? '',
      email: NewImage['email']?.S ?? '',
      cognito_sub: NewImage['cognito_sub']?.S ?? '',
    });
    await removeRow(all.client, all.table, ofRow(erased));
    await createInbox(all.client, all.table).answer(idOf(answered), { respondent: 'bea' });
    await tickAt(LATE - 5 * MINUTE);
    expect(all.digests()).toEqual([]);
    await tickAt(LATE);
    await tickAt(LATE + 5 * MINUTE);
    const lost = [failing, unseen, notATest].map(idOf).toSorted().toReversed();
    const references = lost.map(toReference);
    expect(all.digests()).toEqual([{ count: 3, since: '06:00', references }]);
  });

  it('tells the team, once, of a reply that could not be sent for an hour, and tries on', async () => {
    const mailer = await start();
    const reply = await writeReply();
    const late = { ...reply.dynamodb.NewImage, reply_at: { S: new Date(START).toISOString() } };
    const records = [{ ...reply, dynamodb: { ...reply.dynamodb, NewImage: late } }];
    all.beforeSend = async ({ tags }) => (tags['mail'] === 'reply' ? raise() : undefined);
    for (const minutes of [0, 55, 65, 70]) {
      all.time = START + minutes * MINUTE;
      expect(await mailer.handle(records)).toHaveLength(1);
    }
    expect(all.mailed('notice')).toEqual([idOf(reply)]);
    all.beforeSend = async () => undefined;
    expect(await mailer.handle(records)).toEqual([]);
    expect(await readReply(reply)).not.toHaveProperty('undelivered');
  });

  it('tells the team once of a reply that is refused, also when SES cannot be reached in between', async () => {
    const mailer = await start();
    const reply = await writeReply();
    const old = { ...reply.dynamodb.NewImage, reply_at: { S: new Date(START).toISOString() } };
    const records = [{ ...reply, dynamodb: { ...reply.dynamodb, NewImage: old } }];
    all.time = START + 2 * HOUR;
    for (const error of [new MailRejected('no'), new Error('no'), new MailRejected('no')]) {
      all.beforeSend = async ({ tags }) =>
        tags['mail'] === 'reply' ? Promise.reject(error) : undefined;
      await mailer.handle(records);
    }
    expect(all.mailed('notice')).toEqual([idOf(reply)]);
  });

  it('tries a refused reply again until the team has a mail about it, and sends no second one', async () => {
    const mailer = await start();
    const reply = await writeReply();
    all.beforeSend = ({ tags }) =>
      Promise.reject(tags['mail'] === 'reply' ? new MailRejected('no') : new Error('no'));
    expect(await mailer.handle([reply])).toHaveLength(1);
    expect(await readReply(reply)).toMatchObject({ undelivered: 'refused' });
    all.beforeSend = async ({ tags }) =>
      tags['mail'] === 'reply' ? Promise.reject(new MailRejected('no')) : undefined;
    // Lambda repeats it with a record before it that fails.
    for (let n = 0; n < 3; n++) expect(await mailer.handle([reply])).toEqual([]);
    expect(all.mailed('notice')).toEqual([idOf(reply)]);
  });

  it('keeps a bounce that is known before the delivery is recorded', async () => {
    const mailer = await start();
    const reply = await writeReply();
    all.beforeSend = async ({ tags: { mail, inquiry = '' } }) => {
      if (mail === 'reply') await mailer.invoke(toEvent(SES_EXAMPLES.bounce, { inquiry, mail }));
    };
    await mailer.handle([reply]);
    expect(await readReply(reply)).toMatchObject({ undelivered: 'bounce' });
  });

  it('tells the team of as many bounces in an hour as of new inquiries', async () => {
    const mailer = await start({ totalMailsPerHour: 2 });
    const outcomes = [];
    for (let n = 0; n < 3; n++) outcomes.push(await mailer.invoke(toEvent(SES_EXAMPLES.bounce)));
    expect(outcomes).toEqual(
      ['sent', 'sent', 'withheld'].map((outcome) => ({ outcomes: [outcome] })),
    );
  });

  describe('acknowledges', () => {
    const verified = { email: 'ana@example.com', email_verified: true };
    const acknowledged = () => all.mails.filter(({ tags }) => tags['mail'] === 'acknowledgement');

    it('each inquiry that is mailed, once, in its language', async () => {
      const mailer = await start({ acknowledge: true, mailsPerHour: 2 });
      const ofOwner = { ...verified, cognito_sub: SUB, language: 'de' };
      const records = await writeMany(3, START, ofOwner);
      const email = 'smoke-test-1@inquiries.invalid';
      records.push(...(await writeMany(1, START, { ...verified, email })));
      all.beforeSend = async ({ tags }) =>
        tags['mail'] === 'acknowledgement' ? raise() : undefined;
      expect(await mailer.handle(records)).toHaveLength(2);
      all.beforeSend = async () => undefined;
      for (let n = 0; n < 2; n++) expect(await mailer.handle(records)).toEqual([]);
      expect(all.mailed('inquiry')).toHaveLength(2);
      const mail = { to: 'ana@example.com', subject: 'Wir haben Ihre Anfrage erhalten' };
      expect(acknowledged()).toMatchObject([mail, mail]);
    });

    it('nothing to an address that its issuer has not verified', async () => {
      const mailer = await start({ acknowledge: true });
      await mailer.handle(await writeMany(2, START, { email: 'ana@example.com' }));
      expect(all.mails).toHaveLength(2);
      expect(acknowledged()).toEqual([]);
    });

    it('three in an hour to one address, whoever writes', async () => {
      const mailer = await start({ acknowledge: true });
      const records = [
        ...(await writeMany(5, START, verified)),
        ...(await writeMany(5, START, { ...verified, email: 'Ana@example.com' })),
      ];
      for (let n = 0; n < 2; n++) expect(await mailer.handle(records)).toEqual([]);
      expect(acknowledged()).toHaveLength(3);
      await mailer.handle(await writeMany(1, START + HOUR, verified));
      expect(acknowledged()).toHaveLength(4);
    });
  });

  it('holds nothing back for an address that SES refuses or cannot take', async () => {
    const mailer = await start({ acknowledge: true });
    const [refused] = await writeMany(1, START, { email_verified: true });
    const noAddress = await writeMany(1, START, {
      email: 'müller@example.de',
      email_verified: true,
    });
    all.beforeSend = async ({ to, replyTo }) =>
      to === 'ana@example.com' || replyTo === 'ana@example.com'
        ? Promise.reject(new AddressRejected('no'))
        : undefined;
    for (const record of [refused ?? raise(), ...noAddress]) {
      expect(await mailer.handle([record])).toEqual([]);
    }
    expect(all.mails.map(({ to }) => to)).toEqual(Array(2).fill(INBOX.INBOX_TO));
    expect(all.mails[0]?.text).toContain('No mail can be sent to the address of the sender');
    expect(all.log.map(({ outcome }) => outcome)).toEqual(['sent', 'refused', 'sent']);
  });

  it('mails once a day what has waited for more than answer_within days, the oldest 50, oldest first', async () => {
    await start({ answerWithin: 3 });
    const day = 24 * HOUR;
    const old = await writeMany(60, START - 4 * day);
    await writeMany(5, START - 2 * day);
    await createInbox(all.client, all.table).answer(old.map(idOf)[0] ?? '', { respondent: 'bea' });
    for (const time of [-2 * HOUR, 0, HOUR, day]) await tickAt(START + time);
    const oldest = old.map(idOf).slice(1, 51).map(toReference);
    expect(all.dailies()).toMatchObject([
      { count: 59, references: oldest },
      { count: 59, references: oldest },
    ]);
    expect(all.digests()).toEqual([]);
  });
});
