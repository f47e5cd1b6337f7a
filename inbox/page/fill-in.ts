/** What a saved reply says of an inquiry. */
import { toReference } from '../../src/limits.ts';
import type { Inquiry } from './client.ts';

/** What a person may be called, by the address: `ana.lopez+shop@example.com` → `Ana Lopez`. */
const toName = (email: string): string =>
  email
    .replace(/[+@].*$/s, '')
    .split(/[^\p{L}\p{M}'’-]+/u)
    .filter((part) => part !== '')
    .map((part) => part.charAt(0).toLocaleUpperCase() + part.slice(1))
    .join(' ');

/** Replaces `{name}` and `{reference}` in a saved reply. Where there is no name, no space stands for it. */
export const fillIn = (text: string, { id, email }: Pick<Inquiry, 'id' | 'email'>): string =>
  text
    .replaceAll(/( ?)\{name\}/g, (_, space: string) => {
      const name = toName(email);
      return name === '' ? '' : space + name;
    })
    .replaceAll('{reference}', toReference(id));

/** The words in braces that a text has, such as `{order}`. */
export const findBraces = (text: string): string[] =>
  text.match(/\{[\p{L}\p{M}\p{N} _.-]{1,40}\}/gu) ?? [];
