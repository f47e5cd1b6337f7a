/** Lists, exports and erasures while inquiries are answered, reopened and erased: none is missing or there twice. */
import { setImmediate as turn } from 'node:timers/promises';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import {
  createStoredInquiries,
  type StoredInquiries,
  type StoredInquiry,
} from '../../src/entities/stored-inquiries.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { toShard } from '../../src/entities/keys.ts';
import { HOUR } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { writeInquiries } from '../helpers/inquiries.ts';
import { createMailerInstances } from '../helpers/mailer-instances.ts';
import { idOf } from '../helpers/mailer.ts';
import { createOwnTable, removeRow, type OwnTable } from '../helpers/own-table.ts';
import { isHard } from '../helpers/selection.ts';

const ROWS = isHard ? 20_000 : 2_000;
const DIGESTED = ROWS / 5;
const WRITERS = 8;
const START = Math.floor(Date.now() / HOUR) * HOUR;

type Reader = (inbox: StoredInquiries) => AsyncIterable<readonly { id: string }[]>;
const CHANGES = {
  answer: 'SET inbox = :inbox, reply_at = :time, respondent = :time',
  reopen: 'SET inbox = :inbox REMOVE reply_at, respondent',
};
type Change = keyof typeof CHANGES;

/** Between the index's partitions. The product never reopens one. */
const move = async ({ client, name }: OwnTable, row: StoredInquiry, change: Change) =>
  client.send(
    new UpdateCommand({
      ...createInquiryEntity(name).get(row).params<{ TableName: string; Key: object }>(),
      UpdateExpression: CHANGES[change],
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: {
        ':inbox': toShard(row.id, change === 'answer'),
        ...(change === 'answer' && { ':time': row.created_at }),
      },
    }),
  );

const READERS: readonly [name: string, read: Reader, changes: Change[]][] = [
  ['list, newest first', (inbox) => inbox.list(), ['answer']],
  ['list, oldest first', (inbox) => inbox.list({ order: 'oldest' }), ['answer']],
  ['export and erase', (inbox) => inbox.scan(), ['answer', 'reopen']],
];

describeOnDynamoDbLocal('readers beside writers', (endpoint) => {
  it.each(READERS)('%s', async (_, read, changes) => {
    const own = await createOwnTable(endpoint);
    const rows = await writeInquiries(own, ROWS, (at) => at % 4 === 0);
    const erased = new Set<StoredInquiry>();
    const reading = { isOver: false };
    const write = async (writer: number): Promise<void> => {
      for (let at = writer; !reading.isOver; at = (at + WRITERS * 7) % ROWS) {
        await turn();
        const { [at]: row } = rows;
        if (row === undefined || erased.has(row)) continue;
        if (at % 50 === 0) {
          erased.add(row);
          await removeRow(own.client, own.name, row);
        } else {
          await move(own, row, changes[at % changes.length] ?? 'answer');
        }
      }
    };
    const writers = Array.from({ length: WRITERS }, (_each, writer) => write(writer));
    const found: string[] = [];
    for await (const page of read(createStoredInquiries(own))) {
      found.push(...page.map(({ id }) => id));
    }
    reading.isOver = true;
    await Promise.all(writers);
    const ids = new Set(found);
    expect(found).toHaveLength(ids.size);
    expect(rows.filter((row) => !ids.has(row.id) && !erased.has(row))).toEqual([]);
  });

  it('digests, whose counts have each inquiry once', async () => {
    const all = await createMailerInstances(endpoint, { time: START, totalMailsPerHour: 1 });
    const mailer = all.create();
    await mailer.tick();
    const step = HOUR / DIGESTED;
    const records = await all.write(
      Array.from({ length: DIGESTED }, (_, at) => ({ at: START + Math.floor(at * step) })),
    );
    await mailer.handle(records.slice(0, 50));
    const answers = records.map(idOf).toSorted((a, b) => a.slice(-4).localeCompare(b.slice(-4)));
    const operators = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let at = writer; at < DIGESTED; at += WRITERS) {
        await all.answer(answers[at] ?? '', { respondent: 'bea' });
      }
    });
    for (let minutes = 5; minutes <= 65; minutes += 5) {
      all.time = START + minutes * 60_000;
      await mailer.tick();
    }
    await Promise.all(operators);
    const counts = all.lists('digest').map(({ count }) => count);
    expect(counts).toHaveLength(13);
    expect(counts.reduce((sum, count) => sum + count) + all.mailed('inquiry').length).toBe(
      DIGESTED,
    );
  });
});
