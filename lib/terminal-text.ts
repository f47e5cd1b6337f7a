/** Texts of users on a terminal. */
import { showInvisible, toEscape } from '../src/invisible.ts';

/** Characters that can move the cursor, change colours or reorder text, and lone surrogates. Unicode 16, UAX #9 */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Replaces each unsafe or invisible character by its escape in JSON: ESC becomes `\u001b`. */
export const escapeUnsafe = (text: string): string => showInvisible(text.replaceAll(UNSAFE, toEscape));

/** {@link escapeUnsafe}, but lines stay lines, and a tab is four spaces. */
export const escapeLines = (text: string): string[] =>
  text.split(/\r?\n/).map((line) => escapeUnsafe(line.replaceAll('\t', '    ')));
