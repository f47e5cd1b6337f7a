/** Escapes characters that show nothing, with which different texts look alike. */

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes each UTF-16 unit as JSON does: `\u001b`. */
export const toEscape = (text: string): string =>
  text.replaceAll(
    /[^]/g,
    (unit) => NAMED[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Characters that Unicode ignores in display, and the blank braille pattern. */
const INVISIBLE = String.raw`[\p{Default_Ignorable_Code_Point}\u2800]`;

/** Scripts in which joiners change letters (RFC 5892, A.1 and A.2). */
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
/** Selectors of variants of letters and emoji, and joiners, where they are meant. */
const MEANT = [
  String.raw`(?<=[\p{scx=Han}\p{sc=Mongolian}\p{Extended_Pictographic}])\p{Variation_Selector}`,
  String.raw`(?<=[${JOINED}])\p{Join_Control}`,
].join('|');

/** Emoji come first, because they contain joiners and selectors. */
const SEEN_OR_INVISIBLE = new RegExp(String.raw`\p{RGI_Emoji}|${MEANT}|(${INVISIBLE})`, 'gv');

/** This comes first, because the table of emoji loads for milliseconds. */
const ANY_INVISIBLE = new RegExp(INVISIBLE, 'v');

/** Escapes invisible characters, but not those that change a visible one. Takes linear time. */
export const escapeInvisible = (text: string): string =>
  ANY_INVISIBLE.test(text)
    ? text.replaceAll(SEEN_OR_INVISIBLE, (seen, invisible?: string) =>
        invisible === undefined ? seen : toEscape(invisible),
      )
    : text;

/** Escapes everything that shows nothing, including spaces. */
export const escapeAddress = (email: string): string =>
  email.replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, toEscape);
