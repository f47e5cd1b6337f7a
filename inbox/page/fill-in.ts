/** What a saved reply says of an inquiry. */
import { toReference } from '../../src/limits.ts';
import type { Inquiry } from './client.ts';

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
  text
    .replaceAll('{name}', () => nameOf(inquiry.email))
    .replaceAll('{reference}', toReference(inquiry.id));
