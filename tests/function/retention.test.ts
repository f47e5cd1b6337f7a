/** docs/adr/0084 */
import { beforeAll, expect, it } from 'vitest';
import { createStoredInquiries } from '../../src/entities/stored-inquiries.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, list, makeCall, SUB } from '../helpers/events.ts';

const DAY = 86_400;
const START = Date.UTC(2026, 0, 31, 12, 0, 0, 750);
/** Milliseconds at which an inquiry of one day expires. */
const END = (Math.floor(START / 1_000) + DAY) * 1_000;

describeOnDynamoDbLocal('retention', (endpoint) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
  });

  const serviceAt = (time: number, retentionDays?: number) => {
    const now = () => time;
    const client = createDynamoDbClient();
    return createInquiries(createInquiryStore(client, own.name, { retentionDays, now }), { now });
  };
  const create = (email: string, time: number, days?: number, subject = '') =>
    serviceAt(time, days).create({ sub: SUB, email }, { subject, body: '' }, makeCall());
  const listAt = async (time: number, email: string, query?: object) => {
    const page = await list(serviceAt(time), { sub: SUB, email }, query);
    const subjects = page.list.inquiries.map(({ subject }) => subject);
    return { subjects, before: page.next?.before };
  };

  it.each([
    ['a setting of a day', EMAIL, 1],
    ['a smoke test, without a setting', 'smoke-test-1@inquiries.invalid', undefined],
  ])(
    'of %s hides an inquiry from its second on and not a millisecond earlier',
    async (_, email, days) => {
      const { inquiry } = await create(email, START, days);
      expect((await listAt(END - 1, email)).subjects).toEqual(['']);
      expect((await listAt(END, email)).subjects).toEqual([]);
      // Hidden, but can be erased.
      const inbox = createStoredInquiries(own, () => END);
      const find = async (withExpired: boolean) =>
        (await Array.fromAsync(inbox.list({ email, withExpired }))).flat();
      expect(await find(false)).toEqual([]);
      expect(await find(true)).toMatchObject([{ id: inquiry.id }]);
      const answer = { reply: 'late', respondent: 'R' };
      expect(await inbox.answer({ ...inquiry, expires_at: END / 1_000 }, answer)).toEqual({
        status: 'not-found',
      });
    },
  );

  // Newest first; a dot has expired.
  it.each(['.a.b.c.', 'ab.....cd.....e'])(
    'with the rows %s lists the current ones, each once, without a Link to an empty page',
    async (rows) => {
      for (const [at, row] of rows.split('').toReversed().entries()) {
        await create(rows, START + at, row === '.' ? 1 : 2, row);
      }
      const current = rows.replaceAll('.', '').split('');
      for (const limit of ['1', '2', '3', '1000']) {
        const listed: string[] = [];
        let [pages, before]: [number, string | undefined] = [0, undefined];
        do {
          const page = await listAt(END + 1_000, rows, { limit, before });
          listed.push(...page.subjects);
          ({ before } = page);
          pages++;
        } while (before !== undefined);
        expect(listed).toEqual(current);
        expect(pages).toBe(Math.max(1, Math.ceil(current.length / Number(limit))));
      }
    },
  );
});
