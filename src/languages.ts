/** The languages of the form and of the mails to owners. web/src/locale.ts and infra/terraform have the same. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const;

export type Language = (typeof LANGUAGES)[number];

export const isLanguage = (text: string): text is Language => (LANGUAGES as readonly string[]).includes(text);

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
