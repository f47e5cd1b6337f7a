import { PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { inquirySchema } from '../contract.ts';
import type { Inquiry } from '../contract.ts';
import type { InquiryStore, StoreCall } from '../inquiries.ts';
import { ITEM_LIMIT, PARTITION_KEY_LIMIT } from '../limits.ts';
import type { InquiryEntity } from './inquiry.ts';

export type Scalars = Record<string, string | number>;
type Attributes = Record<string, AttributeValue>;

/** What a query fetches: the fields of an inquiry and its expiry, not the reply columns and not the keys. */
const PROJECTION = [...inquirySchema.required, 'expires_at'].join();

const SECONDS_PER_DAY = 86_400;

export interface InquiryStoreOptions {
  /** Days after which a new inquiry expires; absent: never. */
  readonly retentionDays?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Creates the store on DynamoDB: ElectroDB makes keys and inputs, and the request function sends the SDK's commands
 * here and nowhere else.
 *
 * Errors that are not the SDK's have one of the names `UnconfirmedWrite`, `InvalidQueryOutput` and `MalformedRow`.
 */
export function createInquiryStore(
  client: DynamoDBClient,
  entity: InquiryEntity,
  { retentionDays, now = Date.now }: InquiryStoreOptions = {},
): InquiryStore {
  return {
    async put(inquiry, call) {
      const expiry = retentionDays !== undefined && {
        expires_at: Math.floor(Date.parse(inquiry.created_at) / 1_000) + retentionDays * SECONDS_PER_DAY,
      };
      // `put`, not `create`: a retry of `create` after a write whose response was lost fails its own condition
      // and reports an error for an inquiry that is stored. The id is fresh, so there is nothing to overwrite.
      const { Item, ...input } = entity
        .put({ ...inquiry, ...expiry })
        .params<{ TableName: string; Item: Scalars & { pk: string } }>();
      if (Buffer.byteLength(Item.pk) > PARTITION_KEY_LIMIT) return 'email';
      if (Buffer.byteLength(Object.entries(Item).flat().join('')) > ITEM_LIMIT) return 'inquiry';
      const command = new PutItemCommand({
        ...input,
        Item: toAttributes(Item),
        ReturnConsumedCapacity: 'TOTAL',
      });
      const sent = client.send(command, { abortSignal: call.signal });
      const { ConsumedCapacity } = await countAttempts(call, sent);
      // The SDK takes any 200 for a success, also one with an empty body from a proxy. Only DynamoDB reports the
      // capacity that a write consumed. docs/adr/0030
      if (ConsumedCapacity === undefined) {
        throw storeError('UnconfirmedWrite', 'The response to a write has no ConsumedCapacity.');
      }
      return undefined;
    },

    async *list({ sub, email }, { before, limit }, call) {
      const owner = { cognito_sub: sub, email };
      const { ExpressionAttributeValues, ...input } = entity.query.byOwner(owner).params<{
        TableName: string;
        ExpressionAttributeValues: Scalars;
      }>({
        // Strongly consistent: a user who lists right after a POST sees the new inquiry. docs/adr/0015
        consistent: true,
        order: 'desc',
        params: { ProjectionExpression: PROJECTION },
      });
      // No key can hold this email, so nothing is stored under it, and DynamoDB would refuse the query.
      if (Buffer.byteLength(String(ExpressionAttributeValues[':pk'])) > PARTITION_KEY_LIMIT) return;
      // The key of `before` need not exist: reading starts after its position.
      let start = before && toAttributes(entity.get({ ...owner, id: before }).params<{ Key: Scalars }>().Key);
      const values = toAttributes(ExpressionAttributeValues);
      // Of the first page only: expired rows would otherwise be read a few at a time.
      let most = limit && { Limit: limit + 1 };
      do {
        const command = new QueryCommand({
          ...input,
          ...most,
          ExpressionAttributeValues: values,
          ...(start && { ExclusiveStartKey: start }),
        });
        const sent = client.send(command, { abortSignal: call.signal });
        const { Items, LastEvaluatedKey } = await countAttempts(call, sent);
        if (Items === undefined) throw storeError('InvalidQueryOutput', 'A query returned no Items.');
        // DynamoDB deletes an expired row up to days later. docs/adr/0084
        const time = now();
        const current = Items.filter(({ expires_at }) => !(Number(expires_at?.N) * 1_000 <= time));
        yield current.map((row) => toInquiry(row, owner));
        start = LastEvaluatedKey;
        most = undefined;
      } while (start !== undefined);
    },
  };
}

/**
 * Adds the SDK's attempts to the call's: none if nothing was sent, one if the signal ended the request, which the SDK
 * does not count.
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK adds it to its errors
    const { $metadata } = error as Partial<Output>;
    call.attempts += $metadata?.attempts ?? (call.signal.aborted ? 1 : 0);
    throw error;
  }
}

/** @param name - Appears in the log. */
const storeError = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** `{ a: 'x', b: 5 }` → `{ a: { S: 'x' }, b: { N: '5' } }` */
export const toAttributes = (scalars: Scalars): Attributes =>
  Object.fromEntries(
    Object.entries(scalars).map(([name, value]) => [
      name,
      typeof value === 'string' ? { S: value } : { N: String(value) },
    ]),
  );

/**
 * Narrows a row to the six fields of an inquiry.
 *
 * @throws MalformedRow when one is not a string, or when the row names another owner: a list is complete or an error.
 */
export function toInquiry(row: Attributes, owner: Pick<Inquiry, 'cognito_sub' | 'email'>): Inquiry {
  const { id, cognito_sub, email, subject, body, created_at } = row;
  if (
    typeof id?.S === 'string' &&
    cognito_sub?.S === owner.cognito_sub &&
    email?.S === owner.email &&
    typeof subject?.S === 'string' &&
    typeof body?.S === 'string' &&
    typeof created_at?.S === 'string'
  ) {
    return { id: id.S, ...owner, subject: subject.S, body: body.S, created_at: created_at.S };
  }
  throw storeError('MalformedRow', 'A stored row is not an inquiry of its owner.');
}
