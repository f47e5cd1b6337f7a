/** Many POSTs at the same time: a queue in front of the sandboxes, no errors, each inquiry stored once. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { startService } from '../helpers/service.ts';
import type { Service } from '../helpers/service.ts';
import { createTally, isHard } from '../helpers/tally.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const tally = createTally('6 burst: POSTs at the same time, answered 201 and stored once');

it.each(isHard ? [300, 1_000] : [300])(
  'answers 201 to each of %i POSTs at once and stores it once',
  async (size) => {
    const user = await service.signIn({ email: 'ana@example.com', sub: randomUUID() });
    const subjects = Array.from({ length: size }, (_, index) => `${size}-${index}`);
    const ids = new Set<string>();
    const outcomes = await Promise.allSettled(
      subjects.map(async (subject) =>
        tally(async () => {
          // Each on a connection of its own.
          const { status, json } = await user.call('POST', '', JSON.stringify({ subject, body: 'b' }));
          expect([status, json]).toMatchObject([201, { inquiry: { subject } }]);
          ids.add((json as { inquiry: Inquiry }).inquiry.id);
        }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    const rows = await service.table.rows(user.sub);
    expect(new Set(rows.map(({ id }) => id))).toEqual(ids);
    expect(rows.map(({ subject }) => subject).toSorted()).toEqual(subjects.toSorted());
  },
);
