import { directionOf, LANGUAGES, type Language } from '../languages.ts';

/** The texts of the mails to owners, in the order of LANGUAGES. Three of them are those of web/src/languages. */
const STRINGS = {
  noSubject: [
    '(no subject)',
    '(kein Betreff)',
    '(aucun objet)',
    '(sin asunto)',
    '（件名なし）',
    '(بلا موضوع)',
  ],
  youWrote: [
    'On {time} you wrote:',
    'Am {time} schrieben Sie:',
    'Le {time}, vous avez écrit\u202f:',
    'El {time} usted escribió:',
    '{time}にいただいたお問い合わせ：',
    'في {time} كتبت:',
  ],
  received: [
    'We’ve received your inquiry',
    'Wir haben Ihre Anfrage erhalten',
    'Nous avons bien reçu votre demande',
    'Hemos recibido su consulta',
    'お問い合わせを受け付けました',
    'تلقينا استفسارك',
  ],
  reference: ['Reference', 'Referenz', 'Référence', 'Referencia', '受付番号', 'الرقم المرجعي'],
  privacy: ['Privacy', 'Datenschutz', 'Confidentialité', 'Privacidad', 'プライバシー', 'الخصوصية'],
  imprint: [
    'Legal notice',
    'Impressum',
    'Mentions légales',
    'Aviso legal',
    '法的情報',
    'إشعار قانوني',
  ],
} as const satisfies Record<string, { readonly length: typeof LANGUAGES.length }>;

/**
 * The texts in a language, and the direction of its letters.
 *
 * @returns `noSubject` for an empty subject; `youWrote` introduces the inquiry of a time in milliseconds, which
 * it names in UTC to the minute, with the month in words: digits alone would be reordered by the Arabic letters before.
 */
export function textsIn(language: Language) {
  const format = new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
  const say = (name: keyof typeof STRINGS): string =>
    STRINGS[name][LANGUAGES.indexOf(language)] ?? '';
  return {
    say,
    youWrote: (milliseconds: number): string =>
      say('youWrote').replace('{time}', format.format(milliseconds)),
    direction: directionOf(language),
  };
}
