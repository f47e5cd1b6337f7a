import { directionOf, type Language } from '../../../text/languages.ts';
import { formatDate } from '../../../text/dates.ts';
import type { Plural, Strings } from './en.ts';

const LOADERS = {
  en: async () => import('./en.ts'),
  de: async () => import('./de.ts'),
  fr: async () => import('./fr.ts'),
  es: async () => import('./es.ts'),
  ja: async () => import('./ja.ts'),
  ar: async () => import('./ar.ts'),
} satisfies Readonly<Record<Language, () => Promise<{ strings: Strings }>>>;

const COLONS: Partial<Record<Language, string>> = { fr: '\u00a0: ', ja: '：' };

export type Locale = Awaited<ReturnType<typeof loadLocale>>;

/** @param preferred - Such as `de-AT`, the most wanted first. */
export const chooseLanguage = (
  offered: readonly Language[],
  preferred: readonly string[],
): Language =>
  preferred.map(baseOf).flatMap((base) => offered.filter((one) => one === base))[0] ??
  offered[0] ??
  'en';

/** @param preferred - Decides between regions (en-GB, en-US). */
export async function loadLocale(language: Language, preferred: readonly string[]) {
  const { strings } = await LOADERS[language]();
  const region = preferred.find((one) => baseOf(one) === language) ?? language;
  // References and texts have Latin digits.
  const tag = new Intl.Locale(region, { numberingSystem: 'latn' });
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(tag);
  const kilobytes = new Intl.NumberFormat(tag, { style: 'unit', unit: 'kilobyte' });
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' });
  const dates = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(tag, options);
    return (time: number | Date): string => formatDate(format, time);
  };
  const formatFullDate = dates({ dateStyle: 'full' });
  return {
    language,
    direction: directionOf(language),
    strings,
    colon: COLONS[language] ?? ': ',
    join: (...sentences: readonly string[]): string =>
      sentences
        .filter((sentence) => sentence !== '')
        // A time may end with its own full stop: “5:07 p.m.”
        .map((sentence) => sentence.replace(/\.\.$/, '.'))
        .join(language === 'ja' ? '' : ' '),
    count: (plural: Plural, count: number): string =>
      (plural[rules.select(count)] ?? plural.other).replace('{n}', numbers.format(count)),
    /** In units of 1024 bytes, rounded up: more than 400 kB is 401 kB. */
    formatBytes(bytes: number): string {
      const factor = bytes < 100 * 1024 ? 10 : 1;
      const size = kilobytes.format(Math.ceil((bytes / 1024) * factor) / factor);
      return size.replace(' ', '\u00a0');
    },
    formatDate: dates({ dateStyle: 'long' }),
    formatClock: dates({ timeStyle: 'short' }),
    /** To the second, with the time zone. */
    formatExact: dates({ dateStyle: 'full', timeStyle: 'long' }),
    /** A title. @param ago - 0 or 1: Today or Yesterday. */
    formatDay: (date: Date, ago?: number): string =>
      capitalize(ago === undefined ? formatFullDate(date) : relative.format(-ago, 'day'), tag),
    /** For a menu, where the name stands alone. */
    nameOf: (other: Language): string =>
      capitalize(new Intl.DisplayNames([other], { type: 'language' }).of(other) ?? other, other),
  };
}

function capitalize(text: string, tag: string | Intl.Locale): string {
  const [first = '', ...rest] = text;
  return first.toLocaleUpperCase(String(tag)) + rest.join('');
}

/** The base of a tag such as de-AT; empty when it is malformed. */
export function baseOf(tag: string): string {
  try {
    return new Intl.Locale(tag).language;
  } catch {
    return '';
  }
}
