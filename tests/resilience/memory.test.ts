/** The worst bodies and the longest lists, in turns in one process, within the 128 MB of the function. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { createLimits, limitsUnavailableReason } from '../../bench/limits.ts';
import { startSandbox } from '../../local/lambda/sandbox.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { LAMBDA_PAYLOAD_LIMIT } from '../../src/limits.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makeCall, makeEvent } from '../helpers/events.ts';
import { BUILT } from '../helpers/sandbox.ts';
import { createTally, isHard } from '../helpers/tally.ts';

const EVENTS = isHard ? 5_000 : 80;
/** With this seed a function that leaves freeing memory to V8 was killed at event 44. */
const SEED = 7;

/** Numbers from 0 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const fill = (text: string, size: number): string => text.repeat(Math.floor(size / text.length));
const BODIES: ((size: number) => string)[] = [
  (size) => `{"subject":"","body":"${fill('x', size)}"}`,
  (size) => `{"subject":"","body":"${fill('é', size / 2)}"}`,
  (size) => `{"subject":"s","body":"${fill('€', size / 3)}"}`,
  (size) => `{"subject":"","body":"${fill(String.raw`\u0041`, size / 2)}"}`,
  (size) => `{"subject":"","body":"${fill(String.raw`\n`, size / 2)}"}`,
  (size) => `[${fill('{},', size)}{}]`,
  (size) => `{"subject":"s","body":"b","x":[${fill(`"${'é'.repeat(500)}",`, size / 2)}""]}`,
  (size) => `${fill(' ', size)}{"subject":"s","body":"b"}`,
];

const reason = await limitsUnavailableReason();
if (reason !== undefined) {
  process.stdout.write(`\nSKIPPED: bodies and lists in 128 MB, because ${reason}.\n`);
}

describeOnDynamoDbLocal('128 MB', (endpoint) => {
  const tally = createTally('9c worst bodies and longest lists in turns, in 128 MB');

  it.skipIf(reason !== undefined)(
    'are enough for any order of the worst bodies and the longest lists',
    async () => {
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

      const random = createRandom(SEED);
      await using resources = new AsyncDisposableStack();
      const limits = createLimits();
      resources.defer(() => limits.remove());
      const environment = { CORS_ORIGIN: 'https://www.example.com', ...own.environment() };
      const sandbox = await startSandbox({ module: BUILT, environment, before: limits.enter });
      resources.defer(() => sandbox.close());
      for (let count = 0; count < EVENTS; count++) {
        const [kind, size] = [random(), 2_600_000 + random() * 3_300_000];
        const body = BODIES[Math.floor(kind * 16) % 8]?.(size);
        const event =
          kind < 0.5
            ? makeEvent({ claims: kind < 0.25 ? few : many })
            : makeEvent({ method: 'POST', claims: makeOwner(), body });
        const json = JSON.stringify(event);
        expect(Buffer.byteLength(json)).toBeLessThan(LAMBDA_PAYLOAD_LIMIT);
        const { result } = await sandbox.invoke(json);
        const { statusCode } = JSON.parse(result) as { statusCode: number };
        expect(kind < 0.5 ? [200] : [201, 400, 413]).toContain(statusCode);
        tally();
      }
    },
  );
});
