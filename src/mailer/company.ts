import type { Language } from '../languages.ts';

type Texts = string | Readonly<Partial<Record<Language, string>>>;

/** What the mails to owners show of the company: some of the form's settings, which `npm run deploy` has checked. */
export interface Company {
  readonly name?: string;
  /** `#rrggbb` */
  readonly accent?: string;
  readonly home?: string;
  readonly privacy?: string;
  readonly imprint?: string;
  /** When an answer can be expected. */
  readonly expectation?: Texts;
}

/** The text in a language, otherwise in English, otherwise in the first language that it has, as in the form. */
export const inLanguageOf = (texts: Texts = '', language: Language): string =>
  typeof texts === 'string' ? texts : (texts[language] ?? texts.en ?? Object.values(texts)[0] ?? '');

/** @returns undefined when it is not a JSON object. */
export function parseCompany(json: string): Company | undefined {
  try {
    const company: unknown = JSON.parse(json);
    return typeof company === 'object' && company !== null ? company : undefined;
  } catch {
    return undefined;
  }
}
