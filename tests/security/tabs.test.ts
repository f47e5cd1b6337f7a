/** What other tabs keep of a user's text. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { createDrafts, removeDeletedDrafts } from '../../web/src/form/drafts.ts';
import { createStorage } from '../form/storage.ts';

it('a text that is deleted in all tabs is stored in none, whatever each tab has', async () => {
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
      // This opens the page again.
      removeDeletedDrafts(second, shared);
      for (const storage of [first, second, shared]) {
        expect(createDrafts(storage, shared, 'ana').load()).toBeUndefined();
        expect(Object.keys(storage)).not.toContain('inquiries.draft.ana');
      }
      expect(createDrafts(second, shared, 'ben').load()).toMatchObject({ subject: 'of ben' });
      createDrafts(second, shared, 'ana').save(draft('new'));
      expect(createDrafts(second, shared, 'ana').load()).toMatchObject({ subject: 'new' });
    }
  }
});
