/** How many inquiries an owner may send in an hour (INQUIRIES_PER_HOUR). docs/adr/0091 */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { ApiError } from '../../src/errors.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { HOUR } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, makeCall, makeKeyedPost } from '../helpers/events.ts';
import { startSandbox } from '../helpers/sandbox.ts';

describeOnDynamoDbLocal('the limit', (endpoint) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
  });

  it('lets any size through, counts one sub with any email, and stores exactly as many as it says', async () => {
    const inquiries = createInquiries(own.store, { inquiriesPerHour: 5, now: () => 472_222 * HOUR });
    const sub = randomUUID();
    const content = { subject: '', body: 'x'.repeat(390_000) };
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, index) =>
        inquiries
          .create({ sub, email: `${index}@example.com` }, content, makeCall(), { key: `k${index}` })
          .catch((error: ApiError) => error.headers['Retry-After']),
      ),
    );
    expect(answers.filter((answer) => answer === '3600')).toHaveLength(7);
    expect(await own.rows(sub)).toHaveLength(5);
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
      headers: { 'Retry-After': expect.stringMatching(/^[1-9]\d{0,3}$/) as string },
      json: { error: 'TOO_MANY_REQUESTS', message: 'The limit of inquiries per hour (2) is reached.' },
    });
    expect(await post('k')).toMatchObject({ status: 201, text: created.text });
    expect((await post('k', { ...owner, sub: randomUUID() })).status).toBe(201);
  });
});
