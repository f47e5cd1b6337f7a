/** Characters that show nothing: with them, one text or address looks like another. */

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The escapes of a text in JSON, one for each UTF-16 unit: ESC becomes `\u001b`. */
export const toEscape = (text: string): string =>
  text.replaceAll(
    /[^]/g,
    (unit) => NAMED[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * What Unicode says to leave out of display (zero-width characters, soft hyphens, tags, direction marks, fillers), and
 * the braille pattern without dots. Emoji, variants of letters, and joiners in the scripts that need them (RFC 5892, A.1
 * and A.2) are matched first, and without the group.
 */
const INVISIBLE =
  /\p{RGI_Emoji}|(?<=[\p{scx=Han}\p{sc=Mongolian}\p{Extended_Pictographic}])\p{Variation_Selector}|(?<=[\p{sc=Arabic}\p{sc=Syriac}\p{sc=Mongolian}\p{sc=Devanagari}\p{sc=Bengali}\p{sc=Gurmukhi}\p{sc=Gujarati}\p{sc=Oriya}\p{sc=Tamil}\p{sc=Telugu}\p{sc=Kannada}\p{sc=Malayalam}\p{sc=Sinhala}\p{sc=Myanmar}\p{sc=Khmer}])\p{Join_Control}|([\p{Default_Ignorable_Code_Point}\u2800])/gv;

/** Replaces each invisible character by its escape, unless it belongs to what is seen. */
export const showInvisible = (text: string): string =>
  text.replaceAll(INVISIBLE, (match, invisible?: string) =>
    invisible === undefined ? match : toEscape(invisible),
  );

/** Replaces everything in an email that shows nothing by its escape, spaces included. */
export const showAddress = (email: string): string =>
  email.replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, toEscape);
