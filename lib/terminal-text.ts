/** Texts of users on a terminal. */

/** Characters that can move the cursor, change colours or reorder text, and lone surrogates. Unicode 16, UAX #9 */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const toEscape = (character: string): string =>
  ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Replaces each unsafe character by its escape in JSON: ESC becomes `\u001b`. */
export const escapeUnsafe = (text: string): string => text.replace(UNSAFE, toEscape);

/** {@link escapeUnsafe}, but lines stay lines, and a tab is four spaces. */
export const escapeLines = (text: string): string[] =>
  text.split(/\r?\n/).map((line) => escapeUnsafe(line.replaceAll('\t', '    ')));
