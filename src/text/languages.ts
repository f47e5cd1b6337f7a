import { namesOf } from '../limits.ts';

/** Languages of the form and of mails to owners, in the form's order. The compiler asks for the texts of another one. */
const DIRECTIONS = {
  en: 'ltr',
  de: 'ltr',
  fr: 'ltr',
  es: 'ltr',
  ja: 'ltr',
  ar: 'rtl',
} as const;

export type Language = keyof typeof DIRECTIONS;
export type Direction = 'ltr' | 'rtl';

export const LANGUAGES: Language[] = namesOf(DIRECTIONS);

export const isLanguage = (value: unknown): value is Language =>
  LANGUAGES.some((one) => one === value);

export const directionOf = (language: Language): Direction => DIRECTIONS[language];

/** What stands for a blank subject. Operators see the English one. */
export const NO_SUBJECT: Record<Language, string> = {
  en: 'No subject',
  de: 'Kein Betreff',
  fr: 'Aucun objet',
  es: 'Sin asunto',
  ja: '件名なし',
  ar: 'بلا موضوع',
};

/** What stands for a blank body, for operators. */
export const NO_MESSAGE = 'No message';

/** A text of the company's settings: one for all languages, or one for each of some. */
export type Text = string | Partial<Record<Language, string>>;

/** The text in a language, otherwise in English, otherwise in the first language that it has. */
export const inLanguage = (text: Text, language: Language): string =>
  typeof text === 'string' ? text : (text[language] ?? text.en ?? Object.values(text)[0] ?? '');

/** `de`, `de-AT`, `de ; q=0.9`: the language and its weight. */
const WANTED = /^\s*([a-z]+)(?:-[\w-]*)?\s*(?:;\s*q=([\d.]+)\s*)?$/;

/**
 * The first of these languages that a header Accept-Language takes (RFC 9110, 12.5.4). Browsers name the preferred one
 * first, so weights are not compared; 0 means that it is not wanted.
 *
 * @returns undefined when it takes none.
 */
export function parseLanguage(header: unknown): Language | undefined {
  if (typeof header !== 'string') return undefined;
  const wanted = header
    .toLowerCase()
    .split(',')
    .map((part) => {
      const [, language = '', weight = '1'] = WANTED.exec(part) ?? [];
      return Number(weight) > 0 ? language : '';
    });
  return wanted.find(isLanguage);
}
