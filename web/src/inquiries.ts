/** The inquiries that are shown, newest first. */
import type { Page } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';

/** A page of newer ones laid over what is shown; the older ones stay where nothing can lie between. */
export function refreshed(shown: Page, newest: Page): Page {
  const last = newest.inquiries.at(-1);
  const overlaps = last !== undefined && shown.inquiries.some(({ id }) => id >= last.id);
  if (newest.next === undefined || !overlaps || shown.inquiries.every(({ id }) => id >= last.id))
    return newest;
  return {
    inquiries: [...newest.inquiries, ...shown.inquiries.filter(({ id }) => id < last.id)],
    next: shown.next,
  };
}

/** The next page below what is shown. */
export function extended(shown: Page, older: Page): Page {
  const known = new Set(shown.inquiries.map(({ id }) => id));
  return {
    inquiries: [...shown.inquiries, ...older.inquiries.filter(({ id }) => !known.has(id))],
    next: older.next,
  };
}

/** One that has just been sent, on top. */
export function added(shown: Page, inquiry: Inquiry): Page {
  return { ...shown, inquiries: [inquiry, ...shown.inquiries.filter(({ id }) => id !== inquiry.id)] };
}
