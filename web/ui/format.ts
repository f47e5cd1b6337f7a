/** Formats numbers, times and texts for display. */

export interface Moment {
  /** For the `datetime` attribute. */
  readonly machine: string;
  readonly short: string;
  /** To the second, with the name of the time zone. */
  readonly exact: string;
  /** The language of both texts. */
  readonly language: string;
}

/**
 * Creates a function that formats times; text that is not a time is returned unchanged.
 *
 * @param locale, timeZone - Default: the browser's.
 */
export function createTimeFormat(
  locale?: string,
  timeZone?: string,
): (timestamp: string) => Moment {
  const zone = timeZone === undefined ? {} : { timeZone };
  const short = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    ...zone,
  });
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long', ...zone });
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

/** The first `length` UTF-16 units of a text, or one less where that would split a surrogate pair. */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const isLead = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isLead ? length - 1 : length);
}

/** UTF-16 units that are searched for the first letter, to keep long texts fast. */
const DIRECTION_WITHIN = 1_000;
const STRONG = /\p{L}/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** The direction of a text, by its first letter. */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const [letter = ''] = STRONG.exec(text.slice(0, DIRECTION_WITHIN)) ?? [];
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
