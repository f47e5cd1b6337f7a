import { randomUUID } from 'node:crypto';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { toFirstId } from '../../src/entities/keys.ts';
import type { InquiryRow } from '../../src/entities/requests.ts';
import type {
  AnswerResult,
  StoredInquiries,
  StoredInquiry,
} from '../../src/entities/stored-inquiries.ts';
import type { OwnTable } from '../helpers/own-table.ts';

type Table = Pick<OwnTable, 'client' | 'name'>;
export type NewInquiry = Partial<InquiryRow> & { at?: number };

export const toInquiry = ({ at = Date.now(), ...row }: NewInquiry) => ({
  cognito_sub: randomUUID(),
  email: 'ana@example.com',
  subject: 's',
  body: 'b',
  id: `${toFirstId(at)}-7${randomUUID().slice(15)}`,
  created_at: new Date(at).toISOString(),
  ...row,
});

export async function putInquiries({ client, name }: Table, rows: NewInquiry[]) {
  const inquiries = rows.map(toInquiry);
  await createInquiryEntity(name, client).put(inquiries).go({ concurrent: 10 });
  return inquiries;
}

type Answer = Parameters<StoredInquiries['answer']>[1];

export const answerById =
  (inquiries: StoredInquiries) =>
  async (id: string, answer: Answer): Promise<AnswerResult> => {
    const inquiry = await inquiries.get(id);
    return inquiry ? inquiries.answer(inquiry, answer) : { status: 'not-found' };
  };

/** @returns The newest first. */
export async function writeInquiries(
  table: Table,
  count: number,
  isAnswered: (index: number) => boolean,
): Promise<StoredInquiry[]> {
  const rows = Array.from({ length: count }, (_, index) => ({
    at: Date.UTC(2026, 10) + index,
    email: `${index % 997}@example.com`,
    ...(isAnswered(index) && { reply: 'r', respondent: 'R', reply_at: '2026-11-02T00:00:00.000Z' }),
  }));
  return (await putInquiries(table, rows)).toReversed();
}
