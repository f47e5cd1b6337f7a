/** Search over the inquiries, and the days that they are grouped by. */
import type { Inquiry } from '../../src/contract.ts';
import { fold } from '../ui/fold.ts';
import type { Locale } from './locale.ts';

/** Digits of an id from which on it is not taken for a word. */
const REFERENCE_LENGTH = 13;

/** The texts of an inquiry as they are compared; made once. */
const foldedTexts = new WeakMap<Inquiry, string>();

function foldedTextOf(inquiry: Inquiry): string {
  const text = foldedTexts.get(inquiry) ?? fold(`${inquiry.subject}\n${inquiry.body}`);
  foldedTexts.set(inquiry, text);
  return text;
}

const termsOf = (query: string): string[] => fold(query).match(/\S+/g) ?? [];

/**
 * Tells which inquiries have all terms in their texts, or a term as their reference, and are not older than a time.
 *
 * @param query - Terms separated by spaces; compared without case and accents.
 * @param since - In the form of `created_at`; empty: any time.
 */
export function createMatcher(query: string, since: string): (inquiry: Inquiry) => boolean {
  const terms = termsOf(query);
  return (inquiry) =>
    inquiry.created_at >= since &&
    terms.every(
      (term) =>
        foldedTextOf(inquiry).includes(term) ||
        (term.length >= REFERENCE_LENGTH && inquiry.id.startsWith(term)),
    );
}

/** Of a text in which hits are marked, in UTF-16 units. */
const MARKED = 50_000;
/** Of a term in a text. */
const MOST_HITS = 100;

/** Places in a text: the beginning, and the end after the last character. In UTF-16 units. */
export type Hit = readonly [start: number, end: number];

/** Where each term of a query is in the beginning of a text; empty for a term that is not there. */
export function findHits(query: string, text: string): (readonly Hit[])[] {
  const terms = termsOf(query);
  if (terms.length === 0) return [];
  const searched = text.slice(0, MARKED);
  const folded = fold(searched);
  const places = folded.length === searched.length ? undefined : placesOf(searched);
  return terms.map((term) => {
    const hits: Hit[] = [];
    for (let at = folded.indexOf(term); at >= 0 && hits.length < MOST_HITS;) {
      const end = at + term.length;
      const start = places?.[at] ?? at;
      // At least one unit: a term may be a part of a character, such as of a ligature.
      hits.push([start, Math.max(start + 1, places?.[end] ?? end)]);
      at = folded.indexOf(term, end);
    }
    return hits;
  });
}

/** For each unit of the folded text, and for its end, the place that it comes from. */
function placesOf(text: string): number[] {
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    for (let unit = fold(character).length; unit > 0; unit--) places.push(at);
    at += character.length;
  }
  return [...places, at];
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
