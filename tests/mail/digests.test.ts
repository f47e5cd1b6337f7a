import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { HOUR, toReference } from '../../src/limits.ts';
import { RateLimited } from '../../mail/send-mail.ts';
import { stopTimeouts } from '../local/clock.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { createMailerInstances, type MailerInstances } from './mailer-instances.ts';
import { idOf, sequenceOf, toReply, type StreamRecord } from './test-mailer.ts';

const MINUTE = 60_000;
const DAY = 24 * HOUR;
const START = Math.floor(Date.now() / DAY) * DAY + 6 * HOUR;
const NO = new Error('no');

describeOnDynamoDbLocal('the mailer', (engine) => {
  let all: MailerInstances;

  const start = async (settings: object = {}) => {
    all = await createMailerInstances(engine, { time: START, ...settings });
    const mailer = all.create();
    await mailer.tick();
    return mailer;
  };
  const write = (count: number) =>
    all.write(Array.from({ length: count }, (_, n) => ({ at: START + n })));

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
      all.time += 5 * MINUTE;
      await Promise.all([mailer, all.create(), all.create()].map(({ tick }) => tick()));
    }
    for (let later = 0; later < 120; later++) {
      all.time += 5 * MINUTE;
      await mailer.tick();
    }

    const single = all.ofKind('inquiry').map(({ tags }) => toReference(String(tags['inquiry'])));
    const digests = all.ofKind('digest').map(({ subject, text }) => ({
      count: Number(/ (\d+) inquir/.exec(subject)?.[1]),
      references: Array.from(text.matchAll(/^\| Reference (\S+)$/gm), ([, one]) => one),
    }));
    const mentions = [...digests.flatMap(({ references }) => references), ...single];
    expect(new Set(mentions).size).toBe(mentions.length);
    expect(single.length).toBeGreaterThan(20);
    expect(single.length).toBeLessThanOrEqual(40);
    expect(digests.length).toBeLessThanOrEqual(20);
    expect(digests.reduce((sum, { count }) => sum + count, single.length)).toBe(640);
  });
});
