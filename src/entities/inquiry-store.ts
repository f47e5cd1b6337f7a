import type { ElectroEvent } from 'electrodb';
import { addAttempts } from '../attempts.ts';
import type { Inquiry } from '../contract.ts';
import type { InquiryStore } from '../inquiries.ts';
import type { InquiryEntity } from './inquiry.ts';

/** DynamoDB's limits in bytes: attribute names and values of an item, and a partition key. */
const ITEM_LIMIT = 400 * 1024;
const PARTITION_KEY_LIMIT = 2048;

/** The six fields of the wire: what a query fetches and what is answered. */
const FIELDS = ['id', 'cognito_sub', 'email', 'subject', 'body', 'created_at'] as const;

/** What the client makes of a row: text, or undefined for what is missing or is no text. */
type Row = Partial<Inquiry>;

/** A write that may not have happened: it was answered with a success that says nothing. */
class UnconfirmedWrite extends Error {
  override readonly name = 'UnconfirmedWrite';
}

/** A row that the service has not written like this. */
class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}

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
      let confirmed = false;
      await entity.put(inquiry).go({
        // The SDK takes any 200 for a success, an empty one of whatever stands between included. Only DynamoDB
        // itself says what a write has cost; ElectroDB shows that to listeners alone. docs/adr/0030
        params: { ReturnConsumedCapacity: 'TOTAL' },
        listeners: [
          addAttemptsOf(signal),
          (event) => {
            confirmed ||= event.type === 'results' && event.results.ConsumedCapacity !== undefined;
          },
        ],
        abortSignal: signal,
        originalErr: true,
      });
      if (!confirmed) throw new UnconfirmedWrite('The answer to a write was not DynamoDB’s.');
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
          listeners: [addAttemptsOf(signal)],
          abortSignal: signal,
          originalErr: true,
        });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ElectroDB's types know no raw data
        const { Items, LastEvaluatedKey } = data as unknown as {
          Items: Row[];
          LastEvaluatedKey?: object;
        };
        yield Items.map((row) => toInquiry(row, owner));
        start = LastEvaluatedKey;
      } while (start !== undefined);
    },
  };
}

/**
 * Counts what the SDK did for one call: it says so in the answer and in the error. A call that the signal has ended
 * does not say; it was at least one.
 */
const addAttemptsOf =
  (signal: AbortSignal) =>
  (event: ElectroEvent): void => {
    if (event.type === 'results') addAttempts(signal, event.results.$metadata?.attempts ?? 1);
  };

/**
 * Exactly the six fields, in the order of the contract.
 *
 * @throws MalformedRow when one is no string, or when the row says that it is somebody else's: a list is shown
 * whole or not at all.
 */
function toInquiry(
  { id, cognito_sub, email, subject, body, created_at }: Row,
  owner: Pick<Inquiry, 'cognito_sub' | 'email'>,
): Inquiry {
  if (
    typeof id === 'string' &&
    cognito_sub === owner.cognito_sub &&
    email === owner.email &&
    typeof subject === 'string' &&
    typeof body === 'string' &&
    typeof created_at === 'string'
  ) {
    return { id, cognito_sub, email, subject, body, created_at };
  }
  throw new MalformedRow('A stored row is no inquiry of its owner.');
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
