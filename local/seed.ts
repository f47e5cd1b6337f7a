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

/** Somebody, and what they write and are answered in their language; # is a number. */
interface Writer {
  readonly email: string;
  readonly name: string;
  readonly language: Language;
  readonly greeting: string;
  readonly subjects: readonly string[];
  readonly sentences: readonly string[];
  readonly reply: string;
  readonly closing: string;
}

/** Ana is who `npm run token` signs in. */
const ANA: Writer = {
  email: DEMO_USERS[0],
  name: 'Ana',
  language: 'en',
  greeting: 'Hello,',
  subjects: ['Where is my order #?', 'Cannot sign in on my phone 📱', ''],
  sentences: [
    'This link ends on an error page: https://shop.example.com/orders/#/returns?step=confirm-and-print-the-label&token=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
    'It is a present 🎁. What can I do?',
  ],
  reply: 'Order # leaves our warehouse tomorrow.',
  closing: 'Kind regards',
};
const BEN: Writer = {
  email: DEMO_USERS[1],
  name: 'Ben Schmidt',
  language: 'de',
  greeting: 'Guten Tag,',
  subjects: [
    'Rücksendung zu Bestellung #',
    'Frage zur Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  ],
  sentences: ['ich möchte das grüne Kleid in Größe 38 gegen eine 40 tauschen.'],
  reply: 'den Rücksendeschein finden Sie im Anhang Ihrer Bestellbestätigung.',
  closing: 'Mit freundlichen Grüßen',
};
const OTHERS: readonly Writer[] = [
  BEN,
  // No mail can go to this address.
  { ...BEN, email: 'jörg.müller@example.de', name: 'Jörg Müller' },
  {
    ...ANA,
    email: `maximiliane.von-hohenschwangau+orders@customers.${'branch-office.'.repeat(5)}example`,
    name: 'M. v. H.',
  },
  {
    email: DEMO_USERS[2],
    name: 'Chiara Lefèvre',
    language: 'fr',
    greeting: 'Bonjour,',
    subjects: ['Où en est mon remboursement ?'],
    sentences: ['il manque la vis n° 4…'],
    reply: 'votre colis # est arrivé au point relais ce matin.',
    closing: 'Bien cordialement',
  },
  {
    email: 'lucia.fernandez@example.es',
    name: 'Lucía Fernández',
    language: 'es',
    greeting: 'Buenos días:',
    subjects: ['¿Cuándo llega mi pedido #?'],
    sentences: ['El pedido # debía llegar el lunes.'],
    reply: 'Su pedido # sale hoy de nuestro almacén.',
    closing: 'Un saludo',
  },
  {
    email: 'haruka.sato@example.jp',
    name: '佐藤 遥',
    language: 'ja',
    greeting: 'お世話になっております。',
    subjects: ['注文番号#の配送状況について'],
    sentences: ['先週注文した商品がまだ届いておりません。'],
    reply: 'ご注文#は本日発送いたしました。',
    closing: 'よろしくお願いいたします。',
  },
  {
    email: 'layla@example.org',
    name: 'ليلى منصور',
    language: 'ar',
    greeting: 'مرحبًا،',
    subjects: ['أين طلبي رقم #؟'],
    sentences: ['طلبتُ الكتاب قبل أسبوعين ولم يصل حتى الآن.'],
    reply: 'طلبكم رقم # في الطريق إليكم.',
    closing: 'مع خالص الشكر',
  },
];

const DAY = 24 * HOUR;

/**
 * Creates inquiries of the last six weeks, newest first and more of them in the last days: always the same ones, but for
 * the time. The newest is two hours old, because digests look at younger ones.
 *
 * @param now - Milliseconds since the epoch.
 */
export function createInquiries(count: number, now: number) {
  const createInquiry = (n: number): EntityItem<ReturnType<typeof createInquiryEntity>> => {
    const writer = n % 4 === 0 ? ANA : (OTHERS[n % OTHERS.length] ?? ANA);
    const { email, name, language, greeting, subjects, sentences, reply, closing } = writer;
    const write = (...paragraphs: readonly string[]): string =>
      paragraphs.join('\n\n').replaceAll('#', String(40_000 + n));
    const created = Math.floor(now - 2 * HOUR - 42 * DAY * (n / count) ** 2);
    const inquiry = {
      // Later ones of a millisecond sort behind.
      id: UUID.fromFieldsV7(created, 0, 0, count - n).toString(),
      cognito_sub: subOf(email),
      email,
      subject: write(subjects[n % subjects.length] ?? ''),
      body: write(greeting, ...sentences, `${closing}\n${name}`),
      created_at: new Date(created).toISOString(),
      language,
    };
    const isWaiting = n < count / 4 ? n % 3 !== 2 : n % 9 === 0;
    if (isWaiting) return inquiry;
    return {
      ...inquiry,
      respondent: n % 2 === 0 ? 'olga' : 'support@example.com',
      reply_at: new Date(Math.min(created + (n % 30) * HOUR, now - HOUR)).toISOString(),
      // The rest is dismissed.
      ...(n % 5 !== 4 && { reply: write(greeting, reply, `${closing}\nOlga`) }),
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
  const waiting = rows.filter(({ reply_at }) => reply_at === undefined);
  const mailed = waiting.map(({ id: inquiry, created_at: sent_at }) => {
    return { inquiry, mail: 'inquiry' as const, sent_at, expires_at };
  });
  await deliveries.put(mailed).go();
  const bounced = rows.find(
    ({ email, reply }) => reply !== undefined && toMailbox(email) !== undefined,
  );
  if (bounced?.reply_at !== undefined) {
    const { id: inquiry, reply_at: undelivered_at } = bounced;
    const bounce = { mail: 'reply', undelivered: 'bounce', undelivered_at, expires_at } as const;
    await deliveries.put({ inquiry, ...bounce }).go();
  }
  await inquiries.put(rows).go();
  return count;
}
