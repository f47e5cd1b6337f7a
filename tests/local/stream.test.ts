import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { uuidv7 } from 'uuidv7';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { startEventSourceMapping, type StreamOptions } from '../../local/mail/stream.ts';
import { WITH_STREAM } from '../../local/database/table.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY } from '../helpers/events.ts';
import { refuse, startFaultProxy } from '../resilience/fault-proxy.ts';
import { idOf, sequenceOf, type StreamRecord } from '../mail/test-mailer.ts';
import { answerById } from '../function/test-inquiries.ts';
import { createOwnTable, removeRow } from '../helpers/own-table.ts';

/** Milliseconds of waits. Each ends at once, except that the longest ends with its mapping. */
const waits = vi.hoisted((): number[] => []);
const LONG = 1_600;
vi.mock('node:timers/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:timers/promises')>();
  const wait: typeof original.setTimeout = async (milliseconds = 0, value, options) => {
    waits.push(milliseconds);
    return original.setTimeout(milliseconds < LONG ? 1 : 2 ** 31 - 1, value, options);
  };
  return { ...original, setTimeout: wait };
});
beforeEach(() => void waits.splice(0));

async function openOwnTable(endpoint: string) {
  const { client, name, streamArn = '' } = await createOwnTable(endpoint, WITH_STREAM);
  const inquiries = createInquiryEntity(name, client);
  const post = async (count: number): Promise<string[]> => {
    const ids = Array.from({ length: count }, () => uuidv7());
    for (const id of ids) await inquiries.put({ ...INQUIRY, id }).go();
    return ids;
  };
  const answer = answerById(createStoredInquiries({ client, name }));
  return { endpoint, streamArn, client, name, answer, post };
}

/**
 * Maps to a function that keeps the ids of batches.
 *
 * @param judge - Returns the ids that fail.
 */
function map(
  options: Pick<StreamOptions, 'endpoint' | 'streamArn'> & Partial<StreamOptions>,
  judge: (attempt: number, ids: string[]) => string[] = () => [],
) {
  const events: { Records: StreamRecord[] }[] = [];
  const lines: string[] = [];
  const mapping = startEventSourceMapping({
    kind: 'inquiries',
    ...options,
    invoke: async (text) => {
      const event = JSON.parse(text) as (typeof events)[number];
      const failed = judge(events.push(event), event.Records.map(idOf));
      const records = event.Records.filter((record) => failed.includes(idOf(record)));
      const batchItemFailures = records.map((record) => ({ itemIdentifier: sequenceOf(record) }));
      return JSON.stringify({ batchItemFailures });
    },
    log: (line) => void lines.push(line),
  });
  onTestFinished(() => mapping.close());
  return { mapping, events, lines, batches: () => events.map(({ Records }) => Records.map(idOf)) };
}

describeOnDynamoDbLocal('the event source mapping of the local stack', (engine) => {
  it('passes new inquiries and replies on, once, in order, in batches of a hundred', async () => {
    const own = await openOwnTable(engine);
    const { client, name: TableName } = own;
    const ids = await own.post(102);
    const [answered = '', dismissed = '', deleted = ''] = ids;
    await own.answer(answered, { reply: 'Yes.', respondent: 'R' });
    await own.answer(dismissed, { respondent: 'R' });
    await removeRow(client, TableName, { ...INQUIRY, id: deleted });
    const Item = { pk: 'p', sk: 's', __edb_e__: 'delivery', __edb_v__: '1', sent_at: 'now' };
    await client.send(new PutCommand({ TableName, Item }));

    const { events, batches, lines } = map(own);
    const expected = [ids.slice(0, 100), ids.slice(100)];
    await expect.poll(batches).toEqual(expected);
    const replies = map({ ...own, kind: 'replies' });
    await expect.poll(replies.batches).toEqual([[answered]]);
    expect(events[0]?.Records[0]).toMatchObject({
      eventName: 'INSERT',
      dynamodb: {
        ApproximateCreationDateTime: expect.closeTo(Date.now() / 1_000, -3) as number,
        NewImage: { email: { S: INQUIRY.email }, subject: { S: INQUIRY.subject } },
      },
    });
    expect(replies.events[0]?.Records[0]).toMatchObject({
      eventName: 'MODIFY',
      dynamodb: { NewImage: { reply: { S: 'Yes.' } }, OldImage: { id: { S: answered } } },
    });
    const next = await own.post(1);
    await expect.poll(batches).toEqual([...expected, next]);
    expect([...lines, ...replies.lines]).toEqual([]);
  });

  it.each<[string, judge: (attempt: number, batch: number[]) => number[], batches: number[][]]>([
    [
      'from the first record that it reports as failed',
      (attempt) => (attempt === 1 ? [1, 2] : []),
      [
        [0, 1, 2],
        [1, 2],
      ],
    ],
    [
      'record by record where it fails, again and again, and then goes on',
      (attempt, batch) => {
        if (attempt < 6 && batch.includes(1)) throw new Error('no');
        return [];
      },
      [[0, 1, 2], [0], [1], [1], [1], [1], [2]],
    ],
  ])('tries a batch again %s', async (_, judge, expected) => {
    const own = await openOwnTable(engine);
    const ids = await own.post(3);
    const numbersOf = (batch: string[]) => batch.map((id) => ids.indexOf(id));
    const { batches } = map(own, (attempt, batch) =>
      judge(attempt, numbersOf(batch)).flatMap((number) => ids[number] ?? []),
    );
    await expect.poll(() => batches().map(numbersOf)).toEqual(expected);
  });

  it('passes replies on while inquiries fail; stops at once; a new one reads all again', async () => {
    const own = await openOwnTable(engine);
    const [id = ''] = await own.post(1);
    await own.answer(id, { reply: 'Yes.', respondent: 'R' });
    const failing = map(own, () => [id]);
    await expect.poll(map({ ...own, kind: 'replies' }).batches).toEqual([[id]]);
    // The other waits are between polls.
    const retries = () => waits.filter((milliseconds) => milliseconds !== 500);
    await expect.poll(retries).toEqual([100, 200, 400, 800, LONG]);
    await failing.mapping.close();
    const tried = failing.batches();
    expect(tried).toHaveLength(5);
    await expect.poll(map(own).batches).toEqual([[id]]);
    expect(failing.batches()).toEqual(tried);
    expect(new Set(tried.flat())).toEqual(new Set([id]));
  });

  it.each([
    ['AccessDeniedException', 1],
    ['TrimmedDataAccessException', 0],
  ])('goes on after %s, from its position, and logs %i lines', async (name, count) => {
    const own = await openOwnTable(engine);
    const proxy = await startFaultProxy(own.endpoint);
    onTestFinished(() => proxy.close());
    // They are in one page, so the position is that of the last record.
    const ids = await own.post(3);
    const { batches, lines } = map({ ...own, endpoint: proxy.url });
    await expect.poll(batches).toEqual([ids]);
    let refused = 0;
    proxy.plan = (_, operation) =>
      operation === 'GetRecords' && refused++ < 2 ? refuse(400, name) : undefined;
    await expect.poll(() => refused).toBeGreaterThan(2);
    // A trimmed position is older than all records, so reading starts again.
    const again = count === 0 ? [ids] : [];
    await expect.poll(batches).toEqual([ids, ...again]);
    const more = await own.post(1);
    await expect.poll(batches).toEqual([ids, ...again, more]);
    const line = `"The stream of the table cannot be read: ${name}"`;
    expect(lines).toEqual(Array.from({ length: count }, () => expect.stringContaining(line)));
  });
});
