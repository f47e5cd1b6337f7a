/** The worst bodies and longest lists, alternating in one process of 128 MB. */
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLimits, limitsUnavailableReason } from '../../local/lambda/limits.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeCall, makeEvent } from '../helpers/events.ts';
import { readPartition } from '../helpers/own-table.ts';
import { startSandbox } from './sandbox.ts';
import { isHard } from './selection.ts';

const EVENTS = isHard ? 5_000 : 80;

const fill = (text: string, size: number): string => text.repeat(Math.floor(size / text.length));
const beside = (value: string): string => `{"subject":"s","body":"b","x":${value}}`;
const withBody = (text: string): string => `{"subject":"","body":"${text}"}`;
type Make = (size: number) => string;
/** These take the most memory. */
const LARGE: Make[] = [
  (size) => withBody(fill('x', size)),
  (size) => withBody(fill('é', size / 2)),
  (size) => withBody(fill('€', size / 3)),
  (size) => withBody(fill(String.raw`\u0041`, size / 2)),
  (size) => withBody(fill(String.raw`\n`, size / 2)),
  (size) => `[${fill('{},', size)}{}]`,
  (size) => fill('[', size / 2) + fill(']', size / 2),
  (size) => beside(`[${fill(`"${'é'.repeat(500)}",`, size / 2)}""]`),
  (size) => fill(' ', size) + beside('1'),
];
/** Includes the largest that is parsed with any structure, and the largest that is parsed. */
const anySize = fc.oneof(
  { weight: 7, arbitrary: fc.double({ min: 2_600_000, max: 5_900_000 }) },
  fc.constantFrom(262_000, 2_590_000),
);
const anyEvent = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('few', 'many') },
  { weight: 7, arbitrary: fc.tuple(fc.constantFrom(...LARGE), anySize) },
);

const reason = await limitsUnavailableReason();
if (reason !== undefined) {
  process.stdout.write(`\nSKIPPED: the limit of 128 MB of the system, because ${reason}.\n`);
}

describeOnDynamoDbLocal('128 MB', (endpoint) => {
  it('are enough for any order of the worst bodies and the longest lists', async () => {
    const own = await createOwnStore(endpoint);
    const inquiries = createInquiries(own.store);
    const makeOwner = () => ({ sub: randomUUID(), email: 'ana@example.com' });
    const [few, many] = [makeOwner(), makeOwner()];
    const create = (owner: typeof few, body: string) =>
      inquiries.create(owner, { subject: 's', body }, makeCall());
    for (let count = 0; count < 26; count++) await create(few, '€'.repeat(130_000));
    for (let count = 0; count < 200; count++) {
      await Promise.all(Array.from({ length: 40 }, () => create(many, 'x"'.repeat(150))));
    }

    await using resources = new AsyncDisposableStack();
    const limits = reason === undefined ? createLimits() : undefined;
    resources.defer(() => limits?.remove());
    const sandbox = resources.use(
      await startSandbox(
        own.environment(),
        limits ? { before: limits.enter } : { nodeArguments: ['--max-old-space-size=100'] },
      ),
    );
    for (const event of fc.sample(anyEvent, { seed: 7, numRuns: EVENTS })) {
      if (typeof event === 'string') {
        const claims = event === 'few' ? few : many;
        expect((await sandbox.invoke(makeEvent({ claims }))).status).toBe(200);
      } else {
        const claims = makeOwner();
        const [make, size] = event;
        const text = make(size);
        const isBase64Encoded =
          Buffer.byteLength(JSON.stringify(text)) > LAMBDA_PAYLOAD_LIMIT - 1_000;
        const body = isBase64Encoded
          ? Buffer.from(text).subarray(0, 4_400_000).toString('base64')
          : text;
        const got = await sandbox.invoke(
          makeEvent({ method: 'POST', claims, body, isBase64Encoded }),
        );
        expect([201, 400, 413, 500]).toContain(got.status);
        if (got.status === 500) expect(got.text).toContain('could not be parsed as JSON');
        const rows = await readPartition(own, claims);
        expect(rows).toHaveLength(got.status === 201 ? 1 : 0);
      }
    }
  });
});
