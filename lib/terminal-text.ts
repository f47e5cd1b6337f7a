/** Texts of users on a terminal. */
import stringWidth from 'string-width';
import { escapeInvisible, toEscape } from '../src/text/invisible.ts';
import { escapeText } from '../src/text/visible.ts';

/** Characters that can move the cursor, change colours or reorder text, and lone surrogates. Unicode 16, UAX #9 */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Replaces each unsafe or invisible character by its escape in JSON: ESC becomes `\u001b`. */
export const escapeUnsafe = (text: string): string =>
  escapeInvisible(text.replaceAll(UNSAFE, toEscape));

/** A text of a user in lines; a tab is four spaces. */
export const toLines = (text: string): string[] =>
  escapeText(text).replaceAll('\t', '    ').split('\n');

/** The same in one line, with escapes for line ends and tabs. */
export const toLine = (text: string): string => escapeUnsafe(escapeText(text));

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

/** The help of a command in 80 columns; the second column of its options stays one. */
export const wrapUsage = (usage: string): string =>
  usage
    .trim()
    .split('\n')
    .map((line) => wrapLine(line, 80, /^\s+\S.*?\s{2,}|^\s*/.exec(line)?.[0].length))
    .join('\n');
