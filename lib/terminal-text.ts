/** Texts of users on a terminal. */
import stringWidth from 'string-width';
import { showInvisible, toEscape } from '../src/text/invisible.ts';

/** Characters that can move the cursor, change colours or reorder text, and lone surrogates. Unicode 16, UAX #9 */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Replaces each unsafe or invisible character by its escape in JSON: ESC becomes `\u001b`. */
export const escapeUnsafe = (text: string): string =>
  showInvisible(text.replaceAll(UNSAFE, toEscape));

/** {@link escapeUnsafe}, but lines stay lines, and a tab is four spaces. */
export const escapeLines = (text: string): string[] =>
  text.split(/\r?\n/).map((line) => escapeUnsafe(line.replaceAll('\t', '    ')));

/**
 * Breaks a line at spaces so that it fits into a terminal; a longer word is left whole.
 *
 * @param hanging - Columns before the text, in its further lines, too. Default: the indentation.
 */
export function wrapLine(line: string, columns?: number, hanging = line.search(/\S|$/)): string {
  // A terminal need not know its width.
  if (!columns) return line;
  const [first = '', ...words] = line.slice(hanging).split(' ');
  const lines = [line.slice(0, hanging) + first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (stringWidth(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(' '.repeat(hanging) + word);
  }
  return lines.join('\n');
}
