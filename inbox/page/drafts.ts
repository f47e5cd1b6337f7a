import type { Failure, Inquiry } from './client.ts';

const KEY = 'inbox.drafts';

export type Drafts = ReturnType<typeof createDrafts>;

/** In a full storage, drafts last until the page is left. */
export function createDrafts(storage: Pick<Storage, 'getItem' | 'setItem'>) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this page alone
  const texts = new Map(JSON.parse(storage.getItem(KEY) ?? '[]') as [string, string][]);

  function set(id: string, text: string): void {
    if (text === '') texts.delete(id);
    else texts.set(id, text);
    try {
      storage.setItem(KEY, JSON.stringify([...texts]));
    } catch {
      // The page asks before it is left.
    }
  }

  return {
    get: (id: string): string => texts.get(id) ?? '',
    set,
    /** A draft equal to the stored reply was sent while the page was left. */
    confirm(stored: Inquiry | Failure): void {
      if (!('reply' in stored)) return;
      const { id, reply } = stored;
      if (texts.get(id)?.trimEnd() === reply.trimEnd()) set(id, '');
    },
    ids: (): string[] => [...texts.keys()],
  };
}
