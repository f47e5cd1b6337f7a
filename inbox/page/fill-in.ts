/** Placeholders in saved replies. */
import { toReference } from '../../src/limits.ts';
import type { Inquiry } from './client.ts';

/** `ana.lopez+shop@example.com` → `Ana Lopez`. */
const toName = (email: string): string =>
  email
    .replace(/[+@].*$/s, '')
    .split(/[^\p{L}\p{M}'’-]+/u)
    .filter((part) => part !== '')
    .map((part) => part.charAt(0).toLocaleUpperCase() + part.slice(1))
    .join(' ');

/** Replaces `{name}`, of which no space is left where there is none, and `{reference}`. */
export const fillIn = (text: string, { id, email }: Pick<Inquiry, 'id' | 'email'>): string =>
  text
    .replaceAll(/( ?)\{name\}/g, (_, space: string) => {
      const name = toName(email);
      return name === '' ? '' : space + name;
    })
    .replaceAll('{reference}', toReference(id));

/** Words in braces, such as `{order}`. */
export const findBraces = (text: string): string[] =>
  text.match(/\{[\p{L}\p{M}\p{N} _.-]{1,40}\}/gu) ?? [];
