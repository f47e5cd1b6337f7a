import { fold, isFound, parseQuery } from '../src/search-text.ts';
import type { StoredInquiry } from './store.ts';

/**
 * Creates the test of a search: each term, separated by white space, is somewhere in the email, the subject or the body,
 * whatever its case and accents, or, from 8 hexadecimal digits on, the id begins with it, with or without dashes.
 */
export function createSearch(
  text: string,
): (inquiry: Pick<StoredInquiry, 'id' | 'email' | 'subject' | 'body'>) => boolean {
  const terms = parseQuery(text);
  return ({ id, email, subject, body }) => {
    const folded = fold(`${email}\n${subject}\n${body}`);
    return terms.every((term) => isFound(term, folded, id));
  };
}
