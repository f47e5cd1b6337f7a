import { expect, it } from 'vitest';
import { createReplyKeys } from '../../src/entities/reply-keys.ts';
import { createReplyAddresses } from '../../mail/reply-addresses.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY } from '../helpers/events.ts';
import { createOwnTable, readTable } from '../helpers/own-table.ts';

const DOMAIN = 'reply.example.com';
const DAY = 86_400_000;
const { id } = INQUIRY;
const { signal } = new AbortController();

describeOnDynamoDbLocal('addresses for answers', (engine) => {
  const start = async (at = Date.now()) => {
    const table = await createOwnTable(engine);
    let time = at;
    const keys = createReplyKeys(table);
    const create = () => createReplyAddresses(keys, DOMAIN, () => time);
    const readKeys = async () => readTable(table.client, table.name);
    return { table, keys, create, readKeys, pass: (days: number) => void (time += days * DAY) };
  };

  it('name inquiry and kind, in 64 lower-case characters, in whatever case they come back', async () => {
    const { create } = await start();
    for (const kind of ['r', 'f'] as const) {
      const address = await create().create(kind, id, signal);
      expect(address).toMatch(/^[a-z\d-]{1,64}@reply\.example\.com$/);
      for (const received of [address, address.toUpperCase()]) {
        expect(await create().parse(received, signal)).toEqual({ kind, id });
      }
    }
  });

  it.each([1, 30])('of the %i. of a month are valid for 90 days, at most for 123', async (day) => {
    const { create, pass } = await start(Date.UTC(2026, 11, day, 12));
    const address = await create().create('r', id, signal);
    pass(90);
    expect(await create().parse(address, signal)).toEqual({ kind: 'r', id });
    pass(33);
    expect(await create().parse(address, signal)).toBeUndefined();
  });

  it('have one key a month, which instances side by side share', async () => {
    const { create, readKeys, pass } = await start(Date.UTC(2026, 10, 20));
    const instances = Array.from({ length: 10 }, create);
    const addresses = await Promise.all(instances.map((one) => one.create('r', id, signal)));
    expect(new Set(addresses).size).toBe(1);
    pass(20);
    expect(await create().create('r', id, signal)).not.toBe(addresses[0]);
    expect((await readKeys()).map(({ pk, expires_at }) => [pk, expires_at])).toEqual(
      expect.arrayContaining([
        ['$inquiries#month_2611', Date.UTC(2026, 10, 123) / 1_000],
        ['$inquiries#month_2612', Date.UTC(2026, 11, 123) / 1_000],
      ]),
    );
  });

  it('of a stage whose key was deleted, or of another stage, are invalid', async () => {
    const { create } = await start();
    const address = await create().create('r', id, signal);
    const other = await start();
    expect(await other.create().parse(address, signal)).toBeUndefined();
    await other.create().create('r', id, signal);
    expect(await other.create().parse(address, signal)).toBeUndefined();
  });
});
