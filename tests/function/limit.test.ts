/** How many inquiries an owner may send in an hour (INQUIRIES_PER_HOUR). docs/adr/0091 */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, list as readList, makeCall, makeKeyedPost } from '../helpers/events.ts';
import { startSandbox } from '../helpers/sandbox.ts';

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

  it('of the built function is that of INQUIRIES_PER_HOUR', async () => {
    const sandbox = await startSandbox({ ...own.environment(), INQUIRIES_PER_HOUR: '2' });
    onTestFinished(() => sandbox.close());
    const owner = { sub: randomUUID(), email: EMAIL };
    const post = (key: string, claims = owner) =>
      sandbox.invoke(makeKeyedPost(key, { subject: 's', body: 'b' }, claims));
    const created = await post('k');
    expect((await post('l')).status).toBe(201);
    expect(await post('m')).toMatchObject({
      status: 429,
      headers: { 'Retry-After': expect.stringMatching(/^3(600|[45]\d\d)$/) as string },
      json: { error: 'TOO_MANY_REQUESTS', message: 'The limit of inquiries per hour (2) is reached.' },
    });
    expect(await post('k')).toMatchObject({ status: 201, text: created.text });
    expect((await post('k', { ...owner, sub: randomUUID() })).status).toBe(201);
  });
});
