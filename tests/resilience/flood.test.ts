import { expect, it } from 'vitest';
import { HOUR, toReference } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { createMailerInstances } from '../helpers/mailer-instances.ts';
import { toReply, type StreamRecord } from '../helpers/mailer.ts';
import { isHard } from '../helpers/selection.ts';

const MINUTES = 80;
/** Inquiries in five minutes. */
const SIZE = isHard ? 3_200 : 100;
const COUNT = (SIZE * MINUTES) / 5;
const TOTAL = 100;
const START = Math.floor(Date.now() / HOUR) * HOUR + HOUR / 2;

describeOnDynamoDbLocal(`a flood of ${COUNT} inquiries by ${COUNT / 10} owners`, (engine) => {
  it('is a bounded number of mails with each inquiry in one, though mails fail', async () => {
    const all = await createMailerInstances(engine, { time: START, totalMailsPerHour: TOTAL });
    const owners = Array.from({ length: COUNT / 10 }, () => ({ cognito_sub: crypto.randomUUID() }));
    const [inquiries, replies] = [all.create(), all.create()];
    /** As Lambda, from the first failed record. */
    const deliver = async (records: StreamRecord[]): Promise<void> => {
      const failed = await inquiries.handle(records);
      const first = records.findIndex(({ dynamodb }) => failed.includes(dynamodb.SequenceNumber));
      if (first >= 0) await deliver(records.slice(first));
    };
    const given: StreamRecord[] = [];
    let answered = 0;
    await inquiries.tick();

    for (let minute = 0; minute < MINUTES; minute += 5) {
      const records = await all.write(
        Array.from({ length: SIZE }, (_, n) => ({
          at: START + minute * 60_000 + Math.floor((n * 300_000) / SIZE),
          ...owners[(given.length + n) % owners.length],
        })),
      );
      given.push(...records);
      all.time = START + (minute + 5) * 60_000;
      let sending = 0;
      all.beforeSend = async ({ tags: { mail, inquiry } }) => {
        if (mail === 'reply' || inquiry === undefined) return;
        if (++sending % 20 === 0) throw new Error('no');
      };
      // Lambda gives up a twentieth of the batches.
      const batches = Array.from({ length: SIZE / 100 }, (_, n) =>
        records.slice(100 * n, 100 * n + 100),
      ).filter((_, n) => (n + minute) % 20 !== 7);
      const shards = [0, 1, 2, 3].map(async (shard) => {
        for (const batch of batches.filter((_, n) => n % 4 === shard)) await deliver(batch);
      });
      // Replies have their own mapping (infra/terraform/mailer).
      expect(await replies.handle(records.slice(0, 20).map((record) => toReply(record)))).toEqual(
        [],
      );
      answered += 20;
      expect(all.mailed('reply')).toHaveLength(answered);
      await Promise.all(shards);
      const before = all.lists('digest').length;
      await Promise.all([inquiries.tick(), replies.tick(), all.create().tick()]);
      expect(all.lists('digest').length - before).toBeLessThanOrEqual(1);
    }
    for (let later = 1; later <= 120; later++) {
      all.time += 300_000;
      await inquiries.tick();
    }

    const single = new Set(all.mailed('inquiry'));
    const digests = all.lists('digest');
    const named = digests.flatMap(({ references }) => references);
    const mentions = [...named, ...[...single].map(toReference)];
    expect(new Set(mentions).size).toBe(mentions.length);
    expect(all.mailed('inquiry')).toHaveLength(single.size);
    expect(single.size).toBeLessThanOrEqual(3 * TOTAL);
    expect(single.size).toBeGreaterThan(TOTAL);
    expect(digests.length).toBeLessThanOrEqual(MINUTES / 5 + 4);
    expect(single.size + digests.reduce((sum, { count }) => sum + count, 0)).toBe(COUNT);
  });
});
