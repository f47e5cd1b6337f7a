import type { Inquiry } from '../../src/contract.ts';
import type { Page } from './api.ts';

/** Keeps older inquiries unless there may be a gap. */
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

export function appendOlder(shown: Page, older: Page): Page {
  const known = new Set(shown.inquiries.map(({ id }) => id));
  return {
    inquiries: [...shown.inquiries, ...older.inquiries.filter(({ id }) => !known.has(id))],
    next: older.next,
  };
}

/** In order: another tab may have sent it before newer ones. */
export function addSent(shown: Page, inquiry: Inquiry): Page {
  const { inquiries, next } = shown;
  if (inquiries.some(({ id }) => id === inquiry.id)) return shown;
  const older = inquiries.findIndex(({ id }) => id < inquiry.id);
  if (older < 0 && next !== undefined) return shown;
  return { inquiries: inquiries.toSpliced(older < 0 ? inquiries.length : older, 0, inquiry), next };
}

/** `before` may be any id, here the next. */
export function toQueryFor(id: string): string {
  const next = (Number.parseInt(id.slice(-12), 16) + 1).toString(16).padStart(12, '0');
  return `?limit=1&before=${id.slice(0, -12)}${next}`;
}
