import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { startEngine } from '../../local/database/engines.ts';
import { startEventSourceMapping, type StreamOptions } from '../../local/stream.ts';
import { openTable } from '../../local/database/table.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { INQUIRY, makeCall } from '../helpers/events.ts';
import { first, refuse, startFaultProxy } from '../helpers/fault-proxy.ts';
import { writeIdempotencyKey } from '../helpers/idempotency.ts';
import { createFolder } from '../helpers/inbox.ts';
import { createOwnTable, removeRow, type OwnTable } from '../helpers/own-table.ts';

const OWNER = { sub: '1daae433-47cc-48ff-bf9b-73f530b9d7bc', email: 'ana@example.com' };
const WAIT = { timeout: 30_000 };
const { 'dynamodb-local': shared } = inject('engines');

/** A table with a stream. */
async function openOwnTable(endpoint = shared ?? '') {
  let streamArn = '';
  const table = await createOwnTable(endpoint, async (url, name) => {
    streamArn = (await openTable({ name: 'dynamodb-local', url }, name)) ?? '';
  });
  onTestFinished(() => table.close());
  const inbox = createInbox(table.client, table.name);
  return { endpoint, table, streamArn, inbox, post: createWriter(table, endpoint) };
}

async function openBehindProxy() {
  const own = await openOwnTable();
  const proxy = await startFaultProxy(own.endpoint);
  onTestFinished(() => proxy.close());
  return { own: { ...own, endpoint: proxy.url }, proxy };
}

/** @returns A function that creates inquiries and returns their ids. */
function createWriter({ name, environment }: OwnTable, endpoint: string) {
  Object.assign(process.env, environment(endpoint));
  const inquiries = createInquiries(
    createInquiryStore(createDynamoDbClient({ region: 'local' }), name),
  );
  const content = { subject: 'secret subject', body: 'secret body' };
  return async (count: number, key?: string): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) {
      ids.push((await inquiries.create(OWNER, content, makeCall(), { key })).inquiry.id);
    }
    return ids;
  };
}

/** The sequence numbers to report as failed. */
type Answer = (event: DynamoDBStreamEvent) => string[];

const idOf = (record: DynamoDBStreamEvent['Records'][number]): string | undefined =>
  record.dynamodb?.NewImage?.['id']?.S;

/** Starts the mapping with a function that keeps what it gets; `batches` are ids. */
function map(
  options: Pick<StreamOptions, 'endpoint' | 'streamArn'> & Partial<StreamOptions>,
  answer: Answer = () => [],
) {
  const events: DynamoDBStreamEvent[] = [];
  const lines: string[] = [];
  const mapping = startEventSourceMapping({
    kind: 'inquiries',
    retryDelay: 1,
    ...options,
    invoke: async (text) => {
      const event = JSON.parse(text) as DynamoDBStreamEvent;
      events.push(event);
      const batchItemFailures = answer(event).map((itemIdentifier) => ({ itemIdentifier }));
      return JSON.stringify({ batchItemFailures });
    },
    log: (line) => void lines.push(line),
  });
  onTestFinished(() => mapping.close());
  const batches = () => events.map(({ Records }) => Records.map(idOf));
  return { mapping, events, lines, batches, ids: () => batches().flat() };
}

/** The sequence numbers of the records with these ids. */
const sequenceNumbersOf = (
  { Records }: DynamoDBStreamEvent,
  ids: (string | undefined)[],
): string[] =>
  Records.flatMap((record) =>
    ids.includes(idOf(record)) ? (record.dynamodb?.SequenceNumber ?? '') : [],
  );

describe.skipIf(shared === undefined)('the event source mapping of the local stack', () => {
  it('passes new inquiries and new replies on, in order, in batches of a hundred, and nothing else', async () => {
    const own = await openOwnTable();
    const { client, name: table } = own.table;
    // With a key: its row is stored, replaced and deleted.
    const ids = [...(await own.post(1, 'k')), ...(await own.post(101))];
    const [answered = '', dismissed = '', deleted = ''] = ids;
    await own.inbox.answer(answered, { reply: 'Yes.', respondent: 'R' });
    await own.inbox.answer(dismissed, { respondent: 'R' });
    const ofOwner = { cognito_sub: OWNER.sub, email: OWNER.email };
    await removeRow(client, table, { ...ofOwner, id: deleted });
    const key = { key: 'k', expires_at: 1 };
    const { pk, sk } = await writeIdempotencyKey(
      { client, table },
      { ...INQUIRY, ...ofOwner },
      key,
    );
    await client.send(new DeleteCommand({ TableName: table, Key: { pk, sk } }));
    const delivery = { pk: 'p', sk: 's', __edb_e__: 'delivery', __edb_v__: '1', sent_at: 'now' };
    await client.send(new PutCommand({ TableName: table, Item: delivery }));
    const last = await own.post(1);

    const { events, batches, lines } = map(own);
    await expect.poll(batches, WAIT).toEqual([ids.slice(0, 100), [...ids.slice(100), ...last]]);
    const replies = map({ ...own, kind: 'replies' });
    await expect.poll(replies.batches, WAIT).toEqual([[answered]]);
    const [insert] = events[0]?.Records ?? [];
    expect(insert).toMatchObject({ eventName: 'INSERT', eventSource: 'aws:dynamodb' });
    expect(insert?.dynamodb).toMatchObject({
      // Seconds.
      ApproximateCreationDateTime: expect.closeTo(Date.now() / 1_000, -3) as number,
      NewImage: { email: { S: OWNER.email }, subject: { S: 'secret subject' } },
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    });
    expect(replies.events[0]?.Records[0]).toMatchObject({
      eventName: 'MODIFY',
      dynamodb: { NewImage: { reply: { S: 'Yes.' } }, OldImage: { id: { S: answered } } },
    });
    expect(lines).toEqual([]);

    // And what is written while it runs.
    const next = await own.post(1);
    await expect.poll(() => batches().at(-1), WAIT).toEqual(next);
  });

  it('tries a batch again from the first record that is reported as failed', async () => {
    const own = await openOwnTable();
    const ids = await own.post(5);
    const fail: Answer = (event) =>
      batches().length <= 2 ? sequenceNumbersOf(event, [ids[2], ids[4]]) : [];
    const { batches, lines } = map(own, fail);
    await expect.poll(batches, WAIT).toEqual([ids, ids.slice(2), ids.slice(2)]);
    expect(lines).toEqual([]);
  });

  it('tries each record of a batch alone on which the function fails, again and again, and then goes on', async () => {
    const own = await openOwnTable();
    const ids = await own.post(3);
    const [, poison = ''] = ids;
    const { batches, lines } = map(own, (event) => {
      if (batches().length < 10 && sequenceNumbersOf(event, [poison]).length > 0) {
        throw new Error('no');
      }
      return [];
    });
    const retries = Array.from({ length: 8 }, () => [poison]);
    await expect.poll(batches, WAIT).toEqual([ids, [ids[0]], ...retries, [ids[2]]]);
    expect(lines).toEqual([]);
  });

  it('passes replies on while inquiries fail, by a mapping of their own; a new one reads all again', async () => {
    const own = await openOwnTable();
    const [id = ''] = await own.post(1);
    await own.inbox.answer(id, { reply: 'Yes.', respondent: 'R' });
    const failing = map({ ...own, kind: 'inquiries' }, (event) => sequenceNumbersOf(event, [id]));
    await expect.poll(() => failing.batches().length, WAIT).toBeGreaterThan(2);
    await expect.poll(map({ ...own, kind: 'replies' }).batches, WAIT).toEqual([[id]]);
    await failing.mapping.close();
    await expect.poll(map(own).ids, WAIT).toEqual([id]);
  });

  it.each(['ExpiredIteratorException', 'TrimmedDataAccessException', 'ResourceNotFoundException'])(
    'goes on after %s, silently',
    async (name) => {
      const { own, proxy } = await openBehindProxy();
      // In one page: the position is that of its last record.
      const ids = await own.post(3);
      const { ids: passed, lines } = map(own);
      await expect.poll(passed, WAIT).toEqual(ids);
      let refused = 0;
      proxy.plan = (_, operation) =>
        operation === 'GetRecords' && refused++ < 2 ? refuse(400, name) : undefined;
      await expect.poll(() => refused, WAIT).toBeGreaterThan(2);
      const more = await own.post(1);
      // From the start after a trimmed position, which is older than all that is left.
      const again = name === 'TrimmedDataAccessException' ? ids : [];
      await expect.poll(passed, WAIT).toEqual([...ids, ...again, ...more]);
      expect(lines).toEqual([]);
    },
  );

  it('logs one line while the stream cannot be read, and goes on', async () => {
    const { own, proxy } = await openBehindProxy();
    proxy.plan = first(4, refuse(400, 'AccessDeniedException'));
    const { ids: passed, lines } = map(own);
    const ids = await own.post(1);
    await expect.poll(passed, WAIT).toEqual(ids);
    const line = '"The stream of the table cannot be read: AccessDeniedException"';
    expect(lines).toEqual([expect.stringContaining(line)]);
  });

  it('stops at once, in the middle of retries, too', async () => {
    const own = await openOwnTable();
    await own.post(1);
    const { mapping, events } = map({ ...own, retryDelay: 600_000 }, () => {
      throw new Error('no');
    });
    await expect.poll(() => events, WAIT).toHaveLength(1);
    await mapping.close();
    expect(events).toHaveLength(1);
  });
});

it.skipIf(shared === undefined)(
  'a shard of the stream that is closed is read before its child',
  async () => {
    const folder = createFolder();
    const engine = await startEngine('dynamodb-local', folder);
    const own = await openOwnTable(engine.url);
    const ids = await own.post(4);
    await engine.close();

    // What DynamoDB Local does when a shard is 4 hours old.
    const database = new DatabaseSync(globSync(join(folder, '*/*.db'))[0] ?? '');
    const { ShardID = '', CreationDateTime } =
      database.prepare('SELECT ShardID, CreationDateTime FROM ss').get() ?? {};
    // DescribeStream lists shards by their ids.
    const child = 'shardId-00000000000000000000-00000000';
    expect(child < String(ShardID)).toBe(true);
    const records = database.prepare('SELECT SequenceNumber FROM us ORDER BY SequenceNumber').all();
    const { SequenceNumber: last = 0 } = records[1] ?? {};
    database
      .prepare('UPDATE ss SET SequenceNumberEnd = ?, DeletionDateTime = ?')
      .run(last, Date.now());
    database
      .prepare('INSERT INTO ss SELECT StreamID, ?, ?, NULL, ?, NULL, ShardID FROM ss')
      .run(child, Number(CreationDateTime) + 1, Number(last) + 1);
    database.prepare('UPDATE us SET ShardID = ? WHERE SequenceNumber > ?').run(child, last);
    database.close();

    const { url: endpoint, close } = await startEngine('dynamodb-local', folder);
    onTestFinished(close);
    await expect
      .poll(map({ ...own, endpoint }).batches, WAIT)
      .toEqual([ids.slice(0, 2), ids.slice(2)]);
  },
);
