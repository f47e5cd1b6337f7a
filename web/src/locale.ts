/** The language of the page: its choice, its texts, and how it writes numbers and times. */
import { directionOf, type Language } from '../../src/languages.ts';
import { createTimeFormat } from '../ui/format.ts';
import type { Strings } from './languages/en.ts';
import type { Plural } from './languages/strings.ts';

/** Each language is a file of its own, so that a visitor loads one. */
const LOADERS = {
  en: async () => import('./languages/en.ts'),
  de: async () => import('./languages/de.ts'),
  fr: async () => import('./languages/fr.ts'),
  es: async () => import('./languages/es.ts'),
  ja: async () => import('./languages/ja.ts'),
  ar: async () => import('./languages/ar.ts'),
} satisfies Readonly<Record<Language, () => Promise<{ readonly strings: Strings }>>>;

export type Locale = ReturnType<typeof createLocale>;

/**
 * Chooses the language of the page.
 *
 * @param offered - In the order of preference of the page. Not empty.
 * @param chosen - The user's choice; ignored unless it is offered.
 * @param preferred - The browser's languages, such as `de-AT`.
 */
export function chooseLanguage(
  offered: readonly Language[],
  chosen: string | null,
  preferred: readonly string[],
): Language {
  const isOffered = (value: string | null): value is Language =>
    offered.some((one) => one === value);
  if (isOffered(chosen)) return chosen;
  return preferred.map(baseOf).find(isOffered) ?? offered[0] ?? 'en';
}

/** Loads a language. @param preferred - As in `chooseLanguage`; decides between regions (en-GB, en-US). */
export async function loadLocale(
  language: Language,
  preferred: readonly string[],
): Promise<Locale> {
  const { strings } = await LOADERS[language]();
  return createLocale(language, strings, preferred);
}

/** @param timeZone - Default: the browser's. */
export function createLocale(
  language: Language,
  strings: Strings,
  preferred: readonly string[],
  timeZone?: string,
) {
  const tag = preferred.find((one) => baseOf(one) === language) ?? language;
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(tag);
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(tag, { ...options, ...(timeZone !== undefined && { timeZone }) });
  const day = format({ dateStyle: 'full' });
  const clock = format({ timeStyle: 'short' });
  const unit = (value: number, name: string, display: 'short' | 'long') =>
    new Intl.NumberFormat(tag, { style: 'unit', unit: name, unitDisplay: display }).format(value);
  return {
    language,
    direction: directionOf(language),
    strings,
    /** Sentences, one after the other, without those that are empty. */
    join: (...sentences: readonly string[]): string =>
      sentences.filter((sentence) => sentence !== '').join(language === 'ja' ? '' : ' '),
    /** The text for a number, in the form that the language has for it. */
    count: (plural: Plural, count: number): string =>
      (plural[rules.select(count)] ?? plural.other).replace('{n}', numbers.format(count)),
    /** `0 bytes`, `1 byte`, `1.2 kB` (1024 bytes); no decimals from 100 kB on. Rounded up, so that more than 400 kB is 401 kB. */
    formatBytes(bytes: number): string {
      if (bytes < 1024) return unit(bytes, 'byte', 'long');
      const factor = bytes < 100 * 1024 ? 10 : 1;
      return unit(Math.ceil((bytes / 1024) * factor) / factor, 'kilobyte', 'short');
    },
    formatTime: createTimeFormat(tag, timeZone),
    /** The day of a time, such as Friday, 20 November 2026. */
    formatDay: (time: number): string => day.format(time),
    /** The time of day of a time in milliseconds, rounded up to the minute. */
    formatClock: (time: number): string => clock.format(Math.ceil(time / 60_000) * 60_000),
  };
}

function baseOf(tag: string): string {
  return tag.split('-', 1)[0]?.toLowerCase() ?? '';
}
