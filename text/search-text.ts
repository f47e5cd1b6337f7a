/** Characters that readers take as equal, in addition to Unicode's decomposition (NFKD). */
const VARIANTS: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  // Soft hyphens, joiners and direction marks.
  [/\p{Default_Ignorable_Code_Point}/gu, ''],
  // Accents of Latin, Greek and Cyrillic, Hebrew points, and Arabic vowel signs. Marks of other scripts distinguish
  // words.
  [/[\u0300-\u036F\u0591-\u05BD\u05BF-\u05C7\u064B-\u065F\u0670\u0640]/g, ''],
  [/ß/g, 'ss'],
  [/æ/g, 'ae'],
  [/œ/g, 'oe'],
  [/ø/g, 'o'],
  [/ł/g, 'l'],
  [/đ/g, 'd'],
  [/ı/g, 'i'],
  [/ς/g, 'σ'],
  // Arabic keyboards lack these Persian letters.
  [/ک/g, 'ك'],
  [/[ىی]/g, 'ي'],
  [/ة/g, 'ه'],
  // Katakana become hiragana.
  [/[ァ-ヶ]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) - 0x60)],
  [/[\p{Pd}−]/gu, '-'],
  [/[^\P{Nd}0-9]/gu, (digit) => String(digitOf(digit.codePointAt(0) ?? 0))],
];

/** Replaced before the decomposition, which splits some into a space and an accent. */
const QUOTES = [
  [/[‘’‚‛‹›′ʹʼ´＇׳]/g, "'"],
  [/[“”„‟«»″＂״]/g, '"'],
] as const;

const IS_ASCII = /^[\0-\x7F]*$/;

/** A digit's value in any script. Unicode has the ten digits of a script in a row. */
const digitOf = (code: number): number =>
  /\p{Nd}/u.test(String.fromCodePoint(code - 1)) ? (digitOf(code - 1) + 1) % 10 : 0;

function foldLetters(text: string): string {
  if (IS_ASCII.test(text)) return text.toLowerCase();
  const quoted = QUOTES.reduce((all, [quotes, one]) => all.replace(quotes, one), text);
  const letters = quoted.normalize('NFKD').toLowerCase();
  return VARIANTS.reduce(
    (all, [variants, one]) =>
      typeof one === 'string' ? all.replace(variants, one) : all.replace(variants, one),
    letters,
  );
}

/** In German, `ae`, `oe` and `ue` equal `ä`, `ö` and `ü`. */
const UMLAUT_E = /(?<=[aou])e/g;

/**
 * Removes case, accents and variants of letters, digits and punctuation: `größe`, `GRÖSSE`, `grosse` and `GROESSE`
 * become equal.
 */
export const fold = (text: string): string => foldLetters(text).replace(UMLAUT_E, '');

/** @returns `positions` are those in the text, for each unit of the folded text and its end. */
export function foldWithPositions(text: string): { folded: string; positions: number[] } {
  const positions: number[] = [];
  let folded = '';
  let previous = ' ';
  let at = 0;
  for (const character of text) {
    for (const unit of foldLetters(character).split('')) {
      if (unit !== 'e' || !'aou'.includes(previous)) {
        folded += unit;
        positions.push(at);
      }
      previous = unit;
    }
    at += character.length;
  }
  return { folded, positions: [...positions, at] };
}

/** A reference, or the beginning of an id. */
const ID_BEGINNING = /^[\da-f]{8}[\da-f-]*$/;
const REFERENCE_DIGITS = 12;

const COPIED_ADDRESS = /^<?(?:mailto:)?([^<>]+@[^<>]+?)>?[,;]?$/i;

/** Telephone, account (IBAN) and order numbers have at least this many digits. */
const LEAST_NUMBER_DIGITS = 6;
/** People write these between a number's digits. */
const SEPARATORS = String.raw`[\s()./-]`;

/** Matches a folded term. A number also matches with other separators. */
function toPattern(term: string): RegExp {
  const bare = term.replaceAll(new RegExp(SEPARATORS, 'g'), '');
  const isNumber =
    /^\+?[\da-z]+$/.test(bare) && bare.replaceAll(/\D/g, '').length >= LEAST_NUMBER_DIGITS;
  const characters = Array.from(isNumber ? bare : term, (one) =>
    one.replace(/\W/, String.raw`\$&`),
  );
  return new RegExp(characters.join(isNumber ? `${SEPARATORS}{0,3}` : ''), 'g');
}

const withoutDashes = (text: string): string => text.replaceAll('-', '');

/** The folded terms of a query. A whole reference is the only term: `Reference 01a1415c-9c4c`, `(#01a1415c-9c4c)`. */
export function parseQuery(query: string): string[] {
  const terms = query.split(/\s+/).map((copied) => {
    const term = copied.replace(COPIED_ADDRESS, '$1');
    // An id is not folded, because `ae` is two digits of it.
    const bare = foldLetters(term).replace(/^\W+|\W+$/g, '');
    return ID_BEGINNING.test(bare) ? bare : fold(term);
  });
  const reference = terms.find(
    (term) => ID_BEGINNING.test(term) && withoutDashes(term).length >= REFERENCE_DIGITS,
  );
  return reference === undefined ? terms.filter((term) => term !== '') : [reference];
}

/** Whether a term is in a folded text or, with 8 hexadecimal digits or more, begins the id. */
export const isFound = (term: string, folded: string, id: string): boolean =>
  toPattern(fold(term)).test(folded) ||
  (ID_BEGINNING.test(term) && withoutDashes(id).startsWith(withoutDashes(term)));

/** UTF-16 units. */
const MARKED_LENGTH = 50_000;
const MOST_HITS = 100;

/** UTF-16 units, the end exclusive. */
type Hit = readonly [start: number, end: number];

/** The hits of each term in the beginning of a text. */
export function findHits(query: string, text: string): Hit[][] {
  const terms = parseQuery(query);
  if (terms.length === 0) return [];
  const { folded, positions } = foldWithPositions(text.slice(0, MARKED_LENGTH));
  return terms.map((term) =>
    Array.from(folded.matchAll(toPattern(term)), ({ 0: found, index }): Hit => {
      const end = index + found.length;
      const start = positions[index] ?? index;
      // A hit has at least one unit: a term may be part of a character, such as a ligature.
      return [start, Math.max(start + 1, positions[end] ?? end)];
    }).slice(0, MOST_HITS),
  );
}
