/** How many inquiries an owner may send in an hour (INQUIRIES_PER_HOUR). docs/adr/0091 */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { CreateInquiryResponse, InquiryListResponse } from '../../src/contract.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { ApiError } from '../../src/errors.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, list as readList, makeCall, makeEvent } from '../helpers/events.ts';
import { writeIdempotencyKey } from '../helpers/idempotency.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import { startSandbox } from '../helpers/sandbox.ts';

const CONTENT = { subject: 's', body: 'b' };
const START = Date.UTC(2026, 0, 31, 12, 0, 0, 750);

const refusal = (limit: number, seconds: number) => ({
  status: 429,
  code: 'TOO_MANY_REQUESTS',
  message: `The limit of inquiries per hour (${limit}) is reached.`,
  headers: { 'Retry-After': String(seconds) },
});

describeOnDynamoDbLocal('the limit', (endpoint) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
  });

  /** A service whose clock is set by hand, and an owner of its own. */
  const setUp = (inquiriesPerHour: number, email = EMAIL) => {
    const clock = { now: START };
    const now = () => clock.now;
    const store = createInquiryStore(createDynamoDbClient({ region: 'local' }), own.entities, { now });
    const inquiries = createInquiries(store, { inquiriesPerHour, now });
    const owner = { sub: randomUUID(), email };
    return {
      clock,
      owner,
      post: async (key?: string, { content = CONTENT, call = makeCall() } = {}) =>
        inquiries.create(owner, content, call, key),
      count: async () => (await readList(inquiries, owner)).list.count,
    };
  };

  it('lets the next one through when the oldest that counts is an hour old, and not a millisecond earlier', async () => {
    const { clock, post } = setUp(2);
    await post();
    clock.now = START + 600_000;
    await post();
    clock.now = START + 600_001;
    await expect(post()).rejects.toMatchObject(refusal(2, 3_000));
    clock.now = START + HOUR - 1;
    await expect(post()).rejects.toMatchObject(refusal(2, 1));
    clock.now = START + HOUR;
    await post();
    await expect(post()).rejects.toMatchObject(refusal(2, 600));
  });

  it('does not count idempotency keys', async () => {
    const { post } = setUp(2);
    const { inquiry } = await post();
    for (let index = 0; index < 30; index++) await writeIdempotencyKey(own, inquiry, { key: `${index}` });
    await post();
    await expect(post()).rejects.toMatchObject({ status: 429 });
  });

  it('beyond it answers a known key: the inquiry again, or 422 for another text; an unknown key gets 429', async () => {
    const { clock, post, count } = setUp(1);
    const { inquiry } = await post();
    await writeIdempotencyKey(own, inquiry, { key: 'known' });
    expect(await post('known')).toEqual({ inquiry, isReplay: true });
    const content = { ...CONTENT, body: 'other' };
    await expect(post('known', { content })).rejects.toMatchObject({ status: 422 });
    await expect(post('unknown')).rejects.toMatchObject(refusal(1, 3_600));
    expect(await count()).toBe(1);
    // A replay is not counted.
    clock.now = START + HOUR;
    await post();
  });

  it('is reached by more inquiries than DynamoDB reads at once, 1 MB; after Retry-After the next one is let through', async () => {
    const { clock, post, count } = setUp(1_000);
    const content = { subject: '', body: 'x'.repeat(390_000) };
    const postMinutely = async (): Promise<ApiError> => {
      for (;;) {
        clock.now += 60_000;
        const error = await post(undefined, { content }).catch((thrown: ApiError) => thrown);
        if (error instanceof ApiError) return error;
      }
    };
    const { status, headers } = await postMinutely();
    const refused = clock.now;
    expect(status).toBe(429);
    // The engines end a page before or after the item that exceeds 1 MB.
    const stored = await count();
    expect([3, 4]).toContain(stored);
    clock.now = START + 60_000 + HOUR - 1;
    await expect(post(undefined, { content })).rejects.toMatchObject({ status: 429 });
    clock.now = refused + Number(headers['Retry-After']) * 1_000;
    expect(clock.now).toBeLessThan(refused + HOUR);
    await post(undefined, { content });
    expect(await count()).toBe(stored + 1);
  });

  describe('of the built function', () => {
    const setUpFunction = async (limit: string) => {
      const table = await createOwnTable(endpoint);
      const sandbox = await startSandbox({ ...table.environment(), INQUIRIES_PER_HOUR: limit });
      onTestFinished(async () => {
        await sandbox.close();
        table.close();
      });
      const owner = { sub: randomUUID(), email: EMAIL };
      return {
        sandbox,
        owner,
        post: async (claims = owner, key?: string, content = CONTENT) =>
          sandbox.invoke({
            ...makeEvent({ method: 'POST', claims, body: JSON.stringify(content) }),
            ...(key !== undefined && { headers: { 'idempotency-key': key } }),
          }),
        list: async () => (await sandbox.invoke(makeEvent({ claims: owner }))).json as InquiryListResponse,
      };
    };

    it('answers 429 with Retry-After, logs it as a mistake of the client, and serves others and lists', async () => {
      const { sandbox, owner, post, list } = await setUpFunction('2');
      expect([(await post()).status, (await post()).status]).toEqual([201, 201]);
      const { status, headers, json } = await post();
      expect({ status, headers, json }).toEqual({
        status: 429,
        headers: {
          'Content-Type': 'application/json',
          'Access-Control-Allow-Origin': 'https://www.example.com',
          'Retry-After': expect.stringMatching(/^3(600|[45]\d\d)$/) as string,
        },
        json: { error: 'TOO_MANY_REQUESTS', message: 'The limit of inquiries per hour (2) is reached.' },
      });
      const logged = () => sandbox.lines.filter((line) => line.includes('"TOO_MANY_REQUESTS"'));
      await expect.poll(logged, { timeout: 10_000 }).toHaveLength(1);
      expect(JSON.parse(logged()[0] ?? '')).toMatchObject({ level: 'WARN', message: { status: 429 } });
      expect((await post({ ...owner, sub: randomUUID() })).status).toBe(201);
      expect((await list()).count).toBe(2);
    });

    it('is not reached by replays, and answers known keys beyond it', async () => {
      const { owner, post, list } = await setUpFunction('2');
      const created = await post(owner, 'k');
      for (let index = 0; index < 5; index++)
        expect(await post(owner, 'k')).toMatchObject({ status: 201, text: created.text });
      expect((await post(owner, 'l')).status).toBe(201);
      expect(await post(owner, 'k')).toMatchObject({
        status: 201,
        headers: { 'Idempotency-Replayed': 'true' },
        text: created.text,
      });
      expect((await post(owner, 'k', { ...CONTENT, body: 'other' })).status).toBe(422);
      expect((await post(owner, 'm')).status).toBe(429);
      const { inquiries } = await list();
      expect(inquiries).toHaveLength(2);
      expect(inquiries).toContainEqual((created.json as CreateInquiryResponse).inquiry);
    });
  });
});
