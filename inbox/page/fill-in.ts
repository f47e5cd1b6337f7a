/** What a saved reply says of an inquiry. */
import type { Inquiry } from './client.ts';

/** The first two groups of an inquiry's id, which the form shows after sending (web/src/sent.ts). */
export const referenceOf = ({ id }: Pick<Inquiry, 'id'>): string => id.slice(0, 13);

/** What a person may be called, by the address: `ana.lopez+shop@example.com` → `Ana Lopez`. */
export const nameOf = (email: string): string =>
  email
    .replace(/[+@].*$/s, '')
    .split(/[^\p{L}\p{M}'’-]+/u)
    .filter((part) => part !== '')
    .map((part) => part.charAt(0).toLocaleUpperCase() + part.slice(1))
    .join(' ');

/** Replaces `{name}` and `{reference}` in a saved reply. */
export const fillIn = (text: string, inquiry: Pick<Inquiry, 'id' | 'email'>): string =>
  text.replaceAll('{name}', () => nameOf(inquiry.email)).replaceAll('{reference}', referenceOf(inquiry));
