import { fold } from '../web/ui/fold.ts';
import type { StoredInquiry } from './store.ts';

/** What may be the beginning of an id: a reference, an id, or as much of one as mail programs leave together. */
const ID_BEGINNING = /^[\da-f]{8}[\da-f-]*$/;

const withoutDashes = (text: string): string => text.replaceAll('-', '');

/**
 * Creates the test of a search: each term, separated by white space, is somewhere in the email, the subject or the body,
 * whatever its case and accents, or, from 8 hexadecimal digits on, the id begins with it, with or without dashes.
 */
export function createSearch(
  text: string,
): (inquiry: Pick<StoredInquiry, 'id' | 'email' | 'subject' | 'body'>) => boolean {
  const terms = fold(text).trim().split(/\s+/);
  return ({ id, email, subject, body }) => {
    const folded = fold(`${email}\n${subject}\n${body}`);
    return terms.every(
      (term) =>
        folded.includes(term) ||
        (ID_BEGINNING.test(term) && withoutDashes(id).startsWith(withoutDashes(term))),
    );
  };
}
