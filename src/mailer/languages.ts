import type { Language } from '../languages.ts';

/** The texts of the mail that answers an inquiry. */
const STRINGS = {
  en: { noSubject: '(no subject)', youWrote: 'On {time} you wrote:' },
  de: { noSubject: '(kein Betreff)', youWrote: 'Am {time} schrieben Sie:' },
  fr: { noSubject: '(aucun objet)', youWrote: 'Le {time}, vous avez écrit\u202f:' },
  es: { noSubject: '(sin asunto)', youWrote: 'El {time} usted escribió:' },
  ja: { noSubject: '（件名なし）', youWrote: '{time}にいただいたお問い合わせ：' },
  ar: { noSubject: '(بلا موضوع)', youWrote: 'في {time} كتبت:' },
} as const satisfies Record<Language, object>;

/**
 * The texts in a language, and the direction of its letters.
 *
 * @returns `noSubject` for an empty subject; `youWrote` introduces the inquiry of a time in milliseconds, which
 * it names in UTC to the minute, with the month in words: digits alone would be reordered by the Arabic letters before.
 */
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
  const { noSubject, youWrote } = STRINGS[language];
  return {
    noSubject,
    youWrote: (milliseconds: number): string => youWrote.replace('{time}', format.format(milliseconds)),
    direction: language === 'ar' ? 'rtl' : 'ltr',
  } as const;
}
