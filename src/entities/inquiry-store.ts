import type { Inquiry } from '../contract.ts';
import type { InquiryStore } from '../inquiries.ts';
import type { InquiryEntity } from './inquiry.ts';

/** DynamoDB's limits in bytes: attribute names and values of an item, and a partition key. */
const ITEM_LIMIT = 400 * 1024;
const PARTITION_KEY_LIMIT = 2048;

/** The six fields of the wire: what a query fetches and what is answered. */
const FIELDS = ['id', 'cognito_sub', 'email', 'subject', 'body', 'created_at'] as const;

/** Creates the store on DynamoDB. The only file that sends a request through ElectroDB. */
export function createInquiryStore(entity: InquiryEntity): InquiryStore {
  const overhead = measureOverhead(entity);
  const fitsPartitionKey = (email: string): boolean =>
    overhead.partitionKey + Buffer.byteLength(email) <= PARTITION_KEY_LIMIT;

  return {
    fits({ email, subject, body }) {
      // The email is stored twice: as an attribute and in the partition key.
      const size =
        overhead.item + 2 * Buffer.byteLength(email) + Buffer.byteLength(subject) + Buffer.byteLength(body);
      return size <= ITEM_LIMIT && fitsPartitionKey(email);
    },

    async put(inquiry, signal) {
      // `put`, not `create`: a retry of `create` after a write whose answer was lost fails its own condition
      // and reports an error for an inquiry that is stored. The id is fresh, so there is nothing to overwrite.
      await entity.put(inquiry).go({ abortSignal: signal, originalErr: true });
    },

    async *list({ sub, email }, { before, limit }, signal) {
      // No key can hold this email, so nothing can be stored under it; DynamoDB would refuse to look.
      if (!fitsPartitionKey(email)) return;
      const owner = { cognito_sub: sub, email };
      // The key of `before` need not exist: reading starts after the place where it would be.
      let start: object | undefined = before && entity.get({ ...owner, id: before }).params().Key;
      do {
        const { data } = await entity.query.byOwner(owner).go({
          // Strongly consistent: whoever has just sent an inquiry finds it. docs/adr/0015
          consistent: true,
          order: 'desc',
          // DynamoDB's own answer: parsing each item through the model costs more than all the rest.
          data: 'raw',
          params: { ProjectionExpression: FIELDS.join(), ExclusiveStartKey: start },
          ...(limit !== undefined && { limit: limit + 1 }),
          abortSignal: signal,
          originalErr: true,
        });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ElectroDB's types know no raw data
        const { Items, LastEvaluatedKey } = data as unknown as {
          Items: Inquiry[];
          LastEvaluatedKey?: object;
        };
        yield Items.map(toInquiry);
        start = LastEvaluatedKey;
      } while (start !== undefined);
    },
  };
}

/** Exactly the six fields, in the order of the contract. */
function toInquiry({ id, cognito_sub, email, subject, body, created_at }: Inquiry): Inquiry {
  return { id, cognito_sub, email, subject, body, created_at };
}

/** Bytes of an item, and of its partition key, beyond those of email, subject and body. All of it is ASCII. */
function measureOverhead(entity: InquiryEntity): { item: number; partitionKey: number } {
  const uuid = '00000000-0000-0000-0000-000000000000';
  const created_at = new Date(0).toISOString();
  const { Item } = entity
    .put({ id: uuid, cognito_sub: uuid, email: '', subject: '', body: '', created_at })
    .params<{ Item: Record<string, string> & { pk: string } }>();
  return { item: Object.entries(Item).flat().join('').length, partitionKey: Item.pk.length };
}
