/** Numbers, times and texts as they are shown. */

export interface Moment {
  /** For the `datetime` attribute. */
  readonly machine: string;
  readonly short: string;
  /** To the second, with the name of the time zone. */
  readonly exact: string;
  /** The language both are written in. */
  readonly language: string;
}

/**
 * Writes a time in the reader's language and time zone.
 *
 * @param locale, timeZone - Default: the reader's own. A text that is no time is shown as it is.
 */
export function formatTime(timestamp: string, locale?: string, timeZone?: string): Moment {
  const date = new Date(timestamp);
  const zone = timeZone === undefined ? {} : { timeZone };
  const short = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', ...zone });
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long', ...zone });
  const language = short.resolvedOptions().locale;
  if (Number.isNaN(date.getTime())) return { machine: '', short: timestamp, exact: timestamp, language };
  return { machine: timestamp, short: short.format(date), exact: exact.format(date), language };
}

/** `0 bytes`, `1 byte`, `1.2 KB`; whole from 100 KB on. Rounded up, so that 400 KB is never said of more. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const factor = bytes < 100 * 1024 ? 10 : 1;
  return `${Math.ceil((bytes / 1024) * factor) / factor} KB`;
}

/** `1 character`, `1,234 characters`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${new Intl.NumberFormat('en').format(count)} ${count === 1 ? one : many}`;
}

/** The beginning of a long text, at most `length` UTF-16 units and never half of a surrogate pair. */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const isLead = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isLead ? length - 1 : length);
}

/** As far as a text is looked at for its direction: browsers take their time to find it in a long one. */
const DIRECTION_WITHIN = 1_000;
const STRONG = /\p{L}/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** The direction in which a text is typed, by its first letter. */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const [letter = ''] = STRONG.exec(text.slice(0, DIRECTION_WITHIN)) ?? [];
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
