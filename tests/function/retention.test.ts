/** What expires is hidden to the second, whether or not DynamoDB has deleted it. docs/adr/0084 */
import { beforeAll, expect, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, list as readList, makeCall, makePost, SUB } from '../helpers/events.ts';
import { readPartition } from '../helpers/own-table.ts';
import { startSandbox } from '../helpers/sandbox.ts';

/** Seconds. */
const DAY = 86_400;
/** In the middle of a second. */
const START = Date.UTC(2026, 0, 31, 12, 0, 0, 750);
/** Milliseconds at which an inquiry of one day expires. */
const END = (Math.floor(START / 1_000) + DAY) * 1_000;

describeOnDynamoDbLocal('retention', (endpoint) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
  });

  /** A service and the operators' view of it, both at a time. */
  const serviceAt = (time: number, retentionDays?: number) => {
    const now = () => time;
    const client = createDynamoDbClient({ region: 'local' });
    const store = createInquiryStore(client, own.table, { retentionDays, now });
    return { ...createInquiries(store, { now }), inbox: createInbox(own.client, own.table, now) };
  };
  const create = async (email: string, time: number, days?: number, subject = '') =>
    (await serviceAt(time, days).create({ sub: SUB, email }, { subject, body: '' }, makeCall()))
      .inquiry;
  const listAt = async (time: number, email: string, parameters?: object) =>
    readList({ ...serviceAt(time) }, { sub: SUB, email }, parameters);

  it.each([
    ['a setting of a day', EMAIL, 1],
    ['a smoke test, without a setting', 'smoke-test-1@inquiries.invalid', undefined],
  ])(
    'of %s hides an inquiry from its second on and not a millisecond earlier',
    async (_, email, days) => {
      const { id } = await create(email, START, days);
      expect((await listAt(END - 1, email)).list.count).toBe(1);
      expect((await listAt(END, email)).list.count).toBe(0);
      const { inbox } = serviceAt(END);
      const count = async (withExpired: boolean) =>
        (await Array.fromAsync(inbox.list({ email, withExpired }))).flat().length;
      // Operators do not see it, but can erase it.
      expect([await count(false), await count(true)]).toEqual([0, 1]);
      const answer = { reply: 'late', respondent: 'R' };
      expect(await inbox.answer(id, answer)).toEqual({ status: 'not-found' });
    },
  );

  // Newest first, as the service lists them; a dot has expired.
  it.each(['.a.b.c.', 'ab.....cd.....e', '.......'])(
    'with the rows %s in pages lists the current ones, each once, and has no Link to an empty page',
    async (rows) => {
      const email = `${rows}@example.com`;
      for (const [at, row] of rows.split('').toReversed().entries()) {
        await create(email, START + at, row === '.' ? 1 : 2, row);
      }
      const current = rows.replaceAll('.', '').split('');
      for (const limit of [undefined, '1', '2', '3']) {
        const pages: string[][] = [];
        let before: string | undefined;
        do {
          const { list, next } = await listAt(END + 1_000, email, { limit, before });
          pages.push(list.inquiries.map(({ subject }) => subject));
          before = next?.before;
        } while (before !== undefined);
        expect(pages.flat()).toEqual(current);
        const most = Number(limit ?? rows.length);
        expect(pages).toHaveLength(Math.max(1, Math.ceil(current.length / most)));
      }
    },
  );

  it('of a new inquiry is that of RETENTION_DAYS in the built function', async () => {
    await using sandbox = await startSandbox({ ...own.environment(), RETENTION_DAYS: '7' });
    const owner = { sub: SUB, email: 'built@example.com' };
    const { json } = await sandbox.invoke(makePost({ subject: 's', body: 'b' }, owner));
    const { created_at } = (json as { inquiry: { created_at: string } }).inquiry;
    const expires_at = Math.floor(Date.parse(created_at) / 1_000) + 7 * DAY;
    const rows = await readPartition({ client: own.client, name: own.table }, owner);
    expect(rows).toMatchObject([{ expires_at }]);
  });
});
