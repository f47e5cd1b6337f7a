import { PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { inquirySchema } from '../contract.ts';
import type { Inquiry } from '../contract.ts';
import type { InquiryStore, StoreCall } from '../inquiries.ts';
import { ITEM_LIMIT, PARTITION_KEY_LIMIT } from '../limits.ts';
import type { InquiryEntity } from './inquiry.ts';

type Strings = Record<string, string>;
type Attributes = Record<string, AttributeValue>;

/** What a query fetches: the fields of an inquiry, not the reply columns and not the keys. */
const PROJECTION = inquirySchema.required.join();

/**
 * Creates the store on DynamoDB: ElectroDB makes keys and inputs, the SDK's commands are sent here and nowhere else.
 *
 * Errors that are not the SDK's have one of the names `UnconfirmedWrite`, `InvalidQueryOutput` and `MalformedRow`.
 */
export function createInquiryStore(client: DynamoDBClient, entity: InquiryEntity): InquiryStore {
  const overhead = measureOverhead(entity);
  const exceedsPartitionKey = (email: string): boolean =>
    overhead.partitionKey + Buffer.byteLength(email) > PARTITION_KEY_LIMIT;

  return {
    findOversized({ email, subject, body }) {
      if (exceedsPartitionKey(email)) return 'email';
      // The email is stored twice: as an attribute and in the partition key.
      const size =
        overhead.item + 2 * Buffer.byteLength(email) + Buffer.byteLength(subject) + Buffer.byteLength(body);
      return size > ITEM_LIMIT ? 'inquiry' : undefined;
    },

    async put(inquiry, call) {
      // `put`, not `create`: a retry of `create` after a write whose response was lost fails its own condition
      // and reports an error for an inquiry that is stored. The id is fresh, so there is nothing to overwrite.
      const { Item, ...input } = entity.put(inquiry).params<{ TableName: string; Item: Strings }>();
      const command = new PutItemCommand({
        ...input,
        Item: toAttributes(Item),
        ReturnConsumedCapacity: 'TOTAL',
      });
      const { ConsumedCapacity } = await countAttempts(
        call,
        client.send(command, { abortSignal: call.signal }),
      );
      // The SDK takes any 200 for a success, also one with an empty body from a proxy. Only DynamoDB reports the
      // capacity that a write consumed. docs/adr/0030
      if (ConsumedCapacity === undefined) {
        throw storeError('UnconfirmedWrite', 'The response to a write has no ConsumedCapacity.');
      }
    },

    async *list({ sub, email }, { before, limit }, call) {
      // No key can hold this email, so nothing is stored under it, and DynamoDB would refuse the query.
      if (exceedsPartitionKey(email)) return;
      const owner = { cognito_sub: sub, email };
      const { ExpressionAttributeValues, ...input } = entity.query.byOwner(owner).params<{
        TableName: string;
        ExpressionAttributeValues: Strings;
      }>({
        // Strongly consistent: a user who lists right after a POST sees the new inquiry. docs/adr/0015
        consistent: true,
        order: 'desc',
        ...(limit !== undefined && { limit: limit + 1 }),
        params: { ProjectionExpression: PROJECTION },
      });
      // The key of `before` need not exist: reading starts after its position.
      let start = before && toAttributes(entity.get({ ...owner, id: before }).params<{ Key: Strings }>().Key);
      do {
        const command = new QueryCommand({
          ...input,
          ExpressionAttributeValues: toAttributes(ExpressionAttributeValues),
          ...(start && { ExclusiveStartKey: start }),
        });
        const { Items, LastEvaluatedKey } = await countAttempts(
          call,
          client.send(command, { abortSignal: call.signal }),
        );
        if (Items === undefined) throw storeError('InvalidQueryOutput', 'A query returned no Items.');
        yield Items.map((row) => toInquiry(row, owner));
        start = LastEvaluatedKey;
      } while (start !== undefined);
    },
  };
}

/**
 * Adds the SDK's attempts to the call's. An error of a request that was not sent has none. A request that the signal
 * ended does not tell; it counts as one.
 */
async function countAttempts<Output extends { $metadata: { attempts?: number } }>(
  call: StoreCall,
  request: Promise<Output>,
): Promise<Output> {
  try {
    const output = await request;
    call.attempts += output.$metadata.attempts ?? 1;
    return output;
  } catch (error) {
    const { $metadata } = error as Partial<Output>;
    call.attempts += $metadata?.attempts ?? (call.signal.aborted ? 1 : 0);
    throw error;
  }
}

/** @param name - Appears in the log. */
const storeError = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** `{ a: 'x' }` → `{ a: { S: 'x' } }` */
function toAttributes(strings: Strings): Attributes {
  const attributes: Attributes = {};
  for (const name in strings) attributes[name] = { S: strings[name] ?? '' };
  return attributes;
}

/**
 * Narrows a row to the six fields of an inquiry.
 *
 * @throws MalformedRow when one is not a string, or when the row names another owner: a list is complete or an error.
 */
function toInquiry(row: Attributes, owner: Pick<Inquiry, 'cognito_sub' | 'email'>): Inquiry {
  const { id, cognito_sub, email, subject, body, created_at } = row;
  if (
    typeof id?.S === 'string' &&
    cognito_sub?.S === owner.cognito_sub &&
    email?.S === owner.email &&
    typeof subject?.S === 'string' &&
    typeof body?.S === 'string' &&
    typeof created_at?.S === 'string'
  ) {
    return {
      id: id.S,
      cognito_sub: cognito_sub.S,
      email: email.S,
      subject: subject.S,
      body: body.S,
      created_at: created_at.S,
    };
  }
  throw storeError('MalformedRow', 'A stored row is not an inquiry of its owner.');
}

/** Bytes of an item, and of its partition key, apart from email, subject and body. All of it is ASCII. */
function measureOverhead(entity: InquiryEntity): { item: number; partitionKey: number } {
  const uuid = '00000000-0000-0000-0000-000000000000';
  const created_at = new Date(0).toISOString();
  const { Item } = entity
    .put({ id: uuid, cognito_sub: uuid, email: '', subject: '', body: '', created_at })
    .params<{ Item: Strings & { pk: string } }>();
  return { item: Object.entries(Item).flat().join('').length, partitionKey: Item.pk.length };
}
