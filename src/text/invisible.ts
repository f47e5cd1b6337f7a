/** Characters that show nothing, with which one text looks like another. */

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The escapes of a text in JSON, one for each UTF-16 unit: ESC becomes `\u001b`. */
export const toEscape = (text: string): string =>
  text.replaceAll(
    /[^]/g,
    (unit) => NAMED[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** What Unicode says to leave out of display, and the braille pattern without dots. */
const INVISIBLE = String.raw`[\p{Default_Ignorable_Code_Point}\u2800]`;

/** Scripts with joiners (RFC 5892, A.1 and A.2). */
const JOINED = [
  'Arabic',
  'Syriac',
  'Mongolian',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Myanmar',
  'Khmer',
]
  .map((script) => String.raw`\p{sc=${script}}`)
  .join('');
/** Variants of letters and emoji, and joiners. */
const MEANT = [
  String.raw`(?<=[\p{scx=Han}\p{sc=Mongolian}\p{Extended_Pictographic}])\p{Variation_Selector}`,
  String.raw`(?<=[${JOINED}])\p{Join_Control}`,
].join('|');

/** Emoji that Unicode recommends come first: with their joiners and selectors. */
const SEEN_OR_INVISIBLE = new RegExp(String.raw`\p{RGI_Emoji}|${MEANT}|(${INVISIBLE})`, 'gv');

/** Most texts have none, and the table of emoji takes milliseconds to load. */
const ANY_INVISIBLE = new RegExp(INVISIBLE, 'v');

/** Replaces each invisible character by its escape, unless it belongs to what is seen. In linear time. */
export const escapeInvisible = (text: string): string =>
  ANY_INVISIBLE.test(text)
    ? text.replaceAll(SEEN_OR_INVISIBLE, (seen, invisible?: string) =>
        invisible === undefined ? seen : toEscape(invisible),
      )
    : text;

/** Replaces everything in an email that shows nothing by its escape, spaces included. */
export const escapeAddress = (email: string): string =>
  email.replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, toEscape);
