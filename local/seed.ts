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

/** What people write in a language; # is a number. */
interface Texts {
  readonly greeting: string;
  readonly subjects: readonly string[];
  readonly sentences: readonly string[];
  readonly replies: readonly string[];
  readonly closing: string;
}

const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    greeting: 'Hello,',
    subjects: ['Where is my order #?', 'Cannot sign in on my phone 📱', 'Broken on arrival 😢', ''],
    sentences: [
      'I ordered two weeks ago, and the tracking page still says “in preparation”.',
      'This link ends on an error page: https://shop.example.com/orders/#/returns?step=confirm-and-print-the-label&token=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
      'I need it before the end of the month, because it is a present 🎁. What can I do?',
    ],
    replies: ['Order # leaves our warehouse tomorrow.', 'We are sorry. A new one is on its way.'],
    closing: 'Kind regards',
  },
  de: {
    greeting: 'Guten Tag,',
    subjects: [
      'Rücksendung zu Bestellung #',
      'Frage zur Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
    ],
    sentences: [
      'meine Bestellung # ist seit zwei Wochen unterwegs.',
      'ich möchte das grüne Kleid in Größe 38 gegen eine 40 tauschen.',
    ],
    replies: ['den Rücksendeschein finden Sie im Anhang Ihrer Bestellbestätigung.'],
    closing: 'Mit freundlichen Grüßen',
  },
  fr: {
    greeting: 'Bonjour,',
    subjects: ['Colis # jamais reçu', 'Où en est mon remboursement ?'],
    sentences: ['j’ai passé commande il y a trois semaines.', 'il manque la vis n° 4…'],
    replies: ['votre colis # est arrivé au point relais ce matin.'],
    closing: 'Bien cordialement',
  },
  es: {
    greeting: 'Buenos días:',
    subjects: ['¿Cuándo llega mi pedido #?', 'No puedo pagar con tarjeta 💳'],
    sentences: ['El pedido # debía llegar el lunes.', '¿Me pueden ayudar?'],
    replies: ['Su pedido # sale hoy de nuestro almacén.'],
    closing: 'Un saludo',
  },
  ja: {
    greeting: 'お世話になっております。',
    subjects: ['注文番号#の配送状況について', '商品が破損していました😢'],
    sentences: ['先週注文した商品がまだ届いておりません。', '交換をお願いいたします。'],
    replies: ['ご注文#は本日発送いたしました。'],
    closing: 'よろしくお願いいたします。',
  },
  ar: {
    greeting: 'مرحبًا،',
    subjects: ['أين طلبي رقم #؟', 'وصلت القطعة مكسورة 😢'],
    sentences: ['طلبتُ الكتاب قبل أسبوعين ولم يصل حتى الآن.', 'رقم الطلب هو #.'],
    replies: ['طلبكم رقم # في الطريق إليكم.'],
    closing: 'مع خالص الشكر',
  },
};

interface Owner {
  readonly email: string;
  readonly name: string;
  readonly language: Language;
}

/** Ana is who `npm run token` signs in. */
const ANA: Owner = { email: DEMO_USERS[0], name: 'Ana', language: 'en' };
const OWNERS: readonly Owner[] = [
  ANA,
  { email: DEMO_USERS[1], name: 'Ben Schmidt', language: 'de' },
  { email: DEMO_USERS[2], name: 'Chiara Lefèvre', language: 'fr' },
  // No mail can go to this address.
  { email: 'jörg.müller@example.de', name: 'Jörg Müller', language: 'de' },
  { email: 'leserservice@bücher.example', name: 'Buchhandlung Süd', language: 'de' },
  {
    email: `maximiliane.von-hohenschwangau+orders@customers.${'branch-office.'.repeat(5)}example`,
    name: 'M. v. H.',
    language: 'en',
  },
  { email: 'lucia.fernandez@example.es', name: 'Lucía Fernández', language: 'es' },
  { email: 'haruka.sato@example.jp', name: '佐藤 遥', language: 'ja' },
  { email: 'layla@example.org', name: 'ليلى منصور', language: 'ar' },
];

const DAY = 24 * HOUR;

/** A generator of numbers below a bound: always the same ones (a linear congruential generator). */
function createRandom(): (below: number) => number {
  let state = 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Creates inquiries of the last six weeks, newest first and more of them in the last days: always the same ones, but for
 * the time. The newest is two hours old, because digests look at younger ones.
 *
 * @param now - Milliseconds since the epoch.
 */
export function createInquiries(count: number, now: number) {
  const random = createRandom();
  const pick = (texts: readonly string[]): string => texts[random(texts.length)] ?? '';

  const createInquiry = (n: number): EntityItem<ReturnType<typeof createInquiryEntity>> => {
    const { email, name, language } = n % 4 === 0 ? ANA : (OWNERS[random(OWNERS.length)] ?? ANA);
    const { greeting, subjects, sentences, replies, closing } = TEXTS[language];
    const order = String(40_000 + random(9_999));
    const write = (...paragraphs: readonly string[]): string =>
      paragraphs.join('\n\n').replaceAll('#', order);
    const age = 2 * HOUR + 42 * DAY * ((n + random(500) / 1_000) / count) ** 2;
    const created = Math.floor(now - age);
    const inquiry = {
      id: UUID.fromFieldsV7(created, random(4_096), random(2 ** 30), random(2 ** 32)).toString(),
      cognito_sub: subOf(email),
      email,
      subject: write(pick(subjects)),
      body: write(greeting, ...sentences.slice(random(2)), `${closing}\n${name}`),
      created_at: new Date(created).toISOString(),
      language,
    };
    const isWaiting = n < count / 4 ? n % 3 !== 2 : n % 9 === 0;
    if (isWaiting) return inquiry;
    const answered = Math.min(created + HOUR / 3 + random(30 * HOUR), now - HOUR);
    const isDismissed = n % 5 === 4;
    return {
      ...inquiry,
      respondent: pick(['olga', 'tom', 'support@example.com']),
      reply_at: new Date(answered).toISOString(),
      ...(!isDismissed && { reply: write(greeting, pick(replies), `${closing}\nOlga`) }),
    };
  };
  return Array.from({ length: count }, (_, n) => createInquiry(n));
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
  const rows = createInquiries(count, Date.now());
  const expires_at = Math.floor(Date.now() / 1_000) + 365 * 86_400;
  const records = rows.flatMap(({ id: inquiry, created_at: sent_at, reply_at }) =>
    reply_at === undefined ? [{ inquiry, mail: 'inquiry' as const, sent_at, expires_at }] : [],
  );
  const bounced = rows.find(
    ({ email, reply }) => reply !== undefined && toMailbox(email) !== undefined,
  );
  await deliveries.put(records).go();
  if (bounced?.reply_at !== undefined) {
    const { id: inquiry, reply_at: undelivered_at } = bounced;
    const bounce = { mail: 'reply', undelivered: 'bounce', undelivered_at, expires_at } as const;
    await deliveries.put({ inquiry, ...bounce }).go();
  }
  await inquiries.put(rows).go();
  return count;
}
