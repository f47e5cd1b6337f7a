import { directionOf, type Language } from '../../../text/languages.ts';
import { createTimeFormat } from '../../../ui/format.ts';
import type { Plural, Strings } from './en.ts';

const LOADERS = {
  en: async () => import('./en.ts'),
  de: async () => import('./de.ts'),
  fr: async () => import('./fr.ts'),
  es: async () => import('./es.ts'),
  ja: async () => import('./ja.ts'),
  ar: async () => import('./ar.ts'),
} satisfies Readonly<Record<Language, () => Promise<{ strings: Strings }>>>;

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
  const tag = preferred.find((one) => baseOf(one) === language) ?? language;
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(tag);
  const days = new Intl.DateTimeFormat(tag, { dateStyle: 'full' });
  const clock = new Intl.DateTimeFormat(tag, { timeStyle: 'short' });
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' });
  const unit = (value: number, name: string, unitDisplay: 'short' | 'long') =>
    new Intl.NumberFormat(tag, { style: 'unit', unit: name, unitDisplay }).format(value);
  return {
    language,
    direction: directionOf(language),
    strings,
    join: (...sentences: readonly string[]): string =>
      sentences.filter((sentence) => sentence !== '').join(language === 'ja' ? '' : ' '),
    count: (plural: Plural, count: number): string =>
      (plural[rules.select(count)] ?? plural.other).replace('{n}', numbers.format(count)),
    /** In units of 1024 bytes, rounded up: more than 400 kB is 401 kB. */
    formatBytes(bytes: number): string {
      if (bytes < 1024) return unit(bytes, 'byte', 'long');
      const factor = bytes < 100 * 1024 ? 10 : 1;
      return unit(Math.ceil((bytes / 1024) * factor) / factor, 'kilobyte', 'short');
    },
    formatTime: createTimeFormat(tag),
    formatClock: (time: number): string => clock.format(time),
    /** @param ago - 0 or 1: Today or Yesterday. */
    formatDay(date: Date, ago?: number): string {
      if (ago === undefined) return days.format(date);
      const [first = '', ...rest] = relative.format(-ago, 'day');
      return first.toLocaleUpperCase(tag) + rest.join('');
    },
  };
}

/** The base of a tag such as de-AT; empty when it is malformed. */
export function baseOf(tag: string): string {
  try {
    return new Intl.Locale(tag).language;
  } catch {
    return '';
  }
}
