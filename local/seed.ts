import { UUID } from 'uuidv7';
import { DEMO_USERS, subOf } from '../lib/issuer/issuer-tokens.ts';
import { LOCAL } from '../lib/running-stack.ts';
import { createDeliveries } from '../src/entities/deliveries.ts';
import { createStoredInquiries, type StoredInquiry } from '../src/entities/stored-inquiries.ts';
import { openTable } from '../src/entities/table.ts';
import type { Language } from '../text/languages.ts';
import { HOUR } from '../src/limits.ts';

/** # stands for a number. */
type Writer = Record<'email' | 'subject' | 'body' | 'reply', string> & { language: Language };

/** `npm run token` signs in as Ana. */
const ANA: Writer = {
  email: DEMO_USERS[0],
  language: 'en',
  subject: 'Where is my order #?',
  body: 'Hello,\n\nit is a present 🎁. What can I do?',
  reply: 'Order # leaves our warehouse tomorrow.',
};
const WRITERS = [
  ANA,
  {
    email: DEMO_USERS[1],
    language: 'de',
    subject: 'Rücksendung zu Bestellung #',
    body: 'Guten Tag,\n\nich möchte das grüne Kleid in Größe 38 gegen eine 40 tauschen.',
    reply: 'Den Rücksendeschein finden Sie im Anhang.',
  },
  {
    email: DEMO_USERS[2],
    language: 'fr',
    subject: 'Où en est mon remboursement ?',
    body: 'Bonjour,\n\nil manque la vis n° 4…',
    reply: 'Votre colis # est arrivé ce matin.',
  },
  {
    email: 'lucia.fernandez@example.es',
    language: 'es',
    subject: '¿Cuándo llega mi pedido #?',
    body: `El pedido no aparece: https://shop.example.com/orders/#?token=${'eyJhbGciOi'.repeat(8)}`,
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
    subject: '',
    body: 'طلبتُ الكتاب قبل أسبوعين ولم يصل حتى الآن.',
    reply: 'طلبكم رقم # في الطريق إليكم.',
  },
];

const DAY = 24 * HOUR;

/** Only the times differ. The newest is two hours old, too old for digests. */
const createInquiries = (count: number, now: number) =>
  Array.from({ length: count }, (_, n): StoredInquiry => {
    const { reply, subject, body, ...writer } = WRITERS[n % WRITERS.length] ?? ANA;
    const write = (text: string): string => text.replaceAll('#', String(40_000 + n));
    const created = Math.floor(now - 2 * HOUR - 42 * DAY * (n / count) ** 2);
    const inquiry = {
      ...writer,
      // Later ones of the same millisecond sort after.
      id: UUID.fromFieldsV7(created, 0, 0, count - n).toString(),
      cognito_sub: subOf(writer.email),
      subject: write(subject),
      body: write(body),
      created_at: new Date(created).toISOString(),
    };
    if (n < count / 4 || n % 5 === 0) return inquiry;
    return {
      ...inquiry,
      respondent: 'olga',
      reply_at: new Date(created + HOUR).toISOString(),
      ...(n % 5 !== 4 && { reply: write(reply) }),
    };
  });

/** Stores inquiries in an empty table, as if mailed. @returns How many. */
export async function seedTable(endpoint: string, name: string, count: number): Promise<number> {
  const table = openTable(name, { endpoint, ...LOCAL });
  const inquiries = createStoredInquiries(table);
  for await (const page of inquiries.list()) if (page.length > 0) return 0;
  const now = Date.now();
  const rows = createInquiries(count, now);
  const mailed = rows.filter(({ reply_at }) => reply_at === undefined).map(({ id }) => id);
  await createDeliveries(table).write(mailed, Math.floor((now + 365 * DAY) / 1_000));
  await inquiries.write(rows);
  table.client.destroy();
  return count;
}
