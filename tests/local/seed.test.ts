import { expect, it } from 'vitest';
import { createInquiries, seedTable } from '../../local/seed.ts';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
import { openInbox } from '../helpers/inbox.ts';

it.each([1, 5_000])('%d inquiries have references, times and texts in order', (count) => {
  const now = Date.now();
  const rows = createInquiries(count, now);
  const references = rows.map(({ id }) => id.slice(0, 13));
  expect(references).toEqual([...new Set(references)].toSorted().toReversed());
  for (const { body, created_at, reply_at = created_at } of rows) {
    expect(body).not.toContain('#');
    expect(Date.parse(reply_at)).toBeLessThan(now);
  }
});

it('fills a table once, with all languages and states, and has the mailer send nothing', async () => {
  const { engine, name, client, inbox } = await openInbox();
  expect(await seedTable(engine, name, 50)).toBe(50);
  expect(await seedTable(engine, name, 50)).toBe(0);
  const rows = (await Array.fromAsync(inbox.listInFull())).flat();
  expect(new Set(rows.map(({ language }) => language)).size).toBe(6);
  const waiting = rows.filter(({ reply_at }) => reply_at === undefined).map(({ id }) => id);
  const answered = rows.filter(({ reply }) => reply !== undefined).map(({ id }) => id);
  const dismissed = rows.length - waiting.length - answered.length;
  expect(Math.min(waiting.length, answered.length, dismissed)).toBeGreaterThan(4);
  const keys = waiting.map((inquiry) => ({ inquiry, mail: 'inquiry' as const }));
  const { data } = await createDeliveryEntity(name, client).get(keys).go();
  expect(data).toHaveLength(waiting.length);
});
