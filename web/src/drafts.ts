/** Stores the text on every input event until the inquiry is sent. docs/adr/0051 */
import { attempt } from './storage.ts';

export interface Draft {
  readonly subject: string;
  readonly body: string;
  /** Names the draft to the service, which stores one inquiry for it. Tabs with the same draft have the same key. */
  readonly key: string;
  /**
   * Set when sending starts, removed when its outcome is certain or the text is edited: milliseconds since the epoch of
   * the first attempt. 'signed-out': nothing was sent, because the session had ended.
   */
  readonly pending?: number | 'signed-out';
}

/** The part of the Web Storage API that is used. */
export type DraftStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export type Drafts = ReturnType<typeof createDrafts>;

/** Drafts by store and key, which the next view of the page needs where the browser refuses to store them. */
const inMemory = new WeakMap<DraftStore, Map<string, Draft>>();

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
  const key = `inquiries.draft.${owner}`;
  const memory = inMemory.get(own) ?? new Map<string, Draft>();
  inMemory.set(own, memory);
  return {
    /** The last draft of this page or tab, otherwise of any tab; undefined when there is none. */
    load: (): Draft | undefined => memory.get(key) ?? read(own, key) ?? read(shared, key),
    /** Whether the draft was stored; browsers may forbid storage or run out of quota. */
    save(draft: Draft): boolean {
      if (draft.subject === '' && draft.body === '' && draft.pending === undefined) {
        this.clear();
        return true;
      }
      memory.set(key, draft);
      const text = JSON.stringify(draft);
      // One of the two stores is enough to restore the draft.
      return [own, shared].map((store) => attempt(() => store.setItem(key, text))).includes(true);
    },
    /** Deletes the draft of this tab, and the shared one when it has the same text. */
    clear(): void {
      const mine = memory.get(key) ?? read(own, key);
      const theirs = read(shared, key);
      memory.delete(key);
      attempt(() => own.removeItem(key));
      if (mine === undefined || (theirs?.subject === mine.subject && theirs.body === mine.body)) {
        attempt(() => shared.removeItem(key));
      }
    },
  };
}

function read(store: DraftStore, key: string): Draft | undefined {
  try {
    return parseDraft(JSON.parse(store.getItem(key) ?? 'null'));
  } catch {
    return undefined;
  }
}

/** Validates a stored draft. */
function parseDraft(json: unknown): Draft | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { subject, body, key, pending } = json as Partial<Record<string, unknown>>;
  if (typeof subject !== 'string' || typeof body !== 'string' || typeof key !== 'string') return undefined;
  const isPending = typeof pending === 'number' || pending === 'signed-out';
  return { subject, body, key, ...(isPending && { pending }) };
}
