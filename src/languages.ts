/** The languages of the form and of the mails to owners, in the order in which the form offers them. infra/terraform has the same. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const;

export type Language = (typeof LANGUAGES)[number];

export const isLanguage = (value: unknown): value is Language =>
  LANGUAGES.some((one) => one === value);

export const directionOf = (language: Language): 'ltr' | 'rtl' =>
  language === 'ar' ? 'rtl' : 'ltr';

/** A text of the company's settings: one for all languages, or one for each of some. */
export type Text = string | Readonly<Partial<Record<Language, string>>>;

/** The text in a language, otherwise in English, otherwise in the first language that it has. */
export const inLanguage = (text: Text, language: Language): string =>
  typeof text === 'string' ? text : (text[language] ?? text.en ?? Object.values(text)[0] ?? '');

/** UTF-16 units that are read; longer headers name many languages. */
const READ = 100;

/**
 * The first of these languages that a header Accept-Language names (RFC 9110, 12.5.4). Browsers name the preferred one
 * first, so weights are not compared.
 *
 * @returns undefined when it names none.
 */
export function parseLanguage(header: unknown): Language | undefined {
  if (typeof header !== 'string') return undefined;
  const tags = header.slice(0, READ).toLowerCase().split(',');
  return tags.map((tag) => tag.trim().split(/[-;]/, 1)[0] ?? '').find(isLanguage);
}
