/** How form, inbox page and `npm run inbox` compare texts in a search. */

/** Accents of Latin, Greek and Cyrillic letters, and the vowel signs of Arabic. Those of other scripts tell words apart. */
const MARKS = /[\u0300-\u036F\u064B-\u065F\u0670\u0640]/g;

/** Letters that Unicode does not decompose, and that readers take for others. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
  ς: 'σ',
  ى: 'ي',
  ة: 'ه',
};

/** From katakana to hiragana. */
const KANA_DISTANCE = 0x60;

const foldLetters = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .replace(/[ßæœøłđıςىة]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/[ァ-ヶ]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) - KANA_DISTANCE));

/** The `e` of `ae`, `oe` and `ue`, which German writes for `ä`, `ö` and `ü`. */
const UMLAUT_E = /(?<=[aou])e/g;

/**
 * A text as searches compare it: without case, accents and variants of letters. `größe`, `GRÖSSE`, `grosse` and `GROESSE`
 * are equal.
 */
export const fold = (text: string): string => foldLetters(text).replace(UMLAUT_E, '');

/** Folds a text. @returns For each unit of the folded text, and for its end, the place in the text that it comes from. */
export function foldWithPlaces(text: string): { folded: string; places: number[] } {
  const places: number[] = [];
  let folded = '';
  let previous = ' ';
  let at = 0;
  for (const character of text) {
    for (const unit of foldLetters(character).split('')) {
      if (unit !== 'e' || !'aou'.includes(previous)) {
        folded += unit;
        places.push(at);
      }
      previous = unit;
    }
    at += character.length;
  }
  return { folded, places: [...places, at] };
}

/** What may be the beginning of an id: a reference, an id, or as much of one as mail programs leave together. */
const ID_BEGINNING = /^#?([\da-f]{8}[\da-f-]*)$/;
/** Hexadecimal digits of a reference. */
const REFERENCE_DIGITS = 12;

const withoutDashes = (text: string): string => text.replaceAll('-', '');

/**
 * The terms of a query, separated by white space and folded. If one is a whole reference, it is the only term, so that
 * `Reference 01a1415c-9c4c` and `#01a1415c-9c4c` find the inquiry.
 */
export function parseQuery(query: string): string[] {
  const terms = (query.match(/\S+/g) ?? []).map(
    // Not folded: `ae` in an id is two digits.
    (term) => ID_BEGINNING.exec(foldLetters(term))?.[1] ?? fold(term),
  );
  const reference = terms.find(
    (term) => ID_BEGINNING.test(term) && withoutDashes(term).length >= REFERENCE_DIGITS,
  );
  return reference === undefined ? terms : [reference];
}

/** Whether a term of a query is in a folded text, or, from 8 hexadecimal digits on, the id begins with it. */
export const isFound = (term: string, folded: string, id: string): boolean =>
  folded.includes(fold(term)) ||
  (ID_BEGINNING.test(term) && withoutDashes(id).startsWith(withoutDashes(term)));
