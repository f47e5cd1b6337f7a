import type { Language } from '../text/languages.ts';

interface Texts {
  received: string;
  toAdd: string;
  reference: string;
  youWrote: string;
  view: string;
  privacy: string;
  imprint: string;
}

const TEXTS: Record<Language, Texts> = {
  en: {
    received: 'We’ve received your inquiry.',
    toAdd: 'To add something, reply to this mail.',
    reference: 'Reference',
    youWrote: 'On {time} you wrote:',
    view: 'View your inquiry',
    privacy: 'Privacy',
    imprint: 'Legal notice',
  },
  de: {
    received: 'Wir haben Ihre Anfrage erhalten.',
    toAdd: 'Um etwas zu ergänzen, antworten Sie auf diese E-Mail.',
    reference: 'Referenz',
    youWrote: 'Am {time} schrieben Sie:',
    view: 'Ihre Anfrage ansehen',
    privacy: 'Datenschutz',
    imprint: 'Impressum',
  },
  fr: {
    received: 'Nous avons bien reçu votre demande.',
    toAdd: 'Pour ajouter quelque chose, répondez à cet e-mail.',
    reference: 'Référence',
    youWrote: 'Le {time}, vous avez écrit\u202f:',
    view: 'Voir votre demande',
    privacy: 'Confidentialité',
    imprint: 'Mentions légales',
  },
  es: {
    received: 'Hemos recibido su consulta.',
    toAdd: 'Para añadir algo, responda a este correo.',
    reference: 'Referencia',
    youWrote: 'El {time} usted escribió:',
    view: 'Ver su consulta',
    privacy: 'Privacidad',
    imprint: 'Aviso legal',
  },
  ja: {
    received: 'お問い合わせを受け付けました。',
    toAdd: '追加のご連絡は、このメールにご返信ください。',
    reference: '受付番号',
    youWrote: '{time}にいただいたお問い合わせ：',
    view: 'お問い合わせを見る',
    privacy: 'プライバシー',
    imprint: '法的情報',
  },
  ar: {
    received: 'تلقينا استفسارك.',
    toAdd: 'لإضافة شيء، يُرجى الرد على هذه الرسالة.',
    reference: 'الرقم المرجعي',
    youWrote: 'في {time} كتبت:',
    view: 'عرض استفسارك',
    privacy: 'الخصوصية',
    imprint: 'إشعار قانوني',
  },
};

export const textsIn = (language: Language): Texts => TEXTS[language];

/** A time to the minute, with the month in words: Arabic letters before would reorder digits. */
export const formatTime = (time: string | number, locale: string, timeZone = 'UTC'): string =>
  new Date(time).toLocaleString(locale, {
    timeZone,
    timeZoneName: 'short',
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  });
