/** Languages in the form's order, with their directions. Terraform reads the same file. */
import directions from './languages.json' with { type: 'json' };

/** The compiler asks for all texts of a new language. */
export type Language = keyof typeof directions;
export type Direction = 'ltr' | 'rtl';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the file has no others
const DIRECTIONS = directions as Record<Language, Direction>;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the file has no others
export const LANGUAGES = Object.keys(DIRECTIONS) as Language[];

export const isLanguage = (value: unknown): value is Language =>
  LANGUAGES.some((one) => one === value);

export const directionOf = (language: Language): Direction => DIRECTIONS[language];

/** Shown for a blank subject. Operators see the English one. */
export const NO_SUBJECT: Record<Language, string> = {
  en: 'No subject',
  de: 'Kein Betreff',
  fr: 'Aucun objet',
  es: 'Sin asunto',
  ja: '件名なし',
  ar: 'بلا موضوع',
};

export const NO_MESSAGE = 'No message';

/** A company's text, either for all languages or by language. */
export type Text = string | Partial<Record<Language, string>>;

/** In the language, else in English, else in the first that there is. */
export const inLanguage = (text: Text, language: Language): string =>
  typeof text === 'string' ? text : (text[language] ?? text.en ?? Object.values(text)[0] ?? '');

/** Language and weight: `de`, `de-AT`, `de ; q=0.9`. */
const WANTED = /^\s*([a-z]+)(?:-[\w-]*)?\s*(?:;\s*q=([\d.]+)\s*)?$/;

/**
 * The first supported language of Accept-Language (RFC 9110, 12.5.4). Browsers name the preferred one first, so a
 * weight matters only if it is 0.
 *
 * @returns undefined if there is none.
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
