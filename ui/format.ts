export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${new Intl.NumberFormat('en').format(count)} ${count === 1 ? one : many}`;
}

/** At most `length` UTF-16 units, cut between characters (UAX 29). */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text;
  // Twice the length also has the rest of a character that is cut.
  const characters = new Intl.Segmenter().segment(text.slice(0, 2 * length));
  return text.slice(0, characters.containing(length)?.index || length);
}

/** UTF-16 units. */
const DIRECTION_WITHIN = 1_000;
const STRONG = /\p{L}/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

export function directionOf(text: string): 'ltr' | 'rtl' {
  const [letter = ''] = STRONG.exec(text.slice(0, DIRECTION_WITHIN)) ?? [];
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
