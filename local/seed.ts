/** Inquiries to begin with (npm start -- --seed N), for those who build on the stack and for pictures. */
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { EntityItem } from 'electrodb';
import { UUID } from 'uuidv7';
import { DEMO_USERS, subOf } from '../lib/issuer-tokens.ts';
import { createDeliveryEntity } from '../src/entities/delivery.ts';
import { readIndex } from '../src/entities/inquiry-index.ts';
import { createInquiryEntity } from '../src/entities/inquiry.ts';
import type { Language } from '../src/languages.ts';
import { HOUR } from '../src/limits.ts';
import { toMailbox } from '../src/mailbox.ts';
import { createClient } from './database/table.ts';

/** Subjects; a greeting, sentences and a closing; replies. # is a number. */
const TEXTS: Readonly<Record<Language, string>> = {
  en: `Where is my order #? | Cannot sign in on my phone 📱 | Invoice with our VAT number | Broken on arrival 😢 |  ||
    Hello, | I ordered two weeks ago, and the tracking page still says “in preparation”. | This link ends on an error page:
    https://shop.example.com/orders/#/returns?step=confirm-and-print-the-label&token=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9
    | I need it before the end of the month, because it is a present 🎁. What can I do? | Kind regards ||
    Order # leaves our warehouse tomorrow. | We are sorry. A new one is on its way; please keep the old one.`,
  de: `Rücksendung zu Bestellung # | Frage zur
    Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft | Öffnungszeiten an Feiertagen? ||
    Guten Tag, | meine Bestellung # ist seit zwei Wochen unterwegs. | ich möchte das grüne Kleid in Größe 38 gegen eine 40
    tauschen, finde im Kundenkonto aber keinen Rücksendeschein. | Mit freundlichen Grüßen ||
    den Rücksendeschein finden Sie im Anhang Ihrer Bestellbestätigung. | Ihre Bestellung # kommt morgen an.`,
  fr: `Colis # jamais reçu | Où en est mon remboursement ? | Élément manquant dans la boîte ||
    Bonjour, | j’ai passé commande il y a trois semaines et le suivi n’a pas changé depuis. | il manque la vis n° 4 et la
    notice est en allemand… | Bien cordialement ||
    votre colis # est arrivé au point relais ce matin. | nous vous envoyons la pièce manquante dès demain.`,
  es: `¿Cuándo llega mi pedido #? | Cambio de dirección | No puedo pagar con tarjeta 💳 ||
    Buenos días: | El pedido # debía llegar el lunes y todavía no ha llegado. | ¿Me pueden ayudar? | Un saludo ||
    Su pedido # sale hoy de nuestro almacén. | Ya lo hemos cambiado; no tiene que hacer nada más.`,
  ja: `注文番号#の配送状況について | 領収書の発行をお願いします | 商品が破損していました😢 ||
    お世話になっております。 | 先週注文した商品がまだ届いておりません。配送状況を教えていただけますでしょうか。 |
    箱を開けたところ、ふたにひびが入っていました。交換をお願いいたします。 | よろしくお願いいたします。 ||
    ご注文#は本日発送いたしました。 | ご迷惑をおかけして申し訳ございません。新しい商品をお送りいたします。`,
  ar: `أين طلبي رقم #؟ | لا أستطيع تسجيل الدخول | وصلت القطعة مكسورة 😢 ||
    مرحبًا، | طلبتُ الكتاب قبل أسبوعين ولم يصل حتى الآن، ورقم الطلب هو #. | حاولت الدفع بالبطاقة ثلاث مرات وظهرت رسالة
    خطأ. | مع خالص الشكر ||
    طلبكم رقم # في الطريق إليكم. | نعتذر عن ذلك، وقد أعدنا المبلغ إلى بطاقتكم.`,
};

/** Ana is who `npm run token` signs in. No mail can go to Jörg. */
type Owner = readonly [email: string, name: string, language: Language];
const OWNERS: readonly [Owner, ...Owner[]] = [
  [DEMO_USERS[0], 'Ana', 'en'],
  [DEMO_USERS[1], 'Ben Schmidt', 'de'],
  [DEMO_USERS[2], 'Chiara Lefèvre', 'fr'],
  ['jörg.müller@example.de', 'Jörg Müller', 'de'],
  ['leserservice@bücher.example', 'Buchhandlung Süd', 'de'],
  [
    `maximiliane.von-hohenschwangau+orders@customers.${'branch-office.'.repeat(5)}example`,
    'M. v. H.',
    'en',
  ],
  ['lucia.fernandez@example.es', 'Lucía Fernández', 'es'],
  ['haruka.sato@example.jp', '佐藤 遥', 'ja'],
  ['layla@example.org', 'ليلى منصور', 'ar'],
];

/**
 * Makes inquiries of the last six weeks, newest first and more of them in the last days: always the same ones, but for
 * the time. The newest is two hours old: the digests look at younger ones.
 *
 * @param now - Milliseconds since the epoch.
 */
export function makeInquiries(count: number, now: number) {
  let state = 1;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from(
    { length: count },
    (_, n): EntityItem<ReturnType<typeof createInquiryEntity>> => {
      const [email, name, language] = OWNERS[n % 4 === 0 ? 0 : random(OWNERS.length)] ?? OWNERS[0];
      const order = String(40_000 + random(9_999));
      const [subjects = [], [hello = '', ...sentences] = [], replies = []] = TEXTS[language]
        .replaceAll('#', order)
        .split('||')
        .map((texts) => texts.split('|').map((text) => text.replaceAll(/\s+/g, ' ').trim()));
      const bye = sentences.pop() ?? '';
      const pick = (texts: readonly string[]): string => texts[random(texts.length)] ?? '';
      const created = Math.floor(
        now - 2 * HOUR - 42 * 24 * HOUR * ((n + random(500) / 1_000) / count) ** 2,
      );
      const inquiry = {
        id: UUID.fromFieldsV7(created, random(4_096), random(2 ** 30), random(2 ** 32)).toString(),
        cognito_sub: subOf(email),
        email,
        subject: pick(subjects),
        body: [hello, ...sentences.slice(random(2)), `${bye}\n${name}`].join('\n\n'),
        created_at: new Date(created).toISOString(),
        language,
      };
      if (n < count / 4 ? n % 3 !== 2 : n % 9 === 0) return inquiry;
      const reply_at = new Date(
        Math.min(created + HOUR / 3 + random(30 * HOUR), now - HOUR),
      ).toISOString();
      const answer = {
        ...inquiry,
        respondent: pick(['olga', 'tom', 'support@example.com']),
        reply_at,
      };
      return n % 5 === 4
        ? answer
        : { ...answer, reply: `${hello}\n\n${pick(replies)}\n\n${bye}\nOlga` };
    },
  );
}

/**
 * Stores such inquiries in a table that has none, and that one reply has bounced. The mailer, which gets them from the
 * stream, takes them for mailed.
 *
 * @returns How many were stored; 0 when the table has inquiries.
 */
export async function seedTable(endpoint: string, table: string, count: number): Promise<number> {
  const client = DynamoDBDocumentClient.from(createClient(endpoint));
  const inquiries = createInquiryEntity(table, client);
  const deliveries = createDeliveryEntity(table, client);
  using _ = { [Symbol.dispose]: () => client.destroy() };
  for await (const page of readIndex(inquiries)) if (page.length > 0) return 0;
  const rows = makeInquiries(count, Date.now());
  const expires_at = Math.floor(Date.now() / 1_000) + 365 * 86_400;
  const records = rows.flatMap(({ id: inquiry, created_at: sent_at, reply_at }) =>
    reply_at === undefined ? [{ inquiry, mail: 'inquiry' as const, sent_at, expires_at }] : [],
  );
  const bounces = rows.flatMap(({ id: inquiry, email, reply, reply_at: undelivered_at = '' }) => {
    const record = {
      inquiry,
      mail: 'reply',
      undelivered: 'bounce',
      undelivered_at,
      expires_at,
    } as const;
    return reply === undefined || toMailbox(email) === undefined ? [] : [record];
  });
  await deliveries.put([...records, ...bounces.slice(0, 1)]).go();
  await inquiries.put(rows).go();
  return count;
}
