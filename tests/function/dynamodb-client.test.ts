import { Readable } from 'node:stream';
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDynamoDbClient } from '../../src/entities/client.ts';

const TABLE = { TableName: 'inquiries' };
beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
});
afterEach(() => vi.unstubAllEnvs());

/** What a query or a write gets when the database answers this. */
function createClient(body: string, statusCode = 200) {
  const handle = async () => ({ response: { statusCode, headers: {}, body: Readable.from([Buffer.from(body)]) } });
  return createDynamoDbClient({ region: 'eu-central-1', requestHandler: { handle } });
}
const query = (body: string, statusCode?: number) => createClient(body, statusCode).send(new QueryCommand(TABLE));
const put = (body: string) => createClient(body).send(new PutItemCommand({ ...TABLE, Item: { pk: { S: 'a' } } }));

describe('a response', () => {
  it('is the JSON of DynamoDB', async () => {
    const output = { Items: [{ id: { S: '1' } }], LastEvaluatedKey: { pk: { S: 'a' } } };
    expect(await query(JSON.stringify(output))).toMatchObject(output);
  });

  // The speed of a long list depends on the next two: they fail when an update of the SDK undoes it.
  it('is not read by the SDK, which would drop what its schema does not name', async () => {
    expect(await query('{"Unknown":1}')).toHaveProperty('Unknown', 1);
    expect(await put('{"Unknown":1}')).toHaveProperty('Unknown', 1);
  });

  it('follows a request that the SDK has not written either', async () => {
    const handle = vi.fn<(request: { body: string }) => Promise<never>>();
    const client = createDynamoDbClient({ region: 'eu-central-1', requestHandler: { handle } });
    const input = { ...TABLE, Unknown: 1 };
    await client.send(new QueryCommand(input)).catch(() => undefined);
    expect(handle.mock.calls.map(([{ body }]) => body)).toEqual([JSON.stringify(input)]);
  });

  it.each(['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware'])(
    'does not pass %s of the SDK, which has the name by which it is removed',
    (name) => {
      expect(new DynamoDBClient().middlewareStack.remove(name)).toBe(true);
      const { middlewareStack } = createDynamoDbClient({ region: 'eu-central-1' });
      expect(middlewareStack.identify().join()).not.toContain(name);
    },
  );

  it('that is not JSON is an error', async () => {
    await expect(query('<html>')).rejects.toThrow(SyntaxError);
  });

  it('with another status is the SDK’s error, its attempts included', async () => {
    await expect(query('{"__type":"x#ResourceNotFoundException"}', 400)).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      $metadata: { attempts: 1 },
    });
  });
});

it('names the missing region, and sends nothing', async () => {
  const handle = vi.fn<() => Promise<never>>();
  const client = createDynamoDbClient({ region: undefined, requestHandler: { handle } });
  await expect(client.send(new QueryCommand(TABLE))).rejects.toMatchObject({ name: 'RegionMissing' });
  expect(handle).not.toHaveBeenCalled();
});
