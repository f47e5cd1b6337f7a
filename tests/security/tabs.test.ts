/** What other tabs send, and keep of a user's text. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { createDrafts, removeDeletedDrafts } from '../../web/src/form/drafts.ts';
import { parseMessage } from '../../web/src/session/tabs.ts';
import { createStorage } from '../form/storage.ts';

const user = { sub: 'ana', email: 'ana@example.com' };
const TOKENS = { idToken: 'token', expires: 1, user, lastSignOut: null };

const OTHERS: unknown[] = [null, undefined, 0, true, 1n, 'x', [], {}, new Map()];
const without = (...taken: unknown[]): unknown[] => OTHERS.filter((one) => !taken.includes(one));
const MALFORMED: unknown[] = [
  ...OTHERS,
  ...without().flatMap((one) => [{ tokens: one }, { tokens: { ...TOKENS, user: one } }]),
  ...without('x').flatMap((one) => [
    { deleted: one },
    { tokens: { ...TOKENS, idToken: one } },
    { tokens: { ...TOKENS, user: { ...user, sub: one } } },
    { tokens: { ...TOKENS, user: { ...user, email: one } } },
  ]),
  ...without('x', null).map((lastSignOut) => ({ tokens: { ...TOKENS, lastSignOut } })),
  ...without(0).map((expires) => ({ tokens: { ...TOKENS, expires } })),
  ...without('x', undefined).flatMap((one) => [
    { wanted: { sub: one } },
    { wanted: { refused: one } },
  ]),
];

it('malformed messages of other tabs are no messages', () => {
  for (const data of MALFORMED) {
    const message = parseMessage(new MessageEvent('message', { data }));
    expect([data, message]).toEqual([data, undefined]);
  }
});

it('a text that is deleted in all tabs is in none of them, whatever each has and shows', async () => {
  const draft = (subject: string) => ({ subject, body: '', key: randomUUID() });
  for (const [mine, theirs] of [
    ['a', 'a'],
    ['a', 'b'],
    ['', 'b'],
    ['a', ''],
  ] as const) {
    for (const [isLast, isStoredAgain] of [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ]) {
      const [first, second, shared] = [createStorage(), createStorage(), createStorage()];
      const ana = createDrafts(first, shared, 'ana');
      const other = createDrafts(second, shared, 'ana');
      if (isLast) other.save(draft(theirs));
      ana.save(draft(mine));
      if (!isLast) other.save(draft(theirs));
      createDrafts(second, shared, 'ben').save(draft('of ben'));
      ana.clearEverywhere();
      if (isStoredAgain && theirs !== '') other.save(draft(theirs));
      // The page is opened again.
      removeDeletedDrafts(second, shared);
      for (const storage of [first, second, shared]) {
        expect(createDrafts(storage, shared, 'ana').load()).toBeUndefined();
        expect(Object.keys(storage)).not.toContain('inquiries.draft.ana');
      }
      expect(createDrafts(second, shared, 'ben').load()).toMatchObject({ subject: 'of ben' });
      // What is written afterwards is kept.
      createDrafts(second, shared, 'ana').save(draft('new'));
      expect(createDrafts(second, shared, 'ana').load()).toMatchObject({ subject: 'new' });
    }
  }
});
