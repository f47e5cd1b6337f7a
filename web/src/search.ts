/** Search over the inquiries that are loaded, and the days that they are grouped by. */
import type { Inquiry } from '../../src/contract.ts';
import { fold } from '../ui/fold.ts';
import type { Locale } from './locale.ts';

/** Digits of an id from which on it is not taken for a word. */
const REFERENCE_LENGTH = 13;

/** The texts of an inquiry as they are compared; made once. */
const foldedTexts = new WeakMap<Inquiry, string>();

function foldedTextOf(inquiry: Inquiry): string {
  let text = foldedTexts.get(inquiry);
  if (text === undefined) {
    text = fold(`${inquiry.subject}\n${inquiry.body}`);
    foldedTexts.set(inquiry, text);
  }
  return text;
}

/**
 * Tells which inquiries have all terms in their texts, or a term as their reference, and are not older than a time.
 *
 * @param query - Terms separated by spaces; compared without case and accents.
 * @param since - In the form of `created_at`; empty: any time.
 */
export function createMatcher(query: string, since: string): (inquiry: Inquiry) => boolean {
  const terms = fold(query)
    .split(/\s+/)
    .filter((term) => term !== '');
  return (inquiry) =>
    inquiry.created_at >= since &&
    terms.every(
      (term) =>
        foldedTextOf(inquiry).includes(term) ||
        (term.length >= REFERENCE_LENGTH && inquiry.id.startsWith(term)),
    );
}

/** The time that is some days or months before `now`, in the form of `created_at`. */
export function timeBefore(now: Date, days: number, months: number): string {
  const date = new Date(now);
  date.setMonth(date.getMonth() - months, date.getDate() - days);
  return date.toISOString();
}

/** A key for the local day of an inquiry. */
export const dayOf = ({ created_at }: Pick<Inquiry, 'created_at'>): string =>
  new Date(created_at).toDateString();

/** The heading of a day. @param day - Of `dayOf`. */
export function titleOf(day: string, now: Date, { strings: { list }, formatDay }: Locale): string {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (day === now.toDateString()) return list.today;
  if (day === yesterday.toDateString()) return list.yesterday;
  const time = Date.parse(day);
  return Number.isNaN(time) ? day : formatDay(time);
}
