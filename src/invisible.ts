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
 * the braille pattern without dots.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800]/u;

/** What may be an emoji of several characters; it is one if Unicode recommends it. The longest have 16 units. */
const SEQUENCE =
  /\p{Emoji}(?:\p{Emoji_Modifier}|\uFE0F\u20E3?|[\u{E0020}-\u{E007F}]+)?(?:\u200D\p{Emoji}(?:\p{Emoji_Modifier}|\uFE0F)?)*/u
    .source;
const EMOJI = /^\p{RGI_Emoji}$/v;
const EMOJI_LIMIT = 16;

/** Variants of letters and emoji; joiners in the scripts that need them (RFC 5892, A.1 and A.2); marks of direction beside letters from the right. */
const JOINED = ['Arabic', 'Syriac', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati']
  .concat(['Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Myanmar', 'Khmer'])
  .map((script) => String.raw`\p{sc=${script}}`)
  .join('');
const FROM_RIGHT = String.raw`[\p{sc=Arabic}\p{sc=Hebrew}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]`;
const MARK = String.raw`[\u200E\u200F\u061C]`;
const MEANT = [
  String.raw`(?<=[\p{scx=Han}\p{sc=Mongolian}\p{Extended_Pictographic}])\p{Variation_Selector}`,
  String.raw`(?<=[${JOINED}])\p{Join_Control}`,
  String.raw`(?<=${FROM_RIGHT}\P{L}{0,4})${MARK}`,
  String.raw`${MARK}(?=\P{L}{0,4}${FROM_RIGHT})`,
].join('|');

const SINGLES = new RegExp(`${MEANT}|(${INVISIBLE.source})`, 'gu');
const SEQUENCES = new RegExp(`(${SEQUENCE})|${SINGLES.source}`, 'gu');

/** Replaces each invisible character by its escape, unless it belongs to what is seen. Its time grows with the length alone. */
export const showInvisible = (text: string): string =>
  text.replaceAll(SEQUENCES, (match, sequence?: string, single?: string) => {
    if (single !== undefined) return toEscape(single);
    if (sequence === undefined || !INVISIBLE.test(sequence)) return match;
    if (sequence.length <= EMOJI_LIMIT && EMOJI.test(sequence)) return match;
    return sequence.replaceAll(SINGLES, (one, invisible?: string) =>
      invisible === undefined ? one : toEscape(invisible),
    );
  });

/** Replaces everything in an email that shows nothing by its escape, spaces included. */
export const showAddress = (email: string): string =>
  email.replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, toEscape);
