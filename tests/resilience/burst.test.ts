/** Many POSTs at once: a queue before the sandboxes, no errors, each inquiry stored once. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import type { Answer } from '../helpers/http.ts';
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
