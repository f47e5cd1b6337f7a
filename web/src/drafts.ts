/** Stores the text on every input event until the inquiry is sent. docs/adr/0051 */
import { hasText, isSame, mapFields, type Texts } from './fields.ts';
import { isText, parseJson, toRecord } from './narrow.ts';
import { attempt } from './storage.ts';

export interface Draft extends Texts {
  /** Names the draft to the service, which stores one inquiry for it. Tabs with the same draft have the same key. */
  key: string;
  /**
   * Set when sending starts, removed when its outcome is certain or the text is edited: milliseconds since the epoch of
   * the first attempt. 'signed-out': nothing was sent, because the session had ended.
   */
  pending?: number | 'signed-out' | undefined;
}

/** The part of the Web Storage API that is used. */
export type DraftStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export type Drafts = ReturnType<typeof createDrafts>;

/** Drafts by the tab's storage, which the next view of the page needs where the browser refuses to store them. */
const inMemory = new WeakMap<DraftStore, DraftStore>();

const PREFIX = 'inquiries.draft.';

/** @param open - Throws where the browser forbids storage. Then each method throws, which `createDrafts` handles. */
export const toStore = (open: () => DraftStore): DraftStore => ({
  getItem: (key) => open().getItem(key),
  setItem: (key, value) => open().setItem(key, value),
  removeItem: (key) => open().removeItem(key),
});

/**
 * Creates the drafts of one user; other users of the same browser cannot load them.
 *
 * @param own - The storage of this tab, so that each tab gets its own text back on reload.
 * @param shared - The storage of all tabs, so that drafts survive closing the tab or the browser.
 */
export function createDrafts(own: DraftStore, shared: DraftStore, owner: string) {
  const key = PREFIX + owner;
  const memory = inMemory.get(own) ?? createMemory();
  inMemory.set(own, memory);
  /** Names, in the storage of all tabs, the last deletion in all tabs: drafts from before it are deleted. */
  const deletionKey = `inquiries.deleted.${owner}`;
  const findDeletion = (): string | undefined => readItem(shared, deletionKey) ?? undefined;
  const deletion = findDeletion();
  const read = (store: DraftStore): Draft | undefined => {
    const stored = parseDraft(readItem(store, key));
    if (stored === undefined || stored.deletion === findDeletion()) return stored;
    attempt(() => store.removeItem(key));
    return undefined;
  };
  return {
    /** The last draft of this page or tab, otherwise of any tab; undefined when there is none. */
    load: (): Draft | undefined => read(memory) ?? read(own) ?? read(shared),
    /** Whether the draft was stored; browsers may forbid storage or run out of quota. */
    save(draft: Draft): boolean {
      if (!hasText(draft) && draft.pending === undefined) {
        this.clear();
        return true;
      }
      const text = JSON.stringify({ ...draft, deletion });
      memory.setItem(key, text);
      // One of the two stores is enough to restore the draft.
      return [own, shared].map((store) => attempt(() => store.setItem(key, text))).includes(true);
    },
    /** Deletes the draft of this tab, and the shared one when it has the same text. */
    clear(): void {
      const mine = read(memory) ?? read(own);
      const theirs = read(shared);
      memory.removeItem(key);
      attempt(() => own.removeItem(key));
      if (mine === undefined || (theirs !== undefined && isSame(mine, theirs))) {
        attempt(() => shared.removeItem(key));
      }
    },
    /** Deletes the drafts of all tabs, also of those that show another page now. */
    clearEverywhere(): void {
      for (const store of [memory, own, shared]) attempt(() => store.removeItem(key));
      attempt(() => shared.setItem(deletionKey, crypto.randomUUID()));
    },
  };
}

/** Deletes from the storage of this tab the drafts of all users that were deleted while it showed another page. */
export function removeDeletedDrafts(own: DraftStore, shared: DraftStore): void {
  const drafts = Object.keys(own).filter((key) => key.startsWith(PREFIX));
  for (const key of drafts) createDrafts(own, shared, key.slice(PREFIX.length)).load();
}

function createMemory(): DraftStore {
  const texts = new Map<string, string>();
  return {
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, value) => void texts.set(key, value),
    removeItem: (key) => void texts.delete(key),
  };
}

function readItem(store: DraftStore, key: string): string | null {
  try {
    return store.getItem(key);
  } catch {
    return null;
  }
}

function parseDraft(text: string | null): (Draft & { deletion: unknown }) | undefined {
  const stored = toRecord(parseJson(text));
  const { key, pending, deletion } = stored;
  if (!isText(key)) return undefined;
  // A draft of an older version of the page lacks the newer fields.
  const texts = mapFields((name) => (isText(stored[name]) ? stored[name] : ''));
  const isPending = typeof pending === 'number' || pending === 'signed-out';
  return { ...texts, key, pending: isPending ? pending : undefined, deletion };
}
