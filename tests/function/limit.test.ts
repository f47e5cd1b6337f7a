/** How many inquiries an owner may send in an hour (INQUIRIES_PER_HOUR). docs/adr/0091 */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { CreateInquiryResponse, InquiryListResponse } from '../../src/contract.ts';
import { ApiError } from '../../src/errors.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, list as readList, makeCall, makeEvent, makeKeyedPost, makePost } from '../helpers/events.ts';
import { startSandbox } from '../helpers/sandbox.ts';

const CONTENT = { subject: 's', body: 'b' };

describeOnDynamoDbLocal('the limit', (endpoint) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
  });

  it('is reached by more inquiries than DynamoDB reads at once, 1 MB; after Retry-After the next one is let through', async () => {
    const start = Date.UTC(2026, 0, 31, 12, 0, 0, 750);
    let time = start;
    const inquiries = createInquiries(own.store, { inquiriesPerHour: 1_000, now: () => time });
    const owner = { sub: randomUUID(), email: EMAIL };
    const content = { subject: '', body: 'x'.repeat(390_000) };
    /** @returns Retry-After of the 429, or undefined for an inquiry. */
    const postAt = async (at: number): Promise<string | undefined> => {
      time = at;
      const answer = await inquiries.create(owner, content, makeCall()).catch((error: ApiError) => error);
      if (!(answer instanceof ApiError)) return undefined;
      expect(answer.status).toBe(429);
      return answer.headers['Retry-After'];
    };
    let stored = 0;
    let retryAfter: string | undefined;
    while ((retryAfter = await postAt(start + stored * 60_000)) === undefined) stored++;
    // The engines end a page before or after the item that exceeds 1 MB.
    expect([3, 4]).toContain(stored);
    const free = time + Number(retryAfter) * 1_000;
    expect(free).toBeLessThan(time + HOUR);
    expect(await postAt(start + HOUR - 1)).toBeDefined();
    expect(await postAt(free)).toBeUndefined();
    expect((await readList(inquiries, owner)).list.count).toBe(stored + 1);
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
