import { Readable } from 'node:stream';
import {
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { always, cancelTransaction, startFaultProxy } from '../helpers/fault-proxy.ts';

const TABLE = { TableName: 'inquiries' };
beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
});
afterEach(() => vi.unstubAllEnvs());

/** What a query or a write gets when the database answers this. */
function createClient(body: string, statusCode = 200) {
  const handle = async () => ({
    response: { statusCode, headers: {}, body: Readable.from([Buffer.from(body)]) },
  });
  return createDynamoDbClient({ region: 'eu-central-1', requestHandler: { handle } });
}
const query = (body: string, statusCode?: number) =>
  createClient(body, statusCode).send(new QueryCommand(TABLE));
const put = (body: string) =>
  createClient(body).send(new PutItemCommand({ ...TABLE, Item: { pk: { S: 'a' } } }));

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

  it.each([
    new QueryCommand(TABLE),
    new PutItemCommand({ ...TABLE, Item: { pk: { S: 'ü' } } }),
    new UpdateItemCommand({ ...TABLE, Key: { pk: { S: 'a' } } }),
    new TransactWriteItemsCommand({ TransactItems: [], ClientRequestToken: 'a' }),
  ])('follows a request that is the same as the SDK’s own: %#', async (command) => {
    const received: unknown[] = [];
    const proxy = await startFaultProxy('');
    onTestFinished(() => proxy.close());
    proxy.plan =
      () =>
      async ({ request: { method, url, headers }, response, receive }) => {
        const named = ['host', 'content-type', 'content-length', 'x-amz-target'].map(
          (name) => headers[name],
        );
        received.push([method, url, ...named, String(await receive())]);
        response.end('{}');
      };
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', proxy.url);
    const region = 'eu-central-1';
    for (const client of [new DynamoDBClient({ region }), createDynamoDbClient({ region })]) {
      await client.send(command as QueryCommand);
      client.destroy();
    }
    expect(received[1]).toEqual(received[0]);
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

it.each([
  ['throttling', ['ThrottlingError', 'None'], 3],
  ['provisioned throughput', ['None', 'ProvisionedThroughputExceeded'], 3],
  ['an item that is too large', ['None', 'ValidationError'], 1],
])('a transaction cancelled because of %s is sent as often as can help', async (_, codes, sent) => {
  const proxy = await startFaultProxy('');
  onTestFinished(() => proxy.close());
  proxy.plan = always(cancelTransaction(...codes));
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', proxy.url);
  const client = createDynamoDbClient({ region: 'eu-central-1' });
  const command = new TransactWriteItemsCommand({ TransactItems: [] });
  await expect(client.send(command)).rejects.toMatchObject({
    name: 'TransactionCanceledException',
  });
  expect(proxy.attempts).toBe(sent);
});
