/** The migration of a table with inquiries of a version before the index. */
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import type { StoredInquiry } from '../../inbox/store.ts';
import { reindex } from '../../lib/reindex.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { toShard } from '../../src/entities/keys.ts';
import { writeInquiries } from '../helpers/inquiries.ts';
import { INQUIRY } from '../helpers/events.ts';
import { beforehand, openInbox, parseLines } from '../helpers/inbox.ts';
import type { OwnTable } from '../helpers/own-table.ts';

type Row = StoredInquiry & { readonly inbox: string };

const ANSWER = { reply: 'Yes.', respondent: 'R', reply_at: '2026-11-02T00:00:00.000Z' };

/** Answers as an inbox of before the index. */
const answerAsBefore = ({ client, name: TableName }: Pick<OwnTable, 'client' | 'name'>, row: StoredInquiry) =>
  client.send(
    new UpdateCommand({
      TableName,
      Key: { ...createInquiryEntity(TableName).get(row).params<{ Key: object }>().Key },
      UpdateExpression: 'SET reply = :reply, respondent = :respondent, reply_at = :reply_at',
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(reply_at)',
      ExpressionAttributeValues: { ':reply': 'Yes.', ':respondent': 'R', ':reply_at': ANSWER.reply_at },
    }),
  );

/** Stores an inquiry as this version, or as a function of before the index. */
async function post({ client, name: TableName }: OwnTable, row: StoredInquiry, inIndex: boolean) {
  const { inbox, ...Item } = createInquiryEntity(TableName).put(row).params<{ Item: Row }>().Item;
  await client.send(new PutCommand({ TableName, Item: inIndex ? { ...Item, inbox } : Item }));
}

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

it('leaves nothing out while others store, answer and delete with this version and the one before', async () => {
  const { inbox, scan, ...own } = await openInbox();
  const { name } = own;
  const rows = await writeInquiries(own, 900, { isAnswered: () => false, body: 'x'.repeat(4_000) });
  const acts: ((row: StoredInquiry) => Promise<unknown>)[] = [
    (row) => post(own, { ...row, id: crypto.randomUUID() }, false),
    (row) => post(own, { ...row, id: crypto.randomUUID() }, true),
    (row) => answerAsBefore(own, row),
    (row) => inbox.answer(row.id, ANSWER),
    (row) => own.remove(row),
  ];
  const end = new AbortController();
  const writers = acts.map(async (act, writer) => {
    for (let at = writer; at < rows.length && !end.signal.aborted; at += acts.length) await act(rows[at] ?? INQUIRY);
  });
  for await (const { changed } of reindex(own.client, name)) if (changed > 0) break;
  expect((await Array.fromAsync(reindex(own.client, name))).length).toBeGreaterThan(3);
  end.abort();
  await Promise.all(writers);
  // What the version before has written behind the reader.
  for await (const _ of reindex(own.client, name));
  const stored = (await scan()) as unknown as Row[];
  for (const { id, reply_at, inbox: place } of stored) expect(place).toBe(toShard(id, reply_at !== undefined));
  const ids = stored.map(({ id }) => id).toSorted();
  expect((await Array.fromAsync(inbox.list())).flat().map(({ id }) => id)).toEqual(ids.toReversed());
});
