/** The migration of a table with inquiries of a version before the index. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import type { StoredInquiry } from '../../inbox/store.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { toShard } from '../../src/entities/keys.ts';
import { writeInquiries } from '../helpers/inquiries.ts';
import { INQUIRY } from '../helpers/events.ts';
import { beforehand, openInbox, parseLines } from '../helpers/inbox.ts';
import type { OwnTable } from '../helpers/own-table.ts';

const ANSWER = { reply: 'Yes.', respondent: 'R', reply_at: '2026-11-02T00:00:00.000Z' };

/** Answers as an inbox of before the index. */
const answerAsBefore = (
  { client, name: TableName }: Pick<OwnTable, 'client' | 'name'>,
  row: StoredInquiry,
) =>
  client.send(
    new UpdateCommand({
      TableName,
      Key: { ...createInquiryEntity(TableName).get(row).params<{ Key: object }>().Key },
      UpdateExpression: 'SET reply = :reply, respondent = :respondent, reply_at = :reply_at',
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(reply_at)',
      ExpressionAttributeValues: {
        ':reply': 'Yes.',
        ':respondent': 'R',
        ':reply_at': ANSWER.reply_at,
      },
    }),
  );

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
  const [answered = INQUIRY, deleted = INQUIRY] = await writeInquiries(own, 2, {
    isAnswered: () => false,
  });
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
