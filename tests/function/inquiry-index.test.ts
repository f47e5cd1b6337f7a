/** tests/resilience/moving-rows.test.ts has what is answered while it is read. */
import { expect, it } from 'vitest';
import { readIndex, type IndexQuery } from '../../src/entities/inquiry-index.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { writeInquiries } from '../helpers/inquiries.ts';
import { createOwnTable } from '../helpers/own-table.ts';

it('reads the inquiries of all owners in either direction, between two ids, answered or not, of an email', async () => {
  const own = await createOwnTable();
  const all = (await writeInquiries(own, 900)).toReversed();
  const entity = createInquiryEntity(own.name, own.client);
  const [, second, third] = all;
  const cases: [IndexQuery, typeof all][] = [
    [{ order: 'asc' }, all],
    [{}, all.toReversed()],
    [{ order: 'asc', isAnswered: false }, all.filter(({ reply }) => reply === undefined)],
    [{ isAnswered: true }, all.filter(({ reply }) => reply !== undefined).toReversed()],
    [{ order: 'asc', first: second?.id, last: third?.id }, all.slice(1, 3)],
    [{ order: 'asc', email: '7@example.com' }, all.filter(({ email }) => email.startsWith('7@'))],
  ];
  for (const [query, expected] of cases) {
    const pages = await Array.fromAsync(readIndex(entity, query));
    expect(pages.flat().map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  }
  own.close();
});
