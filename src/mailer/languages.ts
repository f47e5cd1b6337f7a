/** The texts of mails to owners. They are in the files of the form's languages, whose other texts the bundle leaves out. */
import { mail as ar } from '../../web/src/languages/ar.ts';
import { mail as de } from '../../web/src/languages/de.ts';
import { mail as en } from '../../web/src/languages/en.ts';
import { mail as es } from '../../web/src/languages/es.ts';
import { mail as fr } from '../../web/src/languages/fr.ts';
import { mail as ja } from '../../web/src/languages/ja.ts';
import type { MailStrings } from '../../web/src/languages/strings.ts';

const MAILS = { en, de, fr, es, ja, ar } satisfies Record<string, MailStrings>;

export type Language = keyof typeof MAILS;

export const isLanguage = (text: string): text is Language => Object.hasOwn(MAILS, text);

/** The texts in a language, the direction of its letters, and how it writes a time, in UTC to the minute. */
export function inLanguage(language: Language) {
  const format = new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
  return {
    strings: MAILS[language],
    direction: language === 'ar' ? 'rtl' : 'ltr',
    formatTime: (milliseconds: number): string => format.format(milliseconds),
  } as const;
}
