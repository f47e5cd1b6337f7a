/** What the team gets beside mails about single inquiries: digests of what has none, and what waits for an answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterEach, expect, it } from 'vitest';
import { HOUR, toReference } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { SUB } from '../helpers/events.ts';
import {
  createMailerInstances,
  idOf,
  toReply,
  type MailerInstances,
} from '../helpers/mailer-instances.ts';
import { removeRow } from '../helpers/own-table.ts';

const MINUTE = 60_000;
const DAY = 24 * HOUR;
/** 06:00 UTC. */
const START = Math.floor(Date.now() / DAY) * DAY + 6 * HOUR;
/** When the mails of the first hour are given up. */
const LATE = START + 8 * HOUR;
const SMOKE_TEST = 'smoke-test-1@inquiries.invalid';

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
  const write = (count: number, at = START, row: object = {}) =>
    all.write(Array.from({ length: count }, (_, n) => ({ at: at + n, subject: `s ${n}`, ...row })));
  const tickAt = async (time: number, instance = all.create()) => {
    all.time = time;
    return instance.tick();
  };
  /** References of the newest ones, newest first. */
  const refer = (ids: string[]) => ids.toSorted().slice(-10).toReversed().map(toReference);

  it('sends 10 mails at once and no more, those of one inquiry in order', async () => {
    const mailer = await start();
    const records = await write(40);
    let [sending, most] = [0, 0];
    const full = Promise.withResolvers<unknown>();
    all.beforeSend = async () => {
      most = Math.max(most, ++sending);
      // More have the time to come before these are done.
      if (sending === 10) full.resolve(sleep(300));
      await full.promise;
      sending--;
    };
    const first = records.slice(0, 1);
    expect(await mailer.handle([...first, ...first.map(toReply), ...records.slice(1)])).toEqual([]);
    expect(most).toBe(10);
    const [id] = first.map(idOf);
    expect(all.mails.filter(({ tags }) => tags['inquiry'] === id)).toMatchObject([
      { to: 'support@example.com' },
      { subject: 'Re: s 0' },
    ]);
    expect(all.mails).toHaveLength(41);
  });

  it('beyond the mails of an hour sends one digest, and later one of what came since', async () => {
    const mailer = await start({ totalMailsPerHour: 5 });
    const records = await write(30);
    expect(await mailer.handle(records)).toEqual([]);
    const mailed = new Set(all.mailed('inquiry'));
    expect(mailed.size).toBe(5);
    await Promise.all(Array.from({ length: 5 }, () => tickAt(START + 5 * MINUTE)));
    const withheld = records.map(idOf).filter((id) => !mailed.has(id));
    expect(all.digests()).toEqual([{ count: 25, since: '06:00', references: refer(withheld) }]);
    const later = await write(1, START + 6 * MINUTE);
    expect(await mailer.handle(later)).toEqual([]);
    for (const time of [START + 8 * MINUTE, START + 10 * MINUTE, START + 15 * MINUTE, LATE]) {
      await tickAt(time, mailer);
    }
    const references = refer(later.map(idOf));
    expect(all.digests().slice(1)).toEqual([{ count: 1, since: '06:03', references }]);
  });

  it('does so for one person with any emails, not for others, until the next hour', async () => {
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
    expect(await mailer.handle(await write(3, START + 6 * MINUTE))).toEqual([]);
    expect(all.mailed('inquiry')).toHaveLength(13);
    // What comes late belongs to the digest that was sent for its time.
    expect(await all.create().handle(await write(1, START + MINUTE))).toEqual([]);
    expect(all.log.at(-1)).toMatchObject({ outcome: 'withheld' });
    expect(await mailer.handle(await write(1, START + HOUR, eve(12)))).toEqual([]);
    expect(all.mailed('inquiry')).toHaveLength(14);
  });

  it('has in the next digest what the one before has not sent', async () => {
    const mailer = await start({ totalMailsPerHour: 1 });
    await mailer.handle(await write(3));
    all.failing = { digest: new Error('no') };
    expect(await tickAt(START + 5 * MINUTE)).toEqual({ digest: 'failed', daily: 'idle' });
    all.failing = {};
    await mailer.handle(await write(2, START + 11 * MINUTE));
    await tickAt(START + 15 * MINUTE);
    expect(all.digests()).toMatchObject([{ count: 4, since: '06:00' }]);
  });

  it('has in a digest what was given up, and nothing else', async () => {
    const mailer = await start();
    const smoke = await write(1, START, { email: SMOKE_TEST });
    const records = await write(5);
    const [erased, answered, failing, unseen] = [0, 1, 2, 3].map((n) => records.slice(n, n + 1));
    const notATest = await write(1, START, { email: `${SMOKE_TEST}.example.com` });
    await mailer.handle([...records.slice(4), ...smoke]);
    all.failing = { inquiry: new Error('no') };
    expect(await mailer.handle(records.slice(0, 3))).toHaveLength(3);
    all.failing = {};
    for (const { dynamodb } of erased ?? []) {
      const { id, email, cognito_sub } = unmarshall(dynamodb.NewImage ?? {});
      await removeRow(all.client, all.table, { id, email, cognito_sub });
    }
    for (const id of answered?.map(idOf) ?? []) await all.inbox.answer(id, { respondent: 'bea' });
    await tickAt(LATE - 5 * MINUTE);
    expect(all.digests()).toEqual([]);
    await tickAt(LATE);
    await tickAt(LATE + 5 * MINUTE);
    const references = refer([...(failing ?? []), ...(unseen ?? []), ...notATest].map(idOf));
    expect(all.digests()).toEqual([{ count: 3, since: '06:00', references }]);
  });

  it('looks at two days at most, and comes to the end of a long outage', async () => {
    const mailer = await start({ totalMailsPerHour: 1 });
    const end = START + 100 * HOUR;
    await mailer.handle(await write(2));
    await mailer.handle(await write(2, end));
    await tickAt(end + 10 * MINUTE);
    expect(all.digests()).toMatchObject([{ count: 1 }]);
    for (const minutes of [15, 20]) await tickAt(end + minutes * MINUTE);
    expect(all.digests()).toMatchObject([{ count: 1 }, { count: 1 }]);
  });

  it('mails the oldest 50 of those unanswered for answer_within days, once a day', async () => {
    await start({ answerWithin: 3 });
    const [answered = '', ...old] = (await write(60, START - 4 * DAY)).map(idOf);
    await write(5, START - DAY);
    await all.inbox.answer(answered, { respondent: 'bea' });
    for (const time of [DAY - 2 * HOUR, DAY, DAY + HOUR, 2 * DAY]) await tickAt(START + time);
    const references = old.slice(0, 50).map(toReference);
    const mail = { count: 59, references };
    expect(all.dailies()).toMatchObject([mail, mail]);
    expect(all.digests()).toEqual([]);
  });
});
