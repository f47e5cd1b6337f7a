import type { Inquiry } from '../../src/contract.ts';
import { fold, isFound, parseQuery } from '../../src/text/search-text.ts';
import { textsOf } from './fields.ts';

const foldedTexts = new WeakMap<Inquiry, string>();

function foldedTextOf(inquiry: Inquiry): string {
  const text = foldedTexts.get(inquiry) ?? fold(textsOf(inquiry).join('\n'));
  foldedTexts.set(inquiry, text);
  return text;
}

/** All terms, or the reference, must be found. @param since - In the form of `created_at`; empty: any time. */
export function createMatcher(query: string, since: string): (inquiry: Inquiry) => boolean {
  const terms = parseQuery(query);
  return (inquiry) =>
    inquiry.created_at >= since &&
    terms.every((term) => isFound(term, foldedTextOf(inquiry), inquiry.id));
}
