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

const DAY = 86_400_000;
/** In the middle of a second. */
const START = Date.UTC(2026, 0, 31, 12, 0, 0, 750);

describeOnDynamoDbLocal('retention', (endpoint) => {
  let own: Awaited<ReturnType<typeof createOwnStore>>;
  beforeAll(async () => {
    own = await createOwnStore(endpoint);
  });

  let owners = 0;
  /** A service whose clock is set by hand, and an owner of its own. */
  const setUp = () => {
    const owner = { sub: SUB, email: `${++owners}@example.com` };
    const clock = { now: START };
    const now = () => clock.now;
    const storeWith = (retentionDays?: number) =>
      createInquiryStore(createDynamoDbClient({ region: 'local' }), own.table, {
        retentionDays,
        now,
      });
    let retention: number;
    // One generator of ids over all settings, so that ids keep the order of creation.
    const service = createInquiries(
      { ...storeWith(), put: (inquiry, call) => storeWith(retention).put(inquiry, call) },
      { now },
    );
    return {
      owner,
      clock,
      async create(subject: string, retentionDays: number) {
        retention = retentionDays;
        return (await service.create(owner, { subject, body: '' }, makeCall())).inquiry;
      },
      async subjects(parameters?: object) {
        const { list, next } = await readList(service, owner, parameters);
        return { subjects: list.inquiries.map(({ subject }) => subject), next };
      },
    };
  };

  it('hides a row from the second of expires_at on, and not a millisecond earlier, from operators, too', async () => {
    const { clock, create, owner, subjects } = setUp();
    const inbox = createInbox(own.client, own.table, () => clock.now);
    const listed = () => Array.fromAsync(inbox.list({ email: owner.email }));
    const { id } = await create('s', 1);
    const { expires_at } = (await inbox.get(id)) as { expires_at: number };
    clock.now = expires_at * 1_000 - 1;
    expect(await subjects()).toMatchObject({ subjects: ['s'] });
    expect((await listed()).flat()).toHaveLength(1);
    clock.now++;
    expect(await subjects()).toMatchObject({ subjects: [] });
    expect((await listed()).flat()).toEqual([]);
    expect(await inbox.get(id)).toBe(undefined);
    expect(await inbox.answer(id, { reply: 'late', respondent: 'R' })).toEqual({
      status: 'not-found',
    });
  });

  // Newest first, as the service lists them; a dot has expired.
  it.each(['abc...', '...abc', '.a.b.c.', 'abc', '......a', 'ab.....cd.....e', '.......'])(
    'with the rows %s in pages lists the current ones, each once, and has no Link to an empty page',
    async (rows) => {
      const { clock, create, subjects } = setUp();
      for (const row of rows.split('').toReversed()) await create(row, row === '.' ? 1 : 2);
      clock.now += DAY;
      const current = rows.replaceAll('.', '').split('');
      expect(await subjects()).toEqual({ subjects: current, next: undefined });
      for (const limit of [1, 2, 3, 5]) {
        const pages: string[][] = [];
        for (let query: object | undefined = { limit: String(limit) }; query !== undefined;) {
          const page: Awaited<ReturnType<typeof subjects>> = await subjects(query);
          pages.push(page.subjects);
          query = page.next && { limit: String(page.next.limit), before: page.next.before };
        }
        expect(pages.flat()).toEqual(current);
        expect(pages).toHaveLength(Math.max(1, Math.ceil(current.length / limit)));
      }
    },
  );

  it('of an inquiry of a smoke test is a day, also without a setting; operators do not see it, but can erase it', async () => {
    const { clock } = setUp();
    const now = () => clock.now;
    const store = createInquiryStore(createDynamoDbClient({ region: 'local' }), own.table, { now });
    const owner = { sub: SUB, email: 'smoke-test-1@inquiries.invalid' };
    const { inquiry } = await createInquiries(store, { now }).create(
      owner,
      { subject: 's', body: '' },
      makeCall(),
    );
    const [row] = await readPartition({ client: own.client, name: own.table }, owner);
    expect(row).toMatchObject({ expires_at: Math.floor(START / 1_000) + 86_400 });
    const inbox = createInbox(own.client, own.table, now);
    const list = async (withExpired: boolean) =>
      (await Array.fromAsync(inbox.list({ email: owner.email, withExpired })))
        .flat()
        .map(({ id }) => id);
    expect([await list(false), await list(true)]).toEqual([[], [inquiry.id]]);
    expect(await inbox.answer(inquiry.id, { reply: 'r', respondent: 'R' })).toEqual({
      status: 'not-found',
    });
  });

  it('of a new inquiry is that of RETENTION_DAYS in the built function', async () => {
    await using sandbox = await startSandbox({ ...own.environment(), RETENTION_DAYS: '7' });
    const owner = { sub: SUB, email: EMAIL };
    const { json } = await sandbox.invoke(makePost({ subject: 's', body: 'b' }, owner));
    const { created_at } = (json as { inquiry: { created_at: string } }).inquiry;
    const expires_at = Math.floor(Date.parse(created_at) / 1_000) + 7 * 86_400;
    const rows = await readPartition({ client: own.client, name: own.table }, owner);
    expect(rows).toEqual([expect.objectContaining({ expires_at })]);
  });
});
