/** What requests with an Idempotency-Key store and answer, on DynamoDB Local: dynalite has no transactions. docs/adr/0090 */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import type { CreateInquiryResponse, InquiryListResponse } from '../../src/contract.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createEntities, createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, list as readList, makeCall, makeEvent } from '../helpers/events.ts';
import { answer, first, never, refuseAsConflict, startFaultProxy } from '../helpers/fault-proxy.ts';
import type { FaultProxy } from '../helpers/fault-proxy.ts';
import { createOwnTable, readPartition } from '../helpers/own-table.ts';
import type { OwnTable } from '../helpers/own-table.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import type { Answer, Sandbox } from '../helpers/sandbox.ts';

const CONTENT = { subject: 'secret subject', body: 'secret body' };
const HEADERS = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': 'https://www.example.com',
};
const REPLAYED = { ...HEADERS, 'Idempotency-Replayed': 'true' };
const REUSED = {
  status: 422,
  headers: HEADERS,
  json: {
    error: 'IDEMPOTENCY_KEY_REUSED',
    message: 'The Idempotency-Key was used for an inquiry with another subject or body.',
  },
};
const FAULT = {
  status: 500,
  headers: HEADERS,
  json: {
    error: 'INTERNAL_SERVER_ERROR',
    message: 'The request could not be processed. Please try again later.',
  },
};

const idOf = ({ json }: Answer): string => (json as CreateInquiryResponse).inquiry.id;
const isMarker = ({ __edb_e__ }: Record<string, unknown>): boolean => __edb_e__ === 'idempotency';

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
    const send = async (body: string, key?: string, target = sandbox): Promise<Answer> =>
      target.invoke({
        ...makeEvent({ method: 'POST', claims, body }),
        ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      });
    return {
      claims,
      send,
      post: (key?: string, content: object = CONTENT, target = sandbox) =>
        send(JSON.stringify(content), key, target),
      async list(): Promise<InquiryListResponse> {
        return (await sandbox.invoke(makeEvent({ claims }))).json as InquiryListResponse;
      },
      rows: () => readPartition(table, claims),
    };
  };
  /** The lines about requests that the function has logged since. */
  const watchLog = () => {
    const start = sandbox.lines.length;
    return () =>
      sandbox.lines
        .slice(start)
        .filter((line) => line.includes('"route"'))
        .map((line) => JSON.parse(line) as { level: string; message: object });
  };

  it('stores the first inquiry with a key and answers 201 as without one', async () => {
    const { post, list, claims } = makeOwner();
    const { status, headers, json } = await post('k');
    expect({ status, headers }).toEqual({ status: 201, headers: HEADERS });
    const { inquiry } = json as CreateInquiryResponse;
    expect(inquiry).toEqual({
      id: expect.any(String) as string,
      cognito_sub: claims.sub,
      email: claims.email,
      ...CONTENT,
      created_at: expect.any(String) as string,
    });
    expect((await list()).inquiries).toEqual([inquiry]);
  });

  it.each<[string, { subject: string; body: string }]>([
    ['hostile', { subject: '\0\u2028"\\\u202E', body: '👩‍👩‍👧‍👦\ud800e\u0301' }],
    ['large', { subject: '€'.repeat(60_000), body: 'x'.repeat(200_000) }],
  ])('answers the same request again byte for byte, after a restart, too: %s', async (_, content) => {
    const { post, list } = makeOwner();
    const created = await post('k', content);
    expect(created).toMatchObject({ status: 201, headers: HEADERS });
    await using restarted = Object.assign(await startSandbox(table.environment()), {
      [Symbol.asyncDispose]: () => restarted.close(),
    });
    for (const target of [sandbox, sandbox, restarted]) {
      const { status, headers, text } = await post('k', content, target);
      expect({ status, headers, text }).toEqual({ status: 201, headers: REPLAYED, text: created.text });
    }
    expect((await list()).count).toBe(1);
  });

  it('answers 422 and stores nothing when the same key comes with another text', async () => {
    const { post, list } = makeOwner();
    const created = await post('k', { subject: 'ab', body: 'c' });
    expect(await post('k', { subject: 'a', body: 'bc' })).toMatchObject(REUSED);
    // The key keeps its inquiry.
    expect(await post('k', { subject: 'ab', body: 'c' })).toMatchObject({ headers: REPLAYED });
    expect((await list()).inquiries.map(({ id }) => id)).toEqual([idOf(created)]);
  });

  it('answers with the six fields alone after the inquiry was answered', async () => {
    const { post } = makeOwner();
    const created = await post('k');
    const inbox = createInbox(table.client, table.name);
    const reply = { reply: 'secret reply', respondent: 'secret respondent' };
    expect((await inbox.answer(idOf(created), reply)).status).toBe('answered');
    expect(await post('k')).toMatchObject({ status: 201, headers: REPLAYED, text: created.text });
  });

  it('stores digests of key and text, the id, the owner and the expiry beside the inquiry, and nothing else', async () => {
    const { post, rows, claims } = makeOwner();
    const created = await post('"secret-key"');
    const { inquiry } = created.json as CreateInquiryResponse;
    const sha256 = (...texts: string[]) =>
      createHash('sha256').update(JSON.stringify(texts)).digest('base64url');
    const stored = await rows();
    expect(stored).toHaveLength(2);
    const pk = `$inquiries#cognito_sub_${claims.sub}#email_${claims.email}`;
    expect(stored).toContainEqual({
      pk,
      sk: `$idempotency_1#key_${sha256('secret-key')}`,
      cognito_sub: claims.sub,
      email: claims.email,
      key: sha256('secret-key'),
      payload: sha256(CONTENT.subject, CONTENT.body),
      inquiry: inquiry.id,
      expires_at: Math.floor(Date.parse(inquiry.created_at) / 1_000) + 24 * 3_600,
      __edb_e__: 'idempotency',
      __edb_v__: '1',
    });
    // As without a key.
    expect(stored).toContainEqual({
      ...inquiry,
      pk,
      sk: `$inquiry_1#id_${inquiry.id}`,
      __edb_e__: 'inquiry',
      __edb_v__: '1',
    });
    expect(JSON.stringify(stored.filter(isMarker))).not.toContain('secret');
  });

  it('takes one request to the database for a new inquiry, for a replay and for a 422', async () => {
    const { post } = makeOwner();
    for (const content of [CONTENT, CONTENT, { subject: '', body: '' }]) {
      proxy.plan = never;
      const log = watchLog();
      await post('k', content);
      expect(proxy.attempts).toBe(1);
      await expect.poll(log, { timeout: 10_000 }).toMatchObject([{ message: { attempts: 1 } }]);
    }
  });

  describe('when DynamoDB cancels the transaction', () => {
    const cancel = (...codes: string[]) =>
      answer(
        400,
        JSON.stringify({
          __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
          Message: 'A message with a secret.',
          CancellationReasons: codes.map((Code) => ({ Code, Message: 'A secret.' })),
        }),
      );

    it('because of another one with the key: 409 with Retry-After', async () => {
      const { post, rows } = makeOwner();
      const log = watchLog();
      proxy.plan = first(1, refuseAsConflict);
      expect(await post('k')).toMatchObject({
        status: 409,
        headers: { ...HEADERS, 'Retry-After': '1' },
        json: { error: 'IDEMPOTENCY_CONFLICT' },
      });
      expect(proxy.attempts).toBe(1);
      await expect
        .poll(log, { timeout: 10_000 })
        .toMatchObject([{ level: 'WARN', message: { errorName: 'IDEMPOTENCY_CONFLICT' } }]);
      expect(await rows()).toEqual([]);
      expect(await post('k')).toMatchObject({ status: 201, headers: HEADERS });
    });

    it.each([
      ['throttling', ['ThrottlingError', 'None'], 3],
      ['provisioned throughput', ['None', 'ProvisionedThroughputExceeded'], 3],
      ['an item that is too large', ['None', 'ValidationError'], 1],
      ['no reason', [], 1],
    ])('because of %s: 500 after as many attempts as can help', async (_, codes, attempts) => {
      const { post, rows } = makeOwner();
      const log = watchLog();
      proxy.plan = () => cancel(...codes);
      expect(await post('k')).toMatchObject(FAULT);
      await expect
        .poll(log, { timeout: 10_000 })
        .toMatchObject([
          { level: 'ERROR', message: { errorName: 'TransactionCanceledException', attempts } },
        ]);
      expect(await rows()).toEqual([]);
      // Once only: the SDK sends it again where that can help.
      proxy.plan = first(1, cancel(...codes));
      expect(await post('k')).toMatchObject({ status: attempts === 1 ? 500 : 201, headers: HEADERS });
      proxy.plan = never;
      expect((await post('k')).status).toBe(201);
      expect(await rows()).toHaveLength(2);
    });
  });

  it('keeps a key for 24 hours, to the second; then a new inquiry takes it', async () => {
    const DAY = 86_400_000;
    // In the middle of a second.
    const start = Date.UTC(2026, 0, 31, 12, 0, 0, 750);
    const expiry = start - 750 + DAY;
    Object.assign(process.env, table.environment());
    const owner = { sub: randomUUID(), email: EMAIL };
    let time = start;
    const now = () => time;
    const client = createDynamoDbClient({ region: 'local' });
    const store = createInquiryStore(client, createEntities(table.name), { now });
    const inquiries = createInquiries(store, { now });
    const post = () => inquiries.create(owner, CONTENT, makeCall(), 'k');

    const created = await post();
    time = expiry - 1;
    expect(await post()).toEqual({ ...created, isReplay: true });
    time = expiry;
    const second = await post();
    expect(second).toMatchObject({ isReplay: false });
    expect((await readList(inquiries, owner)).list.count).toBe(2);
    expect((await readPartition(table, owner)).filter(isMarker)).toEqual([
      expect.objectContaining({ inquiry: second.inquiry.id, expires_at: (expiry + DAY) / 1_000 }),
    ]);
    time = expiry + DAY - 1;
    expect(await post()).toEqual({ ...second, isReplay: true });
  });
});
