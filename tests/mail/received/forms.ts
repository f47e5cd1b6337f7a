/**
 * Answers to a mail of ours as mail programs write them. Sources: test data of crisp-oss/email-forward-parser
 * (`test/fixtures/new_outlook_2019_*`, `outlook_2019_*`, `gmail_*`, `ionos_*`, `yahoo_*`), of discourse/email_reply_trimmer,
 * mailgun/talon and alfonsrv/mail-parser-reply; Thunderbird's `mailnews.reply_header_*`; mutt's `attribution`;
 * freescout#5545 (Outlook's divRplyFwdMsg), osTicket#5548, zammad#286.
 */
import type { Mail } from '../../../mail/send-mail.ts';

export interface AnswerMail {
  text?: string;
  html?: string;
  footer?: string;
  isBelow?: boolean;
}

/** Alternatives of a mail, as one. */
export const toRaw = ({ text, html }: AnswerMail, from = 'olga@example.com'): Buffer => {
  const parts = Object.entries({ plain: text, html }).flatMap(([type, body]) =>
    body === undefined ? [] : `--b\nContent-Type: text/${type}; charset=utf-8\n\n${body}\n`,
  );
  return Buffer.from(
    `From: ${from}\nContent-Type: multipart/alternative; boundary=b\n\n${parts.join('')}--b--\n`,
  );
};

type Form = (answer: string, mail: Mail, at: Date) => AnswerMail;

const mark = (text: string, sign = '> '): string =>
  text.replaceAll(/^/gm, sign).replaceAll(/ +$/gm, '');

const toHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/^ +| {2,}/gm, (all) => '&nbsp;'.repeat(all.length))
    .replaceAll('\n', '<br>\n');

const dateIn = (
  locale: string,
  at: Date,
  options: Intl.DateTimeFormatOptions = { dateStyle: 'full', timeStyle: 'short' },
) => new Intl.DateTimeFormat(locale, { timeZone: 'Europe/Berlin', ...options }).format(at);
const GMAIL = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
const NUMERIC = { dateStyle: 'short', timeStyle: 'short' } as const;

const bodyOf = ({ html }: Mail): string => /<body[^>]*>([^]*)<\/body>/.exec(html)?.[1] ?? '';

const GMAILS: Record<string, string> = {
  en: 'On {d} at {t}, <{a}> wrote:',
  de: 'Am {d} um {t} Uhr schrieb <{a}>:',
  fr: 'Le {d} à {t}, <{a}> a écrit :',
  es: 'El {d} a las {t}, (<{a}>) escribió:',
  it: 'Il giorno {d} alle ore {t} <{a}> ha scritto:',
  pt: 'Em {d} às {t}, <{a}> escreveu:',
  nl: 'Op {d} om {t} schreef <{a}>:',
  pl: '{d} o {t} <{a}> napisał(a):',
  ru: '{d} в {t}, <{a}>:',
  sv: 'Den {d} kl {t} skrev <{a}>:',
  fi: '{d} klo {t} <{a}> kirjoitti:',
  cs: '{d} v {t} odesílatel <{a}> napsal:',
  tr: '<{a}>, {d}, {t} tarihinde şunu yazdı:',
  ja: '{d} {t} <{a}>:',
  ko: '{d} {t}, <{a}>님이 작성:',
  zh: '<{a}> 于{d} {t}写道：',
  th: 'ในวันที่ {d} เวลา {t} <{a}> เขียนว่า:',
  'ar-EG': 'في {d} في {t} تمت كتابة ما يلي بواسطة <{a}>:',
  fa: 'در تاریخ {d} ساعت {t} <{a}> نوشت:',
  he: '‫בתאריך {d} ב-{t} מאת ‪<{a}>‬‏:',
};

const OUTLOOKS = {
  en: 'From: |Sent: |To: |Subject: ',
  de: 'Von: |Gesendet: |An: |Betreff: ',
  fr: 'De : |Envoyé : |À : |Objet : ',
  es: 'De: |Enviado: |Para: |Asunto: ',
  it: 'Da: |Inviato: |A: |Oggetto: ',
  pt: 'De: |Enviado: |Para: |Assunto: ',
  nl: 'Van: |Verzonden: |Aan: |Onderwerp: ',
  sv: 'Från: |Skickat: |Till: |Ämne: ',
  da: 'Fra: |Sendt: |Til: |Emne: ',
  fi: 'Lähettäjä: |Lähetetty: |Vastaanottaja: |Aihe: ',
  pl: 'Od: |Wysłano: |Do: |Temat: ',
  cs: 'Od: |Odesláno: |Komu: |Předmět: ',
  hu: 'Feladó: |Elküldve: |Címzett: |Tárgy: ',
  ru: 'От: |Отправлено: |Кому: |Тема: ',
  tr: 'Kimden: |Gönderildi: |Kime: |Konu: ',
  ja: '差出人: |送信日時: |宛先: |件名: ',
  zh: '发件人: |发送时间: |收件人: |主题: ',
  ko: '보낸 사람: |보낸 날짜: |받는 사람: |제목: ',
  'ar-SA': 'من: |تم الإرسال: |إلى: |الموضوع: ',
};

const toBlock = (labels: string, { from, to, subject }: Mail, date: string): string[] => {
  const values = [`${from} <${from}>`, date, `${to} <${to}>`, subject];
  return labels.split('|').map((label, at) => label + (values[at] ?? ''));
};
const toBoldBlock = (...block: Parameters<typeof toBlock>): string =>
  toBlock(...block)
    .map((line) => toHtml(line).replace(/^([^:]+:)/, '<b>$1</b>'))
    .join('<br>');
const BANNER =
  "CAUTION: This email originated from outside of the organization.\nDo not click links unless you know the sender.\n\nYou don't often get email from {a}. Learn why this is important at https://aka.ms/LearnAboutSenderIdentification";

const attribute = (pattern: string, { from }: Mail, date: string, time = ''): string =>
  pattern.replace('{d}', date).replace('{t}', time).replace('{a}', from);

/** An attribution, and marked lines; `{d}` has the time. */
const quoteIn =
  (pattern: string, toDate: (at: Date) => string, gap = '\n'): Form =>
  (answer, mail, at) => ({
    text: `${answer}\n\n${attribute(pattern, mail, toDate(at))}\n${gap}${mark(mail.text)}\n`,
  });
const below =
  (pattern: string, toDate: (at: Date) => string): Form =>
  (answer, mail, at) => ({
    text: `${attribute(pattern, mail, toDate(at))}\n${mark(mail.text)}\n\n${answer}\n`,
    isBelow: true,
  });

const FULL = (at: Date): string => dateIn('en', at);
const SHORT = (at: Date): string => dateIn('de', at, NUMERIC);
const APPLE = (at: Date): string =>
  dateIn('en-GB', at, { dateStyle: 'medium', timeStyle: 'short' });
const ISO = (at: Date): string => at.toISOString().slice(0, 16).replace('T', ' ');

const headed =
  (
    before: string,
    labels: string,
    toDate: (at: Date) => string,
    quote = (text: string) => text,
    footer = '',
  ): Form =>
  (answer, mail, at) => ({
    text: `${answer}\n\n${footer}${footer && '\n\n'}${quote(`${before}${toBlock(labels, mail, toDate(at)).join('\n')}\n\n${mail.text}`)}\n`,
    footer,
  });

export const FORMS: Record<string, Form> = {
  ...Object.fromEntries(
    Object.entries(GMAILS).map(([locale, pattern]): [string, Form] => [
      `Gmail, ${locale}`,
      (answer, mail, at) => {
        const line = attribute(
          pattern,
          mail,
          dateIn(locale, at, GMAIL),
          dateIn(locale, at, { timeStyle: 'short' }),
        );
        const wrapped = line.replace(/^(.{40,}) <(?=[^<]{20,}$)/, '$1 <\n');
        const html = `<div dir="ltr">${toHtml(answer)}</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">${toHtml(line)}<br></div><blockquote class="gmail_quote">${bodyOf(mail)}</blockquote></div>`;
        return { text: `${answer}\n\n${wrapped}\n\n${mark(mail.text)}\n`, html };
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(OUTLOOKS).flatMap(([locale, labels]): [string, Form][] => [
      [`Outlook, ${locale}`, headed(`${'_'.repeat(32)}\n`, labels, (at) => dateIn(locale, at))],
      [
        `Outlook, ${locale}, banner`,
        (answer, mail, at) => ({
          text: `${answer}\n\n${toBlock(labels, mail, dateIn(locale, at)).join('\n')}\n\n${BANNER.replace('{a}', mail.from)}\n\n${mail.text}\n`,
        }),
      ],
    ]),
  ),
  'Outlook on the web, HTML': (answer, mail, at) => ({
    html: `<div>${toHtml(answer)}</div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg" dir="ltr"><font face="Calibri">${toBoldBlock(OUTLOOKS.de, mail, dateIn('de', at))}</font><div>&nbsp;</div></div><div>${bodyOf(mail)}</div>`,
  }),
  'Outlook for Windows, HTML': (answer, mail, at) => ({
    html: `<div class="WordSection1"><p class="MsoNormal">${toHtml(answer)}</p><p class="MsoNormal">&nbsp;</p><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p class="MsoNormal">${toBoldBlock(OUTLOOKS.en, mail, FULL(at))}</p></div>${bodyOf(mail)}</div>`,
  }),
  'Outlook, original message': headed('-----Original Message-----\n', OUTLOOKS.en, FULL),
  'Outlook 2019 for Mac': (answer, mail, at) => ({
    text: `${answer}\n\nOn ${SHORT(at)}, "${mail.from}" <${mail.from}> wrote:\n\n${mark(mail.text, '    ')}\n`,
  }),
  'Outlook behind Proofpoint': headed('', OUTLOOKS.en, FULL, (text) =>
    text.replaceAll(/https:\S+/g, '$& <https://urldefense.com/v3/__$&__;!!a!b$$ >'),
  ),
  'new Outlook for Mac': headed('', 'From: |Date: |To: |Subject: ', FULL),
  'a contact in Outlook': (answer, mail, at) => ({
    text: `${answer}\n\n${toBlock(OUTLOOKS.en, mail, FULL(at))
      .join('\n')
      .replace(/.*/, 'From: Inquiries of the shop')}\n\n${mail.text}\n`,
  }),
  'Apple Mail': quoteIn('On {d}, {a} wrote:', APPLE),
  iPhone: (answer, mail, at) => ({
    text: `${answer}\n\nSent from my iPhone\n\n> On ${APPLE(at)}, ${mail.from} wrote:\n> \n${mark(mail.text, '> \uFEFF').replaceAll('> \n', '>\n')}\n`,
    footer: 'Sent from my iPhone',
  }),
  Thunderbird: quoteIn('On {d}, {a} wrote:', SHORT, ''),
  'Thunderbird, German': quoteIn('Am {d} schrieb {a}:', SHORT, ''),
  'Thunderbird, HTML': (answer, mail, at) => ({
    html: `${toHtml(answer)}<br><br><div class="moz-cite-prefix">Am ${SHORT(at)} schrieb ${mail.from}:<br></div><blockquote type="cite">${bodyOf(mail)}</blockquote>`,
  }),
  'Thunderbird, below': below('On {d}, {a} wrote:', SHORT),
  'Thunderbird, original message': headed(
    '-------- Original Message --------\n',
    'From: |Date: |To: |Subject: ',
    SHORT,
  ),
  Yahoo: (answer, mail, at) => ({
    text: `${answer}\n\n    On ${FULL(at)}, ${mail.from} <${mail.from}> wrote:  \n \n ${mail.text.replaceAll('\n', '\n ')}\n`,
  }),
  'Yahoo, one line': (answer, mail, at) => ({
    text: `${answer}\n\n   ----- Original Message ----- ${toBlock('From: |Sent: |To: |Subject: ', mail, FULL(at)).join('')}\n ${mail.text}\n`,
  }),
  GMX: (answer, mail, at) => ({
    html: `<div>${toHtml(answer)}</div><div>&nbsp;<div><div><b>Gesendet:</b>&nbsp;${dateIn('de', at)}<br><b>Von:</b>&nbsp;${mail.from}<br><b>An:</b>&nbsp;${mail.to}<br><b>Betreff:</b>&nbsp;${toHtml(mail.subject)}</div>${bodyOf(mail)}</div></div>`,
  }),
  Notes: headed('', 'Von:\t|Datum:\t|An:\t|Betreff:\t', SHORT),
  'Notes, one above the other': (answer, mail, at) => ({
    text: `${answer}\n\n\n\n\n${mail.from} \n${SHORT(at)}\n\nTo\n${mail.to}\ncc\n\nSubject\n${mail.subject}\n\n\n${mail.text}\n`,
  }),
  Proton: (answer, mail, at) => ({
    text: `${answer}\n\nSent with Proton Mail secure email.\n\nOn ${FULL(at).replace(/(\d+), (\d{4})/, '$1th, $2')}, ${mail.from} <${mail.from}> wrote:\n\n${mark(mail.text)}\n`,
    footer: 'Sent with Proton Mail secure email.',
  }),
  Samsung: headed('-------- Original message --------\n', 'From: |Date: |To: |Subject: ', SHORT),
  'K-9': headed('-------- Original Message --------\n', OUTLOOKS.en, FULL, (text) =>
    text.replace(/(?<=Subject: .*\n\n)[^]*/, (all) => mark(all)),
  ),
  IONOS: headed(
    '---------- Original Message ----------\n',
    'From: |Date: |To: |Subject: ',
    SHORT,
    (text) => mark(text),
  ),
  Hotmail: headed('', 'From: |Date: |To: |Subject: ', FULL, (text) => mark(text)),
  'web.de': headed('', 'Von: |Gesendet: |An: |Betreff: ', SHORT),
  mutt: quoteIn('On {d}, {a} wrote:', FULL, ''),
  'mutt, below': below('On {d}, {a} wrote:', FULL),
  Roundcube: quoteIn('On {d}, {a} wrote:', ISO, ''),
  KMail: quoteIn('On {d} {a} wrote:', FULL, ''),
  Evolution: quoteIn('On {d} +0100, {a} wrote:', ISO, ''),
  'Exchange, disclaimer': (answer, mail, at) => ({
    text: `${answer}\n\n${toBlock(OUTLOOKS.en, mail, FULL(at)).join('\n')}\n\n${mail.text}\n\nThis message and its files are confidential. If it is not\nfor you, please tell us.\n`,
    footer: 'This message and its files are confidential. If it is not for you, please tell us.',
  }),
  'a list’s footer': (answer, mail, at) => ({
    text: `${answer}\n\nOn ${FULL(at)}, ${mail.from} wrote:\n\n${mark(mail.text)}\n\n-- \nThis e-mail has been scanned for viruses.\n`,
  }),
  'a signature': quoteIn('-- \nOlga\nLamp Ltd.\n\nOn {d}, {a} wrote:', FULL),
  'no quotation': (answer) => ({ text: answer }),
};
