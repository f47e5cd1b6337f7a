/** The drafts of a custom element: its text outlives changes of its settings, also where storage is forbidden. */
import { createDrafts } from './drafts.ts';
import type { Drafts, DraftStore } from './drafts.ts';

/** @param open - Throws where the browser forbids storage; then each use throws, which the drafts expect. */
export const toStore = (open: () => DraftStore): DraftStore => ({
  getItem: (key) => open().getItem(key),
  setItem: (key, value) => open().setItem(key, value),
  removeItem: (key) => open().removeItem(key),
});

/** A store that keeps everything in memory, too, so that another element of the page does not change its content. */
export function withMemory(store: DraftStore): DraftStore {
  const memory = new Map<string, string>();
  return {
    getItem: (key) => memory.get(key) ?? store.getItem(key),
    setItem(key, value) {
      memory.set(key, value);
      store.setItem(key, value);
    },
    removeItem(key) {
      memory.delete(key);
      store.removeItem(key);
    },
  };
}

/** @returns Creates the drafts of a user. */
export function createElementDrafts(): (owner: string) => Drafts {
  const own = withMemory(toStore(() => sessionStorage));
  const shared = toStore(() => localStorage);
  return (owner) => createDrafts(own, shared, owner);
}
