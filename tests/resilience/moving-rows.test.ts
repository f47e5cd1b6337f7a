/** Lists, exports and erasures read while inquiries are answered, reopened and erased: none is missing or there twice. */
import { setImmediate as turn } from 'node:timers/promises';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, it } from 'vitest';
import { createInbox, type StoredInquiry } from '../../inbox/store.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { toShard } from '../../src/entities/keys.ts';
import { HOUR } from '../../src/limits.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { writeInquiries } from '../helpers/inquiries.ts';
import { createMailerInstances, idOf } from '../helpers/mailer-instances.ts';
import { createOwnTable, removeRow, type OwnTable } from '../helpers/own-table.ts';
import { createTally, isHard } from '../helpers/tally.ts';

const ROWS = isHard ? 20_000 : 2_000;
const DIGESTED = ROWS / 5;
const WRITERS = 8;
/** The beginning of an hour. */
const START = Math.floor(Date.now() / HOUR) * HOUR;

type Change = (row: StoredInquiry) => Promise<unknown>;
type Reader = (inbox: ReturnType<typeof createInbox>) => AsyncIterable<readonly { id: string }[]>;

/** What moves an inquiry between the partitions of the index. Nothing in the product reopens one. */
const createChanges = ({ client, name }: OwnTable): Record<string, Change> => {
  const update = (row: StoredInquiry, isAnswered: boolean, change: string, values = {}) =>
    client.send(
      new UpdateCommand({
        ...createInquiryEntity(name).get(row).params<{ TableName: string; Key: object }>(),
        UpdateExpression: change,
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':inbox': toShard(row.id, isAnswered), ...values },
      }),
    );
  return {
    answer: (row) =>
      update(row, true, 'SET inbox = :inbox, reply_at = :time, respondent = :name', {
        ':time': row.created_at,
        ':name': 'R',
      }),
    reopen: (row) => update(row, false, 'SET inbox = :inbox REMOVE reply_at, respondent'),
    erase: (row) => removeRow(client, name, row),
  };
};

const READERS: readonly [name: string, read: Reader, changes: readonly string[]][] = [
  ['list, newest first', (inbox) => inbox.list(), ['answer', 'erase']],
  ['list, oldest first', (inbox) => inbox.list({ order: 'oldest' }), ['answer', 'erase']],
  ['export and erase', (inbox) => inbox.scan(), ['answer', 'reopen', 'erase']],
];

const ignoreErased = (error: Error): void => {
  if (error.name !== 'ConditionalCheckFailedException') throw error;
};

describeOnDynamoDbLocal('readers beside writers', (endpoint) => {
  const tally = createTally('17 rows read while they move');
  let own: OwnTable;
  let rows: StoredInquiry[];
  let changes: Record<string, Change>;

  beforeEach(async () => {
    own = await createOwnTable(endpoint);
    changes = createChanges(own);
    rows = await writeInquiries(own, ROWS, { isAnswered: (at) => at % 4 === 0 });
    return () => own.close();
  }, 300_000);

  it.each(READERS)('%s', async (_, read, names) => {
    const erased = new Set<string>();
    const reading = { isOver: false };
    const write = async (writer: number): Promise<void> => {
      for (let at = writer; !reading.isOver; at = (at + WRITERS * 7) % rows.length) {
        const { [at]: row } = rows;
        const name = at % 50 === 0 ? 'erase' : (names[at % (names.length - 1)] ?? '');
        if (row === undefined || erased.has(row.id)) {
          await turn();
          continue;
        }
        if (name === 'erase') erased.add(row.id);
        await changes[name]?.(row).catch(ignoreErased);
      }
    };
    const writers = Array.from({ length: WRITERS }, (_each, writer) => write(writer));
    const found: string[] = [];
    for await (const page of read(createInbox(own.client, own.name))) {
      found.push(...page.map(({ id }) => id));
    }
    reading.isOver = true;
    await Promise.all(writers);
    const ids = new Set(found);
    expect(found).toHaveLength(ids.size);
    expect(rows.filter(({ id }) => !ids.has(id) && !erased.has(id)).map(({ id }) => id)).toEqual(
      [],
    );
    rows.forEach(() => tally());
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
    const inbox = createInbox(all.client, all.table);
    const answer = async (writer: number): Promise<void> => {
      for (let at = writer; at < DIGESTED; at += WRITERS) {
        const { [(at * 7) % DIGESTED]: record } = records;
        if (record !== undefined) await inbox.answer(idOf(record), { respondent: 'bea' });
      }
    };
    const operators = Promise.all(Array.from({ length: WRITERS }, (_, writer) => answer(writer)));
    for (let minutes = 5; minutes <= 65; minutes += 5) {
      all.time = START + minutes * 60_000;
      await mailer.tick();
    }
    await operators;
    const counts = all.digests().map(({ count }) => count);
    expect(counts).toHaveLength(13);
    expect(counts.reduce((sum, count) => sum + count) + all.mailed('inquiry').length).toBe(
      DIGESTED,
    );
    all.close();
  });
});
