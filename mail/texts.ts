import { formatDate } from '../text/dates.ts';
import type { Language } from '../text/languages.ts';
import { toSpanishHour } from '../text/spanish-hour.ts';

interface Texts {
  receivedAs: (reference: string) => string;
  received: string;
  toAdd: string;
  reference: string;
  youWrote: (date: string, time: string, zone: string) => string;
  view: string;
  privacy: string;
  imprint: string;
  answerAbove: string;
}

const TEXTS: Record<Language, Texts> = {
  en: {
    receivedAs: (reference) => `We’ve received your inquiry (${reference})`,
    received: 'We’ve received your inquiry.',
    toAdd: 'To add something, reply to this mail.',
    reference: 'Reference',
    youWrote: (date, time, zone) => `On ${date}, at ${time} (${zone}), you wrote:`,
    view: 'View your inquiry',
    privacy: 'Privacy',
    imprint: 'Legal notice',
    answerAbove: '##- Answer above this line -##',
  },
  de: {
    receivedAs: (reference) => `Wir haben Ihre Anfrage erhalten (${reference})`,
    received: 'Wir haben Ihre Anfrage erhalten.',
    toAdd: 'Um etwas zu ergänzen, antworten Sie auf diese E-Mail.',
    reference: 'Vorgangsnummer',
    youWrote: (date, time, zone) => `Am ${date} um ${time} Uhr (${zone}) schrieben Sie:`,
    view: 'Ihre Anfrage ansehen',
    privacy: 'Datenschutz',
    imprint: 'Impressum',
    answerAbove: '##- Bitte oberhalb dieser Zeile antworten -##',
  },
  fr: {
    receivedAs: (reference) => `Nous avons bien reçu votre demande (${reference})`,
    received: 'Nous avons bien reçu votre demande.',
    toAdd: 'Pour ajouter quelque chose, répondez à cet e-mail.',
    reference: 'Référence',
    youWrote: (date, time, zone) => `Le ${date} à ${time} (${zone}), vous avez écrit\u00a0:`,
    view: 'Voir votre demande',
    privacy: 'Confidentialité',
    imprint: 'Mentions légales',
    answerAbove: '##- Répondez au-dessus de cette ligne -##',
  },
  es: {
    receivedAs: (reference) => `Hemos recibido su consulta (${reference})`,
    received: 'Hemos recibido su consulta.',
    toAdd: 'Para añadir algo, responda a este correo.',
    reference: 'Referencia',
    youWrote: (date, time, zone) =>
      `El ${date} a ${toSpanishHour(time)} (${zone}), usted escribió:`,
    view: 'Ver su consulta',
    privacy: 'Privacidad',
    imprint: 'Aviso legal',
    answerAbove: '##- Responda por encima de esta línea -##',
  },
  ja: {
    receivedAs: (reference) => `お問い合わせを受け付けました（受付番号：${reference}）`,
    received: 'お問い合わせいただき、ありがとうございます。\n以下の受付番号で承りました。',
    toAdd: '追加のご連絡は、このメールにご返信ください。',
    reference: '受付番号',
    youWrote: (date, time, zone) => `${date}${time}（${zone}）にいただいたお問い合わせ：`,
    view: 'お問い合わせ内容を確認する',
    privacy: 'プライバシーポリシー',
    imprint: '運営者情報',
    answerAbove: '##- この行より上にご返信ください -##',
  },
  ar: {
    receivedAs: (reference) => `تلقينا استفسارك (${reference})`,
    received: 'تلقينا استفسارك.',
    toAdd: 'لإضافة شيء، يُرجى الرد على هذه الرسالة.',
    reference: 'الرقم المرجعي',
    youWrote: (date, time, zone) => `رسالتك بتاريخ ${date}، الساعة ${time} (${zone}):`,
    view: 'عرض استفسارك',
    privacy: 'الخصوصية',
    imprint: 'الإشعار القانوني',
    answerAbove: '##- اكتب ردك فوق هذا السطر -##',
  },
};

export const textsIn = (language: Language): Texts => TEXTS[language];

/** An answer stands above one of these lines, in whatever way a mail program quotes. */
export const MARKERS = Object.values(TEXTS).map(({ answerAbove }) => answerAbove);

/** Introduces an owner's own text. The month is a word, because Arabic letters before digits would reorder them. */
export function formatYouWrote(sentAt: string, language: Language, timeZone = 'UTC'): string {
  const formatIn = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { ...options, timeZone });
  const time = new Date(sentAt);
  const zone = formatIn({ timeZoneName: 'short' }).formatToParts(time).at(-1)?.value ?? timeZone;
  const date = formatDate(formatIn({ dateStyle: 'long' }), time);
  return TEXTS[language].youWrote(date, formatIn({ timeStyle: 'short' }).format(time), zone);
}

/** Formats a time to the minute, for the team. */
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
