/** What cancels the transaction of a request with an Idempotency-Key, on DynamoDB Local: dynalite has none. docs/adr/0090 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, makeKeyedPost } from '../helpers/events.ts';
import { always, cancelTransaction, first, never, startFaultProxy } from '../helpers/fault-proxy.ts';
import type { FaultProxy } from '../helpers/fault-proxy.ts';
import { createOwnTable, readPartition } from '../helpers/own-table.ts';
import type { OwnTable } from '../helpers/own-table.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import type { Sandbox } from '../helpers/sandbox.ts';

const HEADERS = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': 'https://www.example.com',
};

describeOnDynamoDbLocal('Idempotency-Key', (engine) => {
  let table: OwnTable;
  let proxy: FaultProxy;
  let sandbox: Sandbox;
  beforeAll(async () => {
    table = await createOwnTable(engine);
    proxy = await startFaultProxy(engine);
    sandbox = await startSandbox(table.environment(proxy.url));
  });
  afterEach(() => {
    proxy.plan = never;
  });
  afterAll(async () => {
    await sandbox.close();
    await proxy.close();
    table.close();
  });

  it.each([
    ['throttling', ['ThrottlingError', 'None'], 3],
    ['provisioned throughput', ['None', 'ProvisionedThroughputExceeded'], 3],
    ['an item that is too large', ['None', 'ValidationError'], 1],
    ['no reason', [], 1],
  ])(
    'answers 500 to a transaction cancelled because of %s, after as many attempts as can help',
    async (_, codes, attempts) => {
      const claims = { sub: randomUUID(), email: EMAIL };
      const post = () => sandbox.invoke(makeKeyedPost('k', { subject: 's', body: 'b' }, claims));
      const rows = () => readPartition(table, claims);
      proxy.plan = always(cancelTransaction(...codes));
      expect(await post()).toMatchObject({ status: 500, headers: HEADERS });
      expect(proxy.attempts).toBe(attempts);
      expect(await rows()).toEqual([]);
      // Once only: the SDK sends it again where that can help.
      proxy.plan = first(1, cancelTransaction(...codes));
      expect(await post()).toMatchObject({ status: attempts === 1 ? 500 : 201, headers: HEADERS });
      proxy.plan = never;
      expect((await post()).status).toBe(201);
      expect(await rows()).toHaveLength(2);
    },
  );
});
