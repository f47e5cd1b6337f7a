/** The migration of a table with inquiries of a version before the index. */
import { paginateScan, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import type { StoredInquiry } from '../../inbox/store.ts';
import { reindex } from '../../lib/reindex.ts';
import { openTable } from '../../local/database/open-table.ts';
import { startEventSourceMapping } from '../../local/stream.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { toShard } from '../../src/entities/keys.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { writeInquiries } from '../helpers/earlier-table.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY, makeCall, SUB } from '../helpers/events.ts';
import { beforehand, openInbox, parseLines } from '../helpers/inbox.ts';
import { createOwnTable, removeRow } from '../helpers/own-table.ts';
import type { OwnTable } from '../helpers/own-table.ts';

type Row = StoredInquiry & { readonly inbox: string };

const ANSWER = { reply: 'Yes.', respondent: 'R', reply_at: '2026-11-02T00:00:00.000Z' };

/** Answers as an inbox of before the index. */
const answerAsBefore = ({ client, name }: Pick<OwnTable, 'client' | 'name'>, row: StoredInquiry) =>
  client.send(
    new UpdateCommand({
      ...createInquiryEntity(name).get(row).params<{ TableName: string; Key: object }>(),
      UpdateExpression: 'SET reply = :reply, respondent = :respondent, reply_at = :reply_at',
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(reply_at)',
      ExpressionAttributeValues: Object.fromEntries(
        Object.entries(ANSWER).map(([column, value]) => [`:${column}`, value]),
      ),
    }),
  );

/** Stores an inquiry as a function of before the index. */
async function postAsBefore({ client, name }: OwnTable, inquiry: StoredInquiry): Promise<void> {
  const { inbox: _inbox, ...Item } = createInquiryEntity(name)
    .put(inquiry)
    .params<{ Item: Record<string, unknown> }>().Item;
  await client.send(new PutCommand({ TableName: name, Item }));
}

const isPlaced = ({ id, reply_at, inbox }: Row): boolean => inbox === toShard(id, reply_at !== undefined);

it('puts into the index what is not there, once, and changes nothing else', async () => {
  const { inbox, run, scan, ...own } = await openInbox();
  const rows = await writeInquiries(own, 40);
  const before = await scan();
  expect((await Array.fromAsync(inbox.list())).flat()).toEqual([]);
  for (const changed of [40, 0]) {
    const { code, stdout } = await run(['reindex']);
    expect([code, parseLines(stdout)]).toEqual([0, [{ table: own.name, read: 40, changed }]]);
  }
  expect((await Array.fromAsync(inbox.listInFull())).flat()).toEqual(rows);
  const unplaced = (await scan()).map(({ inbox: _inbox, ...row }) => row);
  expect(unplaced).toEqual(before);
});

it('places by its answer an inquiry that an earlier inbox answers meanwhile, and creates no row of a deleted one', async () => {
  const { run, scan, meet, remove, ...own } = await openInbox();
  const [answered = INQUIRY, deleted = INQUIRY] = await writeInquiries(own, 2, { isAnswered: () => false });
  const changes = [() => answerAsBefore(own, answered), () => remove(deleted)].values();
  meet((_, operation) => {
    const change = operation === 'UpdateItem' ? changes.next().value : undefined;
    return change && beforehand(change);
  });
  expect(await run(['reindex'])).toMatchObject({ code: 0 });
  expect(await scan()).toEqual([
    expect.objectContaining({ id: answered.id, ...ANSWER, inbox: toShard(answered.id, true) }),
  ]);
});

describeOnDynamoDbLocal('a table in use', (url) => {
  it('is migrated, interrupted and again, while inquiries are stored, answered and deleted, without a mail', async () => {
    let streamArn = '';
    const own = await createOwnTable(url, async (endpoint, table) => {
      streamArn = (await openTable({ name: 'dynamodb-local', url: endpoint }, table)) ?? '';
    });
    onTestFinished(() => own.close());
    const body = 'x'.repeat(4_000);
    const unanswered = await writeInquiries(own, 900, { body, isAnswered: () => false });
    const stored = unanswered.map(({ id }) => id);
    Object.assign(process.env, own.environment());
    const inquiries = createInquiries(
      createInquiryStore(createDynamoDbClient({ region: 'local' }), own.name),
    );
    const inbox = createInbox(own.client, own.name);
    const replied: string[] = [];
    const gone: string[] = [];

    const end = new AbortController();
    const writers = unanswered.slice(0, 4).map(async (_, writer) => {
      for (let at = writer; !end.signal.aborted && at < unanswered.length; at += 4) {
        const row = unanswered[at] ?? INQUIRY;
        if (writer === 0) {
          const owner = { sub: SUB, email: `${at}@example.com` };
          stored.push((await inquiries.create(owner, { subject: 's', body }, makeCall())).inquiry.id);
        } else if (writer === 1) {
          const id = crypto.randomUUID();
          await postAsBefore(own, { ...INQUIRY, id });
          stored.push(id);
        } else if (writer === 2) {
          await answerAsBefore(own, row);
          replied.push(row.id);
        } else if (at % 8 === 3) {
          await removeRow(own.client, own.name, row);
          gone.push(row.id);
        } else if ((await inbox.answer(row.id, ANSWER)).status === 'answered') replied.push(row.id);
      }
    });
    for await (const { changed } of reindex(own.client, own.name)) if (changed > 0) break;
    const progress = await Array.fromAsync(reindex(own.client, own.name));
    expect(progress.length).toBeGreaterThan(3);
    end.abort();
    await Promise.all(writers);
    // What an earlier function, or an earlier inbox, has written behind the reader.
    for await (const _ of reindex(own.client, own.name));

    const rows = (await Array.fromAsync(paginateScan(own, { TableName: own.name }))).flatMap(
      ({ Items = [] }) => Items as Row[],
    );
    expect(rows.filter((row) => !isPlaced(row))).toEqual([]);
    const left = stored.filter((id) => !gone.includes(id)).toSorted();
    expect(rows.map(({ id }) => id).toSorted()).toEqual(left);
    expect((await Array.fromAsync(inbox.list())).flat().map(({ id }) => id)).toEqual(left.toReversed());

    const sent: string[] = [];
    const mapping = startEventSourceMapping({
      endpoint: url,
      streamArn,
      invoke: async (event) => {
        const { Records } = JSON.parse(event) as {
          Records: { dynamodb: { NewImage: { id: { S: string } } } }[];
        };
        sent.push(...Records.map(({ dynamodb }) => dynamodb.NewImage.id.S));
        return JSON.stringify({ batchItemFailures: [] });
      },
      log: () => undefined,
    });
    onTestFinished(() => mapping.close());
    await expect.poll(() => sent.length, { timeout: 30_000 }).toBe(stored.length + replied.length);
    expect(sent.toSorted()).toEqual([...stored, ...replied].toSorted());
  });
});
