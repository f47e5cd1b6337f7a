/** Texts of users on a terminal. */
import stringWidth from 'string-width';
import { showInvisible, toEscape } from '../src/invisible.ts';

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

/** Fits a usage into a terminal: what stands in a column stays there. */
export function wrapUsage(usage: string, columns?: number): string {
  if (usage.split('\n').every(({ length }) => length <= (columns || Infinity))) return usage;
  const items: { text: string; readonly hanging: number }[] = [];
  for (const line of usage.split('\n')) {
    const [head = ''] = /^(?:Usage:| {6}) npm |^ *\S.*? {2,}(?=\S)/.exec(line) ?? [];
    const indent = line.search(/\S/);
    const last = items.at(-1);
    // Sentences that begin on a line of their own stay there.
    const isContinued = head === '' && indent === last?.hanging && !last.text.endsWith('.');
    if (isContinued) last.text += ` ${line.trim()}`;
    else items.push({ text: line, hanging: head.length || indent });
  }
  return items.map(({ text, hanging }) => wrapLine(text, columns, Math.max(0, hanging))).join('\n');
}
