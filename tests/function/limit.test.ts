/** How many inquiries an owner may send in an hour (INQUIRIES_PER_HOUR). docs/adr/0091 */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { CreateInquiryResponse, InquiryListResponse } from '../../src/contract.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { ApiError } from '../../src/errors.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, list as readList, makeCall, makeEvent, makeKeyedPost, makePost } from '../helpers/events.ts';
import { writeIdempotencyKey } from '../helpers/idempotency.ts';
import { startSandbox } from '../helpers/sandbox.ts';

const CONTENT = { subject: 's', body: 'b' };
const START = Date.UTC(2026, 0, 31, 12, 0, 0, 750);

describeOnDynamoDbLocal('the limit', (endpoint) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
  });

  /** A service whose clock is set by hand, and an owner of its own. */
  const setUp = (inquiriesPerHour: number) => {
    const clock = { now: START };
    const now = () => clock.now;
    const store = createInquiryStore(createDynamoDbClient({ region: 'local' }), own.entities, { now });
    const inquiries = createInquiries(store, { inquiriesPerHour, now });
    const owner = { sub: randomUUID(), email: EMAIL };
    return {
      clock,
      post: async (content = CONTENT) => inquiries.create(owner, content, makeCall()),
      count: async () => (await readList(inquiries, owner)).list.count,
    };
  };

  it('does not count idempotency keys', async () => {
    const { post } = setUp(2);
    const { inquiry } = await post();
    for (let index = 0; index < 30; index++) await writeIdempotencyKey(own, inquiry, { key: `${index}` });
    await post();
    await expect(post()).rejects.toMatchObject({ status: 429 });
  });

  it('is reached by more inquiries than DynamoDB reads at once, 1 MB; after Retry-After the next one is let through', async () => {
    const { clock, post, count } = setUp(1_000);
    const content = { subject: '', body: 'x'.repeat(390_000) };
    const postMinutely = async (): Promise<ApiError> => {
      for (;;) {
        clock.now += 60_000;
        const error = await post(content).catch((thrown: ApiError) => thrown);
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
    await expect(post(content)).rejects.toMatchObject({ status: 429 });
    clock.now = refused + Number(headers['Retry-After']) * 1_000;
    expect(clock.now).toBeLessThan(refused + HOUR);
    await post(content);
    expect(await count()).toBe(stored + 1);
  });

  it('of the built function: 429 with Retry-After, known keys are answered beyond it, others and lists are served', async () => {
    const sandbox = await startSandbox({ ...own.environment(), INQUIRIES_PER_HOUR: '2' });
    onTestFinished(() => sandbox.close());
    const owner = { sub: randomUUID(), email: EMAIL };
    const post = (key: string, content = CONTENT, claims = owner) =>
      sandbox.invoke(makeKeyedPost(key, content, claims));
    const created = await post('k');
    for (let index = 0; index < 5; index++)
      expect(await post('k')).toMatchObject({ status: 201, text: created.text });
    expect((await post('l')).status).toBe(201);

    const { status, headers, json } = await sandbox.invoke(makePost(CONTENT, owner));
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

    expect((await post('m')).status).toBe(429);
    expect(await post('k')).toMatchObject({
      status: 201,
      headers: { 'Idempotency-Replayed': 'true' },
      text: created.text,
    });
    expect((await post('k', { ...CONTENT, body: 'other' })).status).toBe(422);
    expect((await post('k', CONTENT, { ...owner, sub: randomUUID() })).status).toBe(201);
    const list = (await sandbox.invoke(makeEvent({ claims: owner }))).json as InquiryListResponse;
    expect(list.inquiries).toHaveLength(2);
    expect(list.inquiries).toContainEqual((created.json as CreateInquiryResponse).inquiry);
  });
});
