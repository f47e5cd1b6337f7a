/** Many POSTs at the same time: a queue in front of the sandboxes, no errors, each inquiry stored once. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import {
  answerAfter,
  refuseAsConflict,
  type Fault,
  type FaultProxy,
  type Plan,
} from '../helpers/fault-proxy.ts';
import type { Answer } from '../helpers/http.ts';
import { startService, type Service } from '../helpers/service.ts';
import { createTally, isHard } from '../helpers/tally.ts';

let service: Service;
let proxy: FaultProxy;
beforeAll(async () => {
  service = await startService();
  ({ proxy } = service);
});
afterAll(async () => service.close());

const newUser = () => service.signIn({ email: 'ana@example.com', sub: randomUUID() });
const inquiryOf = ({ json }: Answer): Inquiry => (json as { inquiry: Inquiry }).inquiry;

const tally = createTally('6 burst: POSTs at the same time, answered 201 and stored once');

it.each(isHard ? [300, 1_000] : [300])(
  'answers 201 to each of %i POSTs at once and stores it once',
  async (size) => {
    const user = await newUser();
    const subjects = Array.from({ length: size }, (_, index) => `${size}-${index}`);
    const ids = new Set<string>();
    const outcomes = await Promise.allSettled(
      subjects.map(async (subject) => {
        // Each on a connection of its own.
        const answer = await user.call('POST', '', JSON.stringify({ subject, body: 'b' }));
        expect(answer).toMatchObject({ status: 201, json: { inquiry: { subject } } });
        ids.add(inquiryOf(answer).id);
        tally();
      }),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    const rows = await service.table.rows(user.sub);
    expect(new Set(rows.map(({ id }) => id))).toEqual(ids);
    expect(rows.map(({ subject }) => subject).toSorted()).toEqual(subjects.toSorted());
  },
);

/**
 * Refuses a transaction while another one runs, as DynamoDB does for the same item. The first one runs until another is
 * refused. A retry, which has the token of what it repeats, is not another one.
 */
function conflictAsDynamoDb(): Plan {
  let running: string | undefined;
  const { promise: isRefused, resolve } = Promise.withResolvers<void>();
  const pass = answerAfter(() => ({}));
  const fault: Fault = async (exchange) => {
    const asked = await exchange.receive();
    const { ClientRequestToken: token } = JSON.parse(asked.toString()) as {
      ClientRequestToken: string;
    };
    if (running !== undefined && running !== token) {
      resolve();
      return refuseAsConflict(exchange);
    }
    running = token;
    await isRefused;
    try {
      return await pass(exchange);
    } finally {
      running = undefined;
    }
  };
  return (_, operation) => (operation === 'TransactWriteItems' ? fault : undefined);
}

describeOnDynamoDbLocal('with an Idempotency-Key', () => {
  const keyed = createTally('8c exactly once: requests with one key at once');
  const AT_ONCE = isHard ? 1_000 : 100;
  it(`${AT_ONCE} requests with one key at once store one inquiry; after a retry of the 409s all of them got it`, async () => {
    const user = await newUser();
    const post = () =>
      user.call('POST', '', '{"subject":"s","body":"b"}', 'application/json', [
        'Idempotency-Key',
        'key',
      ]);
    proxy.plan = conflictAsDynamoDb();
    const created: Answer[] = [];
    const statuses = new Set<number>();
    for (let waiting = AT_ONCE; waiting > 0; waiting = AT_ONCE - created.length) {
      const answers = await Promise.all(Array.from({ length: waiting }, post));
      for (const answer of answers) {
        statuses.add(answer.status);
        expect([201, 409]).toContain(answer.status);
        keyed();
      }
      created.push(...answers.filter(({ status }) => status === 201));
      expect(await service.table.rows(user.sub)).toHaveLength(1);
    }
    expect(statuses).toEqual(new Set([201, 409]));
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    expect(
      created.filter(({ headers }) => headers['idempotency-replayed'] === undefined),
    ).toHaveLength(1);
    const stored = await service.table.rows(user.sub);
    expect(stored.map(({ id }) => id)).toEqual(
      created.slice(0, 1).map((answer) => inquiryOf(answer).id),
    );
    expect(await service.table.countKeys(user.sub)).toBe(1);
  });
});
