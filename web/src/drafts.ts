/** Keeps what is typed, at every keystroke, until the service has it. docs/adr/0051 */

export interface Draft {
  readonly subject: string;
  readonly body: string;
  /** There once send was pressed: the newest inquiry known then, '' for none, or null when the list was unknown. */
  readonly pending?: { readonly newest: string | null; readonly at: number };
}

/** The part of the Web Storage API that is used. */
export interface DraftStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface Drafts {
  /** What this tab had last, else what any tab had; undefined when there is nothing. */
  load(): Draft | undefined;
  /** Whether it is kept: a browser may refuse to keep anything, or more than it has room for. */
  save(draft: Draft): boolean;
  /** Forgets the draft, and in other tabs' store only this very text. */
  clear(): void;
}

/**
 * Creates the drafts of one user; another user of the same browser gets none of them.
 *
 * @param own - Of this tab, so that two tabs with different texts do not overwrite each other on reload.
 * @param shared - Of all tabs, so that a closed tab or browser loses nothing.
 */
export function createDrafts(own: DraftStore, shared: DraftStore, owner: string): Drafts {
  const key = `inquiries.draft.${owner}`;
  return {
    load: () => read(own, key) ?? read(shared, key),
    save(draft) {
      if (draft.subject === '' && draft.body === '' && draft.pending === undefined) {
        this.clear();
        return true;
      }
      const text = JSON.stringify(draft);
      // One of the two is enough for a reload.
      const kept = [write(own, key, text), write(shared, key, text)];
      return kept.includes(true);
    },
    clear() {
      const mine = read(own, key);
      const theirs = read(shared, key);
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

/** Narrows what was stored, perhaps by an older version of this page. */
function parseDraft(json: unknown): Draft | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { subject, body, pending } = json as Partial<Record<string, unknown>>;
  if (typeof subject !== 'string' || typeof body !== 'string') return undefined;
  if (typeof pending !== 'object' || pending === null) return { subject, body };
  const { newest, at } = pending as Partial<Record<string, unknown>>;
  if (typeof at !== 'number' || (typeof newest !== 'string' && newest !== null)) return { subject, body };
  return { subject, body, pending: { newest, at } };
}

function write(store: DraftStore, key: string, text: string): boolean {
  return attempt(() => store.setItem(key, text));
}

/** Storage throws when it is full or forbidden; the form works on without it. */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
