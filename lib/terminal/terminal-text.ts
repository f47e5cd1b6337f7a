import stringWidth from 'string-width';
import { escapeInvisible, toEscape } from '../../text/invisible.ts';
import { escapeText } from '../../text/visible.ts';

/** Characters that move the cursor, change colours or reorder text (Unicode 16, UAX #9), and lone surrogates. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Escapes unsafe and invisible characters as JSON does: `\u001b`. */
export const escapeUnsafe = (text: string): string =>
  escapeInvisible(text.replaceAll(UNSAFE, toEscape));

/** Splits a user's text. Tabs become four spaces. */
export const toLines = (text: string): string[] =>
  escapeText(text).replaceAll('\t', '    ').split('\n');

export const toLine = (text: string): string => escapeUnsafe(escapeText(text));

/**
 * Wraps at spaces for a terminal. Longer words stay whole.
 *
 * @param hanging - Columns before further lines. Default: the indentation.
 */
export function wrapLine(line: string, columns?: number, hanging = line.search(/\S|$/)): string {
  // Not all terminals know their width.
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

/** Writes lines, wrapped for a terminal. @param hanging - As in {@link wrapLine}. */
export function writeLines(
  stream: { write: (text: string) => unknown; columns?: number },
  text: string,
  hanging?: number,
): void {
  for (const line of text.split('\n')) stream.write(`${wrapLine(line, stream.columns, hanging)}\n`);
}

/** Wraps a command's help at 80 columns; options keep their second column. */
export const wrapUsage = (usage: string): string =>
  usage
    .trim()
    .split('\n')
    .map((line) => wrapLine(line, 80, /^\s+\S.*?\s{2,}|^\s*/.exec(line)?.[0].length))
    .join('\n');
