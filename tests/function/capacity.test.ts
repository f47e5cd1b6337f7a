/** What the index of all inquiries costs, as docs/operations.md says. dynalite does not report it. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY } from '../helpers/events.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import type { OwnTable } from '../helpers/own-table.ts';

describeOnDynamoDbLocal('write units', (engine) => {
  let own: OwnTable;
  beforeAll(async () => {
    own = await createOwnTable(engine);
  });
  afterAll(() => own.close());

  const reply = { respondent: 'ana', reply_at: INQUIRY.created_at };
  it.each<[string, object, number]>([
    ['an inquiry of 1 KB', {}, 1],
    ['a long body', { body: 'x'.repeat(390_000) }, 382],
    ['a long subject', { subject: 'x'.repeat(390_000) }, 382],
    ['a long reply', { ...reply, reply: 'x'.repeat(390_000) }, 382],
  ])('of %s: the index takes one, whatever the table takes', async (_, more, units) => {
    const input = createInquiryEntity(own.name)
      .put({ ...INQUIRY, id: crypto.randomUUID(), ...more })
      .params<{ TableName: string; Item: Record<string, string> }>();
    const { ConsumedCapacity } = await own.client.send(
      new PutCommand({ ...input, ReturnConsumedCapacity: 'INDEXES' }),
    );
    expect(ConsumedCapacity).toMatchObject({
      Table: { CapacityUnits: units },
      GlobalSecondaryIndexes: { 'by-state': { CapacityUnits: 1 } },
    });
  });
});
