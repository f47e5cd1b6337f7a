/** What expires is hidden to the second, whether or not DynamoDB has deleted it. docs/adr/0084 */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import type { InquiryFilter } from '../../inbox/store.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import type { InquiryStore } from '../../src/inquiries.ts';
import { createOwnStore, describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { EMAIL, list as readList, makeCall, makePost, SUB } from '../helpers/events.ts';
import { createOwnTable, readPartition } from '../helpers/own-table.ts';
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
    const client = createDynamoDbClient({ region: 'local' });
    const storeWith = (retentionDays?: number) =>
      createInquiryStore(client, own.entities, { retentionDays, now });
    // One generator of ids over all settings, so that ids keep the order of creation.
    let retention: number | undefined;
    const put: InquiryStore['put'] = (inquiry, call) => storeWith(retention).put(inquiry, call);
    const service = createInquiries({ ...storeWith(), put }, { now });
    const inbox = createInbox(own.client, own.table, now);
    return {
      owner,
      clock,
      inbox,
      service,
      async create(subject: string, retentionDays?: number) {
        retention = retentionDays;
        return (await service.create(owner, { subject, body: '' }, makeCall())).inquiry;
      },
      async subjects(parameters?: object) {
        const { list, next } = await readList(service, owner, parameters);
        expect(list.count).toBe(list.inquiries.length);
        return { subjects: list.inquiries.map(({ subject }) => subject), next };
      },
      async listed(filter: InquiryFilter = {}) {
        const pages = await Array.fromAsync(inbox.list({ email: owner.email, ...filter }));
        const rows = await Array.fromAsync(inbox.summarize(pages.flat()));
        return rows.flat().map(({ subject }) => subject);
      },
      async item(id: string) {
        const { Key, TableName } = own.entity
          .get({ id, cognito_sub: owner.sub, email: owner.email })
          .params<{ TableName: string; Key: object }>();
        return (await own.client.send(new GetCommand({ TableName, Key }))).Item;
      },
    };
  };

  it('stores no expires_at without retention_days, and such a row never expires', async () => {
    const { clock, create, item, listed, subjects } = setUp();
    const { id } = await create('for ever');
    expect(await item(id)).not.toHaveProperty('expires_at');
    clock.now += 36_500 * DAY;
    expect(await subjects()).toEqual({ subjects: ['for ever'], next: undefined });
    expect(await listed()).toEqual(['for ever']);
  });

  it('hides a row from the second of expires_at on, and not a millisecond earlier', async () => {
    const { clock, create, inbox, item, listed, subjects } = setUp();
    const { id } = await create('s', 1);
    const { expires_at } = (await item(id)) as { expires_at: number };
    clock.now = expires_at * 1_000 - 1;
    expect(await subjects()).toMatchObject({ subjects: ['s'] });
    expect(await listed()).toEqual(['s']);
    expect(await inbox.get(id)).toMatchObject({ id, expires_at });
    clock.now++;
    expect(await subjects()).toMatchObject({ subjects: [] });
    expect(await listed()).toEqual([]);
    expect(await inbox.get(id)).toBe(undefined);
    expect(await inbox.answer(id, { reply: 'late', respondent: 'R' })).toEqual({ status: 'not-found' });
    expect(await item(id)).not.toHaveProperty('reply');
  });

  describe('in a list in pages', () => {
    // Newest first, as the service lists them; a dot has expired.
    it.each(['abc...', '...abc', '.a.b.c.', 'abc', '......a', 'ab.....cd.....e', '.......'])(
      'with the rows %s lists the current ones, each once, and has no Link to an empty page',
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

    it('reads 200 expired rows in two requests, not a few rows at a time', async () => {
      const { clock, create, owner, service } = setUp();
      await create('oldest', 2);
      for (let index = 0; index < 200; index++) await create(String(index), 1);
      clock.now += DAY;
      const call = makeCall();
      const { list, next } = await readList(service, owner, { limit: '1' }, call);
      expect(list.inquiries.map(({ subject }) => subject)).toEqual(['oldest']);
      expect(next).toBe(undefined);
      expect(call.attempts).toBe(2);
    });
  });
});

it('the built function keeps a new inquiry for RETENTION_DAYS', async () => {
  const table = await createOwnTable();
  const sandbox = await startSandbox({ ...table.environment(), RETENTION_DAYS: '7' });
  onTestFinished(async () => {
    await sandbox.close();
    table.close();
  });
  const owner = { sub: SUB, email: EMAIL };
  const { json } = await sandbox.invoke(makePost({ subject: 's', body: 'b' }, owner));
  const { created_at } = (json as { inquiry: { created_at: string } }).inquiry;
  const expires_at = Math.floor(Date.parse(created_at) / 1_000) + 7 * 86_400;
  expect(await readPartition(table, owner)).toEqual([expect.objectContaining({ expires_at })]);
});
