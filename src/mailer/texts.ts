import { directionOf, type Direction, type Language } from '../languages.ts';

/** What the mails to owners say in one language. */
interface Texts {
  readonly received: string;
  readonly reference: string;
  /** Introduces the inquiry of `{time}`. */
  readonly youWrote: string;
  readonly view: string;
  readonly privacy: string;
  readonly imprint: string;
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    received: 'We’ve received your inquiry.',
    reference: 'Reference',
    youWrote: 'On {time} you wrote:',
    view: 'View your inquiry',
    privacy: 'Privacy',
    imprint: 'Legal notice',
  },
  de: {
    received: 'Wir haben Ihre Anfrage erhalten.',
    reference: 'Referenz',
    youWrote: 'Am {time} schrieben Sie:',
    view: 'Ihre Anfrage ansehen',
    privacy: 'Datenschutz',
    imprint: 'Impressum',
  },
  fr: {
    received: 'Nous avons bien reçu votre demande.',
    reference: 'Référence',
    youWrote: 'Le {time}, vous avez écrit\u202f:',
    view: 'Voir votre demande',
    privacy: 'Confidentialité',
    imprint: 'Mentions légales',
  },
  es: {
    received: 'Hemos recibido su consulta.',
    reference: 'Referencia',
    youWrote: 'El {time} usted escribió:',
    view: 'Ver su consulta',
    privacy: 'Privacidad',
    imprint: 'Aviso legal',
  },
  ja: {
    received: 'お問い合わせを受け付けました。',
    reference: '受付番号',
    youWrote: '{time}にいただいたお問い合わせ：',
    view: 'お問い合わせを見る',
    privacy: 'プライバシー',
    imprint: '法的情報',
  },
  ar: {
    received: 'تلقينا استفسارك.',
    reference: 'الرقم المرجعي',
    youWrote: 'في {time} كتبت:',
    view: 'عرض استفسارك',
    privacy: 'الخصوصية',
    imprint: 'إشعار قانوني',
  },
};

/**
 * The texts in a language, with the direction of its letters. `youWrote` takes a time in milliseconds, which it names in
 * UTC to the minute, with the month in words: digits alone would be reordered by the Arabic letters before.
 */
export function textsIn(
  language: Language,
): Omit<Texts, 'youWrote'> & { direction: Direction; youWrote: (time: number) => string } {
  const format = new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
  const texts = TEXTS[language];
  return {
    ...texts,
    direction: directionOf(language),
    youWrote: (time) => texts.youWrote.replace('{time}', format.format(time)),
  };
}
