/** Many POSTs at once: a queue before the sandboxes, no errors, each inquiry stored once. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { never, refuseAsConflict } from '../helpers/fault-proxy.ts';
import type { Answer } from '../helpers/http.ts';
import { readPartition } from '../helpers/own-table.ts';
import { startService, type Service } from '../helpers/service.ts';
import { isHard } from '../helpers/selection.ts';

let service: Service;
beforeAll(async () => {
  // A busy machine does not answer the last of a thousand within API Gateway's 30 seconds.
  service = await startService({ timeout: 600_000 });
});
afterAll(async () => service.close());

const newUser = () => service.signIn({ email: 'ana@example.com', sub: randomUUID() });
const inquiryOf = ({ json }: Answer): Inquiry => (json as { inquiry: Inquiry }).inquiry;

it.each(isHard ? [300, 1_000] : [300])(
  'answers 201 to each of %i POSTs at once and stores it once',
  async (size) => {
    const user = await newUser();
    const subjects = Array.from({ length: size }, (_, index) => `${size}-${index}`);
    // Each on its own connection.
    const answers = await Promise.all(
      subjects.map((subject) => user.call('POST', '', JSON.stringify({ subject, body: 'b' }))),
    );
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    const rows = await service.table.rows(user.sub);
    const byId = new Map(rows.map((row) => [row.id, row.subject]));
    expect(answers.map((answer) => byId.get(inquiryOf(answer).id))).toEqual(subjects);
    expect(rows).toHaveLength(size);
  },
);

describeOnDynamoDbLocal('with an Idempotency-Key', () => {
  const AT_ONCE = isHard ? 1_000 : 100;
  it(`${AT_ONCE} requests with one key at once store one inquiry, which all get after retries`, async () => {
    const user = await newUser();
    const post = () =>
      user.call('POST', '', '{"subject":"s","body":"b"}', 'application/json', [
        'Idempotency-Key',
        'key',
      ]);
    // DynamoDB refuses a transaction on an item of another; DynamoDB Local lets it wait.
    service.proxy.plan = (attempt) => [undefined, refuseAsConflict][attempt % 2];
    const created: Answer[] = [];
    const statuses = new Set<number>();
    while (created.length < AT_ONCE) {
      const posts = Array.from({ length: AT_ONCE - created.length }, post);
      for (const answer of await Promise.all(posts)) {
        statuses.add(answer.status);
        if (answer.status === 201) created.push(answer);
      }
      expect(await service.table.rows(user.sub)).toHaveLength(1);
    }
    service.proxy.plan = never;
    expect(statuses).toEqual(new Set([201, 409]));
    const [stored] = await service.table.rows(user.sub);
    expect(new Set(created.map((answer) => inquiryOf(answer).id))).toEqual(new Set([stored?.id]));
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    const firsts = created.filter(({ headers }) => headers['idempotency-replayed'] === undefined);
    expect(firsts).toHaveLength(1);
    // The inquiry and its key.
    expect(await readPartition(service.table, user)).toHaveLength(2);
  });
});
