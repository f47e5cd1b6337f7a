import type { DraftStore } from '../../web/src/form/drafts.ts';

/** A browser's storage, whose items are properties. */
export const createStorage = (): DraftStore & Record<string, unknown> =>
  Object.create({
    getItem(key: string) {
      return Reflect.get(this, key) ?? null;
    },
    setItem(key: string, value: string) {
      Reflect.set(this, key, value);
    },
    removeItem(key: string) {
      Reflect.deleteProperty(this, key);
    },
  });
