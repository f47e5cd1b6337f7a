/** Search over the inquiries. */
import type { Inquiry } from '../../src/contract.ts';
import { fold, foldWithPlaces, isFound, parseQuery } from '../../src/search-text.ts';
import { textsOf } from './fields.ts';

/** The texts of an inquiry as they are compared; made once. */
const foldedTexts = new WeakMap<Inquiry, string>();

function foldedTextOf(inquiry: Inquiry): string {
  const text = foldedTexts.get(inquiry) ?? fold(textsOf(inquiry).join('\n'));
  foldedTexts.set(inquiry, text);
  return text;
}

/**
 * Tells which inquiries have all terms in their texts, or a term as their reference, and are not older than a time.
 *
 * @param query - Terms separated by spaces; compared without case and accents.
 * @param since - In the form of `created_at`; empty: any time.
 */
export function createMatcher(query: string, since: string): (inquiry: Inquiry) => boolean {
  const terms = parseQuery(query);
  return (inquiry) =>
    inquiry.created_at >= since &&
    terms.every((term) => isFound(term, foldedTextOf(inquiry), inquiry.id));
}

/** Longest text in which hits are marked, in UTF-16 units. */
const MARKED = 50_000;
/** The most hits of a term in a text. */
const MOST_HITS = 100;

/** Places in a text: the beginning, and the end after the last character. In UTF-16 units. */
export type Hit = readonly [start: number, end: number];

/** Where each term of a query is in the beginning of a text; empty for a term that is not there. */
export function findHits(query: string, text: string): Hit[][] {
  const terms = parseQuery(query);
  if (terms.length === 0) return [];
  const { folded, places } = foldWithPlaces(text.slice(0, MARKED));
  return terms.map((term) => {
    const hits: Hit[] = [];
    for (let at = folded.indexOf(term); at >= 0 && hits.length < MOST_HITS;) {
      const end = at + term.length;
      const start = places[at] ?? at;
      // At least one unit: a term may be a part of a character, such as of a ligature.
      hits.push([start, Math.max(start + 1, places[end] ?? end)]);
      at = folded.indexOf(term, end);
    }
    return hits;
  });
}
