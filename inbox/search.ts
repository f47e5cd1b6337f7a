import { fold, isFound, parseQuery } from '../text/search-text.ts';
import { requestFields } from '../src/contract.ts';
import type { StoredInquiry } from '../src/entities/stored-inquiries.ts';

const SEARCHED = ['email', ...requestFields] as const;

/** Each term must be in the email or a text, or, with 8 hexadecimal digits or more, begin the id. */
export function createSearch(
  text: string,
): (inquiry: Pick<StoredInquiry, 'id' | (typeof SEARCHED)[number]>) => boolean {
  const terms = parseQuery(text);
  return (inquiry) => {
    const folded = fold(SEARCHED.map((name) => inquiry[name]).join('\n'));
    return terms.every((term) => isFound(term, folded, inquiry.id));
  };
}
