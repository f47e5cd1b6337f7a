/** What requests with an Idempotency-Key store and answer, on DynamoDB Local: dynalite has no transactions. docs/adr/0090 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import type { CreateInquiryResponse, InquiryListResponse } from '../../src/contract.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, makeEvent, makeKeyedPost } from '../helpers/events.ts';
import {
  always,
  cancelTransaction,
  first,
  never,
  startFaultProxy,
  type FaultProxy,
} from '../helpers/fault-proxy.ts';
import { createOwnTable, readPartition, type OwnTable } from '../helpers/own-table.ts';
import { startSandbox, type Answer, type Sandbox } from '../helpers/sandbox.ts';

const CONTENT = { subject: 'secret subject', body: 'secret body' };
const HEADERS = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': 'https://www.example.com',
};
const REPLAYED = { ...HEADERS, 'Idempotency-Replayed': 'true' };
const idOf = ({ json }: Answer): string => (json as CreateInquiryResponse).inquiry.id;

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
      claims,
      post: (content: object = CONTENT, key = 'k', target = sandbox) =>
        target.invoke(makeKeyedPost(key, content, claims)),
      list: async () => (await sandbox.invoke(makeEvent({ claims }))).json as InquiryListResponse,
      rows: () => readPartition(table, claims),
    };
  };
  it.each<[string, { subject: string; body: string }]>([
    ['hostile', { subject: '\0\u2028"\\\u202E', body: '👩‍👩‍👧‍👦\ud800e\u0301' }],
    ['large', { subject: '€'.repeat(60_000), body: 'x'.repeat(200_000) }],
  ])(
    'answers the same request again byte for byte, after a restart, too: %s',
    async (_, content) => {
      const { post, list } = makeOwner();
      const created = await post(content);
      expect(created).toMatchObject({ status: 201, headers: HEADERS });
      await using restarted = await startSandbox(table.environment());
      for (const target of [sandbox, sandbox, restarted]) {
        const { status, headers, text } = await post(content, 'k', target);
        expect({ status, headers, text }).toEqual({
          status: 201,
          headers: REPLAYED,
          text: created.text,
        });
      }
      expect((await list()).count).toBe(1);
    },
  );

  it('beyond INQUIRIES_PER_HOUR answers known keys of its owner, and everything else with 429', async () => {
    await using limited = await startSandbox({ ...table.environment(), INQUIRIES_PER_HOUR: '2' });
    const { post } = makeOwner();
    const created = await post(CONTENT, 'k', limited);
    expect((await post(CONTENT, 'l', limited)).status).toBe(201);
    expect(await post(CONTENT, 'm', limited)).toMatchObject({
      status: 429,
      headers: { 'Retry-After': expect.stringMatching(/^[1-9]\d{0,3}$/) as string },
      json: {
        error: 'TOO_MANY_REQUESTS',
        message: 'The limit of inquiries per hour (2) is reached.',
      },
    });
    expect(await post(CONTENT, 'k', limited)).toMatchObject({ status: 201, text: created.text });
    expect((await makeOwner().post(CONTENT, 'k', limited)).status).toBe(201);
  });

  it('answers with the six fields alone after the inquiry was answered', async () => {
    const { post } = makeOwner();
    const created = await post();
    const inbox = createInbox(table.client, table.name);
    const reply = { reply: 'secret reply', respondent: 'secret respondent' };
    expect((await inbox.answer(idOf(created), reply)).status).toBe('answered');
    expect(await post()).toMatchObject({ status: 201, headers: REPLAYED, text: created.text });
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
