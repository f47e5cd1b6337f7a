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
import { createClient } from './database/table.ts';

/** Somebody, and what they write and are answered in their language; # is a number. */
interface Writer {
  readonly email: string;
  readonly language: Language;
  readonly subject: string;
  readonly body: string;
  readonly reply: string;
}

/** Ana is who `npm run token` signs in. */
const ANA: Writer = {
  email: DEMO_USERS[0],
  language: 'en',
  subject: 'Where is my order #?',
  body: 'Hello,\n\nit is a present 🎁. What can I do?\n\nKind regards\nAna',
  reply: 'Order # leaves our warehouse tomorrow.',
};
const BEN: Writer = {
  email: DEMO_USERS[1],
  language: 'de',
  subject: 'Rücksendung zu Bestellung #',
  body: 'Guten Tag,\n\nich möchte das grüne Kleid in Größe 38 gegen eine 40 tauschen.',
  reply: 'Den Rücksendeschein finden Sie im Anhang Ihrer Bestellbestätigung.',
};
const WRITERS: readonly Writer[] = [
  ANA,
  BEN,
  {
    email: DEMO_USERS[2],
    language: 'fr',
    subject: 'Où en est mon remboursement ?',
    body: 'Bonjour,\n\nil manque la vis n° 4…',
    reply: 'Votre colis # est arrivé au point relais ce matin.',
  },
  {
    ...ANA,
    subject: '',
    body: `This link is broken: https://shop.example.com/orders/#?token=${'eyJhbGciOi'.repeat(8)}`,
  },
  {
    email: 'lucia.fernandez@example.es',
    language: 'es',
    subject: '¿Cuándo llega mi pedido #?',
    body: 'Buenos días:\n\nEl pedido # debía llegar el lunes.',
    reply: 'Su pedido # sale hoy de nuestro almacén.',
  },
  {
    email: 'haruka.sato@example.jp',
    language: 'ja',
    subject: '注文番号#の配送状況について',
    body: '先週注文した商品がまだ届いておりません。',
    reply: 'ご注文#は本日発送いたしました。',
  },
  {
    email: 'layla@example.org',
    language: 'ar',
    subject: 'أين طلبي رقم #؟',
    body: 'طلبتُ الكتاب قبل أسبوعين ولم يصل حتى الآن.',
    reply: 'طلبكم رقم # في الطريق إليكم.',
  },
  // No mail can go to this address.
  { ...BEN, email: 'jörg.müller@example.de', subject: `Frage zur ${'Donaudampf'.repeat(8)}fahrt` },
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
    const { email, language, subject, body, reply } = WRITERS[n % WRITERS.length] ?? ANA;
    const write = (text: string): string => text.replaceAll('#', String(40_000 + n));
    const created = Math.floor(now - 2 * HOUR - 42 * DAY * (n / count) ** 2);
    const inquiry = {
      // Later ones of a millisecond sort behind.
      id: UUID.fromFieldsV7(created, 0, 0, count - n).toString(),
      cognito_sub: subOf(email),
      email,
      subject: write(subject),
      body: write(body),
      created_at: new Date(created).toISOString(),
      language,
    };
    if (n < count / 4 || n % 5 === 0) return inquiry;
    return {
      ...inquiry,
      respondent: 'olga',
      reply_at: new Date(created + HOUR).toISOString(),
      // The rest is dismissed.
      ...(n % 5 !== 4 && { reply: write(reply) }),
    };
  };
  return Array.from({ length: count }, (_, n) => createInquiry(n));
}

/**
 * Stores such inquiries in a table that has none. The mailer, which gets them from the stream, takes them for mailed.
 *
 * @returns How many were stored; 0 when the table has inquiries.
 */
export async function seedTable(endpoint: string, table: string, count: number): Promise<number> {
  const client = DynamoDBDocumentClient.from(createClient(endpoint));
  using _ = { [Symbol.dispose]: () => client.destroy() };
  const inquiries = createInquiryEntity(table, client);
  const deliveries = createDeliveryEntity(table, client);
  for await (const page of readIndex(inquiries)) if (page.length > 0) return 0;
  const rows = createInquiries(count, Date.now());
  const expires_at = Math.floor(Date.now() / 1_000) + 365 * 86_400;
  const waiting = rows.filter(({ reply_at }) => reply_at === undefined);
  const mailed = waiting.map(({ id: inquiry, created_at: sent_at }) => {
    return { inquiry, mail: 'inquiry' as const, sent_at, expires_at };
  });
  await deliveries.put(mailed).go();
  await inquiries.put(rows).go();
  return count;
}
