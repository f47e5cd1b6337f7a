/** The user's inquiries as far as they are loaded, newest first. */
import type { Inquiry } from '../../src/contract.ts';
import { isFailure, type Api, type Failure, type Page } from './api.ts';

export interface Loaded {
  /** Undefined until the newest page was loaded. */
  page?: Page | undefined;
  /** An inquiry that the address names, while it is older than the page. */
  linked?: Inquiry | undefined;
}

export function createPages(api: Pick<Api, 'list'>) {
  const state: Loaded = {};

  const replace = (page: Page): Page => {
    state.page = page;
    if (page.inquiries.some(({ id }) => id === state.linked?.id)) state.linked = undefined;
    return page;
  };
  const all = (): Inquiry[] => [
    ...(state.linked === undefined ? [] : [state.linked]),
    ...(state.page?.inquiries ?? []),
  ];

  return {
    state,
    all,
    /** Loads the newest page. */
    async reload(): Promise<Page | Failure> {
      const { page } = state;
      const result = await api.list();
      if (isFailure(result)) return result;
      // The response may be older than an inquiry that was added in the meantime.
      if (page !== state.page) return this.reload();
      return replace(page === undefined ? result : mergeNewest(page, result));
    },
    /** Loads the next page; resolves to it, or to undefined when there is none or the list was replaced in the meantime. */
    async loadOlder(): Promise<Page | Failure | undefined> {
      const next = state.page?.next;
      if (next === undefined) return undefined;
      const result = await api.list(next);
      if (isFailure(result)) return result;
      if (state.page?.next !== next) return undefined;
      replace(appendOlder(state.page, result));
      return result;
    },
    /** Loads an inquiry, if the user has it and it is not there yet. */
    async include(id: string): Promise<object | Failure> {
      if (all().some((inquiry) => inquiry.id === id)) return state;
      const found = await api.list(toInclude(id));
      if (isFailure(found)) return found;
      state.linked = found.inquiries.find((inquiry) => inquiry.id === id);
      return state;
    },
    /** Adds an inquiry that has just been sent. */
    add(inquiry: Inquiry): void {
      replace(addSent(state.page ?? { inquiries: [], next: undefined }, inquiry));
    },
  };
}

/** Merges the newest page into the list. Older inquiries are kept unless there may be a gap between the two. */
export function mergeNewest(shown: Page, newest: Page): Page {
  const last = newest.inquiries.at(-1);
  const overlaps = last !== undefined && shown.inquiries.some(({ id }) => id >= last.id);
  if (newest.next === undefined || !overlaps || shown.inquiries.every(({ id }) => id >= last.id)) {
    return newest;
  }
  return {
    inquiries: [...newest.inquiries, ...shown.inquiries.filter(({ id }) => id < last.id)],
    next: shown.next,
  };
}

/** Appends the next page. */
export function appendOlder(shown: Page, older: Page): Page {
  const known = new Set(shown.inquiries.map(({ id }) => id));
  return {
    inquiries: [...shown.inquiries, ...older.inquiries.filter(({ id }) => !known.has(id))],
    next: older.next,
  };
}

/**
 * Adds an inquiry that was sent, at its place: another tab may have sent it before newer ones. One that belongs to the
 * pages that are not loaded yet is left to them.
 */
export function addSent(shown: Page, inquiry: Inquiry): Page {
  const { inquiries, next } = shown;
  if (inquiries.some(({ id }) => id === inquiry.id)) return shown;
  const older = inquiries.findIndex(({ id }) => id < inquiry.id);
  if (older < 0 && next !== undefined) return shown;
  return { inquiries: inquiries.toSpliced(older < 0 ? inquiries.length : older, 0, inquiry), next };
}

/**
 * The query for one inquiry. `before` is a place in time, not an id that must exist: here, the one that follows the id.
 */
export function toInclude(id: string): string {
  const next = (Number.parseInt(id.slice(-12), 16) + 1).toString(16).padStart(12, '0');
  return `?limit=1&before=${id.slice(0, -12)}${next}`;
}
