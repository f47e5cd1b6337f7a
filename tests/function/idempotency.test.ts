/** Idempotency keys in the table, over a restart and in transactions that fail; dynalite has no transactions. docs/adr/0090 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import type { CreateInquiryResponse } from '../../src/contract.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, makeKeyedPost } from '../helpers/events.ts';
import {
  always,
  cancelTransaction,
  first,
  never,
  startFaultProxy,
  type FaultProxy,
} from '../helpers/fault-proxy.ts';
import { createOwnTable, readPartition, type OwnTable } from '../helpers/own-table.ts';
import { startSandbox, type Sandbox } from '../helpers/sandbox.ts';

const CONTENT = { subject: 'secret subject', body: 'secret body' };

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

  /** An owner with a partition of its own. */
  const makeOwner = () => {
    const claims = { sub: randomUUID(), email: EMAIL };
    return {
      post: (target = sandbox) => target.invoke(makeKeyedPost('k', CONTENT, claims)),
      rows: () => readPartition(table, claims),
    };
  };
  it('answers the same byte for byte after a restart, and after the inquiry was answered', async () => {
    const { post } = makeOwner();
    const created = await post();
    const inbox = createInbox(table.client, table.name);
    const reply = { reply: 'secret reply', respondent: 'secret respondent' };
    const { inquiry } = created.json as CreateInquiryResponse;
    expect((await inbox.answer(inquiry.id, reply)).status).toBe('answered');
    await using restarted = await startSandbox(table.environment());
    for (const target of [sandbox, restarted]) {
      const { status, headers, text } = await post(target);
      expect([status, headers['Idempotency-Replayed'], text]).toEqual([201, 'true', created.text]);
    }
  });

  it.each([
    ['throttling', ['ThrottlingError', 'None'], 3],
    ['provisioned throughput', ['None', 'ProvisionedThroughputExceeded'], 3],
    ['an item that is too large', ['None', 'ValidationError'], 1],
    ['no reason', [], 1],
  ])(
    'answers 500 to a transaction cancelled because of %s, after as many attempts as can help',
    async (_, codes, attempts) => {
      const { post, rows } = makeOwner();
      proxy.plan = always(cancelTransaction(...codes));
      expect((await post()).status).toBe(500);
      expect(proxy.attempts).toBe(attempts);
      expect(await rows()).toEqual([]);
      // Once only: the SDK sends it again where that can help.
      proxy.plan = first(1, cancelTransaction(...codes));
      expect((await post()).status).toBe(attempts === 1 ? 500 : 201);
      proxy.plan = never;
      expect((await post()).status).toBe(201);
      expect(await rows()).toHaveLength(2);
    },
  );
});
