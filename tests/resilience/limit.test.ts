/** Floods: INQUIRIES_PER_HOUR bounds what one owner stores, whatever the concurrency, and no other owner notices. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { GatewayResponse } from '../../src/http.ts';
import type { Identity } from '../../src/identity.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { makePost } from '../helpers/events.ts';
import { createTally, isHard, select } from '../helpers/tally.ts';

const LIMIT = 10;
const corsOrigin = 'https://www.example.com';
const makeOwner = (): Identity => ({ sub: randomUUID(), email: 'ana@example.com' });

const statusesOf = (answers: readonly GatewayResponse[]): number[] =>
  answers.map(({ statusCode }) => statusCode);

describeOnDynamoDbLocal('a limit of inquiries per owner and hour', (endpoint) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
  });

  /** One execution environment: ids of its own. */
  const createInstance = (now: () => number) => {
    const app = createApp({
      inquiries: createInquiries(own.store, { inquiriesPerHour: LIMIT, now }),
      corsOrigin,
    });
    return async (owner: Identity) => app(makePost({ subject: 's', body: 'b' }, owner));
  };

  const tally = createTally('9a a flood of one owner: answered 201 or 429');
  const requests = isHard ? 500 : 100;
  it.each(select([1, 5, 10, 50], 3))(
    '%i at a time: it is stored exactly, others are served',
    async (concurrency) => {
      const time = Date.now();
      const instances = Array.from({ length: concurrency }, () => createInstance(() => time));
      const [owner, other] = [makeOwner(), makeOwner()];
      const others: GatewayResponse[] = [];
      const answers: GatewayResponse[] = [];
      const work = async (post: (typeof instances)[number], worker: number): Promise<void> => {
        for (let count = 0; count < requests / concurrency; count++) {
          const answer = await post(owner);
          answers.push(answer);
          expect([201, 429]).toContain(answer.statusCode);
          tally();
          if (worker === 0 && others.length < LIMIT) {
            others.push(await createInstance(() => time)(other));
          }
        }
      };
      await Promise.all(instances.map(work));
      const rows = await own.rows(owner.sub);
      expect(statusesOf(answers).filter((status) => status === 201)).toHaveLength(rows.length);
      expect(rows).toHaveLength(LIMIT);
      expect(statusesOf(others)).toEqual(others.map(() => 201));
      expect(others.length).toBeGreaterThan(0);
      expect((await createInstance(() => time)(owner)).statusCode).toBe(429);
    },
  );
});
