import { expect, it } from 'vitest';
import { readIndex, type IndexQuery } from '../../src/entities/inquiry-index.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { writeInquiries } from '../helpers/inquiries.ts';
import { INQUIRY } from '../helpers/events.ts';
import { describeOnEngines } from '../helpers/engines.ts';
import { createOwnTable } from '../helpers/own-table.ts';

describeOnEngines('the inquiries of all owners', (endpoint) => {
  it('are in the order of their ids in either direction, between two ids, answered or not, of an email', async () => {
    const own = await createOwnTable(endpoint);
    const all = (await writeInquiries(own, 900)).toReversed();
    const entity = createInquiryEntity(own.name, own.client);
    const [, second, third] = all;
    const cases: [IndexQuery, typeof all][] = [
      [{ order: 'asc' }, all],
      [{}, all.toReversed()],
      [{ order: 'asc', isAnswered: false }, all.filter(({ reply }) => reply === undefined)],
      [{ isAnswered: true }, all.filter(({ reply }) => reply !== undefined).toReversed()],
      [{ order: 'asc', first: second?.id, last: third?.id }, all.slice(1, 3)],
      [
        { order: 'asc', email: '7@example.com' },
        all.filter(({ email }) => email === '7@example.com'),
      ],
    ];
    for (const [query, expected] of cases) {
      const pages = await Array.fromAsync(readIndex(entity, query));
      expect(pages.flat().map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    }
    own.close();
  });
});

it('an inquiry that is in both lists while it is answered is listed once, as answered', async () => {
  const go = (inbox: string) => async () => {
    const reply_at = inbox === 'done-0' ? 't' : undefined;
    return {
      data: { Items: inbox.endsWith('-0') ? [{ ...INQUIRY, reply_at }] : [] },
      cursor: null,
    };
  };
  const byState = ({ inbox }: { inbox: string }) => ({
    between: () => ({ go: go(inbox) }),
  });
  const entity = { query: { byState } } as unknown as Parameters<typeof readIndex>[0];
  expect((await Array.fromAsync(readIndex(entity))).flat()).toMatchObject([{ reply_at: 't' }]);
});
