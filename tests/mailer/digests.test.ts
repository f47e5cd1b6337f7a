import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { HOUR, toReference } from '../../src/limits.ts';
import { RateLimited } from '../../src/mailer/send-mail.ts';
import { stopTimeouts } from '../helpers/clock.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { SUB } from '../helpers/events.ts';
import { createMailerInstances, type MailerInstances } from '../helpers/mailer-instances.ts';
import { idOf, sequenceOf, toReply, type StreamRecord } from '../helpers/mailer.ts';

const MINUTE = 60_000;
const DAY = 24 * HOUR;
/** 06:00 UTC. */
const START = Math.floor(Date.now() / DAY) * DAY + 6 * HOUR;
/** When mails of the first hour are given up. */
const LATE = START + 8 * HOUR;
const SMOKE_TEST = 'smoke-test-1@inquiries.invalid';
const NO = new Error('no');

describeOnDynamoDbLocal('the mailer', (engine) => {
  let all: MailerInstances;

  const start = async (settings: object = {}) => {
    all = await createMailerInstances(engine, { time: START, ...settings });
    const mailer = all.create();
    await mailer.tick();
    return mailer;
  };
  const write = (count: number, at = START, row: object = {}) =>
    all.write(Array.from({ length: count }, (_, n) => ({ at: at + n, ...row })));
  /** The timer runs on so many instances. @returns Its digests. */
  const tickAt = async (time: number, instances = 1) => {
    const before = all.lists('digest').length;
    all.time = time;
    await Promise.all(Array.from({ length: instances }, () => all.create().tick()));
    return all.lists('digest').slice(before);
  };
  /** References of the newest, newest first. */
  const refer = (records: readonly StreamRecord[]) =>
    records.map(idOf).toSorted().slice(-10).toReversed().map(toReference);

  it('sends 10 mails at once and no more, those of one inquiry in order', async () => {
    const mailer = await start();
    const [first, ...others] = (await write(40)) as [StreamRecord, ...StreamRecord[]];
    let [sending, most] = [0, 0];
    const full = Promise.withResolvers<unknown>();
    // Another mail needs fewer requests.
    const askOften = async () => {
      for (let requests = 0; requests < 20; requests++) await all.inbox.get(idOf(first));
    };
    all.beforeSend = async () => {
      most = Math.max(most, ++sending);
      if (sending === 10) full.resolve(askOften());
      await full.promise;
      sending--;
    };
    expect(await mailer.handle([first, toReply(first), ...others])).toEqual([]);
    expect([most, all.mails.length]).toEqual([10, 41]);
    const own = all.mails.filter(({ tags }) => tags['inquiry'] === idOf(first));
    expect(own).toMatchObject([{ to: 'support@example.com' }, { subject: 'Re: s' }]);
  });

  it.each([
    // 3.1 s for ten mails; no time for others.
    ['never answers', new Error('aborted'), 6_100, 2],
    ['throttles until the end', new RateLimited('no'), 9_000, 12],
  ])(
    'when SES %s, the invocation ends in time and reports all',
    async (_, error, time, deferred) => {
      const mailer = await start();
      const records = await write(12);
      const clock = stopTimeouts();
      all.remaining = () => time - clock.now();
      let sending = 0;
      all.beforeSend = async (_mail, signal) => {
        const ended = once(signal, 'abort');
        // Until mails are given up, 3 s before the end.
        if (++sending === 10) clock.pass(time - 3_000);
        await ended;
        throw error;
      };
      expect((await mailer.handle(records)).toSorted()).toEqual(records.map(sequenceOf));
      expect(all.remaining()).toBe(3_000);
      const outcomes = all.log.map(({ outcome }) => outcome).toSorted();
      expect(outcomes).toEqual(Array(12).fill('deferred', 0, deferred).fill('failed', deferred));
    },
  );

  it('beyond the mails of an hour sends one digest, and later one of what came since', async () => {
    const mailer = await start({ totalMailsPerHour: 5 });
    const records = await write(30);
    expect(await mailer.handle(records)).toEqual([]);
    const mailed = new Set(all.mailed('inquiry'));
    expect(mailed.size).toBe(5);
    const others = records.filter((record) => !mailed.has(idOf(record)));
    // Replies have no limit.
    await mailer.handle(others.map((record) => toReply(record)));
    expect(all.mailed('reply')).toHaveLength(25);
    // A full hour is known: each refused update would cost as much as its whole row.
    all.failing = { GetCommand: NO, UpdateCommand: NO };
    expect(await mailer.handle(others)).toEqual([]);
    all.failing = {};
    const references = refer(others);
    // Answered or not, each is counted.
    for (const record of others.slice(0, 2)) await all.answer(idOf(record));
    const digest = { count: 25, since: '06:00', references };
    expect(await tickAt(START + 5 * MINUTE, 5)).toEqual([digest]);
    const later = await write(1, START + 6 * MINUTE);
    expect(await mailer.handle(later)).toEqual([]);
    expect(await tickAt(START + 8 * MINUTE)).toEqual([]);
    const next = { count: 1, since: '06:03', references: refer(later) };
    expect(await tickAt(START + 10 * MINUTE)).toEqual([next]);
    for (const time of [START + 15 * MINUTE, LATE]) expect(await tickAt(time)).toEqual([]);
  });

  it('does so for one person with any emails, not for others, until the next hour', async () => {
    const mailer = await start();
    const expectMailed = async (records: StreamRecord[], total: number) => {
      expect(await mailer.handle(records)).toEqual([]);
      expect(all.mailed('inquiry')).toHaveLength(total);
    };
    const eve = { cognito_sub: SUB };
    const records = await write(6, START, eve);
    records.push(...(await write(6, START + 6, { ...eve, email: 'eve@example.com' })));
    // Lambda delivers batches in any order, and again.
    for (const batch of [records.toReversed(), records]) await expectMailed(batch, 10);
    expect(await tickAt(START + 5 * MINUTE)).toMatchObject([{ count: 2 }]);
    await expectMailed(await write(3, START + 6 * MINUTE), 13);
    // Late ones belong to the digest of their time.
    await expectMailed(await write(1, START + MINUTE), 13);
    await expectMailed(await write(1, START + HOUR, eve), 14);
  });

  it('has in the next digest what the one before has not sent', async () => {
    const mailer = await start({ totalMailsPerHour: 1 });
    const records = await write(3);
    all.failing = { inquiry: NO };
    expect(await mailer.handle(records)).toHaveLength(1);
    all.failing = { digest: NO };
    // What has failed keeps its place.
    expect(await mailer.handle(records)).toEqual([]);
    expect(all.mailed('inquiry')).toHaveLength(1);
    expect(await tickAt(START + 5 * MINUTE)).toEqual([]);
    all.failing = {};
    await mailer.handle(await write(2, START + 11 * MINUTE));
    expect(await tickAt(START + 15 * MINUTE)).toMatchObject([{ count: 4, since: '06:00' }]);
  });

  it('has in a digest what was given up, and nothing else', async () => {
    const mailer = await start();
    const [erased, answered, failing, sent, ...unseen] = (await write(5)) as [
      StreamRecord,
      StreamRecord,
      StreamRecord,
      StreamRecord,
    ];
    const notATest = await write(1, START, { email: `${SMOKE_TEST}.example.com` });
    await mailer.handle([sent, ...(await write(1, START, { email: SMOKE_TEST }))]);
    all.failing = { inquiry: NO };
    expect(await mailer.handle([erased, answered, failing])).toHaveLength(3);
    all.failing = {};
    await all.remove(erased);
    await all.answer(idOf(answered));
    expect(await tickAt(LATE - 5 * MINUTE)).toEqual([]);
    const references = refer([failing, ...unseen, ...notATest]);
    expect(await tickAt(LATE)).toEqual([{ count: 3, since: '06:00', references }]);
    expect(await tickAt(LATE + 5 * MINUTE)).toEqual([]);
  });

  it('in a flood, sends a bounded number of mails with each inquiry in one, though mails fail', async () => {
    const mailer = await start({ totalMailsPerHour: 20 });
    const owners = Array.from({ length: 64 }, () => ({ cognito_sub: randomUUID() }));
    /** As Lambda, from the first failed record. */
    const deliver = async (records: StreamRecord[]): Promise<void> => {
      const failed = await mailer.handle(records);
      const first = records.findIndex((record) => failed.includes(sequenceOf(record)));
      if (first >= 0) await deliver(records.slice(first));
    };
    let sending = 0;
    all.beforeSend = async ({ tags: { inquiry } }) => {
      if (inquiry !== undefined && ++sending % 20 === 0) throw NO;
    };
    for (let minute = 0; minute < 80; minute += 5) {
      const rows = Array.from({ length: 40 }, (_, n) => {
        const at = START + minute * MINUTE + n * 5_000;
        return { at, ...owners[(minute + n) % owners.length] };
      });
      const records = await all.write(rows);
      // Lambda gives up an eighth of the batches.
      const batches = [0, 10, 20, 30].filter((at) => (at + 2 * minute) % 80 !== 0);
      await Promise.all(batches.map((at) => deliver(records.slice(at, at + 10))));
      expect((await tickAt(START + (minute + 5) * MINUTE, 3)).length).toBeLessThanOrEqual(1);
    }
    for (let later = 0; later < 120; later++) await tickAt(all.time + 5 * MINUTE);

    const single = all.mailed('inquiry').map((id) => toReference(id));
    const digests = all.lists('digest');
    const mentions = [...digests.flatMap(({ references }) => references), ...single];
    expect(new Set(mentions).size).toBe(mentions.length);
    expect(single.length).toBeGreaterThan(20);
    expect(single.length).toBeLessThanOrEqual(40);
    expect(digests.length).toBeLessThanOrEqual(20);
    expect(digests.reduce((sum, { count }) => sum + count, single.length)).toBe(640);
  });

  it('looks at two days at most, and comes to the end of a long outage', async () => {
    const mailer = await start({ totalMailsPerHour: 1 });
    const end = START + 100 * HOUR;
    for (const time of [START, end]) await mailer.handle(await write(2, time));
    expect(await tickAt(end + 10 * MINUTE)).toMatchObject([{ count: 1 }]);
    const later = [await tickAt(end + 15 * MINUTE), await tickAt(end + 20 * MINUTE)];
    expect(later.flat()).toMatchObject([{ count: 1 }]);
  });

  it('mails the oldest 50 of those unanswered for answer_within days, once a day', async () => {
    await start({ answerWithin: 3 });
    const [answered = '', ...old] = (await write(60, START - 4 * DAY)).map(idOf);
    await write(5, START - DAY);
    await all.answer(answered);
    for (const time of [DAY - 2 * HOUR, DAY, DAY + HOUR, 2 * DAY]) {
      expect(await tickAt(START + time)).toEqual([]);
    }
    const mail = { count: 59, references: old.slice(0, 50).map(toReference) };
    expect(all.lists('daily')).toMatchObject([mail, mail]);
  });
});
