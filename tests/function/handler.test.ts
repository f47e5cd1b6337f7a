import { expect, it } from 'vitest';
import type { CreateInquiryResponse } from '../../src/contract.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, makeEvent, makeKeyedPost, makePost, SUB } from '../helpers/events.ts';
import { createOwnTable, readPartition } from '../helpers/own-table.ts';
import { startSandbox } from '../resilience/sandbox.ts';

describeOnDynamoDbLocal('the built function', (engine) => {
  it('has the settings of its environment, and logs each request without what it sent', async () => {
    const own = await createOwnTable(engine);
    const settings = { CORS_ORIGIN: 'https://o', RETENTION_DAYS: '7', INQUIRIES_PER_HOUR: '1' };
    await using sandbox = await startSandbox({ ...own.environment(), ...settings });
    const post = async () => sandbox.invoke(makePost({ subject: 's', body: 'b' }));
    const { json, headers } = await post();
    expect(headers['Access-Control-Allow-Origin']).toBe('https://o');
    const { created_at } = (json as CreateInquiryResponse).inquiry;
    const expires_at = Math.floor(Date.parse(created_at) / 1_000) + 7 * 86_400;
    const rows = await readPartition(own, { sub: SUB, email: EMAIL });
    expect(rows).toMatchObject([{ expires_at }]);
    const statuses: number[] = [];
    // The hour may change meanwhile; then one more is stored.
    for (let count = 0; count < 2; count++) statuses.push((await post()).status);
    expect(statuses).toContain(429);
    await expect.poll(() => sandbox.lines).toHaveLength(6);
    const canary = { subject: 'canary', body: 'canary', canary: 'canary' };
    for (const event of [
      makePost(canary, { sub: SUB, email: 'canary@example.com' }),
      makeKeyedPost('canary,canary', canary),
      makePost({ canary: 'canary' }),
      makeEvent({ method: 'POST', body: '{"canary' }),
      makeEvent({ method: 'canary' }),
      makeEvent({ claims: { sub: 'canary', email: 'canary' } }),
      { ...makeEvent({}), queryStringParameters: { before: 'canary' } },
    ]) {
      await sandbox.invoke(event);
    }
    await expect.poll(() => sandbox.lines).toHaveLength(20);
    expect(sandbox.lines.join()).not.toContain('canary');
  });
});
