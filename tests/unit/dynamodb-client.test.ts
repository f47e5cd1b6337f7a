import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDynamoDbClient } from '../../src/entities/client.ts';

const TABLE = { TableName: 'inquiries' };

beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
});
afterEach(() => vi.unstubAllEnvs());

/** What a query or a write gets when the database answers this. */
const query = (answer: string) => createDynamoDbClient(answer).send(new QueryCommand(TABLE));
const put = (answer: string) =>
  createDynamoDbClient(answer).send(new PutCommand({ ...TABLE, Item: { pk: 'a' } }));

describe('an answer', () => {
  it('becomes items of strings', async () => {
    const row = { id: { S: '1' }, body: { S: '' } };
    const answer = { Items: [row, row], LastEvaluatedKey: { pk: { S: 'a' }, sk: { S: 'b' } } };
    expect(await query(JSON.stringify(answer))).toMatchObject({
      Items: [
        { id: '1', body: '' },
        { id: '1', body: '' },
      ],
      LastEvaluatedKey: { pk: 'a', sk: 'b' },
    });
  });

  it('holds undefined for what is no string', async () => {
    const answer = '{"Items":[{"number":{"N":"1"},"null":null,"empty":{}}]}';
    expect(await query(answer)).toHaveProperty('Items', [
      { number: undefined, null: undefined, empty: undefined },
    ]);
  });

  it('may have neither items nor a key to go on from', async () => {
    expect(await query('{}')).toMatchObject({ Items: undefined, LastEvaluatedKey: undefined });
  });

  // The speed of a long list rests on the two that follow: they notice when an update of the SDK undoes it.
  it('is not read by the SDK, which would drop what its schema does not name', async () => {
    expect(await query('{"Unknown":1}')).toHaveProperty('Unknown', 1);
    expect(await put('{"Unknown":1}')).toHaveProperty('Unknown', 1);
  });

  it('is not copied for the SDK’s logger, which has the name by which it is removed', () => {
    expect(new DynamoDBClient().middlewareStack.remove('loggerMiddleware')).toBe(true);
  });

  it('that is no JSON is an error', async () => {
    await expect(query('<html>')).rejects.toThrow(SyntaxError);
  });
});
