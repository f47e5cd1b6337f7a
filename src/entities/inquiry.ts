import { Entity } from 'electrodb';

export type InquiryEntity = ReturnType<typeof createInquiryEntity>;

/**
 * Creates the ElectroDB model of an inquiry in the given table. It has no client: `.params()` makes the inputs of the
 * SDK's commands, which src/entities/inquiry-store.ts sends.
 *
 * The partition is the owner, `cognito_sub` and `email` together; the sort key ends in the UUIDv7 id, so a reverse
 * query lists the newest inquiry first. Both keys start with ElectroDB's service and entity names, so that the table
 * can hold other entities. Keys keep their case: ElectroDB's default would put emails that differ only in case into
 * one partition. docs/adr/0009
 */
export function createInquiryEntity(table: string) {
  return new Entity(
    {
      model: { service: 'inquiries', entity: 'inquiry', version: '1' },
      attributes: {
        // Parts of the keys: ElectroDB requires them and never changes them.
        id: { type: 'string' },
        cognito_sub: { type: 'string' },
        email: { type: 'string' },
        subject: { type: 'string', required: true, readOnly: true },
        body: { type: 'string', required: true, readOnly: true },
        created_at: { type: 'string', required: true, readOnly: true },
        // Set by operators' tools, never by this service, and never in a response (spec, "Inquiry").
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
    { table },
  );
}
