import { toReference } from '../../src/limits.ts';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';

/** `ana.lopez+shop@example.com` → `Ana Lopez`. */
const toName = (email: string): string =>
  email
    .replace(/[+@].*$/s, '')
    .split(/[^\p{L}\p{M}'’-]+/u)
    .filter((part) => part !== '')
    .map((part) => part.charAt(0).toLocaleUpperCase() + part.slice(1))
    .join(' ');

/** Replaces `{reference}` and `{name}`. If there is no name, the space before it goes, too. */
export const fillIn = (text: string, { id, email }: Pick<StoredInquiry, 'id' | 'email'>): string =>
  text
    .replaceAll(/( ?)\{name\}/g, (_, space: string) => {
      const name = toName(email);
      return name === '' ? '' : space + name;
    })
    .replaceAll('{reference}', toReference(id));

/** @returns Braces that nothing replaces, such as `{order}`. */
export const findBraces = (text: string): string[] =>
  text.match(/\{[\p{L}\p{M}\p{N} _.-]{1,40}\}/gu) ?? [];
