import { DynamoDBClient, QueryCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, it, vi } from 'vitest';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { warmUpRequestHandler } from '../../src/warm-up.ts';
import {
  always,
  cancelTransaction,
  startFaultProxy,
  type FaultProxy,
} from '../resilience/fault-proxy.ts';
import { toEnvironment } from '../helpers/own-table.ts';

const readFile = vi.hoisted(() =>
  vi.spyOn(process.getBuiltinModule('node:fs/promises'), 'readFile'),
);
let proxy: FaultProxy;
beforeEach(async () => {
  proxy = await startFaultProxy('');
  for (const [name, value] of Object.entries(toEnvironment(proxy.url))) vi.stubEnv(name, value);
  return proxy.close;
});

const input = { TableName: 'inquiries', Unknown: 'ü' };
const query = new QueryCommand(input);
const write = new TransactWriteItemsCommand({ TransactItems: [], ClientRequestToken: 'a' });

// The SDK reads settings once per process, so this test comes first. An update may add one that client.ts must state.
it('the client looks for no settings in files', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', '');
  await createDynamoDbClient(warmUpRequestHandler).send(query);
  expect(readFile).not.toHaveBeenCalledWith(expect.stringContaining('.aws'), 'utf8');
});

function receive(answered: string): unknown[][] {
  const received: unknown[][] = [];
  proxy.plan = () => async (exchange) => {
    const { method, url, headers } = exchange.request;
    const names = ['host', 'content-type', 'content-length', 'x-amz-target'];
    const sent = [...names.map((name) => headers[name]), String(await exchange.receive())];
    received.push([method, url, ...sent]);
    exchange.response.end(answered);
  };
  return received;
}

// A long list needs this for its speed; an update of the SDK may undo it.
it('a request and its response are JSON that the SDK neither reads nor writes', async () => {
  const received = receive('{"Items":[{"id":{"S":"1"}}],"Unknown":1}');
  const output = await createDynamoDbClient().send(query);
  const $metadata = { attempts: 1 };
  expect(output).toMatchObject({ Items: [{ id: { S: '1' } }], Unknown: 1, $metadata });
  expect(received[0]?.at(-1)).toBe(JSON.stringify(input));
});

it.each([new QueryCommand({ TableName: 'ü' }), write])(
  'a request is the same as the SDK’s own: %#',
  async (command) => {
    const received = receive('{}');
    for (const client of [new DynamoDBClient(), createDynamoDbClient()]) {
      await client.send(command as QueryCommand);
    }
    expect(received[1]).toEqual(received[0]);
  },
);

it.each(['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware'])(
  '%s of the SDK has the name by which it is removed',
  (name) => {
    expect(new DynamoDBClient().middlewareStack.remove(name)).toBe(true);
    const { middlewareStack } = createDynamoDbClient();
    expect(middlewareStack.identify().join()).not.toContain(name);
  },
);

it.each([
  ['throttling', ['ThrottlingError', 'None'], 3],
  ['provisioned throughput', ['None', 'ProvisionedThroughputExceeded'], 3],
  ['an item that is too large', ['None', 'ValidationError'], 1],
])(
  'a transaction cancelled because of %s is sent again only if that can help',
  async (_, codes, sent) => {
    proxy.plan = always(cancelTransaction(...codes));
    const name = 'TransactionCanceledException';
    const $metadata = { attempts: sent };
    await expect(createDynamoDbClient().send(write)).rejects.toMatchObject({ name, $metadata });
    expect(proxy.attempts).toBe(sent);
  },
);
