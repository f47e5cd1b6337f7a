import { Entity } from 'electrodb';
import type { DocumentClient } from './client.ts';

export type InquiryEntity = ReturnType<typeof createInquiryEntity>;

/**
 * Creates the ElectroDB model of an inquiry in the given table.
 *
 * The partition is its owner, `cognito_sub` and `email` together; the sort key ends in the UUIDv7 id, so a
 * partition read backwards is the owner's history. Both keys open with ElectroDB's service and entity names,
 * which leaves room in the table for further entity types. Keys keep their case: ElectroDB's default would fold
 * emails that differ in case into one partition. docs/adr/0009
 */
export function createInquiryEntity({ client, table }: { client: DocumentClient; table: string }) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'inquiry', version: '1' },
      attributes: {
        // The parts of the keys; ElectroDB takes those for required and never changes them.
        id: { type: 'string' },
        cognito_sub: { type: 'string' },
        email: { type: 'string' },
        subject: { type: 'string', required: true, readOnly: true },
        body: { type: 'string', required: true, readOnly: true },
        created_at: { type: 'string', required: true, readOnly: true },
        // Filled in by others, never by this service, and never in a response (spec, "Inquiry").
        reply: { type: 'string', hidden: true },
        respondent: { type: 'string', hidden: true },
        reply_at: { type: 'string', hidden: true },
      },
      indexes: {
        byOwner: {
          pk: { field: 'pk', composite: ['cognito_sub', 'email'], casing: 'none' },
          sk: { field: 'sk', composite: ['id'], casing: 'none' },
        },
      },
    } as const,
    { client, table },
  );
}
