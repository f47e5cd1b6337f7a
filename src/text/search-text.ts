/** How form, inbox page and `npm run inbox` compare texts in a search. */

/** What readers take for the same, beside what Unicode decomposes (NFKD): patterns, and what stands for them. */
const VARIANTS: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  // Seen by nobody: soft hyphens, joiners, marks of direction.
  [/\p{Default_Ignorable_Code_Point}/gu, ''],
  // Accents of Latin, Greek and Cyrillic letters, and the vowel signs of Arabic. Those of other scripts tell words apart.
  [/[\u0300-\u036F\u064B-\u065F\u0670\u0640]/g, ''],
  [/ß/g, 'ss'],
  [/æ/g, 'ae'],
  [/œ/g, 'oe'],
  [/ø/g, 'o'],
  [/ł/g, 'l'],
  [/đ/g, 'd'],
  [/ı/g, 'i'],
  [/ς/g, 'σ'],
  [/ى/g, 'ي'],
  [/ة/g, 'ه'],
  // Hiragana for katakana.
  [/[ァ-ヶ]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) - 0x60)],
  [/[\p{Pd}−]/gu, '-'],
  [/[^\P{Nd}0-9]/gu, (digit) => String(digitOf(digit.codePointAt(0) ?? 0))],
];

/** Before the decomposition, which makes a space and an accent of some. */
const QUOTES = [
  [/[‘’‚‛‹›′ʹʼ´＇׳]/g, "'"],
  [/[“”„‟«»″＂״]/g, '"'],
] as const;

const IS_ASCII = /^[\0-\x7F]*$/;

/** The value of a digit of any script. The ten of a script follow each other. */
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

/** The `e` of `ae`, `oe` and `ue`, which German writes for `ä`, `ö` and `ü`. */
const UMLAUT_E = /(?<=[aou])e/g;

/**
 * A text as searches compare it: without case, accents and variants of letters, digits and punctuation. `größe`, `GRÖSSE`,
 * `grosse` and `GROESSE` are equal.
 */
export const fold = (text: string): string => foldLetters(text).replace(UMLAUT_E, '');

/** Folds a text. @returns For each unit of the folded text, and for its end, the place in the text that it comes from. */
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

/** What may be the beginning of an id: a reference, an id, or as much of one as mail programs leave together. */
const ID_BEGINNING = /^[\da-f]{8}[\da-f-]*$/;
/** Hexadecimal digits of a reference. */
const REFERENCE_DIGITS = 12;

const withoutDashes = (text: string): string => text.replaceAll('-', '');

/**
 * The terms of a query, separated by white space and folded. If one is a whole reference, it is the only term, so that
 * `Reference 01a1415c-9c4c`, `(#01a1415c-9c4c)` and `Ref: 01a1415c-9c4c…` find the inquiry.
 */
export function parseQuery(query: string): string[] {
  const terms = query.split(/\s+/).map((term) => {
    // Not folded: `ae` in an id is two digits.
    const bare = foldLetters(term).replace(/^\W+|\W+$/g, '');
    return ID_BEGINNING.test(bare) ? bare : fold(term);
  });
  const reference = terms.find(
    (term) => ID_BEGINNING.test(term) && withoutDashes(term).length >= REFERENCE_DIGITS,
  );
  return reference === undefined ? terms.filter((term) => term !== '') : [reference];
}

/** Whether a term of a query is in a folded text, or, from 8 hexadecimal digits on, the id begins with it. */
export const isFound = (term: string, folded: string, id: string): boolean =>
  folded.includes(fold(term)) ||
  (ID_BEGINNING.test(term) && withoutDashes(id).startsWith(withoutDashes(term)));

/** Longest text in which hits are marked, in UTF-16 units. */
const MARKED = 50_000;
/** The most hits of a term in a text. */
const MOST_HITS = 100;

/** Places in a text: the beginning, and the end after the last character. In UTF-16 units. */
type Hit = readonly [start: number, end: number];

/** Where each term of a query is in the beginning of a text; empty for a term that is not there. */
export function findHits(query: string, text: string): Hit[][] {
  const terms = parseQuery(query);
  if (terms.length === 0) return [];
  const { folded, positions } = foldWithPositions(text.slice(0, MARKED));
  return terms.map((term) => {
    const hits: Hit[] = [];
    for (let at = folded.indexOf(term); at >= 0 && hits.length < MOST_HITS;) {
      const end = at + term.length;
      const start = positions[at] ?? at;
      // At least one unit: a term may be a part of a character, such as of a ligature.
      hits.push([start, Math.max(start + 1, positions[end] ?? end)]);
      at = folded.indexOf(term, end);
    }
    return hits;
  });
}
