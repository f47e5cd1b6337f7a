/** The contenders with ElectroDB share model and client, which has the SDK's defaults. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Entity, type EntityItem } from 'electrodb';
import { uuidv7 } from 'uuidv7';
import { linkTo, LIST_BUDGET, type ListQuery, type Message, type Owner } from './requests.ts';

export const baseClient = new DynamoDBClient();
const client = DynamoDBDocumentClient.from(baseClient);

const InquiryEntity = new Entity(
  {
    model: { service: 'inquiries', entity: 'inquiry', version: '1' },
    attributes: {
      id: { type: 'string', required: true },
      cognito_sub: { type: 'string', required: true },
      email: { type: 'string', required: true },
      subject: { type: 'string', required: true },
      body: { type: 'string', required: true },
      created_at: { type: 'string', required: true },
      inbox: { type: 'string', hidden: true },
    },
    indexes: {
      byOwner: {
        pk: { field: 'pk', composite: ['cognito_sub', 'email'], casing: 'none' },
        sk: { field: 'sk', composite: ['id'], casing: 'none' },
      },
    },
  },
  { client, table: process.env['TABLE_NAME'] ?? '' },
);

interface Page {
  data: EntityItem<typeof InquiryEntity>[];
  cursor: string | null;
}

/** Lists the newest inquiries that fit into a response, with a Link to older ones. */
export async function listInquiries(owner: Owner, { limit, before }: ListQuery) {
  const inquiries: EntityItem<typeof InquiryEntity>[] = [];
  let size = 0;
  let cursor: string | null = null;
  do {
    const query = InquiryEntity.query.byOwner({ ...owner });
    const page: Page = await (before === undefined ? query : query.lt({ id: before })).go({
      order: 'desc',
      consistent: true,
      cursor,
      ...(limit !== undefined && { limit: limit + 1 }),
    });
    for (const inquiry of page.data) {
      size += Buffer.byteLength(JSON.stringify(JSON.stringify(inquiry)));
      const last = inquiries.at(-1);
      if (last && (inquiries.length === limit || size > LIST_BUDGET)) {
        return { inquiries, headers: linkTo(last.id, limit) };
      }
      inquiries.push(inquiry);
    }
    cursor = page.cursor;
  } while (cursor !== null);
  return { inquiries, headers: {} };
}

export async function createInquiry(owner: Owner, { subject, body }: Message) {
  const inquiry = {
    id: uuidv7(),
    ...owner,
    subject: subject.toWellFormed(),
    body: body.toWellFormed(),
    created_at: new Date().toISOString(),
  };
  await InquiryEntity.put({ ...inquiry, inbox: `open-${inquiry.id.slice(-1)}` }).go();
  return inquiry;
}
