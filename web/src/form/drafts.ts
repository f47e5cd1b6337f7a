/** docs/adr/0051 */
import { hasText, isSame, mapFields, type Texts } from './fields.ts';
import { isText, parseJson, toRecord } from '../narrow.ts';
import { attempt } from '../storage.ts';

export interface Draft extends Texts {
  /** Tabs with the same draft have the same key. */
  key: string;
  /** Milliseconds of the first attempt with an unknown outcome. 'signed-out': the draft waits for the user. */
  pending?: number | 'signed-out' | undefined;
}

export type DraftStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export type Drafts = ReturnType<typeof createDrafts>;

/** Keeps drafts for the page's next view where the browser stores nothing. */
const inMemory = new WeakMap<DraftStore, DraftStore>();

const PREFIX = 'inquiries.draft.';
/** Milliseconds. */
const KEPT = 30 * 86_400_000;

/** @param open - Throws where storage is forbidden. */
export const toStore = (open: () => DraftStore): DraftStore => ({
  getItem: (key) => open().getItem(key),
  setItem: (key, value) => open().setItem(key, value),
  removeItem: (key) => open().removeItem(key),
});

/**
 * @param own - This tab's storage.
 * @param shared - All tabs' storage, which outlasts the browser.
 */
export function createDrafts(own: DraftStore, shared: DraftStore, owner: string) {
  const key = PREFIX + owner;
  const memory = inMemory.get(own) ?? createMemory();
  inMemory.set(own, memory);
  /** Names the last deletion: older drafts are deleted in all tabs. */
  const deletionKey = `inquiries.deleted.${owner}`;
  const findDeletion = (): string | undefined => readItem(shared, deletionKey) ?? undefined;
  const deletion = findDeletion();
  const remove = (store: DraftStore) => attempt(() => store.removeItem(key));
  const read = (store: DraftStore): Draft | undefined => {
    const stored = parseDraft(readItem(store, key));
    if (stored === undefined) return undefined;
    const { draft, savedAt, deletion: after } = stored;
    if (after === findDeletion() && !(Date.now() - Number(savedAt) > KEPT)) return draft;
    remove(store);
    return undefined;
  };
  return {
    deletionKey,
    load: (): Draft | undefined => read(memory) ?? read(own) ?? read(shared),
    /** @returns Whether the browser has stored it. */
    save(draft: Draft): boolean {
      if (!hasText(draft) && draft.pending === undefined) {
        this.clear();
        return true;
      }
      const text = JSON.stringify({ ...draft, deletion, savedAt: Date.now() });
      memory.setItem(key, text);
      return [own, shared].map((store) => attempt(() => store.setItem(key, text))).includes(true);
    },
    clear(): void {
      const mine = read(memory) ?? read(own);
      const theirs = read(shared);
      for (const store of [memory, own]) remove(store);
      if (mine === undefined || (theirs !== undefined && isSame(mine, theirs))) remove(shared);
    },
    /** Tabs that show another page delete theirs later. */
    clearEverywhere(): void {
      for (const store of [memory, own, shared]) remove(store);
      attempt(() => shared.setItem(deletionKey, crypto.randomUUID()));
    },
  };
}

/** Removes what was deleted while this tab showed another page. */
export function removeDeletedDrafts(own: DraftStore, shared: DraftStore): void {
  const stored = [...Object.keys(own), ...Object.keys(shared)];
  const drafts = stored.filter((key) => key.startsWith(PREFIX));
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

function parseDraft(
  text: string | null,
): { draft: Draft; deletion: unknown; savedAt: unknown } | undefined {
  const stored = toRecord(parseJson(text));
  const { key, pending, deletion, savedAt } = stored;
  if (!isText(key)) return undefined;
  // Drafts of an older version lack newer fields.
  const texts = mapFields((name) => (isText(stored[name]) ? stored[name] : ''));
  const isPending = typeof pending === 'number' || pending === 'signed-out';
  const draft: Draft = { ...texts, key, pending: isPending ? pending : undefined };
  return { draft, deletion, savedAt };
}
