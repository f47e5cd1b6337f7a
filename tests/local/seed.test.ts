import { expect, it } from 'vitest';
import { seedTable } from '../../local/seed.ts';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
import { openInbox } from '../inbox/test-inbox.ts';

it('fills a table once, with all languages and states, and has the mailer send nothing', async () => {
  const { engine, name, client, inbox } = await openInbox();
  expect(await seedTable(engine, name, 60)).toBe(60);
  expect(await seedTable(engine, name, 60)).toBe(0);
  const rows = (await Array.fromAsync(inbox.listInFull())).flat();
  expect(new Set(rows.map(({ language }) => language)).size).toBe(6);
  expect(rows.map(({ body }) => body).join()).not.toContain('#');
  const waiting = rows.filter(({ reply_at }) => reply_at === undefined).map(({ id }) => id);
  const answered = rows.filter(({ reply }) => reply !== undefined).length;
  expect([rows.length, waiting.length, answered]).toEqual([60, 24, 27]);
  const keys = waiting.map((inquiry) => ({ inquiry, mail: 'inquiry' as const }));
  const { data } = await createDeliveryEntity(name, client).get(keys).go();
  expect(data).toHaveLength(waiting.length);
});
