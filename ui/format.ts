export interface Moment {
  machine: string;
  short: string;
  /** To the second, with the name of the time zone. */
  exact: string;
  /** The language of both texts. */
  language: string;
}

/** @param locale - Default: the browser's. */
export function createTimeFormat(locale?: string): (timestamp: string) => Moment {
  const short = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' });
  const { locale: language } = short.resolvedOptions();
  return (timestamp) => {
    const date = new Date(timestamp);
    if (Number.isNaN(date.getTime())) {
      return { machine: '', short: timestamp, exact: timestamp, language };
    }
    return { machine: timestamp, short: short.format(date), exact: exact.format(date), language };
  };
}

/** `1 character`, `1,234 characters`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${new Intl.NumberFormat('en').format(count)} ${count === 1 ? one : many}`;
}

/** At most `length` UTF-16 units, without the character (UAX 29) that they would cut. */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text;
  // A character is at most as long as that, unless it is made to be a nuisance.
  const characters = new Intl.Segmenter().segment(text.slice(0, 2 * length));
  return text.slice(0, characters.containing(length)?.index || length);
}

/** UTF-16 units that are searched for the first letter. */
const DIRECTION_WITHIN = 1_000;
const STRONG = /\p{L}/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** The direction of a text, by its first letter. */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const [letter = ''] = STRONG.exec(text.slice(0, DIRECTION_WITHIN)) ?? [];
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
